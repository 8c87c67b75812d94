package decide

import (
	"capcli"
	"capcli/simulate/plan/mix"
)

// schema names the JSON form of a Result. Fields are added, never renamed.
const schema = "capcli/decide/v1"

// Result is the answer to a request. Its JSON is the document that commands write.
type Result struct {
	Schema  string `json:"schema"`
	Version string `json:"capcli"`
	// Answer says in a few sentences what to buy, at what cost and risk, and what is served.
	Answer   string   `json:"answer"`
	Warnings []string `json:"warnings"` // what the answer stands on that may not hold
	Found    bool     `json:"found"`    // some plan holds the limits
	Failure  string   `json:"no_plan_because,omitempty"`

	GPU      string         `json:"gpu_model"`
	Horizon  string         `json:"horizon"`
	Start    capcli.Time    `json:"start"`
	End      capcli.Time    `json:"end"`
	Length   capcli.Seconds `json:"length_s"`
	Futures  int            `json:"futures"`
	Risk     string         `json:"risk"`
	Hold     float64        `json:"hold_share"`
	Limits   []string       `json:"limits"`
	Seed     uint64         `json:"seed"`
	Currency string         `json:"currency"`

	Log      Log     `json:"log"`
	Owned    int64   `json:"owned_gpus"` // what the log suggests is there now
	OwnedWhy string  `json:"owned_gpus_why"`
	Prices   []Price `json:"prices"`

	Plan         *Choice    `json:"plan"`    // the recommendation; null where no plan holds the limits
	Nearest      *Choice    `json:"nearest"` // where no plan holds the limits, the one that is nearest
	Alternatives []Choice   `json:"alternatives"`
	Meeting      *Meeting   `json:"plans_compared"`
	Review       *Review    `json:"review"` // null where nothing is decided again within the horizon
	Bound        *mix.Bound `json:"bound"`

	Steps  []Step   `json:"steps"`
	Inputs []Input  `json:"inputs"`
	Notes  []string `json:"notes"`

	Mix    *mix.Result `json:"-"` // the plan of the mix
	asked  []string    // flags that ask the question again
	prices string      // the price file
	// Texts are the documents of the steps, by name.
	Texts map[string][]byte `json:"-"`
}

// Log says what the question is asked of.
type Log struct {
	File     string          `json:"file"`
	Jobs     int64           `json:"jobs"`
	First    capcli.Time     `json:"first_submit"`
	Last     capcli.Time     `json:"last_submit"`
	Days     int64           `json:"days"`
	Demand   float64         `json:"demand_mean_gpus"` // had nobody waited
	Peak     float64         `json:"demand_peak_hour_gpus"`
	Use      *float64        `json:"use_mean_gpus"` // null where the log records no starts
	WaitP95  *capcli.Seconds `json:"wait_p95_s"`
	Tail     float64         `json:"demand_last_week_gpus"`
	Tested   int             `json:"forecast_tested_days"` // how far ahead the forecast was tried on the past; 0 is not at all
	Ahead    float64         `json:"futures_mean_gpus"`
	AheadLow float64         `json:"futures_mean_gpus_least"`
	AheadTop float64         `json:"futures_mean_gpus_most"`
}

// Price is a price that the answer stands on.
type Price struct {
	Key    string      `json:"key"`
	Term   string      `json:"term"`
	Rate   capcli.Rate `json:"usd_per_gpu_hour"`
	Date   capcli.Time `json:"date"`
	Source string      `json:"source"`
}

// Choice is a plan, played with the jobs of every future. Amounts are over the horizon, means over
// the futures unless named otherwise.
type Choice struct {
	Name       string         `json:"plan"`
	GPUs       int            `json:"committed_gpus"`
	Patience   string         `json:"patience"` // how long jobs wait for committed GPUs before they go on demand
	Cost       capcli.USD     `json:"cost_usd"`
	PerYear    capcli.USD     `json:"cost_per_year_usd"`
	Range      [2]capcli.USD  `json:"cost_range_usd"` // holds 90 % of the futures; the lowest and the highest of fewer than 40
	Worst      capcli.USD     `json:"cost_worst_5_percent_usd"`
	Difference capcli.USD     `json:"difference_usd"` // from the recommendation
	Committed  capcli.USD     `json:"committed_usd"`
	OnDemand   capcli.USD     `json:"on_demand_usd"`
	Stranded   capcli.USD     `json:"stranded_usd"`
	WaitP95    float64        `json:"wait_p95_s"`
	WaitWorst  capcli.Seconds `json:"wait_p95_worst_s"` // of any future
	Unserved   float64        `json:"unserved_share"`
	Undone     float64        `json:"unserved_gpu_hours"`
	UndoneMost float64        `json:"unserved_share_worst"`
	Held       float64        `json:"held_share"` // of the futures in which all limits hold together
	Holds      bool           `json:"holds"`

	Mix *mix.Mix `json:"-"`
}

// Meeting compares the plan for the futures alone with the recommendation, step by step: the three
// differences sum to the whole.
type Meeting struct {
	Sentence string     `json:"sentence"`
	Meet     bool       `json:"meet"` // both commit to the same number of GPUs, within one lot or a twentieth
	GPUs     int        `json:"futures_plan_gpus"`
	Bought   capcli.USD `json:"futures_plan_cost_usd"`       // as the plan for the futures has it: demand by day, nobody waits
	Played   capcli.USD `json:"futures_plan_played_usd"`     // the same purchase with the jobs, and nobody waits
	Patient  capcli.USD `json:"futures_plan_with_waits_usd"` // the same with the patience of the recommendation
	Cost     capcli.USD `json:"plan_cost_usd"`               // the recommendation
	Hours    capcli.USD `json:"difference_hours_of_the_day_usd"`
	Waits    capcli.USD `json:"difference_waits_usd"`
	Size     capcli.USD `json:"difference_size_usd"`
}

// Review is when to decide again, by the plan for the futures.
type Review struct {
	Date      string      `json:"date"`
	Value     capcli.USD  `json:"value_usd"` // of deciding again
	Purchases []ReviewBuy `json:"purchases"`
}

// ReviewBuy is what is bought at a review in some of the futures.
type ReviewBuy struct {
	Share float64 `json:"futures_share"`
	Least float64 `json:"wanted_before_least_gpus"`
	Most  float64 `json:"wanted_before_most_gpus"`
	GPUs  float64 `json:"gpus"`
	Term  string  `json:"term"`
}

// Input is a file that was read.
type Input struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

func newResult(s *settled, w *World) *Result {
	return &Result{
		Schema: schema, Version: w.Version, Warnings: []string{}, GPU: s.GPU, Horizon: s.Horizon, Futures: s.Futures, Risk: s.Risk, Hold: s.hold,
		Limits: []string{}, Seed: uint64(s.Seed), Currency: "USD", Prices: []Price{}, Alternatives: []Choice{}, Steps: []Step{}, Inputs: []Input{},
		Notes: append([]string{}, s.notes...),
	}
}

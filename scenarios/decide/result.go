package decide

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/decide/trial"
	"capcli/scenarios/inputs"
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
	Partial  string   `json:"partial,omitempty"` // what is missing of an answer that was stopped; "" is nothing

	AsIf   string `json:"as_if,omitempty"`  // which part of the log counts, where something of it is gone
	Counts string `json:"counts,omitempty"` // that part in words, and what is gone
	Ways   []Way  `json:"ways,omitempty"`   // where the end of the log fell away and --as-if is not given: what each way to count it answers

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

	Log    Log     `json:"log"`
	Short  *Short  `json:"short,omitempty"` // where the answer stands on less than 14 days
	Prices []Price `json:"prices"`

	Plan         *Choice       `json:"plan"`         // the recommendation; null where no plan holds the limits
	Nearest      *Choice       `json:"nearest"`      // where no plan holds the limits, the one that is nearest
	Order        *Order        `json:"order"`        // what is bought at the first date; null where nothing is
	Alternatives []Choice      `json:"alternatives"` // the plan first, then named baselines and other sizes
	Ties         *Ties         `json:"ties"`         // sizes that cost the same within the noise; null for fenced GPUs
	Review       *Review       `json:"review"`       // null where nothing is decided again within the horizon
	Sizes        []SizeCost    `json:"cost_by_size"` // of the first purchases, rising; none where nothing floats
	Sellers      []Seller      `json:"sellers"`      // the cheapest plan for the same work at each seller, the cheapest first
	Requests     []Ask         `json:"requests"`     // the events of the forecast but for holidays, each with what it takes and costs
	Backtest     *trial.Result `json:"backtest"`     // the same question on earlier dates of the log; null where it was not tried
	Bound        *mix.Bound    `json:"bound"`        // of the mixes with fenced GPUs; null where none can be had

	// Tiers is the plan of a reserved base, GPUs on demand and spot GPUs, where it was asked for.
	Tiers *Tiers `json:"tiers,omitempty"`

	Steps   []Step         `json:"steps"`
	Inputs  []inputs.Input `json:"inputs"`
	Missing []string       `json:"missing"` // which inputs there are none of, and what each would change
	Notes   []string       `json:"notes"`

	Mix    *mix.Result `json:"-"` // the plan of the mix
	asked  []string    // flags that ask the question again
	prices string      // the price file
	// Texts are the documents of the steps, by name.
	Texts map[string][]byte `json:"-"`
}

// Way is a way to count the log, and its answer.
type Way struct {
	AsIf    string     `json:"as_if"`
	Counts  string     `json:"counts"`
	Demand  float64    `json:"demand_mean_gpus"`  // of the part that counts
	Ahead   float64    `json:"futures_mean_gpus"` // of the futures
	GPUs    int        `json:"committed_gpus"`    // all that is committed at the first date
	Term    string     `json:"term"`              // of what is bought first; "" where nothing is, and for fenced GPUs
	Cost    capcli.USD `json:"cost_usd"`          // over the horizon, the mean of the futures
	Failure string     `json:"failure,omitempty"` // why there is no answer, or none that holds the limits

	least, most float64 // sizes that cost the same
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
	As         string         `json:"as"`             // bill: it covers use wherever it runs; place: fenced GPUs; both: fenced GPUs, and a bill on what overflows to on demand; nothing
	GPUs       int            `json:"committed_gpus"` // all that is committed at the first date
	Place      int            `json:"place_gpus"`     // the part of them that is fenced
	Patience   string         `json:"patience"`       // how long jobs wait for fenced GPUs before they go on demand
	Cost       capcli.USD     `json:"cost_usd"`
	PerYear    capcli.USD     `json:"cost_per_year_usd"`
	Range      [2]capcli.USD  `json:"cost_range_usd"` // see capcli.RangeRanks; the lowest and the highest of fewer than 40
	Worst      capcli.USD     `json:"cost_worst_5_percent_usd"`
	Difference capcli.USD     `json:"difference_usd"` // from the recommendation
	Committed  capcli.USD     `json:"committed_usd"`
	OnDemand   capcli.USD     `json:"on_demand_usd"`
	Stranded   capcli.USD     `json:"stranded_usd"`
	Covered    *float64       `json:"covered_share"`         // of the GPU time wanted, beside fenced GPUs of that on demand, covered by a bill; null for fenced GPUs alone
	Used       *float64       `json:"commitment_used_share"` // of the GPU time committed as a bill; null for fenced GPUs and where nothing is
	WaitMean   float64        `json:"wait_mean_s"`
	WaitHours  float64        `json:"wait_job_hours"` // of all jobs together, over the horizon
	WaitP95    float64        `json:"wait_p95_s"`
	WaitWorst  capcli.Seconds `json:"wait_p95_worst_s"` // of any future
	Unserved   float64        `json:"unserved_share"`
	Undone     float64        `json:"unserved_gpu_hours"`
	UndoneMost float64        `json:"unserved_share_worst"`
	Held       float64        `json:"held_share"` // of the futures in which all limits hold together
	Holds      bool           `json:"holds"`

	Commitments []market.Purchase `json:"commitments"` // what covers, with its dates; none for fenced GPUs
	// Played is the number of futures whose jobs were played; without it the figures are of the use of all futures.
	Played int `json:"played_futures,omitempty"`

	Mix *mix.Mix `json:"-"`
}

// Review is when to decide again, by the plan for the futures.
type Review struct {
	Date  string     `json:"date"`
	Value capcli.USD `json:"value_usd"` // of deciding again
}

// Order is what is bought at the first date.
type Order struct {
	Date  capcli.Time `json:"date"`
	Until capcli.Time `json:"until"` // the last end of what is bought
	GPUs  int         `json:"gpus"`
	Total capcli.USD  `json:"total_usd"` // to the end of its terms, or of the horizon
	// Parts are the orders, where fenced GPUs and a bill are bought together; else there are none.
	Parts []Part `json:"parts,omitempty"`
}

// Ties says which sizes of the first purchases cost the same within the noise, and what others add.
type Ties struct {
	Least  float64     `json:"least_gpus"`
	Most   float64     `json:"most_gpus"`
	Within capcli.USD  `json:"within_usd"` // the most that a size between the two adds to the mean cost
	Wrong  []WrongSize `json:"wrong"`
}

// SizeCost is what a size of the first purchases costs, with the later purchases of the plan.
type SizeCost struct {
	GPUs  float64       `json:"gpus"`
	Cost  capcli.USD    `json:"cost_usd"`
	Range [2]capcli.USD `json:"cost_range_usd"` // see capcli.RangeRanks
	Best  bool          `json:"plan"`           // the size of the plan
}

// WrongSize is a size of the first purchases that costs more.
type WrongSize struct {
	GPUs  float64    `json:"gpus"`
	Added capcli.USD `json:"added_usd"` // to the mean cost
}

func newResult(s *settled, w *World) *Result {
	return &Result{
		Schema: schema, Version: w.Version, Warnings: []string{}, GPU: s.GPU, Horizon: s.Horizon, Futures: s.Futures, Risk: s.Risk, Hold: s.hold,
		Limits: []string{}, Seed: uint64(s.Seed), Currency: "USD", Prices: []Price{}, Alternatives: []Choice{}, Sizes: []SizeCost{}, Sellers: []Seller{}, Requests: []Ask{}, Steps: []Step{}, Inputs: []inputs.Input{}, Missing: []string{},
		Notes: append([]string{}, s.notes...),
	}
}

// Remarks returns what stands below the answer: warnings, notes, what was taken from the inputs where there are
// several, and which there are none of.
func (r *Result) Remarks() []string {
	out := append(append([]string{}, r.Warnings...), r.Notes...)
	if len(r.Inputs) > 1 || len(r.Inputs) == 1 && r.Inputs[0].Kind != inputs.Log {
		for _, in := range r.Inputs {
			out = append(out, fmt.Sprintf("taken from %s (%s): %s", in.File, in.Kind, in.Took))
		}
	}
	if len(r.Missing) > 0 {
		out = append(out, "not given: "+strings.Join(r.Missing, "; "))
	}
	return out
}

// Purchases returns what covers in the plan, or in the one nearest to the limits, by date. Fenced GPUs that are bought
// beside it come first.
func (r *Result) Purchases() []market.Purchase {
	if o := r.Order; o != nil && len(o.Parts) > 0 && o.Parts[0].As == asPlace {
		p := &o.Parts[0]
		fenced := market.Purchase{
			Term: p.Term + ", fenced", Start: market.Instant{Time: o.Date}, End: market.Instant{Time: p.Until}, GPUs: p.GPUs, Rate: p.Rate,
			Cost: capcli.Cost(p.Rate, capcli.GPUTime(min(p.Until, r.End)-o.Date)*capcli.GPUSecond) * capcli.USD(p.GPUs), Total: p.Total,
		}
		return append([]market.Purchase{fenced}, r.Plan.Commitments...)
	}
	for _, c := range []*Choice{r.Plan, r.Nearest} {
		if c != nil {
			return c.Commitments
		}
	}
	return nil
}

package mix

import (
	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/scenarios/validate"
)

// schema names the JSON form of a Result. Fields are added, never renamed.
const schema = "capcli/plan_mix/v1"

// Result is the plan of a scenario: the best mix, its gap to the lower bound, the other mixes tried
// and the assumptions. Its JSON is the document that commands write.
type Result struct {
	Schema     string         `json:"schema"`
	Currency   string         `json:"currency"`
	Scenario   string         `json:"scenario"`
	Trace      string         `json:"trace"`
	Seed       uint64         `json:"seed"`
	Runs       int            `json:"runs"`
	Hold       float64        `json:"hold_share"`
	Confidence float64        `json:"confidence"`
	Goal       string         `json:"goal"`
	Priced     bool           `json:"unserved_priced"`            // the cost includes the unserved work at the on-demand price
	WaitPrice  capcli.Rate    `json:"wait_cost_usd_per_job_hour"` // what an hour that one job waits counts in the choice of the best mix
	Within     capcli.Seconds `json:"availability_within_s"`
	Limits     []Limit        `json:"limits"`
	Axes       []Axis         `json:"axes"`
	Counts     Tally          `json:"counts"`

	Partial string  `json:"partial,omitempty"` // what was stopped: the plan is the best so far; "" where nothing was
	Futures *Played `json:"futures,omitempty"`

	Buys []Bought `json:"buys,omitempty"` // the committed pools of the best mix
	// Commitments are those of the best mix that cover its use on demand and are no place; null where the plan has
	// no offers.
	Commitments *Coverage     `json:"commitments,omitempty"`
	Standing    *Standing     `json:"standing,omitempty"`     // what the best mix is tied with; null where that is not known
	CommittedAs []CommittedAs `json:"committed_as,omitempty"` // the ways to commit, where the plan has offers
	Logs        []PlayedLog   `json:"job_logs,omitempty"`     // the job logs that were played, one a run

	Best       *Mix               `json:"best"`
	Bound      *Bound             `json:"bound"`
	Owed       []Owed             `json:"owed_after_the_runs,omitempty"`
	Plans      []*Mix             `json:"plans"`
	Own        *Mix               `json:"own"` // the scenario's own mix
	Unpriced   []*Mix             `json:"without_a_price,omitempty"`
	Next       *Mix               `json:"second_cheapest"`
	Closest    *Mix               `json:"closest"` // the mix nearest to the limits, where no mix holds them
	Binding    *string            `json:"binding_limit"`
	Frontier   []*Mix             `json:"frontier"`
	Sizes      []Sized            `json:"by_committed_gpus"`
	Models     []ModelMix         `json:"by_gpu_model,omitempty"` // the best mix of each model alone, where jobs may run on several
	Marginal   []MarginalGPU      `json:"marginal"`
	BreakEven  []Tie              `json:"break_even"`
	Bills      []BillTie          `json:"commitment_break_even,omitempty"` // of each offer that covers
	Against    *int               `json:"break_even_against"`              // number of the mix that the break-even prices compare with
	Tornado    []Swing            `json:"sensitivity"`
	All        []*Mix             `json:"all,omitempty"`
	BestRuns   []Outcome          `json:"best_runs"`
	Assumption []string           `json:"assumptions"`
	Notes      []string           `json:"notes"`
	Approval   *billing.Signature `json:"approval,omitempty"`

	// OwnPast says how far the scenario's policy is from the waits that the log records; nil where it
	// records none. Ranges of waits are widened by it.
	OwnPast *validate.OwnPast `json:"own_past,omitempty"`

	// The values that the result was computed from.
	Found  *Found              `json:"-"`
	Rival  *Entry              `json:"-"` // the mix with the number Against
	Chosen *scenarios.Scenario `json:"-"` // the scenario of the best mix
	Base   *scenarios.Scenario `json:"-"` // the scenario without changes
	Risk   plan.Risk           `json:"-"` // the figure of the cost over the runs that the search minimises
}

// Tally counts mixes by their fate.
type Tally struct {
	Mixes int `json:"mixes"`
	Counts
	Closed      int         `json:"not_tried_no_better"` // proven by a lower bound
	Open        int         `json:"not_tried_may_be_better"`
	Loss        *capcli.USD `json:"possible_loss_usd"` // null where the mixes that were not tried have no bound
	Invalid     int         `json:"invalid"`
	Simulations int         `json:"simulations"`
}

// Mix is one mix and its figures: means over its runs, and ranges that hold 90 % of them, or all of fewer than 40. An
// unknown figure is null.
type Mix struct {
	Mix        int            `json:"mix"`
	Choices    []Choice       `json:"choices"`
	Is         []string       `json:"is"`
	Fate       string         `json:"fate"`
	Runs       int            `json:"runs"`
	Cost       *capcli.USD    `json:"cost_usd"`
	CostRange  []capcli.USD   `json:"cost_range_usd"`
	Length     capcli.Seconds `json:"length_s"` // mean length of the runs, which amounts are over
	PerYear    *capcli.USD    `json:"cost_per_year_usd"`
	Unserved   *float64       `json:"unserved_share"`
	UnservedIn []float64      `json:"unserved_share_range"`
	Undone     *float64       `json:"unserved_gpu_hours"`
	UndoneJobs *float64       `json:"unserved_jobs"`
	Penalty    *capcli.USD    `json:"unserved_in_cost_usd,omitempty"`
	WaitMean   *float64       `json:"wait_mean_s"`
	WaitHours  *float64       `json:"wait_job_hours"`      // of all jobs together
	WaitCost   *capcli.USD    `json:"waits_usd,omitempty"` // what they count in the choice; no part of the cost
	WaitP95    *float64       `json:"wait_p95_s"`
	WaitRange  []float64      `json:"wait_p95_range_s"`
	Stranded   *capcli.USD    `json:"stranded_usd"`
	Available  *float64       `json:"availability"`
	Allocation *float64       `json:"allocation_rate"`
	OnDemand   *capcli.USD    `json:"on_demand_usd"`
	Spot       *capcli.USD    `json:"spot_usd"`
	Saved      *float64       `json:"effective_savings_rate"`
	Held       *float64       `json:"held_share"`
	HeldIn     []bool         `json:"held"`
	Distances  []Distance     `json:"limits"`
	Gap        *float64       `json:"optimality_gap"`
	Fault      string         `json:"cannot_be_priced,omitempty"`

	Services []outcome.Service `json:"services,omitempty"` // of the first run

	Commitments *Coverage `json:"commitments,omitempty"`

	Entry *Entry `json:"-"` // the entry that the figures are of
}

// Choice is the value of a mix on one axis.
type Choice struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Owed is a commitment of the best mix that lasts beyond the runs: its cost within the runs, its
// cost after them, and what of that is yet to be paid.
type Owed struct {
	Name   string      `json:"commitment"`
	Start  capcli.Time `json:"start"`
	End    capcli.Time `json:"end"`
	UsedUp capcli.USD  `json:"used_up_usd"`
	LockIn capcli.USD  `json:"lock_in_usd"`
	Unpaid capcli.USD  `json:"unpaid_usd"`
}

// MarginalGPU is a size of a pool near the best, and the marginal value of its GPUs.
type MarginalGPU struct {
	Pool   string      `json:"pool"`
	GPUs   int         `json:"gpus"`
	Needed float64     `json:"needed_share_of_time"` // share of the time in which jobs would hold that many GPUs if none waited
	Cost   capcli.USD  `json:"cost_usd"`
	Saved  *capcli.USD `json:"saved_usd"` // by the GPUs since the row before; null where that has no price or is missing
	Wait   float64     `json:"wait_p95_s"`
	Held   float64     `json:"held_share"`
	Undone float64     `json:"unserved_share"`
	Serves bool        `json:"unserved_within_limit"`
	Holds  bool        `json:"holds_limits"`               // in the share of the runs that the plan asks for
	Why    string      `json:"why_not_the_plan,omitempty"` // of a cheaper size that holds the limits
	Best   bool        `json:"best"`
}

// Swing is the effect of one change on the best mix.
type Swing struct {
	What       string     `json:"change"`
	Cost       capcli.USD `json:"cost_usd"`
	Difference capcli.USD `json:"difference_usd"`
	Wait       float64    `json:"wait_p95_s"`
	Held       *float64   `json:"held_share"`
	Undone     float64    `json:"unserved_share"`
	Exact      bool       `json:"priced_only"` // computed from prices alone, without a simulation
}

func (s *study) result() *Result {
	r := s.out
	c, search := s.req.Case, s.Search
	r.Schema, r.Currency, r.Scenario, r.Trace, r.Seed = schema, "USD", c.Scenario.Name, c.Source.Name, uint64(s.problem.Seed)
	r.Runs, r.Hold, r.Confidence, r.Goal, r.Priced = s.problem.Runs, search.Hold, search.Confidence, search.Goal.String(), s.problem.PriceUnserved
	r.WaitPrice, r.Within, r.Limits, r.Axes, r.Counts = s.problem.WaitPrice, s.problem.Within, orEmpty(search.Limits), orEmpty(s.problem.Space.Axes), s.tally()
	r.Found, r.Base, r.Risk = s.found, c.Scenario, search.Risk
	r.Futures, r.Logs = s.played(), s.playedLogs()
	ranked, _ := s.found.rankedMixes()
	r.Best, r.Own, r.Next = s.mix(s.best), s.mix(s.ownEntry()), s.mix(s.found.secondBest())
	r.Plans, r.Frontier, r.Unpriced = s.mixes(ranked), s.mixes(s.found.frontier()), s.mixes(s.found.unpriced())
	if s.best == nil {
		r.Closest = s.mix(s.found.nearestMix())
		if i := s.found.Binding(); i >= 0 {
			r.Binding = &s.Search.Limits[i].Text
		}
	} else {
		r.BestRuns, r.Commitments = s.best.Outcomes, s.best.Cover
		r.Bound, r.Approval = s.bound, s.approval()
	}
	if s.req.All {
		r.All = s.mixes(s.found.Entries)
	}
	r.Sizes = orEmpty(r.Sizes)
	r.Marginal, r.BreakEven, r.Tornado, r.BestRuns = orEmpty(r.Marginal), orEmpty(r.BreakEven), orEmpty(r.Tornado), orEmpty(r.BestRuns)
	r.Assumption, r.Notes = orEmpty(s.assumptions()), orEmpty(s.allNotes())
	return r
}

// orEmpty returns list, or an empty one for nil, which JSON would write as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// tally counts the mixes by their fate.
func (s *study) tally() Tally {
	f := s.found
	out := Tally{Mixes: f.Size, Counts: f.Counts(), Closed: f.Closed, Open: f.Open, Invalid: f.Invalid, Simulations: f.Simulations}
	if !f.Unweighed && !f.Partial && (s.best != nil || f.Open == 0) {
		out.Loss = &f.Loss
	}
	return out
}

// unpriced returns the mixes that have no price, in order of their numbers. They cannot be compared
// with others.
func (f *Found) unpriced() []*Entry {
	var out []*Entry
	for _, e := range f.Entries {
		if e.Fate == ByFault {
			out = append(out, e)
		}
	}
	return out
}

// ownEntry returns the scenario's own mix; nil where it was not tried.
func (s *study) ownEntry() *Entry {
	if len(s.Search.Include) == 0 {
		return nil
	}
	for _, e := range s.found.Entries {
		if e.Index == s.Search.Include[0] {
			return e
		}
	}
	return nil
}

func (s *study) mixes(entries []*Entry) []*Mix {
	out := make([]*Mix, len(entries))
	for i, e := range entries {
		out[i] = s.mix(e)
	}
	return out
}

// mix returns the document of a mix; nil for nil.
func (s *study) mix(e *Entry) *Mix {
	if e == nil {
		return nil
	}
	out := &Mix{
		Mix: e.Index, Choices: []Choice{}, Is: orEmpty(s.roles(e)), Fate: e.Fate.String(), Runs: len(e.Outcomes),
		HeldIn: orEmpty(e.held), Distances: []Distance{}, Entry: e,
	}
	for a, v := range e.Values {
		out.Choices = append(out.Choices, Choice{s.problem.Space.Axes[a].Path, v})
	}
	if out.Fault = e.fault(); len(e.Outcomes) == 0 || out.Fault != "" {
		out.CostRange, out.WaitRange, out.UnservedIn = []capcli.USD{}, []float64{}, []float64{}
		return out
	}
	out.Services, out.Commitments = e.Outcomes[0].Services, e.Cover
	cost, held := e.Cost(), e.HeldShare()
	out.Cost, out.Held = &cost, &held
	lo, hi, _ := e.Range("cost")
	out.CostRange = []capcli.USD{capcli.USDOf(lo), capcli.USDOf(hi)}
	out.WaitRange = s.waitRange(e)
	hours, waits := e.WaitHours(), e.CostWithWaits()-cost
	if out.WaitHours = &hours; waits > 0 {
		out.WaitCost = &waits
	}
	lo, hi, _ = e.Range("unserved_share")
	out.UnservedIn = []float64{lo, hi}
	if out.Length = e.Length(); out.Length > 0 {
		year, _ := billing.PerYear(cost, out.Length)
		out.PerYear = &year
	}
	if p := e.Penalty(); p > 0 {
		out.Penalty = &p
	}
	out.means(e)
	out.Distances = append(out.Distances, s.found.Distances(e)...)
	if b := s.bound; b.Cost > 0 && (!b.Service() || e == s.best) {
		gap := (cost - b.Cost).Float() / b.Cost.Float()
		out.Gap = &gap
	}
	return out
}

// means fills in the figures that are means over the runs, where they are known.
func (m *Mix) means(e *Entry) {
	for _, f := range []struct {
		metric string
		to     **float64
	}{
		{"unserved_share", &m.Unserved},
		{"unserved_gpu_hours", &m.Undone},
		{"unserved_jobs", &m.UndoneJobs},
		{"wait_mean", &m.WaitMean},
		{"wait_p95", &m.WaitP95},
		{"availability", &m.Available},
		{"allocation_rate", &m.Allocation},
		{"effective_savings_rate", &m.Saved},
	} {
		if v, ok := e.Mean(f.metric); ok {
			*f.to = &v
		}
	}
	for _, f := range []struct {
		metric string
		to     **capcli.USD
	}{{"stranded", &m.Stranded}, {"on_demand", &m.OnDemand}, {"spot", &m.Spot}} {
		if v, ok := e.Mean(f.metric); ok {
			u := capcli.USDOf(v)
			*f.to = &u
		}
	}
}

package main

import (
	"math"

	"capcli/simulate/plan/mix"

	"capcli"
	"capcli/simulate/billing"
)

// planMixJSON is what a plan of a scenario writes with -o json: schema
// capcli/plan_mix/v1. Fields are added, never renamed.
type planMixJSON struct {
	Schema     string         `json:"schema"`
	Currency   string         `json:"currency"`
	Scenario   string         `json:"scenario"`
	Trace      string         `json:"trace"`
	Seed       uint64         `json:"seed"`
	Runs       int            `json:"runs"`
	Hold       float64        `json:"hold_share"`
	Confidence float64        `json:"confidence"`
	Goal       string         `json:"goal"`
	Priced     bool           `json:"unserved_priced"` // the cost has the work left undone, at the on-demand price
	Within     capcli.Seconds `json:"availability_within_s"`
	Limits     []planLimit    `json:"limits"`
	Axes       []planAxis     `json:"axes"`
	Counts     planCounts     `json:"counts"`

	Partial string          `json:"partial,omitempty"` // what was stopped: the plan is the best so far
	Futures *mixFuturesJSON `json:"futures,omitempty"`

	Best       *mixJSON           `json:"best"`
	Bound      *boundJSON         `json:"bound"`
	Owed       []owedJSON         `json:"owed_after_the_runs,omitempty"`
	Plans      []*mixJSON         `json:"plans"`
	Own        *mixJSON           `json:"own"`
	Unpriced   []*mixJSON         `json:"without_a_price,omitempty"`
	Next       *mixJSON           `json:"second_cheapest"`
	Closest    *mixJSON           `json:"closest"`
	Binding    *string            `json:"binding_limit"`
	Frontier   []*mixJSON         `json:"frontier"`
	Marginal   []marginalJSON     `json:"marginal"`
	BreakEven  []tieJSON          `json:"break_even"`
	Against    *int               `json:"break_even_against"`
	Tornado    []swingJSON        `json:"sensitivity"`
	All        []*mixJSON         `json:"all,omitempty"`
	BestRuns   []planOutcome      `json:"best_runs"`
	Assumption []string           `json:"assumptions"`
	Notes      []string           `json:"notes"`
	Approval   *billing.Signature `json:"approval,omitempty"`
}

type (
	planLimit   = mix.Limit
	planAxis    = mix.Axis
	planOutcome = mix.Outcome
)

type planCounts struct {
	Mixes int `json:"mixes"`
	mix.Counts
	Closed      int         `json:"not_tried_no_better"` // by a lower bound
	Open        int         `json:"not_tried_may_be_better"`
	Loss        *capcli.USD `json:"possible_loss_usd"` // null: the mixes that were not tried were not weighed
	Invalid     int         `json:"invalid"`
	Simulations int         `json:"simulations"`
}

// mixJSON is one mix.
type mixJSON struct {
	Mix        int            `json:"mix"`
	Choices    []choiceJSON   `json:"choices"`
	Is         []string       `json:"is"`
	Fate       string         `json:"fate"`
	Runs       int            `json:"runs"`
	Cost       *capcli.USD    `json:"cost_usd"`
	CostRange  []capcli.USD   `json:"cost_range_usd"`
	Length     capcli.Seconds `json:"length_s"` // that amounts are over: the mean of the runs
	PerYear    *capcli.USD    `json:"cost_per_year_usd"`
	Unserved   *float64       `json:"unserved_share"`
	UnservedIn []float64      `json:"unserved_share_range"`
	Undone     *float64       `json:"unserved_gpu_hours"`
	UndoneJobs *float64       `json:"unserved_jobs"`
	Penalty    *capcli.USD    `json:"unserved_in_cost_usd,omitempty"`
	WaitMean   *float64       `json:"wait_mean_s"`
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
	Distances  []distanceJSON `json:"limits"`
	Gap        *float64       `json:"optimality_gap"`
	Fault      string         `json:"cannot_be_priced,omitempty"`
}

type choiceJSON struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

type distanceJSON struct {
	Limit string   `json:"limit"`
	Mean  *float64 `json:"mean"`
	Miss  *float64 `json:"beyond_by"`
	Held  float64  `json:"held_share"`
}

type boundJSON struct {
	Cost    capcli.USD     `json:"cost_usd"`
	Gap     float64        `json:"optimality_gap"`
	Over    string         `json:"over"` // every_mix or same_service
	Why     string         `json:"why_not_every_mix,omitempty"`
	Says    string         `json:"says"`
	MaxWait capcli.Seconds `json:"longest_wait_s"`
	GPUs    int64          `json:"committed_gpus"`
}

// owedJSON is a commitment of the best mix that lasts beyond the runs: what of it is
// charged here, and what is for the time after.
type owedJSON struct {
	Name   string      `json:"commitment"`
	End    capcli.Time `json:"end"`
	UsedUp capcli.USD  `json:"used_up_usd"`
	LockIn capcli.USD  `json:"lock_in_usd"`
	Unpaid capcli.USD  `json:"unpaid_usd"`
}

type marginalJSON struct {
	Pool   string      `json:"pool"`
	GPUs   int         `json:"gpus"`
	Needed float64     `json:"needed_share_of_time"`
	Cost   capcli.USD  `json:"cost_usd"`
	Saved  *capcli.USD `json:"saved_usd"`
	Wait   float64     `json:"wait_p95_s"`
	Held   float64     `json:"held_share"`
	Undone float64     `json:"unserved_share"`
	Serves bool        `json:"unserved_within_limit"`
	Best   bool        `json:"best"`
}

type tieJSON struct {
	Pool string       `json:"pool"`
	Now  capcli.Rate  `json:"usd_per_gpu_hour"`
	At   *capcli.Rate `json:"break_even_usd_per_gpu_hour"`
	Why  string       `json:"break_even_why,omitempty"`
	Best string       `json:"best_is_cheaper,omitempty"` // below or above
}

type swingJSON struct {
	What       string     `json:"change"`
	Cost       capcli.USD `json:"cost_usd"`
	Difference capcli.USD `json:"difference_usd"`
	Wait       float64    `json:"wait_p95_s"`
	Held       *float64   `json:"held_share"`
	Undone     float64    `json:"unserved_share"`
	Exact      bool       `json:"priced_only"`
}

// json gives the plan as it is written.
func (r *mixResult) json() *planMixJSON {
	s := r.search
	out := &planMixJSON{
		Schema: "capcli/plan_mix/v1", Currency: "USD", Scenario: r.base.Scenario.Name, Trace: r.base.Source.Name,
		Seed: uint64(r.problem.Seed), Runs: r.problem.Runs, Hold: s.Hold, Confidence: s.Confidence, Goal: r.o.mix.goal, Priced: r.problem.PriceUnserved,
		Within: r.problem.Within, Limits: list(s.Limits), Axes: list(r.problem.Space.Axes), Notes: list(r.allNotes()),
		Counts: r.counts(),
		Plans:  []*mixJSON{}, Frontier: []*mixJSON{}, Marginal: []marginalJSON{}, BreakEven: []tieJSON{}, Tornado: []swingJSON{},
		BestRuns: []planOutcome{}, Assumption: list(r.assumptions()),
	}
	out.Best, out.Approval = r.mixJSON(r.best), r.approval()
	out.Futures, out.Partial = r.futuresJSON(), r.stopped
	ranked, _ := r.found.Ranked()
	for _, e := range ranked {
		out.Plans = append(out.Plans, r.mixJSON(e))
	}
	for _, e := range r.found.Frontier() {
		out.Frontier = append(out.Frontier, r.mixJSON(e))
	}
	for _, e := range r.unpriced() {
		out.Unpriced = append(out.Unpriced, r.mixJSON(e))
	}
	out.Own, out.Next = r.mixJSON(r.ownEntry()), r.mixJSON(r.found.Second())
	if r.best == nil {
		out.Closest = r.mixJSON(r.found.Nearest())
		if i := r.found.Binding(); i >= 0 {
			text := r.limits[i].String()
			out.Binding = &text
		}
	}
	if r.o.mix.all {
		for _, e := range r.found.Entries {
			out.All = append(out.All, r.mixJSON(e))
		}
	}
	r.studyJSON(out)
	return out
}

// counts are the mixes by what became of them.
func (r *mixResult) counts() planCounts {
	f := r.found
	out := planCounts{Mixes: f.Size, Counts: f.Counts(), Closed: f.Closed, Open: f.Open, Invalid: f.Invalid, Simulations: f.Simulations}
	if !f.Unweighed && !f.Partial && (r.best != nil || f.Open == 0) {
		out.Loss = &f.Loss
	}
	return out
}

// studyJSON adds what was asked about the best mix.
func (r *mixResult) studyJSON(out *planMixJSON) {
	if r.best == nil {
		return
	}
	out.BestRuns = r.best.Outcomes
	for _, c := range r.owed {
		out.Owed = append(out.Owed, owedJSON{c.Name, c.End, c.UsedUp, c.Unexpired, c.Unpaid})
	}
	over := map[bool]string{false: "every_mix", true: "same_service"}[r.bound.Service]
	out.Bound = &boundJSON{r.bound.Cost, r.bound.Gap, over, r.bound.Why, r.boundSays(), r.bound.MaxWait, r.bound.GPUs}
	for _, m := range r.marginal {
		row := marginalJSON{
			Pool: m.pool, GPUs: m.gpus, Needed: m.needed, Cost: m.entry.Cost(), Wait: m.entry.Wait(), Held: m.entry.Held(), Undone: shareUndone(m.entry), Serves: m.entry.Serves(),
			Best: m.entry.Key == r.best.Key,
		}
		if !m.first {
			row.Saved = &m.saved
		}
		out.Marginal = append(out.Marginal, row)
	}
	if r.rival != nil {
		out.Against = &r.rival.Index
	}
	for _, t := range r.ties {
		row := tieJSON{Pool: t.Pool, Now: t.Now}
		if t.Tied {
			row.At, row.Best = &t.At, map[bool]string{true: "below", false: "above"}[t.Lower]
		} else {
			row.Why = "no price of 0 or more makes the two cost the same"
		}
		out.BreakEven = append(out.BreakEven, row)
	}
	for _, w := range r.tornado {
		row := swingJSON{What: w.what, Cost: w.cost, Difference: w.cost - r.best.Cost(), Wait: w.wait, Exact: w.exact, Undone: w.undone}
		if !math.IsNaN(w.held) {
			row.Held = &w.held
		}
		out.Tornado = append(out.Tornado, row)
	}
}

// mixJSON gives one mix; nil for none.
func (r *mixResult) mixJSON(e *mix.Entry) *mixJSON {
	if e == nil {
		return nil
	}
	out := &mixJSON{Mix: e.Index, Choices: []choiceJSON{}, Is: list(r.roles(e)), Fate: e.Fate.String(), Runs: len(e.Outcomes), HeldIn: list(e.HeldIn()), Distances: []distanceJSON{}}
	for a, v := range e.Values {
		out.Choices = append(out.Choices, choiceJSON{r.problem.Space.Axes[a].Path, v})
	}
	if out.Fault = e.Fault(); len(e.Outcomes) == 0 || out.Fault != "" {
		out.CostRange, out.WaitRange, out.UnservedIn = []capcli.USD{}, []float64{}, []float64{}
		return out
	}
	cost, held := e.Cost(), e.Held()
	out.Cost, out.Held = &cost, &held
	lo, hi, _ := e.Range("cost")
	out.CostRange = []capcli.USD{capcli.USDOf(lo), capcli.USDOf(hi)}
	lo, hi, _ = e.Range("wait_p95")
	out.WaitRange = []float64{lo, hi}
	lo, hi, _ = e.Range("unserved_share")
	out.UnservedIn = []float64{lo, hi}
	out.Length = e.Length()
	if year := perYear(cost, out.Length); out.Length > 0 {
		out.PerYear = &year
	}
	if p := e.Penalty(); p > 0 {
		out.Penalty = &p
	}
	out.means(e)
	for _, d := range r.found.Distances(e) {
		x := distanceJSON{Limit: d.Limit.Text, Held: d.Held}
		if d.Known {
			x.Mean, x.Miss = &d.Mean, &d.Miss
		}
		out.Distances = append(out.Distances, x)
	}
	if b := r.bound; b != nil && b.Cost > 0 && (!b.Service || e == r.best) {
		gap := (cost - b.Cost).Float() / b.Cost.Float()
		out.Gap = &gap
	}
	return out
}

// means fills in the figures that are means over the runs, where they are known.
func (out *mixJSON) means(e *mix.Entry) {
	for _, f := range []struct {
		metric string
		to     **float64
	}{
		{"unserved_share", &out.Unserved},
		{"unserved_gpu_hours", &out.Undone},
		{"unserved_jobs", &out.UndoneJobs},
		{"wait_mean", &out.WaitMean},
		{"wait_p95", &out.WaitP95},
		{"availability", &out.Available},
		{"allocation_rate", &out.Allocation},
		{"effective_savings_rate", &out.Saved},
	} {
		if v, ok := e.Mean(f.metric); ok {
			*f.to = &v
		}
	}
	for _, f := range []struct {
		metric string
		to     **capcli.USD
	}{{"stranded", &out.Stranded}, {"on_demand", &out.OnDemand}, {"spot", &out.Spot}} {
		if v, ok := e.Mean(f.metric); ok {
			u := capcli.USDOf(v)
			*f.to = &u
		}
	}
}

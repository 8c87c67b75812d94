package futures

import (
	"fmt"
	"math"
	"strconv"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/billing"
)

// Result is a plan for futures. Amounts in lists are by future, in the order of their numbers.
type Result struct {
	Schema      string          `json:"schema"`
	Currency    string          `json:"currency"`
	Futures     Wanted          `json:"futures"`
	Market      market.Document `json:"market"`
	Risk        string          `json:"risk"`
	Optimum     Optimum         `json:"optimum"`
	Held        []market.Held   `json:"held"`
	Limits      []string        `json:"limits"`
	Hold        float64         `json:"hold_share"`        // of the futures in which all limits must hold together
	Unheld      string          `json:"no_plan,omitempty"` // no plan tried holds the limits: how near the nearest is, which is then the plan
	Plans       []Plan          `json:"plans"`             // the first is the optimum
	Best        []capcli.USD    `json:"best_cost_usd"`
	Calendar    []Month         `json:"calendar"`
	Cliffs      []Cliff         `json:"cliffs"`
	Waiting     *Waiting        `json:"waiting"`
	WaitingWhy  string          `json:"waiting_why,omitempty"`
	Assumptions []string        `json:"assumptions"`
	Notes       []string        `json:"notes"`

	RiskWords string         `json:"-"` // "mean of the worst 5%"
	Wait      string         `json:"-"` // interval after which the plan is decided again; "" is never
	Length    capcli.Seconds `json:"-"` // length of each future
	Partial   string         `json:"-"` // what is missing of the input; "" is nothing
	Frame     market.Frame   `json:"-"` // the mean of the futures, and the market
	Field     *plan.Field    `json:"-"` // the futures laid out in the market of Frame; it may price other plans
}

// Wanted is the document of the futures.
type Wanted struct {
	Input  string         `json:"input"`
	Series []string       `json:"series"`
	Count  int            `json:"count"`
	Start  market.Instant `json:"start"`
	End    market.Instant `json:"end"`
	Step   string         `json:"step"`
	Steps  int            `json:"steps"`
	Mean   float64        `json:"mean_gpus"`
	Levels []float64      `json:"mean_gpus_by_future"`
}

// Optimum is the plan; Cost is the risk of its costs.
type Optimum struct {
	Cost      capcli.USD        `json:"cost_usd"`
	Bound     capcli.USD        `json:"lower_bound_usd"`
	Gap       *float64          `json:"optimality_gap"` // null where no bound over 0 is known
	Exact     bool              `json:"exact"`
	Rounds    int               `json:"rounds"`
	Purchases []market.Purchase `json:"purchases"`
}

// GapText returns the gap in words, rounded up; a gap below a millionth of a percent reads as that.
func (o *Optimum) GapText() string {
	switch {
	case o.Gap == nil:
		return "an unknown share"
	case *o.Gap < 1e-8:
		return "0.000001%"
	case *o.Gap < 1e-4:
		return strconv.FormatFloat(math.Ceil(*o.Gap*1e8)/1e6, 'f', -1, 64) + "%"
	}
	return fmt.Sprintf("%.2f%%", math.Ceil(*o.Gap*1e4)/100)
}

// Plan is a plan or a rule, and its outcomes in the futures.
type Plan struct {
	Name       string            `json:"plan"`
	Doc        string            `json:"how"`
	Adapts     bool              `json:"decides_as_it_goes"`
	Purchases  []market.Purchase `json:"purchases"`
	Mean       *capcli.USD       `json:"mean_cost_usd"`
	P50        *capcli.USD       `json:"cost_p50_usd"`
	P80        *capcli.USD       `json:"cost_p80_usd"`
	P95        *capcli.USD       `json:"cost_p95_usd"`
	CVaR95     *capcli.USD       `json:"cvar95_cost_usd"`
	Above      *float64          `json:"above_bound"`
	Committed  capcli.USD        `json:"committed_cost_mean_usd"`
	OnDemand   capcli.USD        `json:"on_demand_cost_mean_usd"`
	Unused     capcli.USD        `json:"unused_mean_usd"`
	Coverage   *float64          `json:"coverage_mean"`
	Utilised   *float64          `json:"utilisation_mean"`
	MeanRegret capcli.USD        `json:"regret_mean_usd"`
	MaxRegret  capcli.USD        `json:"regret_max_usd"`
	MaxFuture  int               `json:"regret_max_future"`
	Held       []LimitHeld       `json:"limits"`
	AllHeld    *float64          `json:"all_limits_held_share"`
	Costs      []capcli.USD      `json:"cost_usd"`
	Regrets    []capcli.USD      `json:"regret_usd"`

	// First is the purchases before the next decision; nil for a rule that decides anew in each
	// future.
	First []market.Purchase `json:"-"`
}

// LimitHeld is the share of futures in which a limit holds.
type LimitHeld struct {
	Limit string  `json:"limit"`
	Share float64 `json:"held_share"`
}

// Month is the purchases of one instant.
type Month struct {
	Start     market.Instant    `json:"start"`
	Purchases []market.Purchase `json:"purchases"`
	Cost      capcli.USD        `json:"cost_usd"`
	SoFar     capcli.USD        `json:"so_far_usd"`
	GPUs      float64           `json:"committed_gpus"`
}

// Cliff is an instant at which commitments end, with the demand of the month that follows.
type Cliff struct {
	Date   market.Instant `json:"date"`
	Ends   float64        `json:"ends_gpus"`
	Before float64        `json:"before_gpus"`
	After  float64        `json:"after_gpus"`
	Wanted *float64       `json:"wanted_mean_gpus"`
	High   *float64       `json:"wanted_p80_gpus"`
	Why    string         `json:"wanted_why,omitempty"`
}

// Waiting is the value of waiting. The purchases of a decision are made in each of its futures.
type Waiting struct {
	For       string     `json:"for"`
	Now       capcli.USD `json:"all_now_usd"`
	Again     capcli.USD `json:"decide_again_usd"`
	Bound     capcli.USD `json:"decide_again_lower_bound_usd"`
	Later     capcli.USD `json:"all_later_usd"`
	Value     capcli.USD `json:"value_of_waiting_usd"`
	Deciding  capcli.USD `json:"value_of_deciding_again_usd"`
	Rest      capcli.USD `json:"first_now_rest_later_usd"`
	Known     capcli.USD `json:"known_usd"`
	Perfect   capcli.USD `json:"value_of_knowing_usd"`
	Signals   []GoNoGo   `json:"go_no_go,omitempty"`
	Told      capcli.USD `json:"value_of_go_no_go_usd,omitempty"` // what the go/no-go dates save, together
	Decisions []Decision `json:"decisions"`
}

// Decision is one decision of a plan that decides again.
type Decision struct {
	Number    int               `json:"decision"`
	After     *int              `json:"after_decision"` // null for the first decision
	Date      market.Instant    `json:"date"`
	Futures   []int             `json:"futures"`
	Wanted    *float64          `json:"wanted_before_gpus"`
	Least     *float64          `json:"wanted_before_least_gpus"`
	Most      *float64          `json:"wanted_before_most_gpus"`
	Events    []Outcome         `json:"events,omitempty"` // what is known of events with a go/no-go date
	Purchases []market.Purchase `json:"purchases"`
}

func (s *solver) result() *Result {
	first, mean := s.plans[0], s.set.Mean
	out := &Result{
		Schema: "capcli/plan_futures/v1", Currency: "USD", Risk: s.q.risk.String(), Market: s.Document(), Limits: []string{}, Held: s.HeldDocument(),
		Calendar: []Month{}, Cliffs: []Cliff{}, Waiting: s.waitingDocument(), WaitingWhy: s.noWait, Assumptions: s.assumptions(),
		Futures: Wanted{
			Input: s.set.Input, Series: append([]string{}, s.set.Series...), Count: s.field.Count(), Start: s.Instant(0), End: s.Instant(mean.Len()),
			Step: mean.Step.String(), Steps: len(mean.Work), Mean: mean.Sum().Hours() / mean.Len().Hours(),
		},
		Optimum:   Optimum{Cost: s.value, Bound: s.bound, Exact: s.choice.Exact(), Rounds: s.choice.Rounds, Purchases: s.Purchases(first.Purchases)},
		RiskWords: s.q.risk.Words(), Wait: s.q.request.Wait, Length: mean.Len(), Partial: s.set.Partial, Frame: s.Frame, Field: s.field,
	}
	out.Notes = s.notes(out.Assumptions)
	if s.bound > 0 || s.choice.Exact() {
		gap := s.choice.Gap()
		out.Optimum.Gap = &gap
	}
	out.Hold, out.Unheld = s.q.hold, s.unheldText()
	for _, l := range s.q.limits {
		out.Limits = append(out.Limits, l.text)
	}
	for _, a := range s.plans {
		out.Plans = append(out.Plans, s.plan(a))
	}
	for i := range first.Outcomes {
		o := &first.Outcomes[i]
		out.Best = append(out.Best, o.Cost-o.Regret)
		out.Futures.Levels = append(out.Futures.Levels, o.Wanted.Hours()/mean.Len().Hours())
	}
	for _, m := range plan.Calendar(first) {
		out.Calendar = append(out.Calendar, Month{s.Instant(m.At), s.Purchases(m.Purchases), m.Cost, m.SoFar, market.GPUs(m.Milli)})
	}
	for _, c := range s.field.Cliffs(first) {
		x := Cliff{Date: s.Instant(c.At), Ends: market.GPUs(c.Milli), Before: market.GPUs(c.Before), After: market.GPUs(c.After), Why: "the futures end before"}
		if c.Known {
			x.Wanted, x.High, x.Why = &c.Wanted, &c.High, ""
		}
		out.Cliffs = append(out.Cliffs, x)
	}
	return out
}

func (s *solver) plan(a *plan.Assessed) Plan {
	worst := a.WorstFuture()
	out := Plan{
		Name: a.Name, Doc: a.Doc, Adapts: a.Purchases == nil, Purchases: s.Purchases(a.Purchases),
		Committed:  capcli.MeanUSD(len(a.Outcomes), true, func(i int) capcli.USD { return a.Outcomes[i].Committed }),
		OnDemand:   capcli.MeanUSD(len(a.Outcomes), true, func(i int) capcli.USD { return a.Outcomes[i].OnDemand }),
		Unused:     capcli.MeanUSD(len(a.Outcomes), true, func(i int) capcli.USD { return a.Outcomes[i].Unused }),
		MeanRegret: a.MeanRegret(), MaxRegret: a.Outcomes[worst].Regret, MaxFuture: worst, Held: []LimitHeld{},
	}
	if a.Purchases != nil || a.First != nil {
		out.First = s.Purchases(append(a.Purchases[:len(a.Purchases):len(a.Purchases)], a.First...))
	}
	for _, x := range []struct {
		to   **capcli.USD
		risk plan.Risk
	}{
		{&out.Mean, plan.Risk{}},
		{&out.P50, plan.Risk{Kind: plan.Quantile, Level: 500_000}},
		{&out.P80, plan.Risk{Kind: plan.Quantile, Level: 800_000}},
		{&out.P95, plan.Risk{Kind: plan.Quantile, Level: 950_000}},
		{&out.CVaR95, plan.Risk{Kind: plan.CVaR, Level: 950_000}},
	} {
		if v, err := s.field.Risk(a, x.risk); err == nil {
			*x.to = &v
		}
	}
	if v, err := s.field.Risk(a, s.q.risk); err == nil && s.bound > 0 {
		above := v.Float()/s.bound.Float() - 1
		out.Above = &above
	}
	var wanted, covered, paid float64 // GPU-hours
	for i := range a.Outcomes {
		o := &a.Outcomes[i]
		wanted, covered, paid = wanted+o.Wanted.Hours(), covered+o.Covered.Hours(), paid+o.Paid.Hours()
		out.Costs, out.Regrets = append(out.Costs, o.Cost), append(out.Regrets, o.Regret)
	}
	out.Coverage, out.Utilised = market.Share(covered, wanted), market.Share(covered, paid)
	for i, l := range s.q.limits {
		out.Held = append(out.Held, LimitHeld{l.text, holdingShare(a, s.q.limits[i:i+1])})
	}
	if len(s.q.limits) > 0 {
		v := holdingShare(a, s.q.limits)
		out.AllHeld = &v
	}
	return out
}

func (s *solver) waitingDocument() *Waiting {
	w := s.waiting
	if w == nil {
		return nil
	}
	out := &Waiting{
		For: s.q.request.Wait, Now: w.Now, Again: w.Again, Bound: w.Bound, Later: w.Later, Value: w.Value(),
		Signals: s.set.goNoGos(), Told: w.Untold - w.Again, Deciding: w.Now - w.Again, Rest: w.Rest, Known: w.Known, Perfect: w.Now - w.Known,
	}
	for i := range w.Plan.Nodes {
		n := &w.Plan.Nodes[i]
		x := Decision{Number: i, Date: s.Instant(n.From), Futures: n.Futures, Events: s.set.outcomesOf(n), Purchases: s.Purchases(n.Purchases)}
		if n.Parent >= 0 {
			x.After, x.Wanted, x.Least, x.Most = &n.Parent, &n.Wanted, &n.Least, &n.Most
		}
		out.Decisions = append(out.Decisions, x)
	}
	return out
}

func (s *solver) assumptions() []string {
	out := []string{"all futures are equally likely, and demand does not depend on the purchases; levels are rounded to a thousandth of a GPU"}
	if s.set.Drawn {
		out = append(out, fmt.Sprintf("futures are the demand times a log-normal factor of mean 1 and standard deviation %s; half of an error decays in %s", s.q.request.DemandError, s.q.request.HalfLife))
	}
	out = append(out, "on-demand GPUs are always available at the stated price")
	for _, a := range s.q.Sketch.Assumed {
		out = append(out, a.Text)
	}
	w := s.waiting
	if w == nil {
		return out
	}
	last := w.Plan.Nodes[len(w.Plan.Nodes)-1].Stage
	text := fmt.Sprintf("revising*: %d decisions after the first; each knows the demand so far, which divides the futures into groups of equal size by the demand that it predicts", last)
	if s.field.Count() <= plan.MaxScenarios {
		text = fmt.Sprintf("revising*: %d decisions after the first; each future is recognised as soon as its demand differs", last)
	}
	if !w.Plan.Exact() {
		text += "; no plan with these decisions costs less than " + w.Bound.String()
	}
	return append(out, text)
}

func (s *solver) notes(assumptions []string) []string {
	notes := append([]string{billing.YearNote}, s.set.Notes...)
	if c := s.Curve; !c.Dated() {
		notes = append(notes, fmt.Sprintf("the futures have no dates: each value lasts %s (--step), a month has 730 hours, and starts count periods from 0", c.Step))
	}
	if s.waiting == nil {
		notes = append(notes, "the value of waiting: "+s.noWait)
	}
	notes = append(notes, s.q.Sketch.Notes()...)
	for _, a := range assumptions {
		notes = append(notes, "assumed: "+a)
	}
	return notes
}

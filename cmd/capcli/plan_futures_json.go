package main

import (
	"capcli"
	planning "capcli/simulate/plan"
)

// futuresPlanJSON is the JSON of a plan for futures. Amounts in lists are by
// future, in the order of their numbers.
type futuresPlanJSON struct {
	Schema      string           `json:"schema"`
	Currency    string           `json:"currency"`
	Futures     futuresJSON      `json:"futures"`
	Market      marketJSON       `json:"market"`
	Risk        string           `json:"risk"`
	Optimum     riskOptimumJSON  `json:"optimum"`
	Held        []heldJSON       `json:"held"`
	Limits      []string         `json:"limits"`
	Plans       []futurePlanJSON `json:"plans"`
	Best        []capcli.USD     `json:"best_cost_usd"`
	Calendar    []monthJSON      `json:"calendar"`
	Cliffs      []cliffJSON      `json:"cliffs"`
	Waiting     *waitingJSON     `json:"waiting"`
	WaitingWhy  string           `json:"waiting_why,omitempty"`
	Assumptions []string         `json:"assumptions"`
	Notes       []string         `json:"notes"`
}

type futuresJSON struct {
	Input  string    `json:"input"`
	Series []string  `json:"series"`
	Count  int       `json:"count"`
	Start  any       `json:"start"`
	End    any       `json:"end"`
	Step   string    `json:"step"`
	Steps  int       `json:"steps"`
	Mean   float64   `json:"mean_gpus"`
	Levels []float64 `json:"mean_gpus_by_future"`
}

// riskOptimumJSON is the plan itself; cost_usd is the risk of its cost.
type riskOptimumJSON struct {
	Cost      capcli.USD     `json:"cost_usd"`
	Bound     capcli.USD     `json:"lower_bound_usd"`
	Gap       *float64       `json:"optimality_gap"`
	Exact     bool           `json:"exact"`
	Rounds    int            `json:"rounds"`
	Purchases []purchaseJSON `json:"purchases"`
}

type futurePlanJSON struct {
	Name       string          `json:"plan"`
	Doc        string          `json:"how"`
	Adapts     bool            `json:"decides_as_it_goes"`
	Purchases  []purchaseJSON  `json:"purchases"`
	Mean       any             `json:"mean_cost_usd"`
	P50        any             `json:"cost_p50_usd"`
	P80        any             `json:"cost_p80_usd"`
	P95        any             `json:"cost_p95_usd"`
	CVaR95     any             `json:"cvar95_cost_usd"`
	Above      any             `json:"above_bound"`
	Committed  capcli.USD      `json:"committed_cost_mean_usd"`
	OnDemand   capcli.USD      `json:"on_demand_cost_mean_usd"`
	Unused     capcli.USD      `json:"unused_mean_usd"`
	Coverage   *float64        `json:"coverage_mean"`
	Utilised   *float64        `json:"utilisation_mean"`
	MeanRegret capcli.USD      `json:"regret_mean_usd"`
	MaxRegret  capcli.USD      `json:"regret_max_usd"`
	MaxFuture  int             `json:"regret_max_future"`
	Held       []limitHeldJSON `json:"limits"`
	AllHeld    *float64        `json:"all_limits_held_share"`
	Costs      []capcli.USD    `json:"cost_usd"`
	Regrets    []capcli.USD    `json:"regret_usd"`
}

type limitHeldJSON struct {
	Limit string  `json:"limit"`
	Share float64 `json:"held_share"`
}

type monthJSON struct {
	Start     any            `json:"start"`
	Purchases []purchaseJSON `json:"purchases"`
	Cost      capcli.USD     `json:"cost_usd"`
	SoFar     capcli.USD     `json:"so_far_usd"`
	GPUs      float64        `json:"committed_gpus"`
}

type cliffJSON struct {
	Date   any      `json:"date"`
	Ends   float64  `json:"ends_gpus"`
	Before float64  `json:"before_gpus"`
	After  float64  `json:"after_gpus"`
	Wanted *float64 `json:"wanted_mean_gpus"`
	High   *float64 `json:"wanted_p80_gpus"`
	Why    string   `json:"wanted_why,omitempty"`
}

func (r *futuresPlan) json() *futuresPlanJSON {
	f := r.frame()
	out := &futuresPlanJSON{
		Schema: "capcli/plan_futures/v1", Currency: "USD", Risk: r.ask.risk.String(), Market: f.marketJSON(), Limits: []string{}, Held: []heldJSON{},
		Calendar: []monthJSON{}, Cliffs: []cliffJSON{}, WaitingWhy: r.noWait, Assumptions: r.assumptions(), Notes: list(r.allNotes()),
		Futures: futuresJSON{
			Input: r.set.input, Series: list(r.set.series), Count: r.field.Count(), Start: f.when(0), End: f.when(r.set.mean.Len()),
			Step: r.set.mean.Step.String(), Steps: len(r.set.mean.Work), Mean: r.set.mean.Sum().Hours() / r.set.mean.Len().Hours(),
		},
		Optimum: riskOptimumJSON{
			Cost: r.value, Bound: r.bound, Exact: r.choice.Exact(), Rounds: r.choice.Rounds, Purchases: r.bought(r.plans[0].Purchases),
		},
	}
	if r.bound > 0 || r.choice.Exact() {
		gap := r.choice.Gap()
		out.Optimum.Gap = &gap
	}
	for _, h := range r.held {
		out.Held = append(out.Held, heldJSON{f.when(h.From), f.when(h.To), gpus(h.Milli)})
	}
	for _, l := range r.ask.limits {
		out.Limits = append(out.Limits, l.text)
	}
	for _, a := range r.plans {
		out.Plans = append(out.Plans, r.planJSON(a))
	}
	first := r.plans[0]
	for s := range first.Outcomes {
		o := &first.Outcomes[s]
		out.Best = append(out.Best, o.Cost-o.Regret)
		out.Futures.Levels = append(out.Futures.Levels, o.Wanted.Hours()/r.set.mean.Len().Hours())
	}
	for _, m := range planning.Calendar(first) {
		out.Calendar = append(out.Calendar, monthJSON{f.when(m.At), r.bought(m.Purchases), m.Cost, m.SoFar, gpus(m.Milli)})
	}
	for _, c := range r.field.Cliffs(first) {
		x := cliffJSON{Date: f.when(c.At), Ends: gpus(c.Milli), Before: gpus(c.Before), After: gpus(c.After), Why: "the futures end before"}
		if c.Known {
			x.Wanted, x.High, x.Why = &c.Wanted, &c.High, ""
		}
		out.Cliffs = append(out.Cliffs, x)
	}
	out.Waiting = r.waitingJSON()
	return out
}

// bought gives purchases as they are written.
func (r *futuresPlan) bought(list []planning.Purchase) []purchaseJSON {
	f, out := r.frame(), []purchaseJSON{}
	for _, p := range list {
		upfront, monthly := f.payment(p)
		out = append(out, purchaseJSON{r.market.Terms[p.Term].Name, f.when(p.From), f.when(p.To), gpus(p.Milli), p.Rate, upfront, monthly, p.Cost})
	}
	return out
}

func (r *futuresPlan) planJSON(a *planning.Assessed) futurePlanJSON {
	worst := a.Worst()
	out := futurePlanJSON{
		Name: a.Name, Doc: a.Doc, Adapts: a.Purchases == nil, Purchases: r.bought(a.Purchases),
		Mean: r.risk(a, "mean"), P50: r.risk(a, "q50"), P80: r.risk(a, "q80"), P95: r.risk(a, "q95"), CVaR95: r.risk(a, "cvar95"),
		Committed:  meanInFutures(a, func(o *planning.InFuture) capcli.USD { return o.Committed }),
		OnDemand:   meanInFutures(a, func(o *planning.InFuture) capcli.USD { return o.OnDemand }),
		Unused:     r.meanUnused(a),
		MeanRegret: a.MeanRegret(), MaxRegret: a.Outcomes[worst].Regret, MaxFuture: worst, Held: []limitHeldJSON{},
	}
	if p := r.above(a); p != nil {
		out.Above = p
	}
	var wanted, covered, paid float64
	for i := range a.Outcomes {
		o := &a.Outcomes[i]
		wanted, covered, paid = wanted+o.Wanted.Hours(), covered+o.Covered.Hours(), paid+o.Paid.Hours()
		out.Costs, out.Regrets = append(out.Costs, o.Cost), append(out.Regrets, o.Regret)
	}
	if wanted > 0 {
		v := covered / wanted
		out.Coverage = &v
	}
	if paid > 0 {
		v := covered / paid
		out.Utilised = &v
	}
	for i, l := range r.ask.limits {
		out.Held = append(out.Held, limitHeldJSON{l.text, holdingShare(a, r.ask.limits[i:i+1])})
	}
	if len(r.ask.limits) > 0 {
		v := holdingShare(a, r.ask.limits)
		out.AllHeld = &v
	}
	return out
}

package main

import (
	"encoding/json"

	"capcli"
	"capcli/scenarios/prices"
	planning "capcli/simulate/plan"
)

// planJSON is the JSON of the plan of a demand curve. Figures that are not known
// are null, with the reason beside them.
type planJSON struct {
	Schema    string         `json:"schema"`
	Currency  string         `json:"currency"`
	Demand    demandJSON     `json:"demand"`
	Market    marketJSON     `json:"market"`
	Optimum   optimumJSON    `json:"optimum"`
	Baselines []baselineJSON `json:"baselines"`
	Periods   []levelJSON    `json:"periods"`
	Changes   []changeJSON   `json:"sensitivity"`
	Notes     []string       `json:"notes"`

	Assumptions []prices.Assumption `json:"assumptions"`
}

type demandJSON struct {
	Input    string         `json:"input"`
	Start    any            `json:"start"` // an instant, or 0 where the curve has no dates
	End      any            `json:"end"`
	Step     string         `json:"step"`
	Steps    int            `json:"steps"`
	GPUHours capcli.GPUTime `json:"gpu_hours"`
	Mean     float64        `json:"mean_gpus"`
	Peak     float64        `json:"peak_gpus"`
	Held     []heldJSON     `json:"held"`
	Served   capcli.GPUTime `json:"held_gpu_hours"` // of gpu_hours
}

type marketJSON struct {
	OnDemand []priceJSON `json:"on_demand"`
	Terms    []termJSON  `json:"terms"`
	Every    string      `json:"every"`
	Overrun  bool        `json:"overrun"`
	Lot      float64     `json:"lot_gpus"`
	Discount float64     `json:"discount_per_year"`
}

type priceJSON struct {
	From any         `json:"from"`
	Rate capcli.Rate `json:"usd_per_gpu_hour"`
}

type termJSON struct {
	Name    string      `json:"term"`
	Length  string      `json:"length"`
	Prices  []priceJSON `json:"prices"`
	Upfront float64     `json:"upfront_share"`
	Max     *float64    `json:"max_gpus"`

	BreakEven *float64   `json:"break_even_utilisation"`
	Recover   *float64   `json:"months_to_recover"`
	Total     capcli.USD `json:"total_usd"`
	Present   capcli.USD `json:"present_value_usd"`
}

type optimumJSON struct {
	Cost        capcli.USD     `json:"cost_usd"`
	Bound       capcli.USD     `json:"lower_bound_usd"`
	Gap         float64        `json:"optimality_gap"`
	Commitments capcli.USD     `json:"committed_cost_usd"`
	OnDemand    capcli.USD     `json:"on_demand_cost_usd"`
	AllOnDemand capcli.USD     `json:"all_on_demand_cost_usd"`
	Purchases   []purchaseJSON `json:"purchases"`
	Coverage    *float64       `json:"coverage"`
	CoverageWhy string         `json:"coverage_why,omitempty"`
	Utilisation *float64       `json:"utilisation"`
	UtilWhy     string         `json:"utilisation_why,omitempty"`
	Savings     *float64       `json:"effective_savings_rate"`
	SavingsWhy  string         `json:"effective_savings_rate_why,omitempty"`
	Committed   capcli.GPUTime `json:"committed_gpu_hours"`
	Used        capcli.GPUTime `json:"used_gpu_hours"`
	Unused      capcli.GPUTime `json:"unused_gpu_hours"`
	BreakEven   *capcli.USD    `json:"break_even_on_demand_usd"` // null where nothing is bought, the price changes, or amounts are discounted
}

type purchaseJSON struct {
	Term  string      `json:"term"`
	Start any         `json:"start"`
	End   any         `json:"end"`
	GPUs  float64     `json:"gpus"`
	Rate  capcli.Rate `json:"usd_per_gpu_hour"`
	First any         `json:"upfront_usd"`
	Month any         `json:"monthly_usd"`
	Cost  capcli.USD  `json:"cost_usd"`
}

type levelJSON struct {
	Start any        `json:"start"`
	GPUs  float64    `json:"committed_gpus"`
	Worth capcli.USD `json:"worth_of_one_more_usd"`
	Price capcli.USD `json:"shadow_price_usd"`
}

type baselineJSON struct {
	Name string     `json:"plan"`
	Kind string     `json:"kind"` // on_demand, one_term, one_level, rule
	Term *string    `json:"term"`
	GPUs *float64   `json:"gpus"` // of one_level
	Cost capcli.USD `json:"cost_usd"`
	Over any        `json:"over_optimum"`
}

// json gives the plan as it is written.
func (r *curvePlan) json() *planJSON {
	c, b := r.demand.curve, r.best
	out := &planJSON{
		Schema: "capcli/plan/v1", Currency: "USD", Notes: list(r.notes()), Assumptions: list(r.assumed), Baselines: []baselineJSON{}, Periods: []levelJSON{}, Changes: r.changesJSON(),
		Demand: demandJSON{
			Input: r.demand.file, Start: r.when(0), End: r.when(c.Len()), Step: c.Step.String(), Steps: len(c.Work),
			GPUHours: r.whole.Sum(), Mean: r.whole.Sum().Hours() / c.Len().Hours(), Held: []heldJSON{}, Served: r.served,
		},
		Market: r.marketJSON(),
		Optimum: optimumJSON{
			Cost: b.Cost, Bound: b.Cost, Commitments: b.Commitments, OnDemand: b.OnDemand, AllOnDemand: b.AllOnDemand,
			Purchases: []purchaseJSON{}, Committed: b.Committed, Used: b.Used, Unused: b.Committed - b.Used, BreakEven: r.breakEven(),
		},
	}
	for i := range c.Work {
		out.Demand.Peak = max(out.Demand.Peak, r.whole.GPUs(i))
	}
	for _, h := range r.held {
		out.Demand.Held = append(out.Demand.Held, heldJSON{r.when(h.From), r.when(h.To), gpus(h.Milli)})
	}
	for _, p := range b.Purchases {
		upfront, monthly := r.payment(p)
		out.Optimum.Purchases = append(out.Optimum.Purchases, purchaseJSON{r.market.Terms[p.Term].Name, r.when(p.From), r.when(p.To), gpus(p.Milli), p.Rate, upfront, monthly, p.Cost})
	}
	for _, x := range r.baselines {
		out.Baselines = append(out.Baselines, r.baselineJSON(x))
	}
	for _, a := range r.rules {
		out.Baselines = append(out.Baselines, baselineJSON{Name: a.Name, Kind: "rule", Cost: a.Outcomes[0].Cost, Over: r.over(a.Outcomes[0].Cost)})
	}
	for _, p := range b.Periods {
		out.Periods = append(out.Periods, levelJSON{r.when(p.From), gpus(p.Milli), p.Worth, p.Price})
	}
	o := &out.Optimum
	o.Coverage, o.CoverageWhy = shareOf(b.Coverage, "nothing is wanted")
	o.Utilisation, o.UtilWhy = shareOf(b.Utilisation, "nothing is bought")
	o.Savings, o.SavingsWhy = shareOf(b.SavingsRate, "the demand costs nothing on demand")
	return out
}

func (r *curvePlan) baselineJSON(b planning.Baseline) baselineJSON {
	out := baselineJSON{Name: r.baselineName(b), Kind: "on_demand", Cost: b.Cost, Over: r.over(b.Cost)}
	if b.Term >= 0 {
		out.Kind, out.Term = "one_term", &r.market.Terms[b.Term].Name
	}
	if b.Flat {
		level := gpus(b.Milli)
		out.Kind, out.GPUs = "one_level", &level
	}
	return out
}

// shareOf is a figure that may not be known, and then why.
func shareOf(of func() (float64, bool), why string) (*float64, string) {
	if v, ok := of(); ok {
		return &v, ""
	}
	return nil, why
}

func gpus(milli int64) float64 { return float64(milli) / 1000 }

// when is an instant as the output has it: RFC 3339, or where the curve has no
// dates the number of the period of --every, from 0, and hours where it falls
// into one.
func (r *curvePlan) when(at capcli.Seconds) any {
	c := r.demand.curve
	if c.Dated() {
		return c.Start + capcli.Time(at)
	}
	if every := r.market.Every.Length(); at%every == 0 {
		return int64(at / every)
	}
	return json.Number(figureText(float64(at) / float64(r.market.Every.Length())))
}

func (r *curvePlan) marketJSON() marketJSON {
	m := r.market
	out := marketJSON{OnDemand: r.pricesJSON(m.OnDemand), Terms: []termJSON{}, Every: m.Every.String(), Overrun: m.Overrun, Lot: gpus(m.Lot), Discount: m.Discount}
	for i, t := range m.Terms {
		x := termJSON{Name: t.Name, Length: t.Length.String(), Prices: r.pricesJSON(t.Rate), Upfront: float64(t.Upfront) / planning.Whole}
		if t.Max > 0 {
			most := gpus(t.Max)
			x.Max = &most
		}
		if f, err := r.facts(i); err == nil {
			x.BreakEven, x.Recover, x.Total, x.Present = f.breakEven, f.recover, f.payment.Total(), capcli.USDOf(f.present)
		}
		out.Terms = append(out.Terms, x)
	}
	return out
}

func (r *curvePlan) pricesJSON(p planning.Prices) []priceJSON {
	var out []priceJSON
	for _, x := range p {
		out = append(out, priceJSON{r.when(max(0, x.From)), x.Rate})
	}
	return out
}

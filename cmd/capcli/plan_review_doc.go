package main

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	planning "capcli/simulate/plan"
)

func (r *planReviewed) doc(form string) report.Doc {
	d := report.Doc{Lead: r.lead(), Notes: r.notes, Tables: []report.Table{r.contractTable(), r.adviceTable(), r.totalTable()}}
	if form == "json" {
		d.Data = r.json()
	}
	return d
}

func (r *planReviewed) lead() string {
	v := r.review
	text := fmt.Sprintf("%s GPU-hours were used in %s", grouped(int64(v.Used.Hours()+0.5)), spanText(v.To-v.From))
	if v.Committed > 0 {
		text += fmt.Sprintf(", %.1f%% of them on commitments, of which %.1f%% was used; unused %s", 100*float64(v.Covered)/float64(max(1, v.Used)), 100*float64(v.Covered)/float64(v.Committed), r.unused())
	}
	if saves := v.DoNothing - v.Best; saves > 0 {
		return fmt.Sprintf("%s. To do nothing costs %s more than the best* over %s.", text, saves, spanText(v.Ahead))
	}
	return text + ". No purchase would save anything."
}

// unused is what unused commitments cost, as far as prices are known.
func (r *planReviewed) unused() capcli.USD {
	var sum capcli.USD
	for i := range r.review.Contracts {
		sum += r.review.Contracts[i].Unused
	}
	return sum
}

func (r *planReviewed) contractTable() report.Table {
	t := report.Table{Name: "commitments", Title: "What is committed", Columns: []report.Column{
		{Name: "commitment", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "from", Priority: 3},
		{Name: "until", Priority: 1},
		{Name: "days_left", Head: "days left"},
		{Name: "utilisation", Head: "used"},
		{Name: "unused_gpu_hours", Head: "unused GPUh", Priority: 2},
		{Name: "unused_usd", Head: "unused"},
		{Name: "idle_gpus", Head: "not worth their price"},
	}}
	for i := range r.review.Contracts {
		c := r.contract(&r.review.Contracts[i])
		t.Rows = append(t.Rows, []any{c.Name, c.GPUs, c.From, c.Until, deref(c.DaysLeft), percentOf(c.Utilisation), c.Unused, c.UnusedUSD, c.Idle})
	}
	return t
}

func deref(v *float64) any {
	if v == nil {
		return nil
	}
	return report.Ratio(*v)
}

func percentOf(v *float64) any {
	if v == nil {
		return nil
	}
	return report.Percent(*v)
}

func (r *planReviewed) adviceTable() report.Table {
	t := report.Table{Name: "advice", Title: "What to change*", Columns: []report.Column{
		{Name: "date"},
		{Name: "do", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "term", Align: report.Left},
		{Name: "cost_usd", Head: "cost"},
	}}
	for _, a := range r.review.Advice {
		row := []any{r.ahead.when(a.At), a.Do.String(), gpus(a.Milli), nil, nil}
		if a.Do != planning.Expire {
			row[3], row[4] = r.frame.market.Terms[a.Term].Name, a.Cost
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (r *planReviewed) totalTable() report.Table {
	t := newFigures("totals")
	v := r.review
	t.add("used_gpu_hours", "GPU-hours used", v.Used)
	t.add("committed_gpu_hours", "GPU-hours committed", v.Committed)
	t.add("coverage", "coverage", percentOf(shareOfTime(v.Covered, v.Used)))
	t.add("utilisation", "utilisation", percentOf(shareOfTime(v.Covered, v.Committed)))
	t.add("unused_usd", "unused", r.unused())
	t.add("on_demand_usd", "on demand", v.OnDemand)
	t.add("do_nothing_usd", "to do nothing*", v.DoNothing)
	t.add("best_usd", "the best*", v.Best)
	t.add("doing_nothing_costs_usd", "doing nothing costs*", v.DoNothing-v.Best)
	return t.Table
}

// shareOfTime is a part of a whole; nil where that is nothing.
func shareOfTime(part, whole capcli.GPUTime) *float64 {
	if whole == 0 {
		return nil
	}
	v := float64(part) / float64(whole)
	return &v
}

// planReviewJSON is the JSON of a review. Figures of what lies ahead rest on use
// being as it was.
type planReviewJSON struct {
	Schema      string         `json:"schema"`
	Currency    string         `json:"currency"`
	Used        string         `json:"used"`
	From        any            `json:"from"`
	To          any            `json:"to"`
	UsedHours   capcli.GPUTime `json:"used_gpu_hours"`
	Covered     capcli.GPUTime `json:"covered_gpu_hours"`
	Committed   capcli.GPUTime `json:"committed_gpu_hours"`
	Coverage    *float64       `json:"coverage"`
	CoverageWhy string         `json:"coverage_why,omitempty"`
	Utilisation *float64       `json:"utilisation"`
	UtilWhy     string         `json:"utilisation_why,omitempty"`
	Unused      capcli.USD     `json:"unused_usd"`
	OnDemand    capcli.USD     `json:"on_demand_usd"`
	Commitments []reviewedJSON `json:"commitments"`
	AheadUntil  any            `json:"ahead_until"`
	DoNothing   capcli.USD     `json:"do_nothing_usd"`
	Best        capcli.USD     `json:"best_usd"`
	Costs       capcli.USD     `json:"doing_nothing_costs_usd"`
	Advice      []adviceJSON   `json:"advice"`
	Market      marketJSON     `json:"market"`
	Notes       []string       `json:"notes"`
}

type reviewedJSON struct {
	Name        string         `json:"commitment"`
	GPUs        float64        `json:"gpus"`
	From        any            `json:"from"`
	Until       any            `json:"until"`
	DaysLeft    *float64       `json:"days_left"`
	LeftWhy     string         `json:"days_left_why,omitempty"`
	Rate        *capcli.Rate   `json:"usd_per_gpu_hour"`
	RateWhy     string         `json:"usd_per_gpu_hour_why,omitempty"`
	Utilisation *float64       `json:"utilisation"`
	Committed   capcli.GPUTime `json:"committed_gpu_hours"`
	Used        capcli.GPUTime `json:"used_gpu_hours"`
	Unused      capcli.GPUTime `json:"unused_gpu_hours"`
	UnusedUSD   any            `json:"unused_usd"`
	Idle        any            `json:"idle_gpus"`
}

type adviceJSON struct {
	Date any     `json:"date"`
	Do   string  `json:"do"`
	GPUs float64 `json:"gpus"`
	Term *string `json:"term"`
	Cost any     `json:"cost_usd"`
}

// forEver is how long a commitment lasts that has no end.
const forEver = 90 * 366 * capcli.Day

// contract says one commitment as it is written.
func (r *planReviewed) contract(c *planning.Reviewed) reviewedJSON {
	v := r.review
	out := reviewedJSON{
		Name: c.Name, GPUs: gpus(c.Milli), From: r.frame.when(c.From), Utilisation: shareOfTime(c.Used, c.Paid),
		Committed: c.Paid, Used: c.Used, Unused: c.Paid - c.Used, RateWhy: "no price is given",
	}
	if c.To-v.To < forEver {
		days := max(0, float64(c.To-v.To)/float64(capcli.Day))
		out.Until, out.DaysLeft = r.frame.when(c.To), &days
	} else {
		out.LeftWhy = "it has no end"
	}
	if c.Priced {
		out.Rate, out.RateWhy, out.UnusedUSD, out.Idle = &c.Rate, "", c.Unused, gpus(c.Idle)
	}
	return out
}

func (r *planReviewed) json() *planReviewJSON {
	v, f := r.review, r.frame
	out := &planReviewJSON{
		Schema: "capcli/plan_review/v1", Currency: "USD", Used: f.demand.file, From: f.when(v.From), To: f.when(v.To),
		UsedHours: v.Used, Covered: v.Covered, Committed: v.Committed, Coverage: shareOfTime(v.Covered, v.Used), Utilisation: shareOfTime(v.Covered, v.Committed),
		Unused: r.unused(), OnDemand: v.OnDemand, Commitments: []reviewedJSON{}, AheadUntil: r.ahead.when(v.Ahead),
		DoNothing: v.DoNothing, Best: v.Best, Costs: v.DoNothing - v.Best, Advice: []adviceJSON{}, Market: f.marketJSON(), Notes: list(r.notes),
	}
	if out.Coverage == nil {
		out.CoverageWhy = "nothing was used"
	}
	if out.Utilisation == nil {
		out.UtilWhy = "nothing was committed"
	}
	for i := range v.Contracts {
		out.Commitments = append(out.Commitments, r.contract(&v.Contracts[i]))
	}
	for _, a := range v.Advice {
		x := adviceJSON{Date: r.ahead.when(a.At), Do: a.Do.String(), GPUs: gpus(a.Milli)}
		if a.Do != planning.Expire {
			x.Term, x.Cost = &f.market.Terms[a.Term].Name, a.Cost
		}
		out.Advice = append(out.Advice, x)
	}
	return out
}

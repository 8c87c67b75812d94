package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/prices"
	planning "capcli/simulate/plan"
)

// curvePlan is the plan of a demand curve.
type curvePlan struct {
	o         *planOptions
	demand    *demandCurve    // less what is held
	whole     *planning.Curve // with it
	held      []planning.Held
	served    capcli.GPUTime // by what is held
	market    *planning.Market
	best      *planning.Optimum
	baselines []planning.Baseline
	rules     []*planning.Assessed // rules of thumb, of which each has one future
	changes   []planning.Change

	assumed []prices.Assumption // prices by key
}

func (r *curvePlan) doc(form string) report.Doc {
	d := report.Doc{Lead: r.lead(), Notes: r.notes(), Tables: []report.Table{
		r.purchaseTable(), r.totalTable(), r.baselineTable(), r.termTable(), r.periodTable(),
	}}
	if len(r.changes) > 0 {
		d.Tables = slices.Insert(d.Tables, 3, r.sensitivityTable())
	}
	if form == "json" {
		d.Data = r.json()
	}
	if form == "table" || form == "md" {
		d.Charts = append(d.Charts, r.chart())
	}
	return d
}

// lead is the answer in a sentence: what to buy first, for how much in the time of
// the demand and a year.
func (r *curvePlan) lead() string {
	b := r.best
	if len(b.Purchases) == 0 {
		return fmt.Sprintf("Buy nothing: the demand costs %s on demand %s, and no purchase at these prices makes it cheaper (proven).", b.Cost, r.overTime(b.Cost))
	}
	text := "Buy " + r.buysFirst(b.Purchases, 0)
	if n := len(b.Purchases); n > 1 {
		text += fmt.Sprintf(" first, %d purchases in all", n)
	}
	text += fmt.Sprintf(": the demand costs %s %s", b.Cost, r.overTime(b.Cost))
	if rate, ok := b.SavingsRate(); ok {
		text += fmt.Sprintf(", %.1f%% less than %s all on demand", 100*rate, b.AllOnDemand)
	}
	return text + "; no purchases at these prices cost less (proven)."
}

// buysFirst names the first of some purchases, with its date where that is later
// than the decision.
func (r *curvePlan) buysFirst(list []planning.Purchase, decided capcli.Seconds) string {
	if len(list) == 0 {
		return "nothing"
	}
	var parts []string
	for _, p := range list {
		if p.From == list[0].From {
			parts = append(parts, figureText(gpus(p.Milli))+" × "+r.market.Terms[p.Term].Name)
		}
	}
	text := strings.Join(parts, ", ")
	if from := list[0].From; from > decided {
		text += fmt.Sprintf(" (%v)", dayText(r.when(from)))
	}
	return text
}

// overTime says for what time an amount is, and what it would be for a year.
func (r *curvePlan) overTime(u capcli.USD) string {
	length := r.demand.curve.Len()
	return fmt.Sprintf("for %s (~%s a year)", lengthText(length), perYear(u, length))
}

// yearNote says what ~ a year is.
const yearNote = "~ a year: the amount times 365.25 days over the time that it is for; for comparison, not a forecast"

func (r *curvePlan) notes() []string {
	notes := append([]string(nil), r.demand.notes...)
	notes = append(notes, yearNote)
	c := r.demand.curve
	if !c.Dated() {
		notes = append(notes, fmt.Sprintf("the curve has no dates: each value lasts %s (--step), a month has 730 hours, and starts count periods of %s from 0", c.Step, r.market.Every))
	}
	notes = append(notes, (&keyedRates{assumed: r.assumed}).notes()...)
	if r.market.Discount != 0 {
		notes = append(notes, fmt.Sprintf("amounts are worth of today: money costs %s%% a year (--discount), and use on demand is paid at the start of its month", figureText(100*r.market.Discount)))
	}
	if len(r.held) > 0 {
		notes = append(notes, fmt.Sprintf("what is held serves %s of %s GPU-hours; its cost is spent and not in this", round(r.served), round(r.whole.Sum())))
	}
	if !r.market.Overrun {
		for _, t := range r.market.Terms {
			if c.After(0, t.Length) > c.Len() {
				notes = append(notes, fmt.Sprintf("the term %s is longer than the demand and is never bought (--overrun lets it last beyond)", t.Name))
			}
		}
	} else {
		for _, p := range r.best.Purchases {
			if p.To > c.Len() {
				notes = append(notes, "purchases last beyond the end of the demand, and all of each is paid (--overrun)")
				break
			}
		}
	}
	return notes
}

func round(t capcli.GPUTime) string { return grouped(int64(t.Hours() + 0.5)) }

func (r *curvePlan) purchaseTable() report.Table {
	t := report.Table{Name: "purchases", Title: "What to buy", Most: 40, Columns: []report.Column{
		{Name: "start"},
		{Name: "end", Priority: 2},
		{Name: "term", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour", Priority: 1},
		{Name: "upfront_usd", Head: "upfront", Priority: 3},
		{Name: "monthly_usd", Head: "a month", Priority: 3},
		{Name: "cost_usd", Head: "cost"},
	}}
	for _, p := range r.best.Purchases {
		upfront, monthly := r.payment(p)
		t.Rows = append(t.Rows, []any{r.day(p.From), r.day(p.To), r.market.Terms[p.Term].Name, gpus(p.Milli), p.Rate, upfront, monthly, p.Cost})
	}
	return t
}

// day is an instant as people read it.
func (r *curvePlan) day(at capcli.Seconds) any {
	if c := r.demand.curve; c.Dated() && (int64(c.Start)+int64(at))%int64(capcli.Day) == 0 {
		t := c.Start + capcli.Time(at)
		return report.Label{Name: t.String(), Head: t.Std().Format("2006-01-02")}
	}
	return r.when(at)
}

func (r *curvePlan) totalTable() report.Table {
	b := r.best
	t := newFigures("totals")
	t.add("cost_usd", "cost", b.Cost)
	t.add("committed_cost_usd", "of it committed", b.Commitments)
	t.add("on_demand_cost_usd", "of it on demand", b.OnDemand)
	t.add("all_on_demand_cost_usd", "all on demand", b.AllOnDemand)
	t.add("gpu_hours", "GPU-hours wanted", b.Wanted)
	t.add("committed_gpu_hours", "GPU-hours committed", b.Committed)
	t.add("unused_gpu_hours", "of them unused", b.Committed-b.Used)
	percent := func(name, head string, of func() (float64, bool)) {
		if v, ok := of(); ok {
			t.add(name, head, report.Percent(v))
			return
		}
		t.add(name, head, nil)
	}
	percent("coverage", "coverage", b.Coverage)
	percent("utilisation", "utilisation", b.Utilisation)
	percent("effective_savings_rate", "effective savings rate", b.SavingsRate)
	if p := r.breakEven(); p != nil {
		t.add("break_even_on_demand_usd", "pays off above, on demand", *p)
	}
	return t.Table
}

// baselineTable holds the optimum against what people buy without one.
func (r *curvePlan) baselineTable() report.Table {
	t := report.Table{Name: "baselines", Title: "Beside it", Columns: []report.Column{
		{Name: "plan", Align: report.Left}, {Name: "gpus", Head: "GPUs"}, {Name: "cost_usd", Head: "cost"}, {Name: "over_optimum", Head: "over the optimum"},
	}}
	t.Rows = append(t.Rows, []any{"optimum", nil, r.best.Cost, report.Percent(0)})
	for _, b := range r.baselines {
		var level any
		if b.Flat {
			level = gpus(b.Milli)
		}
		t.Rows = append(t.Rows, []any{r.baselineName(b), level, b.Cost, r.over(b.Cost)})
	}
	for _, a := range r.rules {
		t.Rows = append(t.Rows, []any{a.Name, nil, a.Outcomes[0].Cost, r.over(a.Outcomes[0].Cost)})
	}
	return t
}

func (r *curvePlan) baselineName(b planning.Baseline) string {
	switch {
	case b.Term < 0:
		return "all on demand"
	case b.Flat:
		return r.market.Terms[b.Term].Name + ", one level"
	}
	return r.market.Terms[b.Term].Name + " only"
}

// over is by how much an amount is over the optimum.
func (r *curvePlan) over(cost capcli.USD) any {
	if r.best.Cost == 0 {
		return nil
	}
	return report.Percent(cost.Float()/r.best.Cost.Float() - 1)
}

// periodTable says for each period what is committed, and what one more would be
// worth.
func (r *curvePlan) periodTable() report.Table {
	t := report.Table{Name: "periods", Title: "What one more committed GPU is worth", Aside: true, Columns: []report.Column{
		{Name: "start"},
		{Name: "committed_gpus", Head: "committed"},
		{Name: "worth_of_one_more_usd", Head: "one more saves"},
		{Name: "shadow_price_usd", Head: "shadow price"},
	}}
	for _, p := range r.best.Periods {
		t.Rows = append(t.Rows, []any{r.day(p.From), gpus(p.Milli), p.Worth, p.Price})
	}
	return t
}

// chart draws the demand and what is committed.
func (r *curvePlan) chart() report.Chart {
	c := r.demand.curve
	wanted, committed := make([]float64, len(c.Work)), make([]float64, len(c.Work))
	k := 0
	for i := range c.Work {
		for k < len(r.best.Periods)-1 && r.best.Periods[k].To <= c.At(i) {
			k++
		}
		wanted[i], committed[i] = c.GPUs(i), gpus(r.best.Periods[k].Milli)
	}
	return report.Chart{
		Title: "GPUs wanted and committed", Lines: []report.Line{{Name: "wanted", Values: wanted}, {Name: "committed", Values: committed}},
		From: r.edge(0), To: r.edge(c.Len()),
	}
}

func (r *curvePlan) edge(at capcli.Seconds) string {
	if c := r.demand.curve; c.Dated() {
		return (c.Start + capcli.Time(at)).Std().Format("2006-01-02")
	}
	return fmt.Sprint(r.when(at))
}

// figureText is a number in the fewest digits that tell it apart.
func figureText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

package main

import (
	"fmt"
	"math"

	"capcli"
	"capcli/cmd/report"
	planning "capcli/simulate/plan"
)

func (r *futuresPlan) doc(form string) report.Doc {
	d := report.Doc{
		Lead: r.lead() + r.againText(), Notes: r.allNotes(),
		Tables: []report.Table{r.planTable(), r.calendarTable(), r.cliffTable(), r.stageTable(), r.waitTable(), r.regretTable()},
	}
	if form == "json" {
		d.Data = r.json()
	}
	return d
}

func (r *futuresPlan) lead() string {
	how := "proven: no purchases at these prices have less"
	if !r.choice.Exact() {
		how = fmt.Sprintf("at most %s above the least that there is, %s", gapText(r.choice.Gap()), r.bound)
	}
	text := "Buy nothing"
	if len(r.plans) > 0 {
		text = "Buy " + r.frame().buysFirst(r.plans[0].Purchases, 0)
	}
	text += fmt.Sprintf(" first: over %d futures the %s of the cost is %s %s", r.field.Count(), riskWords(r.ask.risk), r.value, r.frame().overTime(r.value))
	for i := range r.ask.limits {
		if len(r.plans) > 0 {
			text += fmt.Sprintf(", %s holds in %.1f%% of them", r.ask.limits[i].text, 100*holdingShare(r.plans[0], r.ask.limits[i:i+1]))
		}
	}
	return text + ", " + how + "."
}

// gapText is a gap for people; below a millionth of a percent it is no news.
func gapText(gap float64) string {
	switch {
	case math.IsInf(gap, 1):
		return "an unknown share"
	case gap < 1e-8:
		return "0.000001%"
	case gap < 1e-4:
		return figureText(math.Ceil(gap*1e8)/1e6) + "%"
	}
	return fmt.Sprintf("%.2f%%", math.Ceil(gap*1e4)/100)
}

// when is an instant as the output has it.
func (r *futuresPlan) when(at capcli.Seconds) any { return r.frame().when(at) }

// frame knows how instants and the market are written.
func (r *futuresPlan) frame() *curvePlan {
	return &curvePlan{o: r.o, demand: &demandCurve{file: r.set.input, curve: r.set.mean}, market: r.market}
}

func (r *futuresPlan) planTable() report.Table {
	t := report.Table{Name: "plans", Title: "Plans over the futures", Columns: []report.Column{
		{Name: "plan", Align: report.Left},
		{Name: "buys_at_start", Head: "buys first", Align: report.Left},
		{Name: "mean_cost_usd", Head: "mean cost"},
		{Name: "cost_p80_usd", Head: "in 80% under", Priority: 2},
		{Name: "cvar95_cost_usd", Head: "worst 5%", Priority: 1},
		{Name: "regret_mean_usd", Head: "mean regret", Priority: 2},
		{Name: "regret_max_usd", Head: "max regret"},
		{Name: "unused_mean_usd", Head: "unused", Priority: 4},
		{Name: "above_bound", Head: "above the best", Priority: 1},
	}}
	for i := range r.ask.limits {
		t.Columns = append(t.Columns, report.Column{Name: "held_" + r.ask.limits[i].name, Head: r.ask.limits[i].text})
	}
	for _, a := range r.plans {
		row := []any{a.Name, r.firstBuys(a), r.risk(a, "mean"), r.risk(a, "q80"), r.risk(a, "cvar95"), a.MeanRegret(), a.Outcomes[a.Worst()].Regret, r.meanUnused(a), r.above(a)}
		for i := range r.ask.limits {
			row = append(row, report.Percent(holdingShare(a, r.ask.limits[i:i+1])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// firstBuys says what a plan buys at its first purchase.
func (r *futuresPlan) firstBuys(a *planning.Assessed) string {
	if a.Purchases == nil && a.First == nil {
		return "as it goes"
	}
	return r.frame().buysFirst(append(a.Purchases, a.First...), 0)
}

// dayText is an instant for people: its day.
func dayText(v any) any {
	if t, ok := v.(capcli.Time); ok {
		return t.Std().Format("2006-01-02")
	}
	return v
}

// risk is the risk of a plan's cost; the amounts were priced before.
func (r *futuresPlan) risk(a *planning.Assessed, risk string) any {
	k, err := planning.ParseRisk(risk)
	if err != nil {
		return nil
	}
	v, err := r.field.Risk(a, k)
	if err != nil {
		return nil
	}
	return v
}

// above is by how much a plan is over the least that there can be of what the plan
// is chosen by.
func (r *futuresPlan) above(a *planning.Assessed) any {
	v, err := r.field.Risk(a, r.ask.risk)
	if err != nil || r.bound <= 0 {
		return nil
	}
	return report.Percent(v.Float()/r.bound.Float() - 1)
}

func (r *futuresPlan) meanUnused(a *planning.Assessed) capcli.USD {
	return meanInFutures(a, func(o *planning.InFuture) capcli.USD { return o.Unused })
}

// meanInFutures is the mean of an amount over the futures.
func meanInFutures(a *planning.Assessed, of func(o *planning.InFuture) capcli.USD) capcli.USD {
	var sum, rest capcli.USD // the mean without a sum that could overflow
	n := capcli.USD(len(a.Outcomes))
	for i := range a.Outcomes {
		v := of(&a.Outcomes[i])
		sum += v / n
		rest += v % n
	}
	return sum + (rest+n/2)/n
}

// holdingShare is the share of futures in which all of some limits hold.
func holdingShare(a *planning.Assessed, limits []futureLimit) float64 {
	n := 0
	for i := range a.Outcomes {
		all := true
		for k := range limits {
			all = all && limits[k].held(&a.Outcomes[i])
		}
		if all {
			n++
		}
	}
	return float64(n) / float64(len(a.Outcomes))
}

func (r *futuresPlan) calendarTable() report.Table {
	t := report.Table{Name: "calendar", Title: "What to buy when", Columns: []report.Column{
		{Name: "start"},
		{Name: "term", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "end", Priority: 1},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour", Priority: 2},
		{Name: "cost_usd", Head: "cost"},
		{Name: "so_far_usd", Head: "so far", Priority: 2},
		{Name: "committed_gpus", Head: "committed then", Priority: 1},
	}}
	for _, m := range planning.Calendar(r.plans[0]) {
		soFar := m.SoFar - m.Cost
		for _, p := range m.Purchases {
			soFar += p.Cost
			t.Rows = append(t.Rows, []any{r.when(p.From), r.market.Terms[p.Term].Name, gpus(p.Milli), r.when(p.To), p.Rate, p.Cost, soFar, gpus(m.Milli)})
		}
	}
	return t
}

func (r *futuresPlan) cliffTable() report.Table {
	t := report.Table{Name: "cliffs", Title: "When commitments end", Columns: []report.Column{
		{Name: "date"},
		{Name: "ends_gpus", Head: "fall away"},
		{Name: "before_gpus", Head: "before", Priority: 1},
		{Name: "after_gpus", Head: "after"},
		{Name: "wanted_mean_gpus", Head: "wanted then"},
		{Name: "wanted_p80_gpus", Head: "in 80% under", Priority: 1},
	}}
	for _, c := range r.field.Cliffs(r.plans[0]) {
		var mean, high any
		if c.Known {
			mean, high = report.Ratio(c.Wanted), report.Ratio(c.High)
		}
		t.Rows = append(t.Rows, []any{r.when(c.At), gpus(c.Milli), gpus(c.Before), gpus(c.After), mean, high})
	}
	return t
}

func (r *futuresPlan) regretTable() report.Table {
	t := report.Table{Name: "regret", Title: "Regret: cost over that of the best plan of each future", Aside: true, Columns: []report.Column{
		{Name: "future"}, {Name: "best_cost_usd", Head: "best"},
	}}
	for _, a := range r.plans {
		t.Columns = append(t.Columns, report.Column{Name: a.Name + "_usd", Head: a.Name})
	}
	for s := range r.alone {
		row := []any{s, r.plans[0].Outcomes[s].Cost - r.plans[0].Outcomes[s].Regret}
		for _, a := range r.plans {
			row = append(row, a.Outcomes[s].Regret)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// assumptions are what starred figures rest on.
func (r *futuresPlan) assumptions() []string {
	out := []string{"every future is as likely as any other, and demand does not react to what is bought; each level is taken to the thousandth of a GPU"}
	if r.set.drawn {
		out = append(out, fmt.Sprintf("futures are the demand times a factor of mean 1 and standard deviation %s, log-normal, of which half of an error is gone after %s", r.o.futures.wrong, r.o.futures.halfLife))
	}
	out = append(out, "on-demand GPUs can always be had at the stated price")
	for _, a := range r.ask.sketch.assumed {
		out = append(out, a.Text)
	}
	out = append(out, r.stageAssumptions()...)
	return out
}

func (r *futuresPlan) allNotes() []string {
	notes := append([]string{yearNote}, r.set.notes...)
	if c := r.set.mean; !c.Dated() {
		notes = append(notes, fmt.Sprintf("the futures have no dates: each value lasts %s (--step), a month has 730 hours, and starts count periods from 0", c.Step))
	}
	if r.waiting == nil {
		notes = append(notes, "the value of waiting: "+r.noWait)
	}
	notes = append(notes, r.ask.sketch.notes()...)
	for _, a := range r.assumptions() {
		notes = append(notes, "assumed: "+a)
	}
	return notes
}

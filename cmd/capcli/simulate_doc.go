package main

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// describeRuns says the results: one sentence, then tables; a single run in
// depth, several plans side by side. People see the largest tenants only when
// there are many; programs see all.
func describeRuns(plans []*plan, results [][]*outcome, form string) report.Doc {
	people := form == "table" || form == "md"
	data := &simulateJSON{Schema: "capcli/simulate/v1", Currency: "USD", Runs: []runJSON{}}
	for i := range results {
		for _, r := range results[i] {
			data.Runs = append(data.Runs, r.json())
		}
	}
	d := report.Doc{Data: data}
	for i, p := range plans {
		if form != "csv" && form != "tsv" { // those have no place for what stderr has said
			d.Notes = append(d.Notes, p.notes...)
		}
		d.Notes = append(d.Notes, results[i][0].warnings()...)
		d.Notes = append(d.Notes, starredPrices(p.scenario)...)
		d.Notes = append(d.Notes, results[i][0].moneyNotes()...)
	}
	d.Notes = slices.Compact(d.Notes)
	data.Notes = d.Notes
	d.Tables = append(d.Tables, summaryTable(plans, results, people))
	if len(plans) > 1 {
		d.Lead = leadOfMany(plans, results)
		if len(results[0]) > 1 {
			d.Notes = append(d.Notes, rangesNote(results))
		}
		return d
	}
	r := results[0][0]
	d.Lead = r.lead(len(results[0]))
	if people && len(results[0]) == 1 && len(plans[0].scenario.Limits) > 0 {
		d.Tables = append(d.Tables, r.limitTable())
	}
	d.Tables = append(d.Tables, r.poolTable(), r.tenantTable(people), r.loadTable())
	d.Tables = append(d.Tables, r.contractTables()...)
	d.Tables = append(d.Tables, moneyTables(plans[0].scenario.Budget, r.seen.budget, r.seen.energy)...)
	if len(results[0]) > 1 {
		d.Notes = append(d.Notes, rangesNote(results), "the tables of pools, tenants and load are of the first run")
	}
	if people {
		d.Charts = append(d.Charts, r.chart())
	}
	return d
}

func rangesNote(results [][]*outcome) string {
	return fmt.Sprintf("ranges hold 90%% of the %d runs; the figure before a range is their mean", len(results[0]))
}

// lead is the answer in a sentence.
func (r *outcome) lead(runs int) string {
	res, inv := r.result, r.invoice
	stranded := inv.ByTier[billing.Committed].Stranded()
	if !r.priced() {
		return fmt.Sprintf("%s on %s, at a cost that is not known; %s.", jobCount(res.Jobs.Finished), r.plan.scenario.Name, waited(res))
	}
	text := fmt.Sprintf("%s on %s cost %s; %s", jobCount(res.Jobs.Finished), r.plan.scenario.Name, inv.Total.Cost, waited(res))
	if inv.ByTier[billing.Committed].Cost > 0 {
		text += fmt.Sprintf("; %s (%.0f%%) of what was committed was stranded", stranded,
			100*stranded.Float()/inv.ByTier[billing.Committed].Cost.Float())
	}
	if runs > 1 {
		text += fmt.Sprintf(" (first of %d runs)", runs)
	}
	return text + "."
}

// waited says in words how long jobs waited for their start, and how many had
// none.
func waited(res *simulate.Result) string {
	w, still := res.Wait, ""
	if n := res.Jobs.Waiting; n > 0 {
		still = fmt.Sprintf(", and %s waited at the end", grouped(n))
	}
	switch {
	case w.Jobs == 0:
		return "none started" + still
	case w.Max == 0 && still != "":
		return "none that started waited" + still
	case w.Max == 0:
		return "none waited"
	case w.P95 == 0:
		return fmt.Sprintf("95%% did not wait, the longest waited %s", w.Max) + still
	case w.P50 == 0:
		return fmt.Sprintf("half did not wait, 95%% waited at most %s", w.P95) + still
	}
	return fmt.Sprintf("half waited at most %s, 95%% at most %s", w.P50, w.P95) + still
}

// jobCount is "1 job" or "8,102 jobs".
func jobCount(n int64) string { return grouped(n) + " " + plural(n, "job") }

// leadOfMany names the cheapest plan and the one that waits least.
func leadOfMany(plans []*plan, results [][]*outcome) string {
	cheap, quick := 0, 0
	cost, wait := make([]float64, len(plans)), make([]float64, len(plans))
	for i := range plans {
		cost[i] = meanOf(results[i], "cost")
		wait[i] = meanOf(results[i], "wait_mean")
		if cost[i] < cost[cheap] {
			cheap = i
		}
		if wait[i] < wait[quick] {
			quick = i
		}
	}
	name := func(i int) string { return plans[i].label() }
	least := fmt.Sprintf("least waiting: %s, mean %s", name(quick), capcli.Seconds(wait[quick]+0.5))
	for i := range plans {
		if !results[i][0].priced() {
			return fmt.Sprintf("%d plans, not all with prices; %s.", len(plans), least)
		}
	}
	if slices.Min(cost) == slices.Max(cost) {
		return fmt.Sprintf("All %d plans cost %s; %s.", len(plans), capcli.USD(cost[cheap]*1e6+0.5), least)
	}
	return fmt.Sprintf("Cheapest of %d plans: %s, %s; %s.", len(plans), name(cheap), capcli.USD(cost[cheap]*1e6+0.5), least)
}

func meanOf(runs []*outcome, metric string) float64 {
	sum, n := 0.0, 0
	for _, r := range runs {
		if v, ok := r.metric(metric); ok {
			sum += v
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// overRuns is a figure over replications: itself for one, else the mean with
// the range that holds 90% of the runs (nearest rank).
func overRuns(runs []*outcome, metric string, cell func(float64) any) any {
	var all []float64
	for _, r := range runs {
		if v, ok := r.metric(metric); ok {
			all = append(all, v)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return cell(all[0])
	}
	slices.Sort(all)
	lo, hi := (5*len(all)+99)/100, (95*len(all)+99)/100
	return report.Range{Mid: cell(meanOf(runs, metric)), Lo: cell(all[lo-1]), Hi: cell(all[hi-1])}
}

// cells of figures that come as floats.
func secondsCell(v float64) any { return report.MeanTime(v) }
func moneyCell(v float64) any   { return capcli.USD(v*1e6 + 0.5) }
func hoursCell(v float64) any   { return capcli.GPUTime(v*3.6e6 + 0.5) }
func percentCell(v float64) any { return report.Percent(v) }
func ratioCell(v float64) any   { return report.Ratio(v) }
func countCell(v float64) any   { return int64(v + 0.5) }

// summaryTable has a row for each plan. People are spared the columns of what
// no plan had: on-demand or spot cost, preemptions.
func summaryTable(plans []*plan, results [][]*outcome, people bool) report.Table {
	type figure struct {
		column report.Column
		metric string
		cell   func(float64) any
	}
	figures := []figure{
		{report.Column{Name: "cost_usd", Head: "cost"}, "cost", moneyCell},
		{report.Column{Name: "wait_mean_s", Head: "mean wait", Priority: 1}, "wait_mean", secondsCell},
		{report.Column{Name: "wait_p50_s", Head: "wait p50", Priority: 5}, "wait_p50", secondsCell},
		{report.Column{Name: "wait_p95_s", Head: "wait p95"}, "wait_p95", secondsCell},
		{report.Column{Name: "bounded_slowdown_mean", Head: "slowdown", Priority: 4}, "bounded_slowdown_mean", ratioCell},
		{report.Column{Name: "allocation_rate", Head: "used"}, "allocation_rate", percentCell},
		{report.Column{Name: "stranded_gpu_hours", Head: "stranded GPUh", Priority: 3}, "stranded_gpu_hours", hoursCell},
		{report.Column{Name: "stranded_usd", Head: "stranded"}, "stranded_usd", moneyCell},
		{report.Column{Name: "on_demand_usd", Head: "on-demand", Priority: 2}, "on_demand", moneyCell},
		{report.Column{Name: "spot_usd", Head: "spot", Priority: 6}, "spot", moneyCell},
		{report.Column{Name: "effective_savings_rate", Head: "saved", Priority: 2}, "effective_savings_rate", percentCell},
		{report.Column{Name: "finished_jobs", Head: "jobs", Priority: 7}, "finished", countCell},
		{report.Column{Name: "preemptions", Head: "preempted", Priority: 8}, "preemptions", countCell},
	}
	if people && slices.ContainsFunc(plans, func(p *plan) bool { return len(p.scenario.Assumptions()) > 0 }) {
		for i := range figures {
			if strings.HasSuffix(figures[i].column.Name, "_usd") || figures[i].metric == "effective_savings_rate" {
				figures[i].column.Head += "*"
			}
		}
	}
	if people {
		figures = slices.DeleteFunc(figures, func(f figure) bool {
			return slices.Contains([]string{"on_demand", "spot", "preemptions"}, f.metric) && !anyHas(results, f.metric)
		})
	}
	t := report.Table{Name: "plans", Columns: []report.Column{
		{Name: "scenario"}, {Name: "policy"}, {Name: "placement", Priority: 9},
	}}
	for _, f := range figures {
		t.Columns = append(t.Columns, f.column)
	}
	var limits []string
	if len(plans) > 1 || len(results[0]) > 1 || !people { // else they have a table of their own
		limits = commonLimits(plans)
	}
	for _, l := range limits {
		t.Columns = append(t.Columns, report.Column{Name: "held: " + l, Head: l + " held"})
	}
	for i, p := range plans {
		row := []any{p.scenario.Name, p.scenario.PolicyName(), p.scenario.PlacementName()}
		for _, f := range figures {
			row = append(row, overRuns(results[i], f.metric, f.cell))
		}
		for k := range limits {
			row = append(row, heldShare(p, results[i], k))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// anyHas tells whether a figure is more than nothing in some run.
func anyHas(results [][]*outcome, metric string) bool {
	for _, runs := range results {
		if meanOf(runs, metric) != 0 {
			return true
		}
	}
	return false
}

// commonLimits are the limits of the plans when all state the same ones.
func commonLimits(plans []*plan) []string {
	var out []string
	for i, p := range plans {
		var mine []string
		for _, c := range p.scenario.Limits {
			mine = append(mine, c.String())
		}
		if i > 0 && !slices.Equal(mine, out) {
			return nil
		}
		out = mine
	}
	return out
}

// heldShare is the share of runs in which the plan's k-th limit held.
func heldShare(p *plan, runs []*outcome, k int) any {
	held := 0
	for _, r := range runs {
		holds, known := p.scenario.Limits[k].Holds(r.metric)
		if !known {
			return nil
		}
		if holds {
			held++
		}
	}
	if len(runs) == 1 {
		return report.Verdict{Text: map[bool]string{true: "yes", false: "no"}[held == 1], Good: held == 1}
	}
	return report.Percent(float64(held) / float64(len(runs)))
}

// warnings are what the reader must know beside the figures.
func (r *outcome) warnings() []string {
	var out []string
	res, name := r.result, r.plan.label()
	for i := range res.Loads {
		l := &res.Loads[i]
		brief := l.Capacity < capcli.GPUTime(l.GPUs)*capcli.GPUSecond*3600
		if brief || l.Offered() < 1.005 { // an hour shows no rhythm; what reads as 1.00 is no news
			continue
		}
		where := "its committed capacity"
		if l.Partition != "" {
			where = "the committed capacity of partition " + l.Partition
		}
		if l.GPUModel != "" {
			where += " for " + l.GPUModel
		}
		out = append(out, fmt.Sprintf("%s: the work that came is %.2f times what %s (%d GPUs) can do in that time: without overflow the queue cannot drain while jobs come",
			name, l.Offered(), where, l.GPUs))
	}
	out = append(out, r.plan.scenario.PriceDoubts()...)
	if un := r.plan.scenario.Unpriced(); len(un) > 0 {
		out = append(out, fmt.Sprintf("%s: no price is stated for %s, so what it costs is not known", r.plan.scenario.Name, strings.Join(un, ", ")))
	}
	if res.Jobs.CPUOnly > 0 {
		out = append(out, fmt.Sprintf("%s: left out, for they want no GPU: %s", name, jobCount(res.Jobs.CPUOnly)))
	}
	if r.outside > 0 {
		out = append(out, fmt.Sprintf("%s: left out, for they are outside the period: %s", name, jobCount(r.outside)))
	}
	if span := res.Ended.Hours() / (365.25 * 24); span > 50 && !res.Endless {
		out = append(out, fmt.Sprintf("%s: the run spans %.0f years: is one of the log's times wrong?", name, span))
	}
	if res.Stopped && res.Jobs.Waiting+res.Jobs.Running > 0 {
		when := "at the end of the period"
		if res.Endless {
			when = "fifty years after the last job came, where the run was ended,"
		}
		out = append(out, fmt.Sprintf("%s: %s %s waited and %s ran", name, when, jobCount(res.Jobs.Waiting), grouped(res.Jobs.Running)))
	}
	return out
}

// chart shows GPUs in use against what is committed.
func (r *outcome) chart() report.Chart {
	values := r.curve.values(r.result.Ended)
	committed := 0
	for i := range r.result.Record.Pools {
		if p := &r.result.Record.Pools[i]; p.Terms.Committed() {
			committed += p.Capacity()
		}
	}
	c := report.Chart{
		Title: "GPUs in use", Height: 8,
		Lines: []report.Line{{Name: "in use", Values: values}},
		From:  r.result.Record.Start.Std().Format("2006-01-02"),
		To:    (r.result.Record.Start + capcli.Time(r.result.Ended)).Std().Format("2006-01-02"),
	}
	if committed > 0 && committed < 1<<24 {
		level := make([]float64, len(values))
		for i := range level {
			level[i] = float64(committed)
		}
		c.Lines = append(c.Lines, report.Line{Name: "committed", Values: level})
	}
	return c
}

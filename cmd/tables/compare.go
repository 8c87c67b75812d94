package tables

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/outcome"
)

// comparedHeads are the row titles of the comparison, by metric.
var comparedHeads = map[string]string{
	"cost": "cost", "cost_per_year": "  per year", "per_used_gpu_hour": "  per used GPU-hour", "on_demand_equivalent": "  all on demand",
	"effective_savings_rate": "  saved", "unserved_share": "unserved work", "unserved_gpu_hours": "  GPU-hours", "unserved_jobs": "  jobs",
	"stranded_usd": "stranded", "stranded_gpu_hours": "  GPU-hours", "allocation_rate": "used", "used_gpu_hours": "  GPU-hours", "wait_mean": "mean wait", "wait_p50": "wait p50",
	"wait_p95": "wait p95", "queue_time_mean": "time in queues", "jct_mean": "turnaround", "bounded_slowdown_mean": "slowdown",
	"preemptions": "preemptions", "redone_gpu_hours": "GPU-hours redone", "finished": "jobs finished",
}

// ComparePlans has a row for each figure. Each plan after the first also has a column with its
// difference to the first.
func ComparePlans(plans []outcome.Plan) report.Doc {
	d := CompareDoc(outcome.Compare(plans))
	d.Notes = append(d.Notes, lengthsNote(plans))
	return d
}

// CompareDoc is the table of a comparison and the sentence about it.
func CompareDoc(data *outcome.Comparison) report.Doc {
	t := report.Table{Name: "figures", Columns: []report.Column{{Name: "figure", Head: " "}}}
	for i, name := range data.Plans {
		t.Columns = append(t.Columns, report.Column{Name: name, Align: report.Right})
		if i > 0 {
			t.Columns = append(t.Columns, report.Column{Name: "difference_" + name, Head: "difference", Align: report.Right})
		}
	}
	for k := range data.Figures {
		t.Rows = append(t.Rows, compareRow(&data.Figures[k]))
	}
	d := report.Doc{Lead: leadOfCompare(data), Tables: []report.Table{t}, Data: data}
	if data.Runs > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d paired runs; %s", data.Runs, capcli.RangeNote(data.Runs, "differences")))
	}
	return d
}

// compareRow is the row of one figure: its value in each plan and, after the first plan, the
// difference to the first, with its range over paired runs.
func compareRow(f *outcome.ComparedFigure) []any {
	cell := metricCell(f.Metric)
	row := []any{comparedHeads[f.Metric.Name]}
	for i, mean := range f.Means {
		var own, change any
		if mean != nil {
			own = outcomeCell(*mean, cell)
		}
		row = append(row, own)
		if i == 0 {
			continue
		}
		if c := f.Changes[i]; c != nil {
			change = report.Change{Of: spreadCell(*c, cell)}
		}
		row = append(row, change)
	}
	return row
}

// lengthsNote says which length of time the costs cover.
func lengthsNote(plans []outcome.Plan) string {
	all, period := plans[0].Length(), outcome.PeriodsText(plans)
	if period != "" {
		period = " (" + period + ")"
	}
	for i := range plans {
		if n := plans[i].Length(); n == 0 || n != all {
			return "the runs differ in length" + period + ": compare the cost per year, which is cost x 365.25 d / length"
		}
	}
	return fmt.Sprintf("costs are for the %s of each run%s; the cost per year is cost x 365.25 d / length, for comparison only", lengthText(all), period)
}

// leadOfCompare compares cost, work served and waits of two plans; with more plans it names the
// cheapest.
func leadOfCompare(data *outcome.Comparison) string {
	if data.Runs == 0 {
		return "The plans have no run in common."
	}
	ranks := data.Rankings()
	if len(ranks) > 2 {
		return leadOfRanks(ranks)
	}
	a, b := &ranks[0], &ranks[1]
	if a.Cost == nil || b.Cost == nil || a.Wait == nil || b.Wait == nil {
		return ""
	}
	by := capcli.USDOf(max(*b.Cost-*a.Cost, *a.Cost-*b.Cost))
	text := fmt.Sprintf("%s costs %s more than %s", b.Name, by, a.Name)
	switch {
	case by < capcli.Dollar/200: // shown as $0.00
		text = fmt.Sprintf("%s costs the same as %s", b.Name, a.Name)
	case *b.Cost < *a.Cost:
		text = fmt.Sprintf("%s costs %s less than %s", b.Name, by, a.Name)
	}
	text += undoneOfBoth(b, a)
	from, to := a.Wait.Text(secondsText), b.Wait.Text(secondsText)
	if from == to {
		return fmt.Sprintf("%s; the 95th percentile of waits is %s in both.", text, from)
	}
	return fmt.Sprintf("%s; the 95th percentile of waits goes from %s to %s.", text, from, to)
}

// CompareBy splits the cost of each plan by tenant, pool, tier, month or a tag, as the mean over its runs.
func CompareBy(plans []outcome.Plan, by string) report.Doc {
	data := outcome.SplitCosts(plans, by)
	t := report.Fill(report.Table{Name: "by_" + by}, data.Rows, []report.Field[outcome.SplitCost]{
		{Name: "plan"},
		{Name: by, Cell: func(r outcome.SplitCost) any { return r.Part }},
		{Name: "cost_usd", Head: "cost", Cell: func(r outcome.SplitCost) any {
			if r.Range.Runs <= 1 {
				return r.Cost
			}
			return report.Range{Mid: r.Cost, Lo: report.AsMoney(r.Range.Lo.Value), Hi: report.AsMoney(r.Range.Hi.Value)}
		}},
		{Name: "share", As: report.AsPercent},
	})
	d := report.Doc{Title: "capcli compare", Tables: []report.Table{t}, Data: data}
	if slices.ContainsFunc(plans, func(p outcome.Plan) bool { return len(p.Runs) > 1 }) {
		d.Notes = append(d.Notes, "costs are the means over the runs of each plan; "+capcli.RangeNote(len(plans[0].Runs), "runs"))
	}
	d.Notes = append(d.Notes, lengthsNote(plans))
	return d
}

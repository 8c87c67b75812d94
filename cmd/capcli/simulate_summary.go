package main

import (
	"slices"
	"strings"

	"capcli/cmd/report"
	"capcli/scenarios/play"
	"capcli/simulate/outcome"
)

// summaryFigure is a column of the summary.
type summaryFigure struct {
	column report.Column
	metric string
	cell   func(float64) any
}

// summaryFigures are the columns of the summary. People are spared those of what
// no plan had: on-demand or spot cost, preemptions.
func summaryFigures(plans []*play.Case, results [][]*play.Run, people bool) []summaryFigure {
	figures := []summaryFigure{
		{report.Column{Name: "cost_usd", Head: "cost"}, "cost", moneyCell},
		{report.Column{Name: "cost_per_year_usd", Head: "a year", Priority: 2}, "cost_per_year", moneyCell},
		{report.Column{Name: "unserved_share", Head: "not done"}, "unserved_share", percentCell},
		{report.Column{Name: "wait_mean_s", Head: "mean wait", Priority: 1}, "wait_mean", secondsCell},
		{report.Column{Name: "wait_p50_s", Head: "wait p50", Priority: 5}, "wait_p50", secondsCell},
		{report.Column{Name: "wait_p95_s", Head: "wait p95"}, "wait_p95", secondsCell},
		{report.Column{Name: "queue_time_mean_s", Head: "queued", Priority: 1}, "queue_time_mean", secondsCell},
		{report.Column{Name: "jct_mean_s", Head: "turnaround", Priority: 1}, "jct_mean", secondsCell},
		{report.Column{Name: "bounded_slowdown_mean", Head: "slowdown", Priority: 4}, "bounded_slowdown_mean", ratioCell},
		{report.Column{Name: "allocation_rate", Head: "used"}, "allocation_rate", percentCell},
		{report.Column{Name: "stranded_gpu_hours", Head: "stranded GPUh", Priority: 4}, "stranded_gpu_hours", hoursCell},
		{report.Column{Name: "stranded_usd", Head: "stranded"}, "stranded_usd", moneyCell},
		{report.Column{Name: "on_demand_usd", Head: "on-demand", Priority: 3}, "on_demand", moneyCell},
		{report.Column{Name: "spot_usd", Head: "spot", Priority: 6}, "spot", moneyCell},
		{report.Column{Name: "effective_savings_rate", Head: "saved", Priority: 3}, "effective_savings_rate", percentCell},
		{report.Column{Name: "finished_jobs", Head: "jobs", Priority: 7}, "finished", countCell},
		{report.Column{Name: "preemptions", Head: "preempted", Priority: 8}, "preemptions", countCell},
	}
	if people && slices.ContainsFunc(plans, func(p *play.Case) bool { return len(p.Scenario.Assumptions()) > 0 }) {
		for i := range figures {
			if strings.HasSuffix(figures[i].column.Name, "_usd") || figures[i].metric == "effective_savings_rate" {
				figures[i].column.Head += "*"
			}
		}
	}
	if people {
		figures = slices.DeleteFunc(figures, func(f summaryFigure) bool {
			if f.metric == "queue_time_mean" { // without preemptions it is the wait for the first start
				return !anyHas(results, "preemptions")
			}
			return slices.Contains([]string{"on_demand", "spot", "preemptions"}, f.metric) && !anyHas(results, f.metric)
		})
	}
	return figures
}

// summaryTable has a row for each plan.
func summaryTable(plans []*play.Case, results [][]*play.Run, people bool) report.Table {
	figures := summaryFigures(plans, results, people)
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
	var bounded []string
	if !people { // who cannot read "over 3 h" finds the bound in a column of its own
		bounded = []string{"wait_p50", "wait_p95"}
	}
	for _, m := range bounded {
		t.Columns = append(t.Columns, report.Column{Name: m + "_at_least_s"})
	}
	for i, p := range plans {
		row := []any{p.Scenario.Name, p.Scenario.PolicyName(), p.Scenario.PlacementName()}
		for _, f := range figures {
			row = append(row, overRuns(results[i], f.metric, f.cell))
		}
		for k := range limits {
			row = append(row, heldShare(p, results[i], k))
		}
		for _, m := range bounded {
			row = append(row, boundOver(results[i], m))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// anyHas tells whether a figure is more than nothing in some run.
func anyHas(results [][]*play.Run, metric string) bool {
	for _, runs := range results {
		if outcome.Mean(runs, metric) != 0 {
			return true
		}
	}
	return false
}

// commonLimits are the limits of the plans when all state the same ones.
func commonLimits(plans []*play.Case) []string {
	var out []string
	for i, p := range plans {
		var mine []string
		for _, c := range p.Scenario.Limits {
			mine = append(mine, c.String())
		}
		if i > 0 && !slices.Equal(mine, out) {
			return nil
		}
		out = mine
	}
	return out
}

// heldShare is the share of runs in which the plan's k-th limit held. One that is
// not known to be held is not.
func heldShare(p *play.Case, runs []*play.Run, k int) any {
	held, unknown := 0, 0
	for _, r := range runs {
		holds, known := p.Scenario.Limits[k].Holds(&r.Outcome)
		if holds {
			held++
		}
		if !known {
			unknown++
		}
	}
	if unknown == len(runs) {
		return report.Verdict{Text: "not known"}
	}
	if len(runs) == 1 {
		return report.Verdict{Text: map[bool]string{true: "yes", false: "no"}[held == 1], Good: held == 1}
	}
	return report.Percent(float64(held) / float64(len(runs)))
}

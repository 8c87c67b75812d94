package tables

import (
	"slices"

	"capcli/cmd/report"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// summaryFigure is a column of the summary.
type summaryFigure struct {
	*outcome.Metric
	column report.Column
}

// summaryFigures are the columns of the summary. For people it leaves out on-demand cost, spot cost
// and preemptions where no plan has any.
func summaryFigures(plans []*play.Case, results [][]*play.Run, people bool) []summaryFigure {
	starred := people && slices.ContainsFunc(plans, func(p *play.Case) bool { return len(p.Scenario.Assumptions()) > 0 })
	var out []summaryFigure
	for _, c := range []struct {
		metric, head string
		priority     int
	}{
		{"cost", "cost", 0},
		{"cost_per_year", "a year", 2},
		{"unserved_share", "unserved", 0},
		{"wait_mean", "mean wait", 1},
		{"wait_p50", "wait p50", 5},
		{"wait_p95", "wait p95", 0},
		{"queue_time_mean", "queued", 1},
		{"jct_mean", "turnaround", 1},
		{"bounded_slowdown_mean", "slowdown", 4},
		{"allocation_rate", "used", 0},
		{"stranded_gpu_hours", "stranded GPUh", 4},
		{"stranded_usd", "stranded", 0},
		{"on_demand", "on-demand", 3},
		{"spot", "spot", 6},
		{"effective_savings_rate", "saved", 3},
		{"finished", "jobs", 7},
		{"preemptions", "preempted", 8},
	} {
		switch c.metric {
		case "queue_time_mean": // without preemptions it equals the wait for the first start
			if people && !anyHas(results, "preemptions") {
				continue
			}
		case "on_demand", "spot", "preemptions":
			if people && !anyHas(results, c.metric) {
				continue
			}
		}
		m := outcome.MetricNamed(c.metric)
		if starred && (m.Unit == outcome.InUSD || c.metric == "effective_savings_rate") {
			c.head += "*"
		}
		out = append(out, summaryFigure{m, report.Column{Name: m.Column(), Head: c.head, Priority: c.priority}})
	}
	return out
}

// summaryTable has one row a plan.
func summaryTable(plans []*play.Case, results [][]*play.Run, people bool) report.Table {
	figures := summaryFigures(plans, results, people)
	t := report.Table{Name: "plans", Columns: []report.Column{
		{Name: "scenario"}, {Name: "policy"}, {Name: "placement", Priority: 9},
	}}
	for _, f := range figures {
		t.Columns = append(t.Columns, f.column)
	}
	var limits []string
	if len(plans) > 1 || len(results[0]) > 1 || !people { // otherwise limits have a table of their own
		limits = play.CommonLimits(plans)
	}
	for _, l := range limits {
		t.Columns = append(t.Columns, report.Column{Name: "held: " + l, Head: l + " held"})
	}
	var bounded []string
	if !people { // programs get the bound of "over 3 h" in a column of its own
		bounded = []string{"wait_p50", "wait_p95"}
	}
	for _, m := range bounded {
		t.Columns = append(t.Columns, report.Column{Name: m + "_at_least_s"})
	}
	for i, p := range plans {
		row := []any{p.Scenario.Name, p.Scenario.PolicyName(), p.Scenario.PlacementName()}
		for _, f := range figures {
			row = append(row, overRuns(results[i], f.Name, metricCell(f.Metric)))
		}
		for k := range limits {
			row = append(row, heldCell(results[i], k))
		}
		for _, m := range bounded {
			row = append(row, boundOver(results[i], m))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// anyHas reports whether a figure is not 0 in some plan.
func anyHas(results [][]*play.Run, metric string) bool {
	for _, runs := range results {
		if outcome.Mean(runs, metric) != 0 {
			return true
		}
	}
	return false
}

// heldCell is the cell of the share of runs in which limit k of their plan held.
func heldCell(runs []*play.Run, k int) any {
	share, known := play.HeldShare(runs, k)
	switch {
	case !known:
		return report.Verdict{Text: "not known"}
	case len(runs) > 1:
		return report.Percent(share)
	case share == 1:
		return report.Verdict{Text: "yes", Good: true}
	}
	return report.Verdict{Text: "no"}
}

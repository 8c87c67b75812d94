package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/decide/plan/widths"
	"capcli/simulate/width"
)

// PlanWidthDoc is the report of the options of a job.
func PlanWidthDoc(r *widths.Result) report.Doc {
	numbers := make([]int, len(r.Options))
	for i := range numbers {
		numbers[i] = i
	}
	option := func(i int) *width.Option { return &r.Options[i] }
	fields := []report.Field[int]{
		{Name: "model", Head: "GPU model", Cell: func(i int) any { return option(i).Model }},
		{Name: "gpus", Head: "GPUs", Cell: func(i int) any { return int64(option(i).GPUs) }},
		{Name: "run_s", Head: "run time", Cell: func(i int) any { return option(i).Run }},
		{Name: "cost_usd", Head: "cost", Cell: func(i int) any { return option(i).Cost }},
	}
	if r.Deadline != nil {
		fields = append(fields, report.Field[int]{Name: "in_time", Head: "in time", Cell: func(i int) any { return yesNo(option(i).InTime) }})
	}
	fields = append(fields,
		report.Field[int]{Name: "best", Cell: func(i int) any { return r.Marks(i) }},
		report.Field[int]{Name: "dominated_by", Head: "dominated by", Cell: func(i int) any { return r.InsteadOf(i) }, Priority: 1},
	)
	d := report.Doc{Lead: r.Says, Notes: r.Notes, Data: r, Tables: []report.Table{
		report.Fill(report.Table{Name: "options", Title: "Options", Most: 60}, numbers, fields),
	}}
	if len(r.Earlier) == 0 {
		return d
	}
	d.Tables = append(d.Tables, report.Fill(report.Table{Name: "earlier", Title: "What being done earlier costs", Most: 30}, r.Earlier, []report.Field[width.Step]{
		{Name: "from", Cell: func(s width.Step) any { return widths.NameOption(option(s.From)) }},
		{Name: "to", Cell: func(s width.Step) any { return widths.NameOption(option(s.To)) }},
		{Name: "saved_s", Head: "earlier"},
		{Name: "more_usd", Head: "costs more"},
		{Name: "usd_per_hour_saved", Head: "an hour"},
	}))
	costs, from, to := r.CostByTime(chartSteps)
	d.Charts = []report.Chart{{
		Title: "Least cost, in dollars, by the time allowed", Lines: []report.Line{{Name: "cost", Values: costs}}, From: from.String(), To: to.String(),
	}}
	return d
}

package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate/workflow"
)

// stageTables show what became of each workflow and of its stages; none without workflows.
func stageTables(runs []*play.Run) []report.Table {
	if runs[0].Stages == nil || len(runs[0].Stages.Workflows) == 0 {
		return nil
	}
	flows := rowsOf(partsOf(runs, func(r *play.Run) []outcome.Workflow { return r.Stages.Workflows }))
	seconds := func(of func(*outcome.Stage) float64) func(*outcome.Stage) any {
		return func(s *outcome.Stage) any { return report.AsSeconds(of(s)) }
	}
	tables := []report.Table{
		fillRuns(report.Table{Name: "workflows", Title: "Workflows: lengths of the runs that ended well; critical path: had nothing waited"}, flows, []report.Field[*outcome.Workflow]{
			{Name: "workflow"},
			{Name: "runs"},
			{Name: "finished"},
			{Name: "broken"},
			{Name: "open"},
			{Name: "length_mean_s", Head: "length", Cell: func(w *outcome.Workflow) any { return report.AsSeconds(w.Length) }},
			{Name: "critical_path_mean_s", Head: "critical path", Cell: func(w *outcome.Workflow) any { return report.AsSeconds(w.Least) }},
			{Name: "deadline_misses", Head: "late", Priority: 1},
			{Name: "gpu_hours", Head: "GPU-hours", Priority: 2},
			{Name: "cost_usd", Head: "cost"},
			{Name: "over_dollars", Head: "over $", Priority: 3},
		}),
		fillRuns(report.Table{Name: "stages", Title: "Stages: drag is how much shorter a run would be if the stage took no time"}, rowsOf(partsOf(runs, (*play.Run).StageRows)), []report.Field[*outcome.Stage]{
			{Name: "workflow", Priority: 4},
			{Name: "stage"},
			{Name: "jobs", Priority: 3},
			{Name: "retries", Priority: 2},
			{Name: "failed", Priority: 3},
			{Name: "cancelled", Priority: 3},
			{Name: "ended_early", Head: "cut short", Priority: 4},
			{Name: "gpu_hours", Head: "GPU-hours"},
			{Name: "cost_usd", Head: "cost", Priority: 1},
			{Name: "wait_mean_s", Head: "wait", Cell: seconds(func(s *outcome.Stage) float64 { return s.Wait })},
			{Name: "deadline_misses", Head: "late", Priority: 4},
			{Name: "critical_share", Head: "critical", As: report.AsPercent, Cell: func(s *outcome.Stage) any { return report.AsPercent(s.Critical) }},
			{Name: "critical_wait_mean_s", Head: "its wait", Cell: seconds(func(s *outcome.Stage) float64 { return s.CriticalWait })},
			{Name: "drag_mean_s", Head: "drag", Cell: seconds(func(s *outcome.Stage) float64 { return s.Drag })},
			{Name: "slack_mean_s", Head: "slack", Cell: seconds(func(s *outcome.Stage) float64 { return s.Slack })},
		}),
	}
	for i := range runs[0].Stages.Workflows {
		if w := &runs[0].Stages.Workflows[i]; len(w.Faster) > 0 && len(runs) == 1 {
			tables = append(tables, fasterTable(w))
		}
	}
	return tables
}

// fasterTable shows what an hour earlier costs.
func fasterTable(w *outcome.Workflow) report.Table {
	return report.Fill(report.Table{Name: "faster_" + w.Name, Title: "What an hour earlier costs: " + w.Name + ", cheapest first, without waits"}, w.Faster, []report.Field[workflow.Crash]{
		{Name: "stage"},
		{Name: "also", Priority: 2},
		{Name: "gpus", Head: "GPUs"},
		{Name: "gpus_wider", Head: "to"},
		{Name: "earlier_s", Head: "earlier", Cell: func(c workflow.Crash) any { return c.Earlier }},
		{Name: "extra_usd", Head: "extra"},
		{Name: "usd_per_hour_earlier", Head: "an hour"},
		{Name: "length_s", Head: "length", Cell: func(c workflow.Crash) any { return c.Span }},
	})
}

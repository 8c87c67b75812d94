package tables

import (
	"capcli/cmd/report"
	"capcli/simulate/serving/service"
)

// ServiceAgentsDoc is the report of tasks.
func ServiceAgentsDoc(r *service.AgentsResult) report.Doc {
	tasks := report.Figures("tasks", r, []report.Field[*service.AgentsResult]{
		{Name: "tasks", Head: "tasks"},
		{Name: "calls", Head: "calls"},
		{Name: "mean", Head: "calls mean", As: report.AsRatio},
		{Name: "p50", Head: "calls p50"},
		{Name: "p90", Head: "calls p90"},
		{Name: "p99", Head: "calls p99"},
		{Name: "max", Head: "calls max"},
		{Name: "tokens_in", Head: "tokens in"},
		{Name: "tokens_out", Head: "tokens out"},
	})
	micros := func(us float64) any { return report.AsMicros(us) }
	plays := report.Fill(report.Table{Name: "plays", Title: "Played on the service"}, r.Plays, []report.Field[service.Play]{
		{Name: "workflows", Cell: func(p service.Play) any { return p.Count() }},
		{Name: "replicas"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "slo_share", Head: "SLO met", As: report.AsPercent, Cell: func(p service.Play) any { return p.Promise.Found }},
		{Name: "task_mean", Head: "task mean", As: micros},
		{Name: "task_p99", Head: "task p99", As: micros},
		{Name: "calls_at_once_mean", Head: "calls at once", As: report.AsTenths, Priority: 2},
		{Name: "calls_at_once_peak", Head: "at once max", Priority: 3},
		{Name: "ttft_p99", Head: "TTFT p99", As: micros, Priority: 1, Cell: func(p service.Play) any { return p.Summary.TTFTP99 }},
		{Name: "failed", Priority: 4},
		{Name: "usd_per_task", Head: "cost per task", As: report.AsMoney, Priority: 3},
	})
	d := report.Doc{Lead: r.Lead(), Notes: r.Notes, Data: r, Tables: []report.Table{tasks}}
	if len(r.Plays) > 0 {
		d.Tables = []report.Table{plays, tasks}
	}
	return d
}

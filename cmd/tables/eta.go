package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/decide/eta"
)

// ScoredDoc is the report of a log's estimates. Its first table has the estimate of each job.
func ScoredDoc(s *eta.Scored) report.Doc {
	jobs := report.Fill(report.Table{Name: "jobs", Title: "Estimate of each job at its submission", Aside: true}, s.Estimates, []report.Field[eta.JobEstimate]{
		{Name: "job_id", Align: report.Left}, {Name: "estimate_s"}, {Name: "lo_s"}, {Name: "hi_s"}, {Name: "p_over_1h"}, {Name: "wait_s"},
	})
	scores := report.Fill(report.Table{Name: "scores", Title: "Accuracy of the estimates; errors in log10(wait + 60 s)"}, s.Scores, []report.Field[eta.Rated]{
		{Name: "method", Align: report.Left},
		{Name: "of", Head: "over", Align: report.Left},
		{Name: "jobs", Priority: 3},
		{Name: "mae_log10", Head: "error", As: report.AsRatio},
		{Name: "med_abs_log10", Head: "median error", As: report.AsRatio, Priority: 2},
		{Name: "brier_1h", Head: "Brier >1 h", As: report.AsRatio},
		{Name: "cover80", Head: "held", As: report.AsPercent},
		{Name: "width_log10", Head: "width", As: report.AsRatio, Priority: 1},
		{Name: "interval_score", Head: "interval", As: report.AsRatio},
	})
	return report.Doc{Lead: s.Lead(), Notes: s.Notes, Data: s, Tables: []report.Table{jobs, scores}}
}

// AnswerDoc is the report of one job's estimated start.
func AnswerDoc(a *eta.Answer) report.Doc {
	figures := report.Figures("start", a, []report.Field[*eta.Answer]{
		{Name: "at", Head: "submitted"},
		{Name: "position", Head: "position in the queue"},
		{Name: "ahead_gpus", Head: "GPUs requested ahead in the queue"},
		{Name: "running_gpus", Head: "GPUs in use"},
		{Name: "capacity_gpus", Head: "capacity in GPUs, " + a.CapacityIs},
		{Name: "start", Head: "estimated start"},
		{Name: "start_lo", Head: "80% range: from"},
		{Name: "start_hi", Head: "80% range: to"},
		{Name: "estimate_s", Head: "estimated wait"},
		{Name: "p_over_1min", Head: "chance to wait over a minute", As: report.AsPercent},
		{Name: "p_over_1h", Head: "chance to wait over an hour", As: report.AsPercent},
		{Name: "replay_limits_s", Head: "wait if every job runs to its limit"},
		{Name: "replay_predicted_s", Head: "wait if jobs run as long as their tenant's last two"},
		{Name: "under_policy", Head: "wait under --policy", Cell: func(a *eta.Answer) any { return a.UnderRule.Cell() }},
		{Name: "preempts", Head: "jobs it would preempt"},
		{Name: "starts_now_gpus", Head: "most GPUs that would start at once, with this limit"},
		{Name: "starts_now_limit_s", Head: "longest limit that would start at once, with these GPUs"},
	})
	ends := report.Fill(report.Table{Name: "must_end_first", Title: "Running jobs that must end first", Most: 10}, a.MustEnd, []report.Field[eta.Blocker]{
		{Name: "job_id", Align: report.Left},
		{Name: "tenant", Align: report.Left, Priority: 2},
		{Name: "gpus", Head: "GPUs"},
		{Name: "started", Priority: 1},
		{Name: "believed_end", Head: "expected end"},
		{Name: "ends_in_s", Head: "in"},
	})
	tables := []report.Table{figures, ends}
	if len(a.Held) > 0 {
		tables = append(tables, report.Fill(report.Table{Name: "held", Title: "Waiting jobs that free GPUs would not start, by Slurm's reason: not in the line", Most: 10}, a.Held, []report.Field[eta.Held]{
			{Name: "reason", Align: report.Left}, {Name: "jobs"}, {Name: "gpus", Head: "GPUs"},
		}))
	}
	return report.Doc{Lead: a.Lead(), Notes: a.Notes, Data: a, Tables: tables}
}

package replay

import (
	"context"

	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/play"
)

// explainQueue plays the plan and says what stood before the job of --explain-queue.
func (o *SimulateOptions) explainQueue(ctx context.Context, e *shell.Env, plan *play.Case) error {
	p := shell.NewProgress(e, "jobs")
	q, err := explain.LookAtJob(ctx, plan, o.queueOf, play.Request{Note: e.Note, Progress: p.Report})
	if err != nil {
		return err
	}
	p.End(0)
	figures := report.Figures("queue", q, []report.Field[*explain.Queue]{
		{Name: "submitted_s", Head: "submitted, from the start of the run"},
		{Name: "position", Head: "position in the queue"},
		{Name: "ahead_gpus", Head: "GPUs requested ahead in the queue"},
		{Name: "running_gpus", Head: "GPUs in use"},
		{Name: "free_gpus", Head: "GPUs free"},
		{Name: "starts_now_gpus", Head: "most GPUs that would have started at once"},
		{Name: "believed_wait_s", Head: "wait expected by the policy"},
		{Name: "would_preempt", Head: "jobs it would have preempted"},
		{Name: "wait_s", Head: "actual wait"},
		{Name: "preempted", Head: "jobs it preempted"},
		{Name: "overtaken_by", Head: "later jobs that started first"},
		{Name: "times_preempted", Head: "times it was preempted"},
	})
	ended := report.Fill(report.Table{Name: "ended_before", Title: "Jobs that ended before it started", Most: 10}, q.EndedBefore, []report.Field[explain.Ended]{
		{Name: "job_id", Align: report.Left}, {Name: "tenant", Priority: 1}, {Name: "gpus", Head: "GPUs"}, {Name: "believed_end_s", Head: "believed"}, {Name: "end_s", Head: "ended"}, {Name: "how"},
	})
	return shell.Emit(e, o.output, report.Doc{Lead: q.Lead(), Notes: q.Notes, Data: q, Tables: []report.Table{figures, ended}})
}

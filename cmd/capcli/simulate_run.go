package main

import (
	"context"

	"capcli/cmd/report"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// play runs every plan as often as asked.
func (o *simulateOptions) play(ctx context.Context, e *env, plans []*play.Case) ([][]*play.Run, error) {
	unit := "jobs"
	if len(plans)*o.runs > 1 {
		unit = "runs"
	}
	p, done := newProgress(e, unit), int64(0)
	out, err := play.Play(ctx, plans, play.Request{Runs: o.runs, Note: e.note, Progress: func(n, total int64) {
		done = n
		p.at(n, total)
	}})
	if err == nil || unit == "runs" {
		p.end(done)
	}
	return out, err
}

// recordJobs has the run of a plan write what became of its jobs into --jobs-out. It
// returns what ends the file: whole where the run ended well, else not at all.
func (o *simulateOptions) recordJobs(e *env, plans []*play.Case) func(error) error {
	if o.jobsOut == "" {
		return func(err error) error { return err }
	}
	var out *output
	var rows *play.JobRows
	plans[0].Prepare = func(_ int, cfg *simulate.Config) (err error) {
		if out != nil { // played again, sorted
			out.Abort()
		}
		if out, err = e.create(o.jobsOut); err == nil {
			rows = play.NewJobRows(out, plans[0], report.Guard)
			cfg.Observers = append(cfg.Observers, rows)
		}
		return err
	}
	return func(err error) error {
		switch {
		case out == nil:
			return err
		case err != nil:
			out.Abort()
			return err
		}
		if err := rows.Close(); err != nil {
			return out.failed(err)
		}
		return out.Commit()
	}
}

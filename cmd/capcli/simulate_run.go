package main

import (
	"context"

	"capcli/scenarios/play"
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

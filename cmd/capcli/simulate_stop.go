package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"capcli/scenarios/play"
	"capcli/simulate/outcome"
)

// keptError says that a signal ended the work, and what was kept of it.
type keptError struct {
	by   stopped
	text string
}

func (e *keptError) Error() string { return e.by.Error() + "; " + e.text }
func (e *keptError) Unwrap() error { return e.by }

// finishedRuns are the runs of each plan that were done when a signal came, from
// the first on without a gap, so that what is kept can be played again. Plans
// without any are left out. It gives the plans and nil where no signal came, and
// the error where nothing can be kept.
func (o *simulateOptions) finishedRuns(ctx context.Context, plans []*play.Case, results [][]*play.Run, err error) ([]*play.Case, [][]*play.Run, *outcome.Partial, error) {
	if err == nil {
		return plans, results, nil, nil
	}
	var by stopped
	if !errors.As(context.Cause(ctx), &by) {
		return nil, nil, nil, err
	}
	kept, out, done := play.Finished(plans, results)
	if done == 0 {
		return nil, nil, nil, by
	}
	part := &outcome.Partial{Done: done, Asked: o.runs * len(plans), Why: by.Error()}
	return kept, out, part, nil
}

// partialLead says what a result that was stopped is of.
func partialLead(p *outcome.Partial) string {
	why := strings.ToUpper(p.Why[:1]) + p.Why[1:]
	return fmt.Sprintf("%s after %d of %d runs: what follows is of those.", why, p.Done, p.Asked)
}

// stoppedError is the error that such a result ends with.
func (o *simulateOptions) stoppedError(ctx context.Context, p *outcome.Partial) error {
	var by stopped
	errors.As(context.Cause(ctx), &by)
	where := "the result is of those"
	if o.dir != "" {
		where = "they are in " + o.dir
	}
	return &keptError{by: by, text: fmt.Sprintf("%d of %d runs were done: %s", p.Done, p.Asked, where)}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// partialJSON says that a result was stopped before all of its runs were done.
type partialJSON struct {
	Done  int    `json:"runs_done"` // of those that the result has
	Asked int    `json:"runs_asked"`
	Why   string `json:"why"`
}

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
func (o *simulateOptions) finishedRuns(ctx context.Context, plans []*plan, results [][]*outcome, err error) ([]*plan, [][]*outcome, *partialJSON, error) {
	if err == nil {
		return plans, results, nil, nil
	}
	var by stopped
	if !errors.As(context.Cause(ctx), &by) {
		return nil, nil, nil, err
	}
	part := &partialJSON{Asked: o.runs * len(plans), Why: by.Error()}
	var kept []*plan
	var out [][]*outcome
	for i, p := range plans {
		n := 0
		for n < len(results[i]) && results[i][n] != nil {
			n++
		}
		if n > 0 {
			kept, out = append(kept, p), append(out, results[i][:n])
			part.Done += n
		}
	}
	if part.Done == 0 {
		return nil, nil, nil, by
	}
	return kept, out, part, nil
}

// lead says what a result that was stopped is of.
func (p *partialJSON) lead() string {
	why := strings.ToUpper(p.Why[:1]) + p.Why[1:]
	return fmt.Sprintf("%s after %d of %d runs: what follows is of those.", why, p.Done, p.Asked)
}

// stoppedError is the error that such a result ends with.
func (o *simulateOptions) stoppedError(ctx context.Context, p *partialJSON) error {
	var by stopped
	errors.As(context.Cause(ctx), &by)
	where := "the result is of those"
	if o.dir != "" {
		where = "they are in " + o.dir
	}
	return &keptError{by: by, text: fmt.Sprintf("%d of %d runs were done: %s", p.Done, p.Asked, where)}
}

// pulse shows progress over several runs that go on at once: at each run that
// ends, and while they go on.
type pulse struct {
	lock  sync.Mutex
	shown *progress
	done  int64
	total int64
}

// beat shows how far the runs are; ended counts one more.
func (p *pulse) beat(ended bool) {
	if p == nil {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if ended {
		p.done++
	}
	p.shown.at(p.done, p.total)
}

// end takes the progress away.
func (p *pulse) end() {
	if p != nil {
		p.shown.end(p.done)
	}
}

// tell gives what a run says while its jobs come, and at its end: a single run
// counts jobs, one of several keeps the count of runs alive.
func (p *pulse) tell(e *env) (jobs, ended func(n int64)) {
	if p != nil {
		return func(int64) { p.beat(false) }, func(int64) {}
	}
	alone := newProgress(e, "jobs")
	return func(n int64) { alone.at(n, 0) }, alone.end
}

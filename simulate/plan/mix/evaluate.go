package mix

import (
	"context"
	"errors"
	"sync"

	"capcli"
)

// Evaluate gives the outcomes of candidates in one run, in the order asked.
type Evaluate func(ctx context.Context, run int, candidates []*Candidate) ([]Outcome, error)

// evaluate simulates each key once, on all cores, and prices every candidate
// that has it. What comes out does not depend on the number of cores. Of a mix that
// lost on the way only the wait is known that it reached. Where ctx ends it gives
// what came to its end with the error; the Run of all others is notRun.
func (p *Problem) evaluate(ctx context.Context, run int, candidates []*Candidate) ([]Outcome, error) {
	out := make([]Outcome, len(candidates))
	for i := range out {
		out[i].Run = notRun
	}
	groups := groupByKey(candidates)
	err := inParallel(ctx, len(groups), func(ctx context.Context, g int) error {
		lost := candidates[groups[g][0]].lost
		for _, i := range groups[g][1:] {
			lost = lost.later(candidates[i].lost)
		}
		res, err := p.runUnless(ctx, candidates[groups[g][0]], run, lost)
		if errors.Is(err, errAbandoned) {
			for _, i := range groups[g] {
				out[i] = Outcome{Candidate: candidates[i].Index, Run: run, WaitP95: lost.wait}
			}
			return nil
		}
		if err != nil {
			return err
		}
		for _, i := range groups[g] {
			priced, err := p.price(candidates[i], run, res)
			if err != nil {
				return err
			}
			out[i] = priced
		}
		return nil
	})
	return out, err
}

// notRun is the Run of an outcome that there is none of.
const notRun = -1

// groupByKey puts the places of candidates with one key together, in order of
// the first.
func groupByKey(candidates []*Candidate) [][]int {
	at := map[string]int{}
	var groups [][]int
	for i, c := range candidates {
		g, ok := at[c.Key]
		if !ok {
			g = len(groups)
			at[c.Key] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// inParallel does n pieces of work on all cores, and returns after the last that it
// began. The error is that of the first piece that failed, in order; no piece after it
// is begun.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	var lock sync.Mutex
	failed := n
	begins := func(i int) bool {
		lock.Lock()
		defer lock.Unlock()
		return i < failed && ctx.Err() == nil
	}
	// The pool has no end of its own, for it would not wait for what it began.
	errs, err := capcli.MapParallel(context.WithoutCancel(ctx), everyOne(n), nil, func(_ context.Context, i int) (error, error) {
		if !begins(i) {
			return nil, nil
		}
		err := do(ctx, i)
		if err != nil {
			lock.Lock()
			defer lock.Unlock()
			failed = min(failed, i)
		}
		return err, nil
	})
	if err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

package mix

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// Evaluate gives the outcomes of candidates in one run, in the order asked.
type Evaluate func(ctx context.Context, run int, candidates []*Candidate) ([]Outcome, error)

// Evaluate simulates each key once, on all cores, and prices every candidate
// that has it. What comes out does not depend on the number of cores. Of a mix that
// lost on the way only the wait is known that it reached. Where ctx ends it gives
// what came to its end with the error; the Run of all others is notRun.
func (p *Problem) Evaluate(ctx context.Context, run int, candidates []*Candidate) ([]Outcome, error) {
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
			priced, err := p.Price(candidates[i], run, res)
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

// inParallel does n pieces of work on all cores. The error is that of the first
// piece that failed, in order; a panic is passed on to the caller.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, n)
	var (
		next, failed int
		lock         sync.Mutex
		wait         sync.WaitGroup
		crash        any
	)
	failed = n
	take := func() int {
		lock.Lock()
		defer lock.Unlock()
		if next >= failed || crash != nil || ctx.Err() != nil {
			return -1
		}
		next++
		return next - 1
	}
	one := func(i int) {
		defer func() {
			v := recover()
			lock.Lock()
			defer lock.Unlock()
			if v != nil && crash == nil {
				crash = v
			}
			if errs[i] != nil {
				failed = min(failed, i)
			}
		}()
		errs[i] = do(ctx, i)
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := take(); i >= 0; i = take() {
				one(i)
			}
		})
	}
	wait.Wait()
	if crash != nil {
		panic(crash)
	}
	if failed < n {
		return errs[failed]
	}
	return ctx.Err()
}

package mix

import (
	"context"
	"errors"

	"capcli"
)

// Evaluate returns the outcomes of candidates in one run, in the order of candidates.
type Evaluate func(ctx context.Context, run int, candidates []*Candidate) ([]Outcome, error)

// evaluate simulates each key once, on all cores, and prices every candidate of the key. The
// outcomes do not depend on the number of cores. A mix that lost on the way has only WaitP95, the
// wait at which it lost. Where ctx ends, evaluate returns the finished outcomes with the error; the
// Run of the others is notRun.
func (p *Problem) evaluate(ctx context.Context, run int, candidates []*Candidate) ([]Outcome, error) {
	defer p.Effort.timed(onReplays)()
	out := make([]Outcome, len(candidates))
	for i := range out {
		out[i].Run = notRun
	}
	groups := groupByKey(candidates)
	err := capcli.EachParallel(ctx, len(groups), func(ctx context.Context, g int) error {
		lost := candidates[groups[g][0]].lost
		for _, i := range groups[g][1:] {
			lost = lost.laterOf(candidates[i].lost)
		}
		ran, err := p.simulate(ctx, candidates[groups[g][0]], run, lost)
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
			priced, err := p.price(ctx, candidates[i], run, ran)
			if err != nil {
				return err
			}
			out[i] = priced
		}
		return nil
	})
	return out, err
}

// notRun is the Run of an outcome that was not computed.
const notRun = -1

// groupByKey groups the indexes of candidates by key, in order of each key's first candidate.
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

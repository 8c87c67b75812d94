package mix

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"capcli"
)

// Pieces is the work of a search as a numbered list, so that it can be cut into shards. Piece i is
// one simulation: all candidates of one key in one run. Its outcome depends on the inputs and its
// number alone. The list has the mixes that the search tries first: the coarse grid and Include
// under a stride, else all. It leaves out mixes that a limit on cost rules out beforehand, for that
// is certain whatever the outcomes of the others. It keeps mixes that only a race could drop.
type Pieces struct {
	problem *Problem
	groups  [][]*Candidate
}

func (s *Search) pieces(ctx context.Context) (*Pieces, error) {
	x, err := s.newSearch(ctx)
	if err != nil {
		return nil, err
	}
	numbers := everyOne(x.Size)
	if s.Stride > 1 {
		numbers = append(x.coarse(s.Stride), s.Include...)
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
	}
	limited := slices.ContainsFunc(s.Limits, func(l Limit) bool { return l.onCost() })
	var candidates []*Candidate
	for _, i := range numbers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := s.Problem.Candidate(i)
		if isInvalid(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if limited {
			e, err := x.entry(c)
			if err != nil {
				return nil, err
			}
			if x.overLimit(e) {
				continue
			}
		}
		candidates = append(candidates, c)
	}
	p := &Pieces{problem: s.Problem}
	for _, group := range groupByKey(candidates) {
		list := capcli.Map(group, func(i int) *Candidate { return candidates[i] })
		p.groups = append(p.groups, list)
	}
	return p, nil
}

// Len returns the number of pieces. Runs of one key stand together.
func (p *Pieces) Len() int { return len(p.groups) * p.problem.Runs }

func (p *Pieces) find(piece int) (group []*Candidate, run int) {
	return p.groups[piece/p.problem.Runs], piece % p.problem.Runs
}

// Compute simulates the pieces with the numbers in which, on all cores. It passes the outcomes of
// each piece as JSON to done, one piece at a time, as they finish.
func (p *Pieces) Compute(ctx context.Context, which []int, done func(piece int, outcome json.RawMessage) error) error {
	var lock sync.Mutex
	return capcli.EachParallel(ctx, len(which), func(ctx context.Context, k int) error {
		group, run := p.find(which[k])
		outcomes, err := p.problem.evaluate(ctx, run, group)
		if err != nil {
			return err
		}
		text, err := json.Marshal(outcomes)
		if err != nil {
			return fmt.Errorf("the outcome of mix %d: %w", group[0].Index, err)
		}
		lock.Lock()
		defer lock.Unlock()
		return done(which[k], text)
	})
}

// Evaluate returns a function for Search.Evaluate that answers from the outcomes of pieces, each as
// Compute wrote it. It simulates what the search asks for beyond the list. It fails where the
// outcomes do not fit the list.
func (p *Pieces) Evaluate(pieces []json.RawMessage) (Evaluate, error) {
	if len(pieces) != p.Len() {
		return nil, fmt.Errorf("expected the outcomes of %d pieces, found %d", p.Len(), len(pieces))
	}
	type key struct{ candidate, run int }
	known := map[key]Outcome{}
	for i, text := range pieces {
		group, run := p.find(i)
		var list []Outcome
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("piece %d: %w", i, err)
		}
		if len(list) != len(group) {
			return nil, fmt.Errorf("piece %d: expected %d outcomes, found %d", i, len(group), len(list))
		}
		for k, c := range group {
			if list[k].Candidate != c.Index || list[k].Run != run {
				return nil, fmt.Errorf("piece %d: expected mix %d in run %d, found mix %d in run %d", i, c.Index, run, list[k].Candidate, list[k].Run)
			}
			known[key{c.Index, run}] = list[k]
		}
	}
	return func(ctx context.Context, run int, candidates []*Candidate) ([]Outcome, error) {
		out := make([]Outcome, len(candidates))
		var places []int
		var unknown []*Candidate
		for i, c := range candidates {
			o, ok := known[key{c.Index, run}]
			if out[i] = o; !ok {
				places, unknown = append(places, i), append(unknown, c)
			}
		}
		if len(unknown) == 0 {
			return out, ctx.Err()
		}
		fresh, err := p.problem.evaluate(ctx, run, unknown)
		if err != nil {
			return nil, err
		}
		for k, i := range places {
			out[i] = fresh[k]
		}
		return out, nil
	}, nil
}

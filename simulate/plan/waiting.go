package plan

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"capcli"
)

// Waiting is what it is worth to decide later. All costs are means over the
// futures.
//
// Now is the best plan that is made at once and kept to: every purchase of the
// whole time is settled today. Later buys nothing until After, pays on demand until
// then, and then makes the best plan for what is known by then: futures are told
// apart only by how much was wanted until After, in Branches groups of equal size,
// and each group gets one plan for all its futures, the best by the mean, solved
// exactly. Rest makes today's part of the plan Now at once, and decides the rest
// after After in the same way. Part does that with the best share Share of today's
// part, of 0, 10 %, … 100 %. Known is what plans cost that know their future from
// the start.
type Waiting struct {
	After                         capcli.Seconds
	Branches                      int
	Now, Later, Rest, Part, Known capcli.USD
	Share                         float64 // of today's purchases, in Part
}

// Value is what deciding everything After saves against deciding it now: below 0
// waiting costs money.
func (w *Waiting) Value() capcli.USD { return w.Now - w.Later }

// ErrNothingAhead says that the futures end before the time to wait is over.
var ErrNothingAhead = errors.New("the futures end before the time to wait is over")

// maxBranches bounds what is taken to be known after waiting.
const maxBranches = 10

// Wait works out what waiting is worth. now is the plan by the mean, and alone the
// best plan of each future.
func (f *Field) Wait(ctx context.Context, after capcli.Step, now *Choice, alone []*Choice) (*Waiting, error) {
	c := f.deal.c
	at := c.after(0, after, 1)
	if at >= c.Len() {
		return nil, ErrNothingAhead
	}
	w := &Waiting{After: at}
	groups := f.branches(at)
	w.Branches = len(groups)
	var today []int // chances before After
	for i, x := range f.deal.chances {
		if x.from < at {
			today = append(today, i)
		}
	}
	means := map[int]*big.Rat{} // by tenths of today's purchases
	best := 0
	for tenth := 0; tenth <= 10; tenth++ {
		fixed := make([]int64, len(f.cost))
		for _, i := range today {
			fixed[i] = int64(math.Round(float64(now.bought[i]) * float64(tenth) / 10))
		}
		mean, err := f.decideLater(ctx, at, groups, fixed)
		if err != nil {
			return nil, err
		}
		means[tenth] = mean
		if mean.Cmp(means[best]) < 0 {
			best = tenth
		}
	}
	known := new(big.Rat)
	for _, a := range alone {
		known.Add(known, a.Bound)
	}
	known.Quo(known, big.NewRat(int64(len(alone)), 1))
	w.Share = float64(best) / 10
	for _, x := range []struct {
		to *capcli.USD
		of *big.Rat
	}{{&w.Now, now.Value}, {&w.Later, means[0]}, {&w.Rest, means[10]}, {&w.Part, means[best]}, {&w.Known, known}} {
		var err error
		if *x.to, err = f.usd(x.of); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// branches divides the futures by what they want until an instant.
func (f *Field) branches(at capcli.Seconds) [][]int {
	wanted := make([]capcli.GPUTime, f.Count())
	for s, c := range f.curves {
		for i, work := range c.Work {
			from, to := c.at(i), c.at(i+1)
			if from >= at {
				break
			}
			wanted[s] += capcli.GPUTime(mulDiv(int64(work), int64(min(to, at)-from), int64(to-from)))
		}
	}
	order := allOf(f.Count())
	sortBy(order, func(a, b int) bool { return wanted[a] < wanted[b] })
	n := max(1, min(maxBranches, int(math.Sqrt(float64(len(order))))))
	var out [][]int
	for b := range n {
		group := slices.Clone(order[b*len(order)/n : (b+1)*len(order)/n])
		slices.Sort(group)
		out = append(out, group)
	}
	return out
}

// decideLater is the mean cost of buying fixed at once and, in each group of
// futures, the best for the group from an instant on.
func (f *Field) decideLater(ctx context.Context, at capcli.Seconds, groups [][]int, fixed []int64) (*big.Rat, error) {
	sum := new(big.Rat)
	for _, group := range groups {
		c, err := f.later(at, group, fixed).Choose(ctx, Risk{})
		if err != nil {
			return nil, err
		}
		sum.Add(sum, new(big.Rat).Mul(c.Value, big.NewRat(int64(len(group)), 1)))
	}
	sum.Quo(sum, big.NewRat(int64(f.Count()), 1))
	for i, n := range fixed {
		sum.Add(sum, new(big.Rat).SetInt(product(n, f.cost[i])))
	}
	return sum, nil
}

// later is the field of some futures, with purchases that were made and those that
// can still be made from an instant on.
func (f *Field) later(at capcli.Seconds, group []int, made []int64) *Field {
	out, d := *f, *f.deal
	out.deal, d.chances, out.cost = &d, nil, nil
	out.all, out.cells, out.pieces, out.curves = allOf(len(group)), nil, nil, nil
	for _, s := range group {
		out.cells, out.pieces, out.curves = append(out.cells, f.cells[s]), append(out.pieces, f.pieces[s]), append(out.curves, f.curves[s])
	}
	out.held = f.levels(made)
	for i, x := range f.deal.chances {
		if x.from >= at {
			d.chances, out.cost = append(d.chances, x), append(out.cost, f.cost[i])
		}
	}
	return &out
}

package plan

import (
	"context"
	"errors"
	"math/big"

	"capcli"
)

// Waiting is the value of deciding again, and of deciding later. All costs are means over the
// futures.
//
// Now is the best plan that is decided at once and kept. Again, with the purchases in Plan, decides
// some now and the rest at each stage, with what is known by then: the best such plan found on the
// tree of futures. Later is the same but buys nothing before the second decision and pays on demand
// until then. Rest buys what Now buys before the second decision, and decides again from then on.
// Known is the cost of plans that know their future from the start.
type Waiting struct {
	Now, Again, Later, Rest, Known capcli.USD
	Bound                          capcli.USD // lower bound on the cost of every plan on the tree
	Plan                           *Staged
}

// Value returns what deciding everything later saves against deciding it now; negative: waiting
// costs money.
func (w *Waiting) Value() capcli.USD { return w.Now - w.Later }

// ErrNothingAhead means that the futures end before the time to wait is over.
var ErrNothingAhead = errors.New("the futures end before the time to wait is over")

// Wait finds the plan that decides again at each stage, and computes the value of waiting. now is
// the plan for the mean, and alone the best plan of each future. It fails with ErrNothingAhead
// where the futures end before the second decision.
func (f *Field) Wait(ctx context.Context, stages Stages, now *Choice, alone []*Choice) (*Waiting, error) {
	t, err := f.grow(stages)
	if err != nil {
		return nil, err
	}
	kept := t.repeat(now)
	later, err := t.solve(ctx, func(int) (int64, bool) { return 0, true }, kept)
	if err != nil {
		return nil, err
	}
	rest, err := t.solve(ctx, func(option int) (int64, bool) { return now.bought[option], true }, kept)
	if err != nil {
		return nil, err
	}
	again, err := t.solve(ctx, nil, kept, later.bought, rest.bought)
	if err != nil {
		return nil, err
	}
	w := &Waiting{}
	if w.Plan, err = t.staged(again); err != nil {
		return nil, err
	}
	return w, f.price(w, t, now, alone, later, rest)
}

// price fills in the costs of w in dollars.
func (f *Field) price(w *Waiting, t *tree, now *Choice, alone []*Choice, later, rest *covered) error {
	known := new(big.Rat)
	for _, a := range alone {
		known.Add(known, a.Bound)
	}
	known.Quo(known, big.NewRat(int64(len(alone)), 1))
	laterCost, _, err := t.mean(later.bought)
	if err != nil {
		return err
	}
	restCost, _, err := t.mean(rest.bought)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		to *capcli.USD
		of *big.Rat
	}{{&w.Now, now.Value}, {&w.Again, w.Plan.Cost}, {&w.Bound, w.Plan.Bound}, {&w.Later, laterCost}, {&w.Rest, restCost}, {&w.Known, known}} {
		if *x.to, err = f.usd(x.of); err != nil {
			return err
		}
	}
	return nil
}

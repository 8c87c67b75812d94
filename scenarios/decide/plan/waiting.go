package plan

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"

	"capcli"
)

// Waiting is the value of deciding again, and of deciding later. All costs are means over the
// futures.
//
// Now is the best plan that is decided at once and kept. Again, with the purchases in Plan, decides
// some now and the rest at each stage, with what is known by then: the best such plan found on the
// tree of futures. Later is the same but buys nothing before the second decision and pays on demand
// until then. Rest buys what Now buys before the second decision, and decides again from then on.
// Known is the cost of plans that know their future from the start. Untold is Again without the signals of the
// stages.
type Waiting struct {
	Now, Again, Later, Rest, Known capcli.USD
	Untold                         capcli.USD
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
//
// Signals cost nothing: where the plan found without them is cheaper, as it may be where they leave groups
// too small to divide by their demand, it is that plan.
func (f *Field) Wait(ctx context.Context, stages Stages, now *Choice, alone []*Choice) (*Waiting, error) {
	w, err := f.wait(ctx, stages, now, alone)
	if err != nil {
		return nil, err
	}
	w.Untold = w.Again
	if len(stages.Signals) == 0 {
		return w, nil
	}
	untold := stages
	untold.Signals = nil
	u, err := f.wait(ctx, untold, now, alone)
	if errors.Is(err, ErrNothingAhead) {
		w.Untold = w.Now
		return w, nil
	}
	if err != nil {
		return nil, err
	}
	if w.Untold = u.Again; u.Again < w.Again {
		w.Again, w.Bound, w.Plan = u.Again, u.Bound, u.Plan
		w.Plan.Nodes = f.datedNodes(w.Plan.Nodes, stages)
	}
	w.Later, w.Rest = min(w.Later, u.Later), min(w.Rest, u.Rest)
	return w, nil
}

// wait is Wait on the tree of the stages alone.
func (f *Field) wait(ctx context.Context, stages Stages, now *Choice, alone []*Choice) (*Waiting, error) {
	t, again, err := f.decideAgain(ctx, stages, now)
	if err != nil {
		return nil, err
	}
	kept := t.repeat(now)
	second := f.secondDecision(stages)
	early := func(option int) bool { return f.deal.options[option].ordered < second }
	later, err := t.solve(ctx, func(int) int64 { return 0 }, early, kept)
	if err != nil {
		return nil, err
	}
	rest, err := t.solve(ctx, func(option int) int64 { return now.bought[option] }, early, kept)
	if err != nil {
		return nil, err
	}
	for _, x := range []*covered{later, rest} { // a search that was cut off may have missed them
		if x.cost < again.cost {
			again.bought, again.cost = x.bought, x.cost
		}
	}
	w := &Waiting{}
	if w.Plan, err = t.staged(again); err != nil {
		return nil, err
	}
	w.Plan.Nodes = f.datedNodes(w.Plan.Nodes, stages)
	return w, f.price(w, t, now, alone, later, rest)
}

// secondDecision returns the time of the decision after the first.
func (f *Field) secondDecision(s Stages) capcli.Seconds {
	at := f.allDecisions(s)
	return at[min(1, len(at)-1)]
}

// spacings are the multiples of a month, or of the time between decisions, at which the futures may
// be told apart. A decision in between changes nothing, for it knows no more.
var spacings = []int{1, 2, 3, 4, 6, 12}

// decideAgain returns the tree, and the plan on it, with the least mean cost. Futures that are told
// apart often are soon in groups that are too small to divide; told apart seldom, each decision
// knows more. Both can be done by whoever revises often enough, so the trees are those of all
// multiples of the time between decisions. The tree of a spacing is the same whatever the stages, so
// deciding more often is never worth less where one time is a multiple of the other.
func (f *Field) decideAgain(ctx context.Context, stages Stages, now *Choice) (best *tree, plan *covered, err error) {
	list := stages.spaced()
	if f.Count() <= MaxScenarios {
		list = list[:1] // futures are told apart as soon as they differ: more seldom knows less
	}
	type solved struct {
		tree *tree
		plan *covered
		mean *big.Rat
	}
	all, err := capcli.MapParallel(ctx, list, nil, func(ctx context.Context, every capcli.Step) (out solved, err error) {
		try, ok := f.reach(stages, every)
		if !ok {
			return out, nil
		}
		if out.tree, err = f.grow(try); errors.Is(err, ErrNothingAhead) {
			return solved{}, nil
		}
		if err != nil {
			return out, err
		}
		if out.plan, err = out.tree.solve(ctx, nil, nil, out.tree.repeat(now)); err != nil {
			return out, err
		}
		out.mean, _, err = out.tree.mean(out.plan.bought)
		return out, err
	})
	if err != nil {
		return nil, nil, err
	}
	var least *big.Rat
	for _, x := range all {
		if x.tree != nil && (least == nil || x.mean.Cmp(least) < 0) {
			best, plan, least = x.tree, x.plan, x.mean
		}
	}
	if best == nil {
		return nil, nil, ErrNothingAhead
	}
	return best, plan, nil
}

// reach returns stages of another spacing that last as long; false where none fits.
func (f *Field) reach(s Stages, every capcli.Step) (Stages, bool) {
	if every == s.Every || s.Count == 0 {
		s.Every = every
		return s, true
	}
	until, n := f.deal.c.AddSteps(0, s.Every, s.Count), 0
	for f.deal.c.AddSteps(0, every, n+1) <= until {
		n++
	}
	s.Every, s.Count = every, n
	return s, n > 0
}

// spaced returns the time between decisions, and multiples of it.
func (s Stages) spaced() []capcli.Step {
	out := []capcli.Step{s.Every}
	for _, n := range spacings {
		x := capcli.Step{Months: n}
		if s.Every.Months == 0 {
			x = capcli.Step{Seconds: s.Every.Seconds * capcli.Seconds(n), Days: s.Every.Days * n}
		}
		if x.Length() > s.Every.Length() && (s.Every.Months == 0 || n%s.Every.Months == 0) {
			out = append(out, x)
		}
	}
	return out
}

// datedNodes returns the nodes of a tree with one for each decision of the stages: where no future
// is told apart it has the futures of the node before it, and the purchases of its time.
func (f *Field) datedNodes(nodes []Node, s Stages) []Node {
	dates := f.allDecisions(s)
	var out []Node
	last := make([]int, len(nodes)) // in out: the last part of each node
	for i := range nodes {
		n, parent := nodes[i], -1
		if n.Parent >= 0 {
			parent = last[n.Parent]
		}
		all, until := n.Purchases, n.To
		for from := n.From; from < until; from = n.From {
			n.Parent, n.To = parent, until
			k, found := slices.BinarySearch(dates, from)
			if found {
				k++
			}
			if k < len(dates) && dates[k] < until {
				n.To = dates[k]
			}
			n.Purchases = []Purchase{}
			for _, p := range all {
				if p.Ordered >= n.From && p.Ordered < n.To {
					n.Purchases = append(n.Purchases, p)
				}
			}
			parent = len(out)
			out = append(out, n)
			before := n.From
			if n.From = n.To; n.From < until {
				n.Wanted, n.Least, n.Most = f.wantedBy(n.Futures, before, n.From)
			}
		}
		last[i] = parent
	}
	return sortNodes(out)
}

// sortNodes puts nodes in order of time, and numbers their stages.
func sortNodes(nodes []Node) []Node {
	order := allOf(len(nodes))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(nodes[a].From, nodes[b].From) })
	place := make([]int, len(nodes))
	for k, i := range order {
		place[i] = k
	}
	out := make([]Node, len(nodes))
	stage := -1
	for k, i := range order {
		out[k] = nodes[i]
		if out[k].Parent >= 0 {
			out[k].Parent = place[out[k].Parent]
		}
		if k == 0 || out[k].From > out[k-1].From {
			stage++
		}
		out[k].Stage, out[k].kids = stage, nil
	}
	return out
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

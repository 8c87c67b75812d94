package plan

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/mat"

	"capcli"
)

// Stages are the times at which a plan is decided again.
type Stages struct {
	Every    capcli.Step // time between two decisions
	Count    int         // most decisions after the first; 0 is as many as the demand lasts
	Branches int         // most groups into which a decision divides each group of the stage before
	Signals  []Signal    // what else becomes known; each has a decision at its time
}

// Signal is something that is known from an instant on, such as whether a campaign goes ahead.
type Signal struct {
	At     capcli.Seconds
	Values []int // by future: futures with the same value cannot be told apart by it
}

// MaxScenarios is the most futures that are scenarios of their own: they are told apart as soon as
// they differ. More futures are divided into groups.
const MaxScenarios = 30

// Limits on a tree of decisions.
const (
	minGroup    = 10  // fewest futures in a group, where futures are not scenarios
	maxGroups   = 20  // about the most groups
	maxTreeRows = 640 // periods of all nodes together
	foretelling = 3   // the last stages whose demand foretells the rest one by one
)

// Node is one decision of a multi-stage plan: the purchases, from one decision to the next, of a
// group of futures that cannot be told apart yet.
type Node struct {
	Parent    int            // index of the node before; -1 for the first node
	Stage     int            // 0 is the decision now
	From, To  capcli.Seconds // the time of this decision, and of the next
	Futures   []int          // numbers of its futures, rising
	Wanted    float64        // mean GPUs from the decision before to From; 0 in the first node
	Least     float64        // the mean GPUs, in that time, of the future of the group with the least
	Most      float64        // and with the most
	Purchases []Purchase     // made in each future of the group

	first, last int   // the node covers the periods from first to before last
	kids        []int // indexes of the nodes of the next stage
}

// Staged is a plan that is decided again. The purchases of the first node are made now, those of a
// later node only in its futures. All costs are means over the futures.
type Staged struct {
	Nodes  []Node
	Cost   *big.Rat // in the field's unit
	Bound  *big.Rat // no plan on this tree costs less
	Solved int      // linear programs solved

	bought [][]int64 // by future, then option
}

// Exact reports whether no plan on this tree can be better.
func (s *Staged) Exact() bool { return s.Cost.Cmp(s.Bound) <= 0 }

// tree is the futures of a field as a tree of decisions.
type tree struct {
	f     *Field
	nodes []Node
	row   []int // row of the first period of each node
	rows  int

	program cover
	buys    []variable // the purchase of each offer of the program
	div     int64      // divisor of the amounts in the program
}

// grow makes the tree. A decision divides futures by the demand that is expected after it: the
// least-squares regression, over all futures, of the mean demand still to come on the mean demand
// of each of the last stages and of the time before them (the regression of Longstaff and Schwartz
// 2001). Signals divide them first. Each group is divided into
// groups of equal size. Where the futures are few they are scenarios, and are divided as soon as
// their demands differ. Late decisions are left out where the tree would have too many periods.
func (f *Field) grow(s Stages) (*tree, error) {
	at := f.allDecisions(s)
	if len(at) == 1 {
		return nil, ErrNothingAhead
	}
	for ; ; at = at[:len(at)-1] {
		t := f.branch(at, s)
		if t.rows <= maxTreeRows || len(at) == 2 {
			t.compile()
			return t, nil
		}
	}
}

// allDecisions returns the times of the decisions of s and of its signals.
func (f *Field) allDecisions(s Stages) []capcli.Seconds {
	at := f.decisions(s)
	for _, x := range s.Signals {
		if when := f.edge(x.At); when > 0 && when < f.deal.c.KnownLen() {
			at = append(at, when)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// decisions returns the times of the decisions of s, without those of its signals.
func (f *Field) decisions(s Stages) []capcli.Seconds {
	at := []capcli.Seconds{0}
	for n := 1; s.Count == 0 || n <= s.Count; n++ {
		when := f.deal.c.AddSteps(0, s.Every, n)
		next := f.edge(when)
		if when <= 0 || next >= f.deal.c.KnownLen() {
			break
		}
		if next > at[len(at)-1] {
			at = append(at, next)
		}
	}
	return at
}

// edge returns the first instant from at on at which a period starts.
func (f *Field) edge(at capcli.Seconds) capcli.Seconds {
	i, _ := slices.BinarySearch(f.deal.edges, at)
	return f.deal.edges[min(i, len(f.deal.edges)-1)]
}

// branch makes the tree of decisions at some instants.
func (f *Field) branch(at []capcli.Seconds, s Stages) *tree {
	t := &tree{f: f}
	level := []int{t.add(Node{Parent: -1, Futures: allOf(f.Count())}, at)}
	for stage := 1; stage < len(at); stage++ {
		foretold := f.foretell(at[:stage+1])
		var next []int
		for _, parent := range level {
			for _, group := range f.divide(t.nodes[parent].Futures, at[stage], s, foretold) {
				n := Node{Parent: parent, Stage: stage, Futures: group}
				n.Wanted, n.Least, n.Most = f.wantedBy(group, at[stage-1], at[stage])
				id := t.add(n, at)
				t.nodes[parent].kids = append(t.nodes[parent].kids, id)
				next = append(next, id)
			}
		}
		level = next
	}
	return t
}

func (t *tree) add(n Node, at []capcli.Seconds) int {
	n.From, n.To = at[n.Stage], t.f.deal.c.Len()
	if n.Stage+1 < len(at) {
		n.To = at[n.Stage+1]
	}
	n.first, _ = slices.BinarySearch(t.f.deal.edges, n.From)
	n.last, _ = slices.BinarySearch(t.f.deal.edges, n.To)
	t.nodes, t.row = append(t.nodes, n), append(t.row, t.rows)
	t.rows += n.last - n.first
	return len(t.nodes) - 1
}

// wantedIn returns the mean GPUs that a future wants from the start of one period to that of another.
func (f *Field) wantedIn(s int, from, to capcli.Seconds) float64 {
	a, _ := slices.BinarySearch(f.deal.edges, from)
	b, _ := slices.BinarySearch(f.deal.edges, to)
	return float64(f.wanted[s][b]-f.wanted[s][a]) / 1000 / float64(to-from)
}

// sumWanted returns the GPU time that each future wants before the start of each period.
func (f *Field) sumWanted() [][]int64 {
	out := make([][]int64, f.Count())
	for s, periods := range f.pieces {
		sums := make([]int64, len(periods)+1)
		for m, ps := range periods {
			sums[m+1] = sums[m]
			for _, p := range ps {
				sums[m+1] += p.Work
			}
		}
		out[s] = sums
	}
	return out
}

// wantedBy returns the mean, the least and the most of wantedIn over some futures.
func (f *Field) wantedBy(group []int, from, to capcli.Seconds) (mean, least, most float64) {
	least = math.Inf(1)
	for _, s := range group {
		v := f.wantedIn(s, from, to)
		mean, least, most = mean+v, min(least, v), max(most, v)
	}
	return mean / float64(len(group)), least, most
}

// foretell returns, for each future, the demand in GPUs that is expected after the last of some
// instants, given the demand between them.
func (f *Field) foretell(at []capcli.Seconds) []float64 {
	if n := len(at); n > foretelling+2 {
		at = append([]capcli.Seconds{0}, at[n-foretelling-1:]...)
	}
	n, k := f.Count(), len(at)-1
	x, y := mat.NewDense(n, k+1, nil), mat.NewVecDense(n, nil)
	for s := range n {
		x.Set(s, 0, 1)
		for i := range k {
			x.Set(s, i+1, f.wantedIn(s, at[i], at[i+1]))
		}
		y.SetVec(s, f.wantedIn(s, at[k], f.deal.c.Len()))
	}
	var svd mat.SVD
	out := make([]float64, n)
	if !svd.Factorize(x, mat.SVDThin) { // not seen with finite values; the demand of the last stage stands in
		for s := range out {
			out[s] = x.At(s, k)
		}
		return out
	}
	var beta mat.VecDense
	svd.SolveVecTo(&beta, y, max(1, svd.Rank(1e-9)))
	for s := range out {
		for i := range k + 1 {
			out[s] += x.At(s, i) * beta.AtVec(i)
		}
	}
	return out
}

// divide divides a group into the futures that the decision at an instant can tell apart.
func (f *Field) divide(group []int, at capcli.Seconds, s Stages, foretold []float64) [][]int {
	parts := [][]int{group}
	for _, x := range s.Signals {
		if f.edge(x.At) > at {
			continue
		}
		var finer [][]int
		for _, part := range parts {
			finer = append(finer, groupFutures(part, func(a, b int) bool { return x.Values[a] == x.Values[b] })...)
		}
		parts = finer
	}
	var out [][]int
	for _, part := range parts {
		if f.Count() <= MaxScenarios {
			out = append(out, groupFutures(part, func(a, b int) bool { return f.sameUntil(a, b, at) })...)
			continue
		}
		order := slices.Clone(part)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(foretold[a], foretold[b]) })
		n := max(1, min(max(1, s.Branches), len(order)/max(minGroup, f.Count()/maxGroups)))
		for b := range n {
			piece := slices.Clone(order[b*len(order)/n : (b+1)*len(order)/n])
			slices.Sort(piece)
			out = append(out, piece)
		}
	}
	return out
}

// groupFutures puts futures that are the same into one group, in order of their first.
func groupFutures(futures []int, same func(a, b int) bool) [][]int {
	var out [][]int
	for _, s := range futures {
		i := slices.IndexFunc(out, func(known []int) bool { return same(known[0], s) })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], s)
	}
	return out
}

// sameUntil reports whether two futures have the same demand up to an instant.
func (f *Field) sameUntil(a, b int, at capcli.Seconds) bool {
	c := f.curves[a]
	for i := range c.Work {
		if c.StepStart(i+1) > at {
			break
		}
		if c.Work[i] != f.curves[b].Work[i] {
			return false
		}
	}
	return true
}

// variable is a purchase, of an option, that a node may make.
type variable struct{ node, option int }

// compile writes the tree as a program: a row for each period of each node, summed over its
// futures, and an offer for each purchase that a node may make, which covers rows of the node and
// of its descendants. As in Field.program, amounts that are too large are divided by div and
// rounded down; here the cost of all futures together must fit, for it is computed in int64.
func (t *tree) compile() {
	f := t.f
	t.div = 1
	if need := max(float64(f.top)*float64(f.Count()), f.onDemand()) / (1 << 58); need > 1 {
		t.div = int64(math.Ceil(need))
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		weights := make([]int64, f.Count())
		for _, s := range n.Futures {
			weights[s] = 1
		}
		for m := n.first; m < n.last; m++ {
			t.program.rows = append(t.program.rows, f.pool(m, weights, t.div))
		}
	}
	for i := range t.nodes {
		for x, o := range f.deal.options {
			if n := &t.nodes[i]; o.ordered < n.From || o.ordered >= n.To {
				continue
			}
			offer := coverOffer{rows: t.reach(nil, i, o.first, o.last), hi: -1, cost: mulDivDown(f.cost[x], int64(len(t.nodes[i].Futures)), t.div)}
			if o.most > 0 {
				offer.hi = o.most
			}
			t.program.offers, t.buys = append(t.program.offers, offer), append(t.buys, variable{i, x})
		}
	}
}

// onDemand returns about what all futures together cost where nothing is bought.
func (f *Field) onDemand() (sum float64) {
	for s := range f.cells {
		for m, held := range f.held {
			sum += float64(f.uncovered(s, m, held))
		}
	}
	return sum
}

// reach returns rows with those of a node and its descendants in some periods added.
func (t *tree) reach(rows []int, node, from, to int) []int {
	n := &t.nodes[node]
	for m := max(from, n.first); m < min(to, n.last); m++ {
		rows = append(rows, t.row[node]+m-n.first)
	}
	for _, kid := range n.kids {
		if t.nodes[kid].first < to {
			rows = t.reach(rows, kid, from, to)
		}
	}
	return rows
}

// solve finds the plan on the tree with the least mean cost: a multi-stage stochastic program in
// whole numbers (Birge and Louveaux, Introduction to Stochastic Programming, 2011, chapter 3),
// whose deterministic equivalent is solved by branch and bound. Costs are those of the futures
// themselves, not of a mean of each group. fixed is how much is bought of the options that are
// early; a nil early leaves all open. starts are solutions to begin with.
func (t *tree) solve(ctx context.Context, fixed func(option int) int64, early func(option int) bool, starts ...[]int64) (*covered, error) {
	c := t.program
	c.offers = slices.Clone(c.offers)
	for j, v := range t.buys {
		if early != nil && early(v.option) {
			n := fixed(v.option)
			c.offers[j].lo, c.offers[j].hi = n, n
		}
	}
	for i := range starts {
		starts[i] = slices.Clone(starts[i])
	}
	return solveCover(ctx, &c, starts...)
}

// repeat returns the solution that makes, in every node, the purchases of a plan for all futures.
func (t *tree) repeat(plan *Choice) []int64 {
	return capcli.Map(t.buys, func(v variable) int64 { return plan.bought[v.option] })
}

// mean returns the mean cost of a solution over the futures, and the purchases of each future.
func (t *tree) mean(x []int64) (*big.Rat, [][]int64, error) {
	f := t.f
	byNode := t.byNode(x)
	bought := make([][]int64, f.Count())
	sum := new(big.Int)
	for i := range t.nodes {
		if len(t.nodes[i].kids) > 0 {
			continue
		}
		all := slices.Clone(byNode[i])
		for p := t.nodes[i].Parent; p >= 0; p = t.nodes[p].Parent {
			for option, n := range byNode[p] {
				all[option] += n
			}
		}
		costs, err := f.costs(all, t.nodes[i].Futures...)
		if err != nil {
			return nil, nil, err
		}
		for k, s := range t.nodes[i].Futures {
			bought[s] = all
			sum.Add(sum, big.NewInt(costs[k]))
		}
	}
	return new(big.Rat).SetFrac(sum, big.NewInt(int64(f.Count()))), bought, nil
}

// byNode returns the purchases of each node, by option.
func (t *tree) byNode(x []int64) [][]int64 {
	out := make([][]int64, len(t.nodes))
	for i := range out {
		out[i] = make([]int64, len(t.f.cost))
	}
	for j, v := range t.buys {
		out[v.node][v.option] = x[j]
	}
	return out
}

// staged returns a solution as purchases and exact costs.
func (t *tree) staged(got *covered) (*Staged, error) {
	out := &Staged{Nodes: t.nodes, Solved: got.nodes}
	var err error
	if out.Cost, out.bought, err = t.mean(got.bought); err != nil {
		return nil, err
	}
	for i, bought := range t.byNode(got.bought) {
		if out.Nodes[i].Purchases, err = t.f.purchases(bought); err != nil {
			return nil, err
		}
	}
	out.Bound = new(big.Rat).SetFrac(new(big.Int).Mul(got.bound, big.NewInt(t.div)), big.NewInt(int64(t.f.Count())))
	return out, nil
}

// AssessStaged returns the costs of a plan that decides again in each future.
func (f *Field) AssessStaged(name, doc string, s *Staged) (*Assessed, error) {
	out, err := f.assess(name, doc, func(future int) []int64 { return s.bought[future] })
	if err != nil {
		return nil, err
	}
	out.First = s.Nodes[0].Purchases
	return out, nil
}

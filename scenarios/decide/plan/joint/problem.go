package joint

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/market"
)

// solution is the cheapest plan that was found, and a lower bound on all plans.
type solution struct {
	purchases   []purchase // in order of start, then offer
	cost        capcli.USD
	commitments capcli.USD
	onDemand    capcli.USD // demand that the purchases do not cover
	allOnDemand capcli.USD
	bound       capcli.USD       // rounded down; no plan costs less
	wanted      []capcli.GPUTime // by model
	reserved    []capcli.GPUTime // by model: served by its own purchases
	planned     []capcli.GPUTime // by model: served under plans
	units       []int64          // by column
	moved       []moved          // by move and span of time
	without     *solution        // the plan in which nothing moves; nil where nothing may move
}

// moved is the work that one move takes over a span of time.
type moved struct {
	move          int
	from, to      capcli.Seconds
	may           capcli.GPUTime // most that may move
	left, arrived capcli.GPUTime // moved work, in the time of each of the two models
	busy          capcli.Seconds // time in which some moves
}

// purchase is an amount bought of one offer at one time.
type purchase struct {
	offer    int
	from, to capcli.Seconds
	milli    int64 // thousandths of GPUs, or of dollars an hour
	cost     capcli.USD
	left     bool // ended early: the cost includes the fee
	extended bool
}

// gap returns the most that the plan can be above the optimum, as a share of the bound.
func (s *solution) gap() float64 {
	if s.cost <= s.bound {
		return 0
	}
	return (s.cost - s.bound).Float() / max(s.bound.Float(), 1e-6)
}

// planMilli is the unit in which plans are bought: a thousandth of a dollar an hour.
const planMilli = 1000 // millionths of a dollar an hour

// column is an offer at one time: units (lots, or planMilli) from one edge to another.
type column struct {
	offer    int
	dim      int // index of a model, or the number of models + the index of a plan
	from, to int // edges
	end      capcli.Seconds
	cost     int64 // millionths of a dollar for a unit
	most     int64 // units
	left     bool
	extended bool
}

// segment is a span of time with constant demand.
type segment struct {
	dur  int64   // seconds
	work []int64 // by model: thousandths of GPU-seconds
}

// pair is a plan that may cover a model.
type pair struct {
	model, plan int
	rate        float64 // rate under the plan
	ratio       float64 // on-demand rate over the rate under the plan
}

// problem is the demand for the models of a market, ready to solve. Each model has its own offers
// (reservations, blocks, owned machines). Besides, there are plans: commitments to money whose
// discount all their models share. Plans link the models: what one model reserves leaves more of a
// plan to the others.
type problem struct {
	*scenarios.Market
	after   plan.After
	curves  []*plan.Curve // by model, on the same steps
	edges   []capcli.Seconds
	periods [][]segment // segments between two edges
	plans   []int       // indexes of the offers that are plans
	columns []column
	rank    []pair    // in the order in which plans apply: the highest saving first
	lots    []int64   // by model: thousandths of GPUs that are bought together
	list    []int64   // by model: on-demand rate
	top     []float64 // by dimension: the most units that are of use
}

// solve finds a plan and a bound on its distance from the cheapest.
//
// The cost of the uncovered demand is a convex, piecewise-linear function of the GPUs of each model
// and the money an hour that are committed in each period. Cuts below that function make a linear
// program of the purchases, whose optimum is a lower bound on every plan (Kelley 1960, with a cut
// for each period as in Birge and Louveaux 1988). Its solution is rounded to whole lots and then
// improved by single purchases and swaps. Where there are no plans each model is a minimum-cost
// flow of its own, and the result is the optimum.
func (p *problem) solve(ctx context.Context) (*solution, error) {
	if len(p.Moves) > 0 {
		return p.solveMoving(ctx)
	}
	if len(p.plans) == 0 {
		return p.separate(ctx)
	}
	x, bound, err := p.relax(ctx)
	if err != nil {
		return nil, err
	}
	return p.rounded(ctx, x, bound)
}

// solveMoving finds a plan in which work moves. What is bought and what moves are one program: the
// cost of the uncovered demand of a segment is that of its best split, which is convex too. Where
// the search ends above the plan in which nothing moves, it starts again from that plan, so that
// the result never costs more.
func (p *problem) solveMoving(ctx context.Context) (*solution, error) {
	still := *p
	market := *p.Market
	market.Moves, still.Market = nil, &market
	without, err := still.solve(ctx)
	if err != nil {
		return nil, err
	}
	x, bound, err := p.relax(ctx)
	if err != nil {
		return nil, err
	}
	out, err := p.rounded(ctx, x, bound)
	if err != nil {
		return nil, err
	}
	if out.cost >= without.cost { // then from there: at the same cost nothing moves that need not
		for j, n := range without.units {
			x[j] = float64(n)
		}
		other, err := p.rounded(ctx, x, bound)
		if err != nil {
			return nil, err
		}
		if other.cost <= out.cost {
			out = other
		}
	}
	out.without = without
	return out, nil
}

// rounded returns the plan of whole units near fractional purchases.
func (p *problem) rounded(ctx context.Context, x []float64, bound float64) (*solution, error) {
	units, err := p.round(ctx, x)
	if err != nil {
		return nil, err
	}
	out, err := p.solution(units)
	if err != nil {
		return nil, err
	}
	out.bound = min(capcli.USD(math.Floor(bound)), out.cost)
	return out, nil
}

// newProblem lays out the time line and the columns. The curves are those of the market's models,
// in order. It fails where a curve is invalid or the steps differ.
func newProblem(m *scenarios.Market, curves []*plan.Curve) (*problem, error) {
	p := &problem{Market: m}
	var err error
	if p.after, err = parseAfter(m); err != nil {
		return nil, err
	}
	if p.curves, err = p.extend(curves); err != nil {
		return nil, err
	}
	curves = p.curves
	first, all := curves[0], 0.0
	for i, c := range curves {
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", m.GPUs[i].Model, err)
		}
		if c.Start != first.Start || c.Step != first.Step || len(c.Work) != len(first.Work) {
			return nil, fmt.Errorf("the demands for %s and %s are not of the same steps", m.GPUs[0].Model, m.GPUs[i].Model)
		}
		for _, w := range c.Work {
			all += float64(w)
		}
		p.lots = append(p.lots, cmp.Or(m.GPUs[i].Lot, 1000))
		p.list = append(p.list, int64(m.GPUs[i].OnDemand.Rate))
	}
	if len(m.Moves) > 0 && all > math.MaxInt64/1000 { // moved work may be 100 times as long
		return nil, capcli.ErrOverflow
	}
	for i := range m.Offers {
		if m.Offers[i].Model < 0 {
			p.plans = append(p.plans, i)
		}
	}
	spans := p.spans()
	p.edges = []capcli.Seconds{0, first.Len()}
	for _, x := range spans {
		p.edges = append(p.edges, x.from, min(x.to, first.Len()))
	}
	slices.Sort(p.edges)
	p.edges = slices.Compact(p.edges)
	p.rank = p.plansByRatio()
	p.cutSegments()
	p.findTops()
	return p, p.addColumns(spans)
}

// parseAfter returns what becomes of purchases that last beyond the end of the demand.
func parseAfter(m *scenarios.Market) (plan.After, error) {
	if m.After == "tail" {
		return plan.After{Rule: plan.Tail}, nil // each model has its own level
	}
	return market.ParseAfter(m.After, m.Overrun)
}

// extend returns the demands with their tails: each model's level until the last purchase that is
// offered ends.
func (p *problem) extend(curves []*plan.Curve) ([]*plan.Curve, error) {
	if p.after.Rule != plan.Tail {
		return curves, nil
	}
	m := plan.Market{Every: p.Every}
	for i := range p.Offers {
		o, c := &p.Offers[i], curves[0]
		t := plan.Term{Length: o.Length}
		if o.Fixed {
			t.On = []capcli.Seconds{capcli.Seconds(o.From - c.Start)}
		}
		m.Terms = append(m.Terms, t)
		if o.Extend.Length() > 0 {
			t.Length = capcli.Step{Seconds: c.AddSteps(c.AddSteps(0, o.Length, 1), o.Extend, 1)}
			if o.Length.Months > 0 && o.Extend.Months > 0 {
				t.Length = capcli.Step{Months: o.Length.Months + o.Extend.Months}
			}
			m.Terms = append(m.Terms, t)
		}
	}
	out := make([]*plan.Curve, len(curves))
	for i, c := range curves {
		m.After = plan.After{Rule: plan.Tail, Milli: p.GPUs[i].Tail}
		var err error
		if out[i], err = m.Extend(c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// span is a column before the edges are known.
type span struct {
	offer          int
	from, to       capcli.Seconds
	cost           *big.Int // in millionths of a dollar x 3600 x 1000 for a thousandth of a GPU
	left, extended bool
}

// spans returns everything that can be bought, at each time of purchase.
func (p *problem) spans() []span {
	var out []span
	c := p.curves[0]
	every := p.Every
	if every.Length() <= 0 {
		every = capcli.Step{Months: 1}
	}
	starts := c.Starts(every)
	for i := range p.Offers {
		list := starts
		if o := &p.Offers[i]; o.Fixed {
			list = []capcli.Seconds{capcli.Seconds(o.From - c.Start)}
		}
		for _, from := range list {
			if from >= 0 && from < c.KnownLen() {
				out = append(out, p.spansFrom(i, from)...)
			}
		}
	}
	return out
}

// spansFrom returns the ways to buy an offer that starts at an instant: to the end of its term,
// extended, and ended early.
func (p *problem) spansFrom(i int, from capcli.Seconds) []span {
	o, c := &p.Offers[i], p.curves[0]
	end, last := c.AddSteps(from, o.Length, 1), c.Len()
	paid := func(from, to capcli.Seconds, rate capcli.Rate) *big.Int { // the part that counts
		if p.after.Rule == plan.Prorated {
			to = max(from, min(to, last))
		}
		return exact.Product(int64(rate), int64(to-from))
	}
	var out []span
	put := func(to capcli.Seconds, cost *big.Int, left, extended bool) {
		if to > from && (to <= last || p.after.Rule != plan.Fitting) {
			out = append(out, span{i, from, to, cost, left, extended})
		}
	}
	whole := paid(from, end, o.Rate)
	put(end, whole, false, false)
	if o.Extend.Length() > 0 && (end < last || p.after.Rule != plan.Prorated) {
		to := c.AddSteps(end, o.Extend, 1)
		put(to, new(big.Int).Add(whole, paid(end, to, o.ExtendRate)), false, true)
	}
	for _, x := range o.Exits {
		at := c.AddSteps(from, x.After, 1)
		if at >= end || at >= last && p.after.Rule == plan.Prorated {
			continue
		}
		fee := exact.Product(int64(o.Rate), int64(end-at))
		fee.Mul(fee, big.NewInt(x.Share)).Quo(fee, big.NewInt(plan.Whole))
		put(at, fee.Add(fee, exact.Product(int64(o.Rate), int64(at-from))), true, false)
	}
	return out
}

func (p *problem) addColumns(spans []span) error {
	for _, x := range spans {
		o := &p.Offers[x.offer]
		k := column{offer: x.offer, dim: o.Model, end: x.to, left: x.left, extended: x.extended}
		if o.Model < 0 {
			k.dim = len(p.GPUs) + slices.Index(p.plans, x.offer)
		}
		size := p.unitSize(k.dim)
		cost := new(big.Int).Mul(x.cost, big.NewInt(size))
		cost.Add(cost, big.NewInt(perHour/2)).Quo(cost, big.NewInt(perHour))
		if !cost.IsInt64() || cost.Int64() > flow.LimitCost {
			return capcli.ErrOverflow
		}
		k.cost = cost.Int64()
		k.from, _ = slices.BinarySearch(p.edges, x.from)
		k.to, _ = slices.BinarySearch(p.edges, min(x.to, p.curves[0].Len()))
		k.most = int64(math.Ceil(p.top[k.dim]))
		if o.Max > 0 {
			k.most = min(k.most, o.Max/size)
		}
		if k.most > 0 {
			p.columns = append(p.columns, k)
		}
	}
	return nil
}

// unitSize returns the size of a unit of a dimension: thousandths of GPUs, or thousandths of a
// dollar an hour.
func (p *problem) unitSize(dim int) int64 {
	if dim < len(p.lots) {
		return p.lots[dim]
	}
	return 1
}

// cutSegments cuts the steps of the curves at the edges.
func (p *problem) cutSegments() {
	p.periods = make([][]segment, len(p.edges)-1)
	for m, c := range p.curves {
		period, n := 0, 0
		for x := range c.Pieces(p.edges) {
			if x.From >= p.edges[period+1] {
				period, n = period+1, 0
			}
			if m == 0 {
				p.periods[period] = append(p.periods[period], segment{dur: int64(x.To - x.From)})
			}
			s := &p.periods[period][n]
			s.work = append(s.work, int64(x.Work))
			n++
		}
	}
}

// plansByRatio returns the pairs of plan and model in the order in which providers apply them: the
// highest saving first, ties to the lower rate. Of two plans with the same rates for a model the
// first in the list comes first, for providers do not say.
func (p *problem) plansByRatio() []pair {
	var out []pair
	for k, o := range p.plans {
		for m, r := range p.Offers[o].Rates {
			if p.covers(o, m) {
				out = append(out, pair{m, k, float64(r), float64(p.list[m]) / float64(r)})
			}
		}
	}
	slices.SortFunc(out, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.ratio, a.ratio), cmp.Compare(a.rate, b.rate), cmp.Compare(a.model, b.model), cmp.Compare(a.plan, b.plan))
	})
	return out
}

// covers reports whether a plan lowers, or keeps, the price of a model.
func (p *problem) covers(offer, model int) bool {
	r := int64(p.Offers[offer].Rates[model])
	return r > 0 && r <= p.list[model]
}

// findTops computes the most units of each dimension that are of use.
func (p *problem) findTops() {
	p.top = make([]float64, len(p.GPUs)+len(p.plans))
	for _, segs := range p.periods {
		for i := range segs {
			s := &segs[i]
			use := slices.Clone(s.work)
			for _, x := range p.Moves {
				use[x.To] += arrives(exact.Portion(s.work[x.From], x.Share, 1e6), x.Speed)
			}
			for m, w := range use {
				p.top[m] = max(p.top[m], float64(w)/float64(p.lots[m]*s.dur))
			}
			for k, o := range p.plans {
				sum := 0.0
				for m, r := range p.Offers[o].Rates {
					sum += float64(r) * float64(use[m]) / float64(1000*s.dur*planMilli)
				}
				p.top[len(p.GPUs)+k] = max(p.top[len(p.GPUs)+k], sum)
			}
		}
	}
}

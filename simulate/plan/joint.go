package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"capcli/simulate/internal/exact"
	"capcli/simulate/plan/flow"

	"capcli"
)

// Joint is one plan over several GPU models and kinds of product at once: what may
// be bought for each model (reservations, blocks, owned machines) and plans that
// commit to money, whose discount all their models share. The plans bind the
// models together: what a model reserves leaves more of a plan to the others.
type Joint struct {
	Models  []JointModel
	Offers  []JointOffer
	Every   capcli.Step // how often something may be bought; zero is a month
	Overrun bool        // a purchase may last beyond the end of the curves; its whole cost counts
}

// JointModel is the demand for one GPU model. All curves have the same steps.
type JointModel struct {
	Name     string
	Curve    *Curve
	OnDemand Prices
	Lot      int64 // thousandths of a GPU that are bought together; 0 is one GPU
}

// JointOffer is one thing that can be bought: GPUs of a model, or a commitment to
// money.
type JointOffer struct {
	Name, Product string
	Model         int           // of Models; -1 for a plan
	Rates         []capcli.Rate // of a plan: what a GPU-hour of each model costs under it; 0 is not covered
	Length        capcli.Step   // of its term
	Rate          capcli.Rate   // for a GPU-hour of the term; of a plan, for a dollar an hour: a dollar where it is nothing else
	Max           int64         // most thousandths of GPUs, or of dollars an hour, bought at one time; 0 is no limit
	At            capcli.Seconds
	Fixed         bool // may be bought only to begin at At: a block with its dates
	Exits         []JointExit
	Extend        capcli.Step // an option to extend by so long at ExtendRate; zero is none
	ExtendRate    capcli.Rate
}

// JointExit is a way out of an offer after some time: a share of what was yet to
// be paid for the rest of the term is paid then, in millionths.
type JointExit struct {
	After capcli.Step
	Share int64
}

// JointPurchase is so much bought of one offer at one time.
type JointPurchase struct {
	Offer    int
	From, To capcli.Seconds
	Milli    int64 // thousandths of GPUs, or of dollars an hour
	Cost     capcli.USD
	Left     bool // ended early: its cost has the fee
	Extended bool
}

// JointPlan is the cheapest joint plan that was found, and a bound that no plan
// can go under.
type JointPlan struct {
	Purchases   []JointPurchase // in order of start, then offer
	Cost        capcli.USD
	Commitments capcli.USD
	OnDemand    capcli.USD // what none of them covers
	AllOnDemand capcli.USD
	Bound       capcli.USD       // rounded down: the optimum is not below it
	Rounds      int              // of cuts
	Wanted      []capcli.GPUTime // by model
	Reserved    []capcli.GPUTime // by model: served by purchases of its own
	Planned     []capcli.GPUTime // by model: served under plans
}

// Gap is how far the plan may be above the optimum, as a share of the optimum's
// bound.
func (p *JointPlan) Gap() float64 {
	if p.Cost <= p.Bound {
		return 0
	}
	return (p.Cost - p.Bound).Float() / max(p.Bound.Float(), 1e-6)
}

// planMilli is what a plan is bought in: thousandths of a dollar an hour.
const planMilli = 1000 // millionths of a dollar an hour

// column is an offer at one time: units (lots, or planMilli) from one edge to
// another.
type column struct {
	offer    int
	dim      int // a model, or models + the place of its plan
	from, to int // edges
	end      capcli.Seconds
	cost     int64 // millionths of a dollar for a unit
	most     int64 // units
	left     bool
	extended bool
}

// segment is a time in which nothing changes.
type segment struct {
	dur  int64   // seconds
	work []int64 // by model: thousandths of GPU-seconds
	list []int64 // by model: on-demand rate
	rank []pair  // plans to apply, the highest saving first
}

type pair struct {
	model, plan int
	rate        float64 // under the plan
	ratio       float64 // on demand / under the plan
}

// joint is a Joint made ready.
type joint struct {
	j       *Joint
	edges   []capcli.Seconds
	periods [][]segment // between edges
	plans   []int       // offers that are plans
	columns []column
	lots    []int64
	top     []float64 // by dimension: the most units that there is use for
}

// Solve finds a plan and bounds how far it may be from the cheapest.
//
// The cost of what is not covered is a convex, piecewise linear function of how
// many GPUs of each model and how much money an hour are committed in each period.
// Cuts that lie under it make a linear program of the purchases whose optimum
// bounds every plan (Kelley 1960, with a cut for each period as in Birge and
// Louveaux 1988); its solution is rounded to whole lots and then improved by
// single purchases and swaps. Where there are no plans each model is a
// minimum-cost flow of its own, and the plan is the optimum itself.
func (j *Joint) Solve(ctx context.Context) (*JointPlan, error) {
	p, err := j.prepare()
	if err != nil {
		return nil, err
	}
	if len(p.plans) == 0 {
		return p.separate(ctx)
	}
	x, bound, rounds, err := p.relax(ctx)
	if err != nil {
		return nil, err
	}
	units, err := p.round(ctx, x)
	if err != nil {
		return nil, err
	}
	out, err := p.result(units)
	if err != nil {
		return nil, err
	}
	out.Bound, out.Rounds = min(capcli.USD(math.Floor(bound)), out.Cost), rounds
	return out, nil
}

// check tells what is wrong.
func (j *Joint) check() error {
	if len(j.Models) == 0 {
		return errors.New("a joint plan wants at least one GPU model with a demand")
	}
	for i := range j.Models {
		m := &j.Models[i]
		if err := m.Curve.check(); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if err := m.OnDemand.check("on demand " + m.Name); err != nil {
			return err
		}
		if first := j.Models[0].Curve; m.Curve.Start != first.Start || m.Curve.Step != first.Step || len(m.Curve.Work) != len(first.Work) || m.Lot < 0 {
			return fmt.Errorf("the demands for %s and %s are not of the same steps", j.Models[0].Name, m.Name)
		}
	}
	for i := range j.Offers {
		o := &j.Offers[i]
		plan := o.Model < 0
		switch {
		case o.Model >= len(j.Models) || plan && len(o.Rates) != len(j.Models):
			return fmt.Errorf("offer %s is for no model of the demand", o.Name)
		case o.Length.Length() <= 0:
			return fmt.Errorf("offer %s: expected a term of some length", o.Name)
		case o.Rate < 0 || o.Max < 0 || o.ExtendRate < 0:
			return fmt.Errorf("offer %s: expected no price and no limit below 0", o.Name)
		case plan && !slices.ContainsFunc(o.Rates, func(r capcli.Rate) bool { return r > 0 }):
			return fmt.Errorf("offer %s: a plan wants a rate for at least one model", o.Name)
		case plan && (len(o.Exits) > 0 || o.Extend.Length() > 0):
			return fmt.Errorf("offer %s: a plan cannot be left or extended", o.Name)
		}
		for _, x := range o.Exits {
			if x.Share < 0 || x.Share > Whole || x.After.Length() <= 0 {
				return fmt.Errorf("offer %s: expected an exit after some time for 0 to 100%% of the rest", o.Name)
			}
		}
	}
	return nil
}

func (m *JointModel) lot() int64 {
	if m.Lot == 0 {
		return 1000
	}
	return m.Lot
}

// prepare lays out the time and the columns.
func (j *Joint) prepare() (*joint, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	p := &joint{j: j}
	for i := range j.Models {
		p.lots = append(p.lots, j.Models[i].lot())
	}
	for i := range j.Offers {
		if j.Offers[i].Model < 0 {
			p.plans = append(p.plans, i)
		}
	}
	chances := p.chances()
	c := j.Models[0].Curve
	p.edges = []capcli.Seconds{0, c.Len()}
	for _, x := range chances {
		p.edges = append(p.edges, x.from, min(x.to, c.Len()))
	}
	slices.Sort(p.edges)
	p.edges = slices.Compact(p.edges)
	p.segments()
	p.tops()
	return p, p.lay(chances)
}

// span is a column before the edges are known.
type span struct {
	offer          int
	from, to       capcli.Seconds
	cost           *big.Int // in millionths of a dollar x 3600 x 1000 for a thousandth of a GPU
	left, extended bool
}

// chances are all columns.
func (p *joint) chances() []span {
	var out []span
	c := p.j.Models[0].Curve
	every := p.j.Every
	if every.Length() <= 0 {
		every = capcli.Step{Months: 1}
	}
	starts := c.starts(every)
	for i := range p.j.Offers {
		o := &p.j.Offers[i]
		list := starts
		if o.Fixed {
			list = []capcli.Seconds{o.At}
		}
		for _, from := range list {
			if from < 0 || from >= c.Len() {
				continue
			}
			out = append(out, p.ways(i, from)...)
		}
	}
	return out
}

// ways are the columns of an offer that begins at an instant: to the end of its
// term, extended, and left early.
func (p *joint) ways(i int, from capcli.Seconds) []span {
	o, c := &p.j.Offers[i], p.j.Models[0].Curve
	end := c.addSteps(from, o.Length, 1)
	whole := exact.Product(int64(o.Rate), int64(end-from))
	var out []span
	put := func(to capcli.Seconds, cost *big.Int, left, extended bool) {
		if to > from && (to <= c.Len() || p.j.Overrun) {
			out = append(out, span{i, from, to, cost, left, extended})
		}
	}
	put(end, whole, false, false)
	if o.Extend.Length() > 0 {
		to := c.addSteps(end, o.Extend, 1)
		put(to, new(big.Int).Add(whole, exact.Product(int64(o.ExtendRate), int64(to-end))), false, true)
	}
	for _, x := range o.Exits {
		at := c.addSteps(from, x.After, 1)
		if at >= end {
			continue
		}
		fee := exact.Product(int64(o.Rate), int64(end-at))
		fee.Mul(fee, big.NewInt(x.Share)).Quo(fee, big.NewInt(Whole))
		put(at, fee.Add(fee, exact.Product(int64(o.Rate), int64(at-from))), true, false)
	}
	return out
}

// lay makes the columns of the chances.
func (p *joint) lay(chances []span) error {
	for _, x := range chances {
		o := &p.j.Offers[x.offer]
		k := column{offer: x.offer, dim: o.Model, end: x.to, left: x.left, extended: x.extended}
		size := int64(1) // of a unit, in thousandths
		if o.Model < 0 {
			k.dim = len(p.j.Models) + slices.Index(p.plans, x.offer)
		} else {
			size = p.lots[o.Model]
		}
		cost := new(big.Int).Mul(x.cost, big.NewInt(size))
		cost.Add(cost, big.NewInt(1_800_000)).Quo(cost, big.NewInt(3_600_000))
		if !cost.IsInt64() || cost.Int64() > flow.LimitCost {
			return capcli.ErrOverflow
		}
		k.cost = cost.Int64()
		k.from, _ = slices.BinarySearch(p.edges, x.from)
		k.to, _ = slices.BinarySearch(p.edges, min(x.to, p.j.Models[0].Curve.Len()))
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

// segments cuts the steps of the curves at the edges and where prices change.
func (p *joint) segments() {
	c := p.j.Models[0].Curve
	cuts := slices.Clone(p.edges)
	for i := range c.Work {
		cuts = append(cuts, c.stepStart(i))
	}
	for i := range p.j.Models {
		for _, x := range p.j.Models[i].OnDemand {
			if x.From > 0 && x.From < c.Len() {
				cuts = append(cuts, x.From)
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	p.periods = make([][]segment, len(p.edges)-1)
	step, period := 0, 0
	for i := 0; i+1 < len(cuts); i++ {
		for c.stepStart(step+1) <= cuts[i] {
			step++
		}
		for p.edges[period+1] <= cuts[i] {
			period++
		}
		from, to := cuts[i]-c.stepStart(step), cuts[i+1]-c.stepStart(step)
		s := segment{dur: int64(to - from)}
		length := int64(c.stepStart(step+1) - c.stepStart(step))
		for m := range p.j.Models {
			work := int64(p.j.Models[m].Curve.Work[step])
			s.work = append(s.work, part(work, int64(to), length)-part(work, int64(from), length))
			s.list = append(s.list, int64(p.j.Models[m].OnDemand.At(cuts[i])))
		}
		s.rank = p.ranked(&s)
		p.periods[period] = append(p.periods[period], s)
	}
}

// part is a x of / whole, rounded down.
func part(a, of, whole int64) int64 {
	v := exact.Product(a, of)
	return v.Quo(v, big.NewInt(whole)).Int64()
}

// ranked are the plans that may cover use in a segment, in the order in which
// providers apply them: the highest saving first, ties to the lower rate. Of two
// plans that charge a model the same, the one that is listed first comes first:
// providers do not say.
func (p *joint) ranked(s *segment) []pair {
	var out []pair
	for k, o := range p.plans {
		for m, r := range p.j.Offers[o].Rates {
			if r > 0 && int64(r) <= s.list[m] {
				out = append(out, pair{m, k, float64(r), float64(s.list[m]) / float64(r)})
			}
		}
	}
	slices.SortFunc(out, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.ratio, a.ratio), cmp.Compare(a.rate, b.rate), cmp.Compare(a.model, b.model), cmp.Compare(a.plan, b.plan))
	})
	return out
}

// tops are the most units of each dimension that there is any use for.
func (p *joint) tops() {
	p.top = make([]float64, len(p.j.Models)+len(p.plans))
	for _, segs := range p.periods {
		for i := range segs {
			s := &segs[i]
			for m, w := range s.work {
				p.top[m] = max(p.top[m], float64(w)/float64(p.lots[m]*s.dur))
			}
			for k, o := range p.plans {
				sum := 0.0
				for m, r := range p.j.Offers[o].Rates {
					sum += float64(r) * float64(s.work[m]) / float64(1000*s.dur*planMilli)
				}
				p.top[len(p.j.Models)+k] = max(p.top[len(p.j.Models)+k], sum)
			}
		}
	}
}

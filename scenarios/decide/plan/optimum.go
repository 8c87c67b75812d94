package plan

import (
	"context"
	"math/big"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"

	"capcli"
)

// Optimum is the cheapest way to serve a demand curve.
type Optimum struct {
	Cost        capcli.USD
	Commitments capcli.USD // part of Cost: the cost of the purchases, as the market's After counts it
	OnDemand    capcli.USD // part of Cost: demand that the purchases do not cover
	AllOnDemand capcli.USD // cost of the demand without purchases

	Purchases []Purchase // by start, then in order of the market's terms
	Periods   []Period

	Wanted    capcli.GPUTime
	Committed capcli.GPUTime // GPU time of the purchases that counts in their cost
	Used      capcli.GPUTime // part of Committed that the demand uses
}

// Purchase is GPUs bought at one time on one term.
type Purchase struct {
	Term     int // index in the market's terms
	Ordered  capcli.Seconds
	From, To capcli.Seconds
	Milli    int64 // thousandths of GPUs
	Rate     capcli.Rate
	Cost     capcli.USD // the part that counts: see After
	Total    capcli.USD // all payments, to the end of the term
}

// Period is the time between two instants at which a purchase can start or end.
type Period struct {
	From, To capcli.Seconds
	Milli    int64      // committed, in thousandths of GPUs
	Worth    capcli.USD // saving from one more lot committed through the period free of charge
	Price    capcli.USD // shadow price of a lot in the period, from the proof: the prices of a term's periods never sum to more than the term costs
}

// Solve finds the cheapest way to serve c in the market m, and proves it. It fails with
// capcli.ErrOverflow where an amount does not fit, and with flow.ErrNotProven where the proof
// fails.
func (m *Market) Solve(ctx context.Context, c *Curve) (*Optimum, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	d, err := newDeal(c, m)
	if err != nil {
		return nil, err
	}
	s, err := flow.Solve(ctx, d.program)
	if err != nil {
		return nil, err
	}
	return d.optimum(s)
}

// optimum returns a solution in GPUs and dollars.
func (d *deal) optimum(s *flow.Solution) (*Optimum, error) {
	lot := d.m.lot()
	out := &Optimum{Wanted: d.c.Sum()}
	committed := new(big.Int)
	for i, x := range d.options {
		n := s.Bought[i]
		if n == 0 {
			continue
		}
		cost := exact.Product(n, d.program.Offers[i].Cost)
		committed.Add(committed, cost)
		p, err := d.purchase(i, n, cost)
		if err != nil {
			return nil, err
		}
		time, err := exact.Times(n*lot, int64(x.until-x.from))
		if err != nil {
			return nil, capcli.ErrTooMuchTime
		}
		out.Committed += capcli.GPUTime(time)
		out.Purchases = append(out.Purchases, p)
	}
	all := new(big.Int)
	for m, levels := range d.program.Periods {
		all.Add(all, levels.Uncovered(0))
		if err := d.period(out, s, m); err != nil {
			return nil, err
		}
	}
	var err error
	if out.Cost, err = d.usd(new(big.Rat).SetInt(s.Cost)); err != nil {
		return nil, err
	}
	if out.Commitments, err = d.usd(new(big.Rat).SetInt(committed)); err != nil {
		return nil, err
	}
	out.OnDemand = out.Cost - out.Commitments
	out.AllOnDemand, err = d.usd(new(big.Rat).SetInt(all))
	return out, err
}

// purchase returns lots of an option that cost an amount of the program.
func (d *deal) purchase(option int, lots int64, cost *big.Int) (Purchase, error) {
	x := &d.options[option]
	p := Purchase{Term: x.term, Ordered: x.ordered, From: x.from, To: x.to, Milli: lots * d.m.lot(), Rate: d.m.Terms[x.term].Rate.At(x.ordered)}
	v := new(big.Rat).SetInt(cost)
	var err error
	if p.Cost, err = d.usd(v); err != nil {
		return p, err
	}
	p.Total, err = d.usd(v.Mul(v, big.NewRat(int64(x.to-x.from), int64(x.until-x.from))))
	return p, err
}

// worthOf is the most edges of periods with which Period.Worth is computed; with more, it is Price.
const worthOf = 2000

func (d *deal) period(out *Optimum, s *flow.Solution, m int) error {
	p := Period{From: d.edges[m], To: d.edges[m+1], Milli: s.Level[m] * d.m.lot()}
	for _, x := range d.pieces[m] {
		out.Used += capcli.GPUTime(min(x.Work, p.Milli*x.Duration))
	}
	var err error
	if p.Price, err = d.usd(big.NewRat(s.Price[m], 1)); err != nil {
		return err
	}
	p.Worth = p.Price
	if len(d.edges) <= worthOf {
		p.Worth, err = d.usd(big.NewRat(s.Worth(m), 1))
	}
	out.Periods = append(out.Periods, p)
	return err
}

// SavingsRate returns the effective savings rate, 1 - cost / on-demand cost of all demand (FinOps
// Foundation); false where the latter is 0. With one rate it equals coverage × (1 - ρ/utilisation),
// where ρ is the rate over the on-demand rate, coverage is Used over Wanted, and utilisation Used
// over Committed.
func (o *Optimum) SavingsRate() (float64, bool) {
	return 1 - o.Cost.Float()/o.AllOnDemand.Float(), o.AllOnDemand > 0
}

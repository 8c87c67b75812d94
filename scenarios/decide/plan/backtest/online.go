package backtest

import (
	"math/big"

	"capcli"
	"capcli/scenarios/decide/plan/online"
	"capcli/simulate/exact"
)

// Draws of the randomised online policy: the middles of ten equal parts of its chance.
var draws = []float64{0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95}

// OnlineRules returns the online policies of Wang, Li & Liang 2013 (arXiv 1305.5608), which know no
// forecast: the deterministic one, never dearer than twice the least cost of purchases at any hour,
// and the mean of ten draws of the randomised one, at most e / (e - 1). They may buy in every step,
// one term at a time, and pay the part of a term within the trial. Cold they begin with no past,
// warm with the steps of a term before.
func OnlineRules() []Rule {
	return []Rule{
		{Name: "online", Doc: "Wang 2013, deterministic, without a past", play: func(s *spell) (Outcome, error) { return s.online(false, 1) }},
		{Name: "online-warm", Doc: "Wang 2013, deterministic, with the past of one term", play: func(s *spell) (Outcome, error) { return s.online(true, 1) }},
		{Name: "online-random", Doc: "Wang 2013, randomised, the mean of ten draws", play: func(s *spell) (Outcome, error) { return s.meanOf(false) }},
		{Name: "online-random-warm", Doc: "Wang 2013, randomised, with the past of one term", play: func(s *spell) (Outcome, error) { return s.meanOf(true) }},
	}
}

// spell is the whole of a trial, for rules that buy at any step of it.
type spell struct {
	q        *Question
	at       capcli.Seconds
	from, to int // steps
}

// meanOf returns the mean of the draws, with lots rounded half up.
func (s *spell) meanOf(warm bool) (Outcome, error) {
	var lots int64
	var cost capcli.USD
	for _, u := range draws {
		o, err := s.online(warm, u)
		if err != nil {
			return o, err
		}
		lots, cost = lots+o.Lots[0], cost+o.Cost
	}
	n := int64(len(draws))
	return Outcome{Lots: []int64{(lots + n/2) / n}, Cost: (cost + capcli.USD(n/2)) / capcli.USD(n)}, nil
}

// rates returns the price on demand and of the term at an instant.
func (s *spell) rates(at capcli.Seconds) (open, paid capcli.Rate) {
	if s.q.Flat {
		at = s.at
	}
	return s.q.Market.OnDemand.At(at), s.q.Market.Terms[s.q.Term].Rate.At(at)
}

// online plays a policy, which decides at the prices of the origin.
func (s *spell) online(warm bool, u float64) (Outcome, error) {
	c, lot := s.q.Curve, s.q.lot()
	each := c.StepStart(s.from+1) - c.StepStart(s.from)
	length := c.AddSteps(s.at, s.q.Market.Terms[s.q.Term].Length, 1) - s.at
	open, paid := s.rates(s.at)
	l := online.Lease{
		Periods: int(length / each), OnDemand: capcli.Cost(open, capcli.GPUTime(lot*int64(each))),
		Fee: capcli.Cost(paid, capcli.GPUTime(lot*int64(length))),
	}
	first := s.from
	if warm {
		first = max(0, s.from-l.Periods+1)
	}
	lots := make([]int64, s.to-first)
	for i := range lots {
		lots[i] = int64(c.Work[first+i]) / (lot * int64(each))
	}
	run, err := online.PlayAfter(lots, s.from-first, l, u)
	if err != nil {
		return Outcome{}, err
	}
	return s.price(run.Leases[s.from-first:], l.Periods), nil
}

// price returns the outcome of purchases by step of a term of some steps.
func (s *spell) price(bought []int64, periods int) Outcome {
	c, lot := s.q.Curve, s.q.lot()
	sum := new(big.Int)
	var held, all int64
	for i, n := range bought {
		held, all = held+n, all+n
		if i >= periods {
			held -= bought[i-periods]
		}
		from, end := c.StepStart(s.from+i), c.StepStart(s.from+min(len(bought), i+periods))
		open, paid := s.rates(from)
		if n > 0 {
			sum.Add(sum, new(big.Int).Mul(exact.Product(int64(paid), n*lot), big.NewInt(int64(end-from))))
		}
		size := c.StepStart(s.from+i+1) - from
		if over := int64(c.Work[s.from+i]) - held*lot*int64(size); over > 0 {
			sum.Add(sum, exact.Product(int64(open), over))
		}
	}
	sum.Add(sum, big.NewInt(gpuHour/2))
	return Outcome{Lots: []int64{all}, Cost: capcli.USD(sum.Quo(sum, big.NewInt(gpuHour)).Int64())}
}

package billing

import (
	"fmt"
	"math"
	"slices"

	"capcli"
)

// Payment is what one unit of a commitment costs over its term, and when it is paid: Upfront at
// the start, and Monthly[i] at the start of month i.
type Payment struct {
	Upfront capcli.USD
	Monthly []capcli.USD
	Term    capcli.Seconds
}

// NewPayment divides the cost of a term at an hourly rate: upfront is the share (millionths)
// paid at the start, and the rest is paid in equal parts at the start of each month. Where
// months is 0, all of it is paid at the start. The parts add up to the whole, to the millionth
// of a dollar. It fails for a negative argument, an empty term, an upfront share over the
// whole, and an amount that does not fit.
func NewPayment(rate capcli.Rate, term capcli.Seconds, months int, upfront int64) (Payment, error) {
	if rate < 0 || term <= 0 || months < 0 || upfront < 0 || upfront > 1_000_000 {
		return Payment{}, fmt.Errorf("a payment of %s an hour for %d s in %d months with %g%% upfront: expected none under 0, a term, and at most 100%%", rate.Decimal(), term, months, float64(upfront)/1e4)
	}
	var t tally
	whole := t.mulDiv(int64(rate), int64(term), int64(capcli.Hour))
	first := t.mulDiv(int64(whole), upfront, 1_000_000)
	if t.err != nil {
		return Payment{}, t.err
	}
	if months == 0 {
		first = whole
	}
	p := Payment{Upfront: first, Term: term}
	if first < whole {
		p.Monthly = capcli.Split(whole-first, slices.Repeat([]int64{1}, months))
	}
	return p, nil
}

// Times returns the payment for a number of units, in thousandths, each part rounded half up.
// It fails with capcli.ErrOverflow.
func (p *Payment) Times(milli int64) (Payment, error) {
	var t tally
	out := Payment{Upfront: t.mulDiv(int64(p.Upfront), milli, 1000), Term: p.Term}
	for _, m := range p.Monthly {
		out.Monthly = append(out.Monthly, t.mulDiv(int64(m), milli, 1000))
	}
	return out, t.err
}

// Total returns the sum of the payments.
func (p *Payment) Total() capcli.USD {
	sum := p.Upfront
	for _, m := range p.Monthly {
		sum += m
	}
	return sum
}

// BreakEven returns the share of its term that the commitment must be used for to cost no more
// than the same use on demand: r/p, with r its cost an hour and p the on-demand price.
func (p *Payment) BreakEven(onDemand capcli.Rate) float64 {
	return float64(p.Total()) / (float64(onDemand) * p.Term.Hours())
}

// Recover returns after how many months of full use, of 730 hours each, on-demand use would
// have cost as much as the whole term.
func (p *Payment) Recover(onDemand capcli.Rate) float64 {
	return float64(p.Total()) / (float64(onDemand) * 730)
}

// PresentValue returns the value of the payments at the start of the term, in dollars. discount
// is the yearly cost of capital: U + Σ m_i / (1+d)^(i/12), with the payment of month i at its
// start.
func (p *Payment) PresentValue(discount float64) float64 {
	sum := p.Upfront.Float()
	for i, m := range p.Monthly {
		sum += m.Float() * math.Pow(1+discount, -float64(i)/12)
	}
	return sum
}

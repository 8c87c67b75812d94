package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"capcli"
)

// Market is what can be bought, and how it counts.
type Market struct {
	OnDemand Prices
	Terms    []Term
	// Every is the interval between times of purchase: the start of the curve and the start of each
	// such period, months on the first. Zero is a month.
	Every capcli.Step
	After After // what becomes of a purchase that lasts beyond the end of the curve
	// Lot is the thousandths of GPUs that are bought together: 8000 is a node of eight. 0 is one
	// GPU.
	Lot int64
	// Discount is the cost of capital a year, 0.1 for 10 %: every payment counts with
	// (1+Discount)^(-months/12), on-demand use as paid at the start of its month. The discounted
	// rates are rounded to a thousandth of a millionth of a dollar.
	Discount float64

	// Also are further times at which purchases may start: the ends of GPUs held before.
	Also []capcli.Seconds
}

// Term is a type of commitment.
type Term struct {
	Name   string
	Length capcli.Step
	// Rate is the whole payment for a GPU divided by the hours of the term, by time of purchase:
	// the price is locked in.
	Rate Prices
	// Upfront is the part of the payment that is made at once, in millionths; the rest is paid in
	// equal parts at the start of each month of the term. It matters only with a discount.
	Upfront int64
	Max     int64 // most GPUs bought at one time, in thousandths; 0 is no limit

	On   []capcli.Seconds // the only times at which it can be bought; nil is those of the market
	Lead capcli.Step      // time from the purchase to its start; the price is that of the purchase
}

// Prices are a price over time, in order of time.
type Prices []Price

// Price is a rate from an instant on, in seconds from the start of the curve.
type Price struct {
	From capcli.Seconds
	Rate capcli.Rate
}

// Flat returns one price for all time.
func Flat(r capcli.Rate) Prices { return Prices{{math.MinInt64, r}} }

// At returns the price at an instant; before the first price it is the first.
func (p Prices) At(t capcli.Seconds) capcli.Rate {
	rate := p[0].Rate
	for _, x := range p {
		if x.From > t {
			break
		}
		rate = x.Rate
	}
	return rate
}

// Fall returns p with every price from an instant on lower by a share, 0.44 for 44 %, rounded half
// up to the millionth of a dollar. A negative share is a rise.
func (p Prices) Fall(from capcli.Seconds, share float64) Prices {
	lower := func(r capcli.Rate) capcli.Rate { return capcli.Rate(math.Floor(float64(r)*(1-share) + 0.5)) }
	var out Prices
	for i, x := range p {
		if x.From >= from {
			out = append(out, Price{x.From, lower(x.Rate)})
			continue
		}
		out = append(out, x)
		if i+1 == len(p) || p[i+1].From > from {
			out = append(out, Price{from, lower(x.Rate)})
		}
	}
	return out
}

func (p Prices) check(what string) error {
	if len(p) == 0 {
		return fmt.Errorf("%s has no price", what)
	}
	for i, x := range p {
		switch {
		case x.Rate < 0:
			return fmt.Errorf("%s: expected a rate of 0 or more, found %s", what, x.Rate.Decimal())
		case i > 0 && x.From <= p[i-1].From:
			return fmt.Errorf("%s: expected prices in order of time", what)
		}
	}
	return nil
}

// Whole is the unit of Term.Upfront: a payment made all at once.
const Whole = 1_000_000

func (m *Market) check() error {
	if err := m.OnDemand.check("on demand"); err != nil {
		return err
	}
	for i := range m.Terms {
		t := &m.Terms[i]
		if err := t.Rate.check("term " + t.Name); err != nil {
			return err
		}
		switch {
		case t.Length.Length() <= 0:
			return fmt.Errorf("term %s: expected a length over 0", t.Name)
		case t.Upfront < 0 || t.Upfront > Whole:
			return fmt.Errorf("term %s: expected 0 to 100%% upfront, found %g%%", t.Name, float64(t.Upfront)/Whole*100)
		case t.Max < 0:
			return fmt.Errorf("term %s: expected at most 0 or more GPUs", t.Name)
		}
	}
	switch {
	case m.Lot < 0:
		return errors.New("expected lots of some size, found one under 0")
	case math.IsNaN(m.Discount) || m.Discount <= -1 || m.Discount > 100:
		return fmt.Errorf("expected a discount rate from 0%% up, found %g%%", 100*m.Discount)
	}
	return nil
}

// SeenFrom returns the market with the times of its prices counted from an instant.
func (m *Market) SeenFrom(at capcli.Seconds) *Market {
	out := *m
	out.OnDemand = m.OnDemand.seenFrom(at)
	out.Terms = slices.Clone(m.Terms)
	for i := range out.Terms {
		out.Terms[i].Rate = m.Terms[i].Rate.seenFrom(at)
		out.Terms[i].On = slices.Clone(m.Terms[i].On)
		for k := range out.Terms[i].On {
			out.Terms[i].On[k] -= at
		}
	}
	return &out
}

func (p Prices) seenFrom(at capcli.Seconds) Prices {
	out := slices.Clone(p)
	for i := range out {
		if out[i].From > -1<<60 {
			out[i].From -= at
		}
	}
	return out
}

func (m *Market) lot() int64 {
	if m.Lot == 0 {
		return 1000
	}
	return m.Lot
}

func (m *Market) period() capcli.Step {
	if m.Every.Length() <= 0 {
		return capcli.Step{Months: 1}
	}
	return m.Every
}

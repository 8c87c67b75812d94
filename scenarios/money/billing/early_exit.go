package billing

import (
	"fmt"
	"slices"

	"capcli"
)

// Exit is the cost of having left a commitment before the end of its term. Commitment.End is
// then the time at which it was left. The zero value means that it was not left.
type Exit struct {
	Term capcli.Time // original end of the term; 0 means that the commitment was not left
	Cash capcli.USD  // paid when it was left; negative: paid back
	Loss capcli.USD  // part of its cost for time that nobody can use any more, charged as unused when it was left
}

// Terminate returns the commitment ended at an instant within its term, for a fee: a share
// (millionths) of the payments still due, and a flat sum. Upfront payments do not come back. It
// fails with an *EscapeError where the commitment cannot be left, and with capcli.ErrOverflow.
//
// Source: the termination-for-convenience clause of such contracts, by which the customer owes
// a stated share of the remaining fees.
func (c *Commitment) Terminate(at capcli.Time, share int64, flat capcli.USD) (Commitment, error) {
	_, unpaid, err := c.remainder(at)
	if err != nil {
		return Commitment{}, err
	}
	if share < 0 || share > 1_000_000 || flat < 0 {
		return Commitment{}, &EscapeError{fmt.Sprintf("the fee for leaving commitment %s is negative or over all that is left to pay", c.ID)}
	}
	var t tally
	fee := scale(unpaid, share, 1_000_000)
	if t.add(&fee, flat); t.err != nil {
		return Commitment{}, t.err
	}
	return c.leftAt(at, fee)
}

// Resell returns the commitment sold at an instant within its term. The price of the rest of
// the term is its straight-line value less a haircut (millionths of it). The buyer takes over
// the payments still due and settles the difference with the seller, who also pays a flat fee:
//
//	Exit.Cash = unpaid - value x (1 - haircut) + flat
//
// Where nothing was paid ahead, the seller pays the haircut and the fee. It fails with an
// *EscapeError where the commitment cannot be left.
//
// Source: AWS EC2 User Guide, "Sell Reserved Instances for Amazon EC2 in the Reserved Instance
// Marketplace": the seller sets a price for the remaining term, the buyer continues to pay the
// hourly price.
func (c *Commitment) Resell(at capcli.Time, haircut int64, flat capcli.USD) (Commitment, error) {
	value, unpaid, err := c.remainder(at)
	if err != nil {
		return Commitment{}, err
	}
	if haircut < 0 || haircut > 1_000_000 || flat < 0 {
		return Commitment{}, &EscapeError{fmt.Sprintf("the haircut at which commitment %s is sold is not from 0%% to 100%%", c.ID)}
	}
	return c.leftAt(at, unpaid-(value-scale(value, haircut, 1_000_000))+flat)
}

// remainder returns the cost of a commitment for the time from an instant on, and the payments
// still due then. It fails with an *EscapeError where the commitment cannot be left at that
// instant.
func (c *Commitment) remainder(at capcli.Time) (value, unpaid capcli.USD, err error) {
	_, drawn := c.Product.(promise)
	_, reservation := c.Product.(CapacityReservation)
	switch {
	case at <= c.Start || at >= c.End:
		return 0, 0, &EscapeError{fmt.Sprintf("commitment %s runs from %s to %s; it can be left between, not on %s", c.ID, c.Start, c.End, at)}
	case c.Fees.Residual > 0:
		return 0, 0, &EscapeError{fmt.Sprintf("commitment %s is owned; what it is still worth is its residual", c.ID)}
	case drawn || reservation:
		return 0, 0, &EscapeError{fmt.Sprintf("commitment %s is a %s, which has no price for its term; end it with until", c.ID, c.Product.Name())}
	case c.Exit.Term != 0:
		return 0, 0, &EscapeError{fmt.Sprintf("commitment %s was left already", c.ID)}
	}
	total, err := c.Total()
	if err != nil {
		return 0, 0, err
	}
	paid, err := c.AmountPaid(c.Start, at)
	return total - c.amortised(total, at), total - paid, err
}

// leftAt returns the commitment ended at an instant for a payment of cash.
func (c *Commitment) leftAt(at capcli.Time, cash capcli.USD) (Commitment, error) {
	total, err := c.Total()
	if err != nil {
		return Commitment{}, err
	}
	used := c.amortised(total, at)
	out := *c
	out.End, out.Escape = at, Escape{}
	out.Exit = Exit{Term: c.End, Cash: cash}
	if total, err = out.Total(); err != nil {
		return Commitment{}, err
	}
	if out.Exit.Loss = total - used; out.Exit.Loss < 0 {
		return Commitment{}, &EscapeError{fmt.Sprintf("leaving commitment %s on %s would bring more than it is worth", c.ID, at)}
	}
	return out, nil
}

// Refund is money paid back for a commitment that was left early.
type Refund struct {
	At       capcli.Time
	Owner    string
	Provider string
	Amount   capcli.USD
	// Cancelled is the unexpired value that was given up, which Azure's limit counts; 0 means
	// Amount. Exchanged says that another commitment took its place; no limit counts exchanges.
	Cancelled capcli.USD
	Exchanged bool
}

// EscapeError says why a commitment cannot be left, sold or exchanged.
type EscapeError struct{ Text string }

func (e *EscapeError) Error() string { return e.Text }

// Rebalance ends a commitment at an instant and returns the resulting portfolio and the refund.
// with is the commitment that takes its place for the rest of the term (an exchange); nil gives
// it up. The commitment can be left only on its stated dates. The refunds of an owner over any
// 12 months, including past ones, must stay within its limit. The refund is a share of the
// unexpired value less the fee, and never negative. Where it exceeds what was paid ahead, it
// cancels payments still due. It fails with an *EscapeError or a *PortfolioError.
//
// The shortened commitment costs the original total less the refund: its used-up value and what
// was not refunded. So the bills of the new portfolio still add up to what was paid.
func (p *Portfolio) Rebalance(id string, at capcli.Time, with *Commitment, past []Refund) (*Portfolio, Refund, error) {
	i := slices.IndexFunc(p.Commitments, func(c Commitment) bool { return c.ID == id && c.Start < at && at < c.End })
	if i < 0 {
		return nil, Refund{}, &EscapeError{fmt.Sprintf("no commitment %s runs on %s", id, at)}
	}
	c := p.Commitments[i]
	if err := c.mayLeave(at); err != nil {
		return nil, Refund{}, err
	}
	unexpired, _, err := c.Unexpired(at)
	if err != nil {
		return nil, Refund{}, err
	}
	back := max(0, scale(unexpired, c.Escape.Refund, 1000)-c.Escape.Fee)
	refund := Refund{At: at, Owner: c.Owner, Provider: c.Scope.Provider, Amount: back, Cancelled: unexpired, Exchanged: with != nil}
	if err := c.withinLimit(refund, past); err != nil {
		return nil, Refund{}, err
	}
	if p, is := c.Product.(exchanger); is && with != nil {
		if err := p.exchange(&c, with, unexpired); err != nil {
			return nil, Refund{}, err
		}
	}
	total, err := c.Total()
	if err != nil {
		return nil, Refund{}, err
	}
	left := c
	left.End = at
	left.Escape = Escape{}
	left.Fees = Fees{Upfront: total - back}
	out := *p
	out.Commitments = slices.Clone(p.Commitments)
	out.Commitments[i] = left
	if with != nil {
		if with.Start != at {
			return nil, Refund{}, &EscapeError{fmt.Sprintf("the commitment that takes the place of %s begins on %s; it must begin on %s", id, with.Start, at)}
		}
		out.Commitments = append(out.Commitments, *with)
	}
	return &out, refund, out.Check()
}

// mayLeave checks that the commitment may be left at an instant.
func (c *Commitment) mayLeave(at capcli.Time) error {
	every := capcli.Time(c.Escape.Every)
	switch {
	case every == 0:
		return &EscapeError{fmt.Sprintf("commitment %s cannot be left or exchanged before %s", c.ID, c.End)}
	case (at-c.Start)%every != 0:
		next := c.Start + ((at-c.Start)/every+1)*every
		return &EscapeError{fmt.Sprintf("commitment %s may be changed every %s from its start, not on %s; the next such date is %s", c.ID, c.Escape.Every, at, next)}
	}
	return nil
}

// twelveMonths is the span, in months, over which refunds are limited.
const twelveMonths = 12

// withinLimit checks the limit on what an owner cancels with a provider in the 12 months that
// end with this refund. Exchanges do not count.
func (c *Commitment) withinLimit(r Refund, past []Refund) error {
	if c.Escape.Limit == 0 || r.Exchanged {
		return nil
	}
	sum := max(r.Amount, r.Cancelled)
	for _, o := range past {
		if !o.Exchanged && o.Owner == r.Owner && o.Provider == r.Provider && o.At <= r.At && o.At > addMonths(r.At, -twelveMonths) {
			sum += max(o.Amount, o.Cancelled)
		}
	}
	if sum > c.Escape.Limit {
		return &EscapeError{fmt.Sprintf("leaving commitment %s on %s would bring what was cancelled in 12 months to %s; the limit is %s", c.ID, r.At, sum, c.Escape.Limit)}
	}
	return nil
}

package billing

import (
	"fmt"

	"capcli"
)

// Exit is what leaving a commitment before its end comes to, at the instant that
// is now its end.
type Exit struct {
	Term capcli.Time // when it would have ended; 0 is that it was not left
	Cash capcli.USD  // paid then; below 0 it comes back
	Loss capcli.USD  // of its cost, for time that nobody can use any more: charged then, as unused
}

// Terminate ends a commitment at an instant within its term, with a fee: a share
// (millionths) of what was yet to be paid, and a flat sum. What was paid ahead
// does not come back.
//
// Source: the termination-for-convenience clause of such contracts, by which the
// customer owes a stated share of the remaining fees.
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

// Resell sells what is left of a commitment at an instant within its term: the
// buyer takes over what is yet to be paid, and pays for the rest of the term its
// straight-line value less a haircut (millionths of it). The seller pays a flat fee.
// With nothing paid ahead the seller pays the haircut.
//
// Source: AWS EC2 User Guide, "Sell Reserved Instances for Amazon EC2 in the
// Reserved Instance Marketplace": the seller sets a price for the remaining term,
// the buyer pays the hourly price on.
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

// remainder is what of a commitment is for the time from an instant on, and what is yet
// to be paid from then on.
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

// leftAt is the commitment ended at an instant, when so much is paid.
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

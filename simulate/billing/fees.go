package billing

import (
	"fmt"
	"math"

	"capcli"
)

// months are how many monthly payments a term has: one at its start and one
// each month after it, until the end.
func (c *Commitment) months() int64 {
	n := int64(0)
	for c.payday(n) < c.End {
		n++
	}
	return n
}

// payday is when the k-th monthly payment is due: the day of the month that the
// term began on, or the last day of a month that has no such day.
func (c *Commitment) payday(k int64) capcli.Time { return addMonths(c.Start, int(k)) }

// addMonths adds calendar months, staying within the month where it is shorter.
func addMonths(t capcli.Time, k int) capcli.Time {
	s := t.Std()
	first := s.AddDate(0, k, 1-s.Day())
	last := first.AddDate(0, 1, -1).Day()
	return capcli.TimeOf(first.AddDate(0, 0, min(s.Day(), last)-1))
}

// hourly is what the hourly fees of the term come to until t, rounded half up.
func (c *Commitment) hourly(t capcli.Time) (capcli.USD, error) {
	v, err := mulDiv(int64(c.Fees.Hourly), int64(max(c.Start, min(t, c.End))-c.Start), int64(hour))
	return capcli.USD(v), err
}

// Total is what the whole term costs, less what comes back at its end; of a
// promise to spend the least that it may.
func (c *Commitment) Total() (capcli.USD, error) {
	if p, drawn := c.Product.(promise); drawn {
		return p.total(c)
	}
	var t tally
	sum := t.take(c.hourly(c.End))
	if c.Fees.Monthly > 0 {
		t.add(&sum, t.mulDiv(int64(c.Fees.Monthly), c.months(), 1))
	}
	t.add(&sum, c.Fees.Upfront)
	return sum - c.Fees.Residual + c.Exit.Cash, t.err
}

// amortised is what of the total the term has used up until t: straight line,
// rounded half up, so that the parts of any cutting sum to the total. What was
// lost by leaving it early is used up at its end.
func (c *Commitment) amortised(total capcli.USD, t capcli.Time) capcli.USD {
	used := c.straight(total, t)
	if t >= c.End {
		used += c.Exit.Loss
	}
	return used
}

// straight is amortised without what was lost by leaving early.
func (c *Commitment) straight(total capcli.USD, t capcli.Time) capcli.USD {
	return scale(total-c.Exit.Loss, int64(max(c.Start, min(t, c.End))-c.Start), int64(c.End-c.Start))
}

// lossIn is what leaving the commitment early loses in [from, to), the end being
// part of the window that it ends.
func (c *Commitment) lossIn(from, to capcli.Time) capcli.USD {
	if c.End > from && c.End <= to {
		return c.Exit.Loss
	}
	return 0
}

// AmountPaid is what is paid for the commitment in [from, to): the cash view.
func (c *Commitment) AmountPaid(from, to capcli.Time) (capcli.USD, error) {
	var t tally
	sum := t.take(c.hourly(to)) - t.take(c.hourly(from))
	if c.Fees.Monthly > 0 {
		for k := int64(0); c.payday(k) < min(c.End, to); k++ {
			if c.payday(k) >= from {
				sum += c.Fees.Monthly // no more than the total, which fits
			}
		}
	}
	if c.Start >= from && c.Start < to {
		sum += c.Fees.Upfront
	}
	if c.End > from && c.End <= to {
		sum += c.Exit.Cash - c.Fees.Residual
	}
	if t.err == nil && sum > math.MaxInt64/4 {
		return 0, capcli.ErrOverflow
	}
	return sum, t.err
}

// UsedUp is what of the commitment's cost is for [from, to): the amortised view.
func (c *Commitment) UsedUp(from, to capcli.Time) (capcli.USD, error) {
	total, err := c.Total()
	if err != nil {
		return 0, err
	}
	return c.amortised(total, to) - c.amortised(total, from), nil
}

// Unexpired is the lock-in of a commitment at an instant: what of its cost is
// for time that is yet to come. Unpaid is what of it is yet to be paid.
func (c *Commitment) Unexpired(at capcli.Time) (unexpired, unpaid capcli.USD, err error) {
	total, err := c.Total()
	if err != nil {
		return 0, 0, err
	}
	if at < c.Start || at >= c.End {
		return 0, 0, nil
	}
	if _, drawn := c.Product.(promise); drawn { // the least that is yet to be spent, by time
		open := total - c.amortised(total, at)
		return open, open, nil
	}
	var t tally
	paid := t.take(c.AmountPaid(c.Start, at+1))
	now, next := t.take(c.hourly(at)), t.take(c.hourly(at+1))
	return total - c.amortised(total, at), total + c.Fees.Residual - (paid - (next - now)), t.err
}

// LockIn is the unexpired obligation of all commitments that have begun, at an
// instant, and what of it is yet to be paid. The later steps of a ramp have begun
// with its first.
func (p *Portfolio) LockIn(at capcli.Time) (unexpired, unpaid capcli.USD, err error) {
	begun := map[string]bool{}
	for i := range p.Commitments {
		c := &p.Commitments[i]
		begun[c.ID] = begun[c.ID] || c.Start <= at && at < c.End
	}
	for i := range p.Commitments {
		c := &p.Commitments[i]
		u, n, err := c.Unexpired(at)
		if err == nil && c.Start > at && begun[c.ID] {
			u, err = c.Total()
			n = u
		}
		t := tally{err}
		t.add(&unexpired, u)
		t.add(&unpaid, n)
		if t.err != nil {
			return 0, 0, fmt.Errorf("commitment %s: %w", c.ID, t.err)
		}
	}
	return unexpired, unpaid, nil
}

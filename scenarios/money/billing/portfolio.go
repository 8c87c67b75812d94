package billing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"capcli"
)

// Portfolio is the set of commitments under which a record of use is priced. Their order does
// not matter.
type Portfolio struct {
	Currency    string // "" means USD; must be that of the use
	Commitments []Commitment
}

// Commitment is one contract: a product, its term, its owner, the use that it applies to, and
// its fees.
type Commitment struct {
	ID         string
	Start, End capcli.Time // the term; End is the first instant after it
	Currency   string      // "" means that of the portfolio
	Owner      string      // the account that bought it; its use benefits first
	Scope      Scope
	Fees       Fees
	Product    Product
	Escape     Escape
	Exit       Exit // set where it was left before its end: see Terminate and Resell
}

// Scope selects the use that a commitment applies to. An empty field matches any value.
type Scope struct {
	Provider, Region, Zone              string
	Account                             string // only this account; "" shares the benefit among all
	Family, Size, GPUModel, Service, OS string
}

// Matches reports whether use of a SKU by an account is in scope.
func (s *Scope) Matches(u *SKU, account string) bool {
	return fits(s.Provider, u.Provider) && fits(s.Region, u.Region) && fits(s.Zone, u.Zone) &&
		fits(s.Account, account) && fits(s.Family, u.Family) && fits(s.Size, u.Size) &&
		fits(s.GPUModel, u.GPUModel) && fits(s.Service, u.Service) && (s.OS == "" || osOf(s.OS) == osOf(u.OS))
}

// fits reports whether a field of a scope matches; an empty one matches any value.
func fits(want, have string) bool { return want == "" || want == have }

// osOf returns the operating system, linux where none is named.
func osOf(s string) string {
	if s == "" {
		return "linux"
	}
	return s
}

// Fees are the cost of a commitment over its whole term, for all its units together. They are
// paid whether the commitment is used or not.
type Fees struct {
	Upfront  capcli.USD  // at the start
	Hourly   capcli.Rate // for each hour of the term, by the second
	Monthly  capcli.USD  // at the start and every month after it until the end
	Residual capcli.USD  // paid back at the end: the remaining value of an owned machine
}

// Escape is the right to leave a commitment before its end.
type Escape struct {
	Every  capcli.Seconds // allowed at each multiple of this time after the start; 0 means never
	Refund int64          // thousandths of the unexpired value that are paid back, less the fee
	Fee    capcli.USD     // flat, deducted from the refund
	// Limit is the most that one owner may get back in any 12 months, over all its commitments
	// with the provider (Azure: 50,000 dollars); 0 means no limit.
	Limit capcli.USD
}

// PortfolioError says what is wrong with a commitment, or between two.
type PortfolioError struct {
	Index, Other int // indices into Commitments; -1 for none
	Field        string
	Text         string
}

func (e *PortfolioError) Error() string { return e.Text }

// mostCommitments is the most commitments that a portfolio may have.
const mostCommitments = 100_000

// Check checks the commitments. Each has an ID, a term, fees and a product with valid
// parameters; two with the same ID do not overlap in time; all are in one currency. It fails
// with a *PortfolioError, and with capcli.ErrOverflow where a total does not fit.
func (p *Portfolio) Check() error {
	if len(p.Commitments) > mostCommitments {
		return &PortfolioError{-1, -1, "commitments", fmt.Sprintf("the portfolio has %d commitments; at most %d are allowed", len(p.Commitments), mostCommitments)}
	}
	for i := range p.Commitments {
		if err := p.checkOne(i); err != nil {
			return err
		}
	}
	return p.checkOverlap()
}

// CheckWindow checks that each commitment has part of its term in a window; otherwise it would
// have no part in the bill. Among commitments with one ID, the steps of a ramp, one in the
// window is enough. It fails with a *PortfolioError.
func (p *Portfolio) CheckWindow(from, to capcli.Time) error {
	in := map[string]bool{}
	for i := range p.Commitments {
		if c := &p.Commitments[i]; c.End > from && c.Start < to {
			in[c.ID] = true
		}
	}
	for i := range p.Commitments {
		if in[p.Commitments[i].ID] {
			continue
		}
		switch c := &p.Commitments[i]; {
		case c.End <= from:
			return &PortfolioError{i, -1, "end", fmt.Sprintf("commitment %s ended on %s, before the period from %s begins: it has expired; leave it out or renew it", c.ID, c.End, from)}
		case c.Start >= to:
			return &PortfolioError{i, -1, "start", fmt.Sprintf("commitment %s begins on %s, after the period to %s has ended", c.ID, c.Start, to)}
		}
	}
	return nil
}

// checkOne checks commitment i by itself.
func (p *Portfolio) checkOne(i int) error {
	c := &p.Commitments[i]
	bad := func(field, text string) error {
		name := c.ID
		if name == "" {
			name = fmt.Sprintf("number %d", i+1)
		}
		return &PortfolioError{i, -1, field, fmt.Sprintf("commitment %s: %s", name, text)}
	}
	switch {
	case c.ID == "":
		return bad("id", "it has no ID")
	case c.Product == nil:
		return bad("kind", "it has no product")
	case !c.Start.IsKnown() || !c.End.IsKnown() || c.Start < -1<<40 || c.End > 1<<40:
		return bad("start", "it has no start or no end")
	case c.End <= c.Start:
		return bad("end", fmt.Sprintf("it ends on %s, which is not after its start on %s", c.End, c.Start))
	case c.Currency != "" && c.Currency != currencyOf(p.Currency):
		return &PortfolioError{i, -1, "currency", fmt.Sprintf("commitment %s is in %s and the portfolio in %s: amounts in different currencies are not summed; convert one of them", c.ID, c.Currency, currencyOf(p.Currency))}
	case c.Fees.Upfront < 0 || c.Fees.Hourly < 0 || c.Fees.Monthly < 0 || c.Fees.Residual < 0:
		return bad("fees", "a fee is negative")
	case c.Fees.Residual > c.Fees.Upfront:
		return bad("residual", "it is worth more at its end than was paid at its start")
	case c.Escape.Every < 0 || c.Escape.Refund < 0 || c.Escape.Refund > 1000 || c.Escape.Fee < 0 || c.Escape.Limit < 0:
		return bad("escape", "an amount is negative, or more than all is refunded")
	}
	if text := c.Product.check(c); text != "" {
		return bad("product", text)
	}
	switch total, err := c.Total(); {
	case err != nil:
		return fmt.Errorf("commitment %s: %w", c.ID, err)
	case c.Exit != (Exit{}) && (c.Exit.Term < c.End || c.Exit.Loss < 0 || c.Exit.Loss > total):
		return bad("exit", "what leaving it early comes to does not fit what it costs")
	}
	return nil
}

// checkOverlap fails where the terms of two commitments with the same ID overlap: one of them
// would be counted twice.
func (p *Portfolio) checkOverlap() error {
	order := make([]int, len(p.Commitments))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &p.Commitments[a], &p.Commitments[b]
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Start, y.Start), cmp.Compare(a, b))
	})
	for k := 1; k < len(order); k++ {
		x, y := &p.Commitments[order[k-1]], &p.Commitments[order[k]]
		if x.ID == y.ID && y.Start < x.End {
			return &PortfolioError{order[k], order[k-1], "start", fmt.Sprintf(
				"commitments %d and %d are both %s and overlap: %s to %s and %s to %s; end one before the other begins, or give it an ID of its own",
				order[k-1]+1, order[k]+1, x.ID, x.Start, x.End, y.Start, y.End)}
		}
	}
	return nil
}

// currencyOf returns the currency, USD where none is named.
func currencyOf(s string) string {
	if s == "" {
		return "USD"
	}
	return s
}

// months returns the number of monthly payments of the term: one at its start and one each
// month after it until the end.
func (c *Commitment) months() int64 {
	n := int64(0)
	for c.payday(n) < c.End {
		n++
	}
	return n
}

// payday returns when payment k is due, counted from 0: on the day of the month on which the
// term began, or on the last day of a month without that day.
func (c *Commitment) payday(k int64) capcli.Time { return addMonths(c.Start, int(k)) }

// addMonths adds k calendar months; where the month has no such day, it returns the last day.
func addMonths(t capcli.Time, k int) capcli.Time {
	s := t.Std()
	first := s.AddDate(0, k, 1-s.Day())
	last := first.AddDate(0, 1, -1).Day()
	return capcli.TimeOf(first.AddDate(0, 0, min(s.Day(), last)-1))
}

// hourly returns the hourly fees of the term until t, rounded half up. It fails with
// capcli.ErrOverflow.
func (c *Commitment) hourly(t capcli.Time) (capcli.USD, error) {
	v, err := mulDiv(int64(c.Fees.Hourly), int64(max(c.Start, min(t, c.End))-c.Start), int64(hour))
	return capcli.USD(v), err
}

// Total returns the cost of the whole term, less what is paid back at its end. For a minimum
// spend it is the least that must be spent. It fails with capcli.ErrOverflow.
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

// amortised returns the part of the total that the term has used up by t: straight line,
// rounded half up, so that the parts of any division of the term add up to the total. The loss
// of leaving it early is used up at its end.
func (c *Commitment) amortised(total capcli.USD, t capcli.Time) capcli.USD {
	used := c.straight(total, t)
	if t >= c.End {
		used += c.Exit.Loss
	}
	return used
}

// straight is amortised without the loss of leaving the commitment early.
func (c *Commitment) straight(total capcli.USD, t capcli.Time) capcli.USD {
	return scale(total-c.Exit.Loss, int64(max(c.Start, min(t, c.End))-c.Start), int64(c.End-c.Start))
}

// lossIn returns the loss of leaving the commitment early in (from, to]. An end at to counts in
// this window.
func (c *Commitment) lossIn(from, to capcli.Time) capcli.USD {
	if c.End > from && c.End <= to {
		return c.Exit.Loss
	}
	return 0
}

// AmountPaid returns what is paid for the commitment in [from, to): the cash view. Payments at
// the end of the term count in the window that ends there. It fails with capcli.ErrOverflow.
func (c *Commitment) AmountPaid(from, to capcli.Time) (capcli.USD, error) {
	var t tally
	sum := t.take(c.hourly(to)) - t.take(c.hourly(from))
	if c.Fees.Monthly > 0 {
		for k := int64(0); c.payday(k) < min(c.End, to); k++ {
			if c.payday(k) >= from {
				sum += c.Fees.Monthly // not above the total, which fits
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

// UsedUp returns the part of the commitment's cost that is for [from, to): the amortised view.
// It fails with capcli.ErrOverflow.
func (c *Commitment) UsedUp(from, to capcli.Time) (capcli.USD, error) {
	total, err := c.Total()
	if err != nil {
		return 0, err
	}
	return c.amortised(total, to) - c.amortised(total, from), nil
}

// Unexpired returns the lock-in of a commitment at an instant: the part of its cost for the
// time to come, and in unpaid the payments still due. Both are 0 outside the term. It fails
// with capcli.ErrOverflow.
func (c *Commitment) Unexpired(at capcli.Time) (unexpired, unpaid capcli.USD, err error) {
	total, err := c.Total()
	if err != nil {
		return 0, 0, err
	}
	if at < c.Start || at >= c.End {
		return 0, 0, nil
	}
	if _, drawn := c.Product.(promise); drawn { // the least that must still be spent, in proportion to time
		open := total - c.amortised(total, at)
		return open, open, nil
	}
	var t tally
	paid := t.take(c.AmountPaid(c.Start, at+1))
	now, next := t.take(c.hourly(at)), t.take(c.hourly(at+1))
	return total - c.amortised(total, at), total + c.Fees.Residual - (paid - (next - now)), t.err
}

// LockIn returns the sum of Unexpired over the commitments that run at an instant. A later step
// of a ramp counts in full when an earlier step runs. It fails with capcli.ErrOverflow.
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

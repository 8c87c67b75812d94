package billing

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
)

// PortfolioError says what is wrong with a commitment, or between two.
type PortfolioError struct {
	Index, Other int // into Commitments; -1 for none
	Field        string
	Text         string
}

func (e *PortfolioError) Error() string { return e.Text }

// mostCommitments bounds a portfolio.
const mostCommitments = 100_000

// Check checks the commitments, by themselves and against each other: each has
// an ID, a term and a product whose parameters hold; two with one ID do not
// overlap in time; all are in one currency. It fails with a *PortfolioError.
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

// CheckWindow checks that no commitment has expired before a window begins or
// comes only after it has ended: it would have no part in the bill. Of several
// with one ID, the steps of a ramp, one in the window is enough. It fails with a
// *PortfolioError.
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

// checkOverlap finds two commitments of one ID whose terms overlap: one of them
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

func currencyOf(s string) string {
	if s == "" {
		return "USD"
	}
	return s
}

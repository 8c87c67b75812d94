package billing

import (
	"fmt"
	"math"
	"slices"

	"capcli"
)

func init() {
	Products.Add("minimum_spend", "a promise to spend: take or pay",
		example(MinimumSpend{Minimum: 1000 * capcli.Dollar, Every: 1, Rates: []PlanRate{{Discount: 280_000}}}, Scope{}, Fees{}))
}

// MinimumSpend is a promise to spend: use that Rates match costs its rate while
// the term lasts, however much of it there is, and where that comes to less than
// Minimum in a period, the rest is paid when the period ends (take or pay). It is
// applied after every other discount, and never to spot. A period of which the
// bill has a part counts for that part; one that has not ended when the bill does
// is not yet due.
//
// Source: the contract; FOCUS 1.2, "SaaS spend agreements", says how it is billed:
// usage, and the fee for what of the minimum was not used.
type MinimumSpend struct {
	Minimum capcli.USD
	Every   int64 // months in a period; 0 is the whole term
	Rates
}

// Name gives the product's name.
func (MinimumSpend) Name() string { return "minimum_spend" }

func (p MinimumSpend) check(c *Commitment) string {
	switch {
	case c.Fees != (Fees{}):
		return "a minimum spend is paid as it is used; it has no fees"
	case p.Minimum <= 0:
		return "its minimum must be above 0"
	case p.Every < 0 || p.Every > 600:
		return "its periods must be from a month to fifty years"
	}
	return checkPlan(1, p.Rates)
}

func (p MinimumSpend) power(*Commitment) int64 { return 0 }

// WithRates implements Rated.
func (p MinimumSpend) WithRates(rates []PlanRate) Product {
	p.Rates = rates
	return p
}

func (p MinimumSpend) cover(c *Commitment, b *bucket) (claim, bool) {
	return coverPlan(c, b, p.Rates, stageSpend)
}

// edges are the ends of the periods of a term.
func (p MinimumSpend) edges(c *Commitment) []capcli.Time {
	var out []capcli.Time
	for k := p.Every; p.Every > 0 && c.payday(k) < c.End; k += p.Every {
		out = append(out, c.payday(k))
	}
	return append(out, c.End)
}

// amountOwed is the minimum for the part of [from, to) that is within a window, by time.
// The last period may be shorter than the others and counts for its share.
func (p MinimumSpend) amountOwed(from, to, start, end capcli.Time) capcli.USD {
	whole := to
	if p.Every > 0 {
		whole = max(to, addMonths(from, int(p.Every)))
	}
	part := min(to, end) - max(from, start)
	if part <= 0 {
		return 0
	}
	return scale(p.Minimum, int64(part), int64(whole-from))
}

// total is the least that is paid over the whole term.
func (p MinimumSpend) total(c *Commitment) (capcli.USD, error) {
	var t tally
	var sum capcli.USD
	from := c.Start
	for _, to := range p.edges(c) {
		t.add(&sum, p.amountOwed(from, to, from, to))
		from = to
	}
	if t.err != nil {
		return 0, fmt.Errorf("commitment %s: %w", c.ID, t.err)
	}
	return sum, nil
}

// drawdown is what was spent of a MinimumSpend so far in a bill.
type drawdown struct {
	c       *Commitment
	p       MinimumSpend
	spent   wide // rate x unit time: see micros
	settled capcli.USD
	from    capcli.Time // start of the present period
	edges   []capcli.Time
}

func (p MinimumSpend) drawdown(c *Commitment) *drawdown {
	return &drawdown{c: c, p: p, from: c.Start, edges: p.edges(c)}
}

// micros is what was spent, rounded half up to the millionth of a dollar: rates are
// for an hour and time in thousandths of a second.
func (d *drawdown) micros() (capcli.USD, error) {
	a := d.spent.divide(1000 * int64(capcli.Hour) * int64(capcli.Dollar)) // in dollars
	return a.USD()
}

// settle gives what falls due in the hour that ends at an instant: what was not
// spent of the minimum of the periods that end in it.
func (d *drawdown) settle(until, start, end capcli.Time) (capcli.USD, error) {
	var t tally
	var due capcli.USD
	for len(d.edges) > 0 && d.edges[0] <= until {
		spent := t.take(d.micros())
		t.add(&due, max(0, d.p.amountOwed(d.from, d.edges[0], start, end)-(spent-d.settled)))
		d.from, d.settled = d.edges[0], spent
		d.edges = d.edges[1:]
	}
	return due, t.err
}

// unlimited is the power of what covers all there is.
const unlimited = math.MaxInt64

// drawsDown lays the promises to spend of a portfolio, by commitment; nil for the
// others.
func drawsDown(commits []*Commitment) []*drawdown {
	out := make([]*drawdown, len(commits))
	for k, c := range commits {
		if p, is := c.Product.(promise); is {
			out[k] = p.drawdown(c)
		}
	}
	if !slices.ContainsFunc(out, func(d *drawdown) bool { return d != nil }) {
		return nil
	}
	return out
}

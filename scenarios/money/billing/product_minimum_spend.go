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

// MinimumSpend is a promise to spend a minimum (take or pay). During the term, all use that
// Rates match costs its rate, without an upper limit. Where the cost in a period is less than
// Minimum, the shortfall is paid when the period ends. It is applied after every other
// discount, and never to spot. A period that is only partly in the bill counts for that part. A
// period that ends after the bill is not yet due.
//
// Source: the contract; FOCUS 1.2, "SaaS spend agreements", says how it is billed: the usage,
// and a fee for the unused part of the minimum.
type MinimumSpend struct {
	Minimum capcli.USD
	Every   int64 // months in a period; 0 means one period for the whole term
	Rates
}

// Name returns the product's name.
func (MinimumSpend) Name() string { return "minimum_spend" }

// Form implements Product.
func (p MinimumSpend) Form() *Form {
	p = MinimumSpend{}
	every := "term"
	return &Form{
		Aliases: []string{"take_or_pay"},
		Options: []Option{
			{"minimum", "minimum_spend: what is paid at least in each period", Amount{&p.Minimum}, true},
			{"every", "minimum_spend: the period, month, quarter, year or term; default: term", Choice{&every, []string{"month", "quarter", "year", "term"}}, false},
			ratesOption(&p.Rates),
		},
		Product: func() Product {
			p.Every = map[string]int64{"month": 1, "quarter": 3, "year": 12}[every]
			return p
		},
		Unpaid: "a minimum spend is paid as it is used, at its rates; leave price, payment, upfront, hourly and monthly out",
	}
}

func (MinimumSpend) properties(*Commitment) capcli.Properties { return capcli.Properties{Covers: true} }

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

// edges returns the ends of the periods of a term, in order.
func (p MinimumSpend) edges(c *Commitment) []capcli.Time {
	var out []capcli.Time
	for k := p.Every; p.Every > 0 && c.payday(k) < c.End; k += p.Every {
		out = append(out, c.payday(k))
	}
	return append(out, c.End)
}

// amountOwed returns the minimum for the part of the period [from, to) within the window
// [start, end), in proportion to time. A last period that is shorter than the others counts for
// its share.
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

// total returns the least that must be paid over the whole term.
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

// drawdown is what a bill has spent so far of a MinimumSpend.
type drawdown struct {
	c       *Commitment
	p       MinimumSpend
	spent   wide          // sum of rate x unit time: see micros
	settled capcli.USD    // spend up to from
	from    capcli.Time   // start of the current period
	edges   []capcli.Time // ends of the current and later periods
}

// drawdown returns a drawdown of which nothing is spent.
func (p MinimumSpend) drawdown(c *Commitment) *drawdown {
	return &drawdown{c: c, p: p, from: c.Start, edges: p.edges(c)}
}

// micros returns what was spent, rounded half up to the millionth of a dollar. Rates are for an
// hour, and unit time is in thousandths of a unit-second.
func (d *drawdown) micros() (capcli.USD, error) {
	a := d.spent.divide(1000 * int64(capcli.Hour) * int64(capcli.Dollar)) // in dollars
	return a.USD()
}

// settle returns the shortfalls of the periods that end at or before until and were not settled
// yet. The bill is over [start, end).
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

// unlimited marks a commitment that covers any amount of use.
const unlimited = math.MaxInt64

// drawsDown returns a drawdown for each promise to spend among commits, and nil for the others.
// It returns nil where there is no promise.
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

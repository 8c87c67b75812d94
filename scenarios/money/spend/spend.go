// Package spend says what projects, teams or kinds of work cost by day, week and month, how that
// changes, and what the running month will come to, beside its budget.
//
// A Book has the cost of each day: of use that is priced under a portfolio, or of a bill as it was
// billed. Watch makes the Result of it. Days, weeks and months are of UTC; a week begins on Monday.
package spend

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast"
)

// Request says how to look at a book.
type Request struct {
	Grain   string   // one of Grains
	Budgets []Budget // of a month
	Model   string   // in forecast.Models; "" is DefaultModel
	Seed    capcli.Seed
}

// DefaultModel is the model of the forecast where none is named.
const DefaultModel = "auto"

// Grains are the lengths of the periods.
var Grains = []string{"day", "week", "month"}

// Check fails for an unknown grain or model.
func (r *Request) Check() error {
	if err := capcli.CheckChoice("grain", r.Grain, Grains); err != nil {
		return err
	}
	r.Model = cmp.Or(r.Model, DefaultModel)
	_, err := forecast.Models.Get(r.Model)
	return err
}

// Result is what was spent, by period and group.
type Result struct {
	Schema      string       `json:"schema"`
	Use         string       `json:"use"`
	Portfolio   string       `json:"portfolio,omitempty"`
	Currency    string       `json:"currency"`
	From        capcli.Time  `json:"from"`
	To          capcli.Time  `json:"to"`
	View        string       `json:"view"`  // amortised, or cash
	Grain       string       `json:"grain"` // of the periods: day, week or month
	By          []string     `json:"by"`
	Periods     []Period     `json:"periods"`
	Month       Month        `json:"month"`
	Series      []Series     `json:"series"` // everything, then the values of each key, the most expensive first
	Commitments []Commitment `json:"commitments"`
	Notes       []string     `json:"notes"`
}

// Period is one day, week or month.
type Period struct {
	Name  string      `json:"period"` // 2027-01-05, 2027-W01 or 2027-01
	Start capcli.Time `json:"start"`
	End   capcli.Time `json:"end"`
	Whole bool        `json:"whole"` // whether the window has all of it
}

// Month is the month with the last day of the window: the running one, unless the window ends with it.
type Month struct {
	Name     string     `json:"month"`
	Days     int        `json:"days"`      // of the month
	DaysLeft int        `json:"days_left"` // not yet over
	Unused   capcli.USD `json:"unused_usd"`
	Coverage *float64   `json:"commitment_coverage"` // share of the eligible use that commitments covered, at list prices
	Used     *float64   `json:"commitment_utilisation"`
}

// Series is the cost of one value of one key, or of everything.
type Series struct {
	By      string     `json:"by"` // the key; "all" is everything
	Name    string     `json:"name"`
	Cost    capcli.USD `json:"cost_usd"`
	Periods []Cost     `json:"periods"` // in the order of Result.Periods
	Outlook Outlook    `json:"outlook"`
}

// Cost is what was spent in one period, and the change against the period before. A period of which
// only some days are over is compared with as many days of the one before. Change is nil where the
// window has not all of those days, and Share also where nothing was spent then.
type Cost struct {
	Cost   capcli.USD  `json:"cost_usd"`
	Change *capcli.USD `json:"change_usd"`
	Share  *float64    `json:"change_share"`
}

// Commitment is the cost of one commitment in the month.
type Commitment struct {
	ID      string     `json:"id"`
	Product string     `json:"product"`
	Used    capcli.USD `json:"used_usd"`
	Unused  capcli.USD `json:"unused_usd"`
	Share   *float64   `json:"utilisation"` // Used of Used and Unused
}

// Watch returns what the book says of its window. Forecasts do not depend on the number of cores. It
// fails with capcli.ErrOverflow, a *capcli.RequestError, or the cause of ctx.
func Watch(ctx context.Context, b *Book, r Request) (*Result, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if b.to == b.from {
		return nil, &capcli.InputError{Text: "no cost: no row has a charge period"}
	}
	series, err := b.series()
	if err != nil {
		return nil, err
	}
	out := &Result{
		Schema: "capcli/spend/v1", Currency: b.currency, From: b.from, To: b.to, View: "amortised", Grain: r.Grain, By: append([]string{}, b.By...),
		Periods: periodsOf(r.Grain, b.from, b.to), Notes: []string{},
	}
	out.Currency = cmp.Or(out.Currency, "USD")
	if b.Cash {
		out.View = "cash"
	}
	w := newWatch(b, &r)
	outlooks, err := capcli.MapParallel(ctx, series, nil, func(_ context.Context, s named) (Outlook, error) { return w.outlook(&s) })
	if err != nil {
		return nil, err
	}
	for i, s := range series {
		one := Series{By: s.by, Name: s.name, Cost: s.total(), Outlook: outlooks[i], Periods: make([]Cost, len(out.Periods))}
		for k, p := range out.Periods {
			one.Periods[k] = w.cost(s.span, p)
		}
		out.Series = append(out.Series, one)
	}
	if err := w.month(out); err != nil {
		return nil, err
	}
	out.Notes = append(out.Notes, w.notes(out.Series)...)
	return out, nil
}

// watch is the making of a Result.
type watch struct {
	*Book
	*Request
	whole    [2]day // the days that the window has wholly: from the first up to and without the second
	monthOf  [2]day // the days of the month
	overDays int    // days of the month that are over
}

func newWatch(b *Book, r *Request) *watch {
	w := &watch{Book: b, Request: r}
	w.whole = [2]day{dayOf(b.from + capcli.Time(capcli.Day) - 1), dayOf(b.to)}
	last := (b.to - 1).Std()
	first := capcli.TimeOf(last.AddDate(0, 0, 1-last.Day()))
	w.monthOf = [2]day{dayOf(first), dayOf(capcli.TimeOf(dayOf(first).start().Std().AddDate(0, 1, 0)))}
	w.overDays = int(min(w.whole[1], w.monthOf[1]) - w.monthOf[0])
	return w
}

// month says what the commitments did in the month.
func (w *watch) month(out *Result) error {
	m := &out.Month
	m.Name, m.Days = w.monthOf[0].start().Std().Format("2006-01"), int(w.monthOf[1]-w.monthOf[0])
	m.DaysLeft = m.Days - w.overDays
	sum := func(d daily) (capcli.USD, error) {
		s := w.newSpan()
		err := s.add(d)
		return s.sum(w.monthOf[0], w.monthOf[1]), err
	}
	var used, unused capcli.USD
	out.Commitments = []Commitment{}
	for _, id := range sortedKeys(w.pledges) {
		p := w.pledges[id]
		c := Commitment{ID: id, Product: p.product}
		var err error
		if c.Used, err = sum(p.used); err != nil {
			return err
		}
		if c.Unused, err = sum(p.unused); err != nil {
			return err
		}
		c.Share = share(c.Used, c.Used+c.Unused)
		if used, unused = used+c.Used, unused+c.Unused; c.Used != 0 || c.Unused != 0 {
			out.Commitments = append(out.Commitments, c)
		}
	}
	m.Unused, m.Used = unused, share(used, used+unused)
	covered, err := sum(w.covered)
	if err != nil {
		return err
	}
	eligible, err := sum(w.eligible)
	m.Coverage = share(covered, eligible)
	return err
}

// share returns part / whole; nil where the whole is not above 0.
func share(part, whole capcli.USD) *float64 {
	if whole <= 0 {
		return nil
	}
	v := part.Float() / whole.Float()
	return &v
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// notes says what the figures rest on.
func (w *watch) notes(made []Series) (out []string) {
	if w.long > 0 {
		out = append(out, fmt.Sprintf("%s %s of charge periods over a day: their cost is taken as even over the period", capcli.Grouped(w.long), capcli.Agree(w.long, "row is", "rows are")))
	}
	left := int(w.monthOf[1]-w.monthOf[0]) - w.overDays
	if left > 0 {
		out = append(out, fmt.Sprintf("%d of %d days of %s are over; the forecast is of the %s, from the cost of whole days, each series for itself", w.overDays,
			w.monthOf[1]-w.monthOf[0], w.monthOf[0].start().Std().Format("2006-01"), capcli.Agree(left, "last day", fmt.Sprintf("%d days left", left))))
	}
	for i := range made {
		if s := &made[i]; s.Outlook.Why != "" {
			out = append(out, fmt.Sprintf("no forecast of %s %s: %s", s.By, s.Name, s.Outlook.Why))
		}
	}
	if w.portfolio != nil && left > 0 {
		for i := range w.portfolio.Commitments {
			c := &w.portfolio.Commitments[i]
			for _, at := range []struct {
				t    capcli.Time
				what string
			}{{c.Start, "begins"}, {c.End, "ends"}} {
				if at.t >= w.to && at.t < w.monthOf[1].start() {
					out = append(out, fmt.Sprintf("commitment %s %s on %s: the forecast does not know of it", c.ID, at.what, at.t.Date()))
				}
			}
		}
	}
	for _, b := range w.Budgets {
		if !slices.ContainsFunc(made, func(s Series) bool { return s.By == b.By && s.Name == b.Name }) {
			out = append(out, fmt.Sprintf("the budget of %s %s is of nothing in the use", b.By, capcli.Quoted(b.Name)))
		}
	}
	return out
}

// roundUSD returns an amount in dollars in millionths.
func roundUSD(v float64) capcli.USD { return capcli.USD(math.Round(v * 1e6)) }

package decide

import (
	"context"
	"slices"

	"capcli"
	"capcli/scenarios/trial"
	"capcli/simulate/plan"
)

// rule returns the purchases of the rule of thumb: the break-even level of the last 30 days, on the term
// that is bought first, bought now and again whenever it ends.
func (d *desk) rule() ([]plan.Purchase, bool) {
	m := d.frame.Market
	if len(m.Terms) == 0 {
		return nil, false
	}
	term := d.firstTerm()
	lot := int64(d.lot()) * 1000
	milli := breakEven(d.history.Values, m.Terms[term].Rate.At(0), m.OnDemand.At(0)) * 1000 / lot * lot
	return d.field.Renewed(term, milli), true
}

// breakEven returns the fewest whole GPUs that would have cost least over the last 30 days of hours.
func breakEven(hours []float64, rate, onDemand capcli.Rate) int64 {
	last := slices.Clone(hours[max(0, len(hours)-30*24):])
	slices.Sort(last)
	k := int64(0)
	for {
		saved := 0.0
		for _, v := range last {
			saved += min(1, max(0, v-float64(k)))
		}
		if saved*float64(onDemand) <= float64(rate)*float64(len(last)) {
			return k
		}
		k++
	}
}

// backtest asks the same question at earlier dates of the log, for the term that is bought first, and pays
// for what came. Where the log is too short for any date it says so.
func (c *chain) backtest(ctx context.Context) error {
	if c.Origins == 0 || len(c.desk.frame.Market.Terms) == 0 {
		return nil
	}
	ask := c.marketFor(c.offer)
	ask.Held = nil // what is held serves the demand to come
	sketch, err := ask.Parse()
	if err != nil {
		return err
	}
	h := c.history
	past, err := plan.NewCurve(h.Start, capcli.Step{Seconds: h.Step}, h.Values)
	if err != nil {
		return err
	}
	frame, err := sketch.Frame(past)
	if err != nil {
		return err
	}
	out, err := trial.TryPast(ctx, past, frame.Market, c.desk.firstTerm(), c.Origins, c.Seed)
	if out == nil && err == nil {
		c.out.Notes = append(c.out.Notes, "the log is too short to try the question on earlier dates: that takes two weeks before a date and a week after it")
	}
	c.out.Backtest = out
	return err
}

// firstTerm returns the number of the term that is bought first; where nothing is, of the lowest rate.
func (d *desk) firstTerm() int {
	if list := d.best.Purchases; len(list) > 0 {
		return list[0].Term
	}
	terms, best := d.frame.Market.Terms, 0
	for i := range terms {
		if terms[i].Rate.At(0) < terms[best].Rate.At(0) {
			best = i
		}
	}
	return best
}

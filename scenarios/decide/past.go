package decide

import (
	"context"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/backtest"
	"capcli/scenarios/decide/trial"
)

// rule returns the purchases of the rule of thumb: the break-even level of the last 30 days, on the term
// that is bought first, bought now and again whenever it ends.
func (d *desk) rule() ([]plan.Purchase, error) {
	m := d.frame.Market
	if len(m.Terms) == 0 {
		return nil, nil
	}
	past, err := d.pastCurve()
	if err != nil {
		return nil, err
	}
	rules, term := backtest.Rules(), d.firstTerm()
	usual := rules[slices.IndexFunc(rules, func(r backtest.Rule) bool { return r.Name == "break-even-30" })]
	lot := 1000 * int64(d.lot())
	bought, err := usual.Decide(&backtest.Past{Curve: past, Now: len(past.Work), Term: &m.Terms[term], Paid: m.Terms[term].Rate.At(0), Open: m.OnDemand.At(0), Lot: lot})
	return d.field.Renewed(term, bought.Lots*lot), err
}

// pastCurve returns the demand of the log by the hour.
func (c *chain) pastCurve() (*plan.Curve, error) {
	h := c.history
	return plan.NewCurve(h.Start, capcli.Step{Seconds: h.Step}, h.Values)
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
	past, err := c.pastCurve()
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

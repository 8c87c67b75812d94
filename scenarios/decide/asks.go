package decide

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/outlook"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/vary"
)

// Ask is a planned event, a request for capacity: what it takes of the plan, and what it adds to its cost. Amounts are
// means over the futures, within the horizon; in a future in which the event does not happen they are 0.
type Ask struct {
	Event       string      `json:"event"`
	Place       string      `json:"place"` // file and line
	Kind        string      `json:"kind"`
	Team        string      `json:"team,omitempty"`
	AskedBy     string      `json:"asked_by,omitempty"`
	Reason      string      `json:"reason,omitempty"`
	Without     string      `json:"without,omitempty"` // what happens without it
	From        string      `json:"from"`
	Probability float64     `json:"probability"`
	Value       *capcli.USD `json:"value_usd,omitempty"` // what it is worth if it happens; nil is not said
	GPUHours    float64     `json:"gpu_hours"`           // with those of what follows it; below 0 it frees GPUs
	// The shares of its GPU-hours that are served by what is committed, and that are not: on demand, or where jobs wait for
	// fenced GPUs after a wait. In each hour the commitments serve all demand alike. Null where it takes no GPU-hours.
	Committed *float64 `json:"committed_share"`
	OnDemand  *float64 `json:"on_demand_share"`
	// Cost is the mean cost of the best purchases less that of the best purchases without the event, over the same futures
	// with its demand taken away. Null where it is not priced.
	Cost   *capcli.USD `json:"marginal_cost_usd"`
	AtRisk *capcli.USD `json:"marginal_risk_usd,omitempty"` // the same of the risk that the plan makes least, where that is not the mean
	Fits   *bool       `json:"fits"`                        // whether the limits hold with it and those of more value that fit; null without a limit on cost, and where it is not priced
	Why    string      `json:"why_not,omitempty"`           // why it takes nothing, or is not priced
}

// mostPriced is the most requests whose cost is found: those with the most GPU-hours.
const mostPriced = 40

// tender prices requests: the best purchases for futures with some events.
type tender struct {
	*chain
	apart   outlook.Apart
	market  *plan.Market
	held    []plan.Held
	risk    plan.Risk
	whole   *plan.Assessed // the best purchases with all events
	atRisk  capcli.USD     // the risk of its cost
	flat    bool           // fenced GPUs count as if they covered
	covered []float64      // committed GPUs by step, of the plan
}

// priceAsks fills in the requests of the result.
func (c *chain) priceAsks(ctx context.Context) error {
	for i := range c.planned {
		if e := &c.planned[i]; e.Kind != "holiday" && e.Follows == "" {
			a := Ask{
				Event: e.Name, Place: e.Place, Kind: e.Kind, Team: e.Team, AskedBy: e.AskedBy, Reason: e.Reason, Without: e.Without, From: e.From,
				Probability: e.Probability, Value: e.Value, Why: e.Why,
			}
			if len(e.Changes) > 0 {
				a.Why = cmp.Or(a.Why, e.Changes[0].Why)
			}
			c.out.Requests = append(c.out.Requests, a)
		}
	}
	if len(c.out.Requests) == 0 || c.apart == nil {
		return nil
	}
	t, err := c.newTender(ctx)
	if err != nil {
		return err
	}
	if err := t.take(ctx); err != nil {
		return err
	}
	if err := t.price(ctx); err != nil {
		return err
	}
	if err := t.fit(ctx); err != nil {
		return err
	}
	t.addNotes()
	return nil
}

// newTender returns the tender of the plan: on the market of its bill; where it commits to fenced GPUs, on that market
// with these as if they covered.
func (c *chain) newTender(ctx context.Context) (*tender, error) {
	t := &tender{chain: c, market: c.desk.frame.Market, held: c.desk.frame.Held, whole: c.desk.best}
	if err := gob.NewDecoder(bytes.NewReader(c.apart)).Decode(&t.apart); err != nil {
		return nil, fmt.Errorf("the futures without their events: %w", err)
	}
	var err error
	if t.risk, err = futures.ParseRisk(c.Risk); err != nil {
		return nil, err
	}
	t.layCommitments(c.chosen())
	field := c.desk.field
	if p := c.chosen(); p.isPlace() {
		t.flat = true
		ask := c.marketFor(c.offer)
		for i := range c.offer.Committed {
			if q := &c.offer.Committed[i]; !floats(q) {
				ask.Terms = append(ask.Terms, fmt.Sprintf("fenced %s=%s@%s", q.Term, q.Term, q.Key()))
			}
		}
		sketch, err := ask.Parse()
		if err != nil {
			return nil, err
		}
		frame, err := sketch.Frame(c.set.Mean)
		if err != nil {
			return nil, err
		}
		t.market, t.held = frame.Market, frame.Held
		if field, t.whole, err = t.bestFor(ctx, c.set.Futures.Paths); err != nil {
			return nil, err
		}
	}
	t.atRisk, err = field.Risk(t.whole, t.risk)
	return t, err
}

// chosen returns the plan, or the one nearest to the limits.
func (c *chain) chosen() *Choice {
	if c.out.Plan != nil {
		return c.out.Plan
	}
	return c.out.Nearest
}

// layCommitments sets the committed GPUs of a plan by step, with those held already.
func (t *tender) layCommitments(p *Choice) {
	grid := &t.set.Futures.Grid
	t.covered = make([]float64, t.set.Futures.Steps())
	for i := range t.covered {
		at := grid.At(i)
		t.covered[i] = float64(p.Place)
		for k := range p.Commitments {
			if x := &p.Commitments[k]; x.Start.Time <= at && at < x.End.Time {
				t.covered[i] += x.GPUs
			}
		}
		for _, h := range t.desk.frame.Held {
			if since := capcli.Seconds(at - grid.At(0)); h.From <= since && since < h.To {
				t.covered[i] += float64(h.Milli) / 1000
			}
		}
	}
}

// bestFor returns the best purchases for futures, with their outcomes.
func (t *tender) bestFor(ctx context.Context, paths [][]float64) (*plan.Field, *plan.Assessed, error) {
	field, err := plan.NewField(&plan.Futures{Grid: t.set.Futures.Grid, Paths: paths}, t.market, t.held...)
	if err != nil {
		return nil, nil, err
	}
	c, err := field.Choose(ctx, t.risk)
	if err != nil {
		return nil, nil, err
	}
	a, err := field.Assess("", "", c)
	return field, a, err
}

// take fills in what each request takes: its GPU-hours, and who serves them.
func (t *tender) take(ctx context.Context) error {
	with := t.set.Futures.Paths
	grid := &t.set.Futures.Grid
	_, err := capcli.MapParallel(ctx, t.asks(), nil, func(_ context.Context, a *Ask) (struct{}, error) {
		var hours, committed float64
		for k, path := range t.apart.Futures(a.Event) {
			for i, v := range path {
				more := with[k][i] - v
				if more == 0 {
					continue
				}
				more *= capcli.Seconds(grid.At(i+1) - grid.At(i)).Hours()
				hours += more
				if all := max(with[k][i], v); all > 0 {
					committed += more * min(1, t.covered[i]/all)
				}
			}
		}
		a.GPUHours = hours / float64(len(with))
		if hours != 0 {
			share := committed / hours
			rest := 1 - share
			a.Committed, a.OnDemand = &share, &rest
		}
		return struct{}{}, nil
	})
	return err
}

func (t *tender) asks() []*Ask {
	var out []*Ask
	for i := range t.out.Requests {
		out = append(out, &t.out.Requests[i])
	}
	return out
}

// price finds the marginal cost of the requests that take most.
func (t *tender) price(ctx context.Context) error {
	list := t.asks()
	slices.SortStableFunc(list, func(a, b *Ask) int { return cmp.Compare(max(b.GPUHours, -b.GPUHours), max(a.GPUHours, -a.GPUHours)) })
	for _, a := range list[min(len(list), mostPriced):] {
		a.Why = cmp.Or(a.Why, fmt.Sprintf("the cost of the %d requests with the most GPU-hours alone is found", mostPriced))
	}
	whole := meanCost(t.whole)
	_, err := capcli.MapParallel(ctx, list[:min(len(list), mostPriced)], nil, func(ctx context.Context, a *Ask) (struct{}, error) {
		var cost, atRisk capcli.USD
		if a.GPUHours != 0 {
			field, best, err := t.bestFor(ctx, t.apart.Futures(a.Event))
			if err != nil {
				return struct{}{}, err
			}
			least, err := field.Risk(best, t.risk)
			if err != nil {
				return struct{}{}, err
			}
			cost, atRisk = whole-meanCost(best), t.atRisk-least
		}
		if a.Cost = &cost; t.Risk != "mean" {
			a.AtRisk = &atRisk
		}
		return struct{}{}, nil
	})
	return err
}

func meanCost(a *plan.Assessed) capcli.USD {
	return capcli.MeanUSD(len(a.Outcomes), true, func(i int) capcli.USD { return a.Outcomes[i].Cost })
}

// fit says which requests fit under the limits, where one is on cost. Where they hold with all, all do. Else requests
// are added to the demand one by one, by their rank, and one that would break the limits is left out.
func (t *tender) fit(ctx context.Context) error {
	if t.costLimit() <= 0 {
		return nil
	}
	var ranked []*Ask
	for _, a := range t.asks() {
		if a.Cost == nil {
			continue // it stays in the demand
		}
		fits := t.out.Found || a.GPUHours <= 0
		if a.Fits = &fits; !fits {
			ranked = append(ranked, a)
		}
	}
	slices.SortStableFunc(ranked, compareRank)
	names := func() (out []string) {
		for _, a := range t.asks() {
			if a.Fits != nil && !*a.Fits {
				out = append(out, a.Event)
			}
		}
		return out
	}
	holds := len(ranked) > 0
	for i := -1; i < len(ranked) && holds; i++ { // without any at first
		if i >= 0 {
			*ranked[i].Fits = true
		}
		_, best, err := t.bestFor(ctx, t.apart.Futures(names()...))
		if err != nil {
			return err
		}
		fits := vary.Summarise(best.Outcomes, t.out.Length, t.checks).Held >= t.hold
		if i >= 0 {
			*ranked[i].Fits = fits
		} else if holds = fits; !holds {
			t.bareFails = true
		}
	}
	return nil
}

// compareRank orders requests by what they are worth: the probability times the value, the highest first. One without
// a value counts as 0. Of two alike the one that adds less to the mean cost comes first.
func compareRank(a, b *Ask) int {
	worth := func(a *Ask) float64 {
		if a.Value == nil {
			return 0
		}
		return a.Probability * a.Value.Float()
	}
	return cmp.Or(cmp.Compare(worth(b), worth(a)), cmp.Compare(*a.Cost, *b.Cost), strings.Compare(a.Event, b.Event))
}

// addNotes says what the figures of the requests mean.
func (t *tender) addNotes() {
	text := "the cost of a request is what the best purchases cost with it, less what they would without it alone; the costs need not add up, for two requests may share a commitment"
	if t.flat {
		text += ". Fenced GPUs count in it as if they covered use hour by hour and could be had from each month on"
	}
	t.out.Notes = append(t.out.Notes, text)
}

// asksText names the requests that do not fit under a limit on cost, the one of the least value first; "" where all do.
func (c *chain) asksText() string {
	var left []*Ask
	for i := range c.out.Requests {
		if a := &c.out.Requests[i]; a.Fits != nil && !*a.Fits {
			left = append(left, a)
		}
	}
	if len(left) == 0 {
		return ""
	}
	slices.SortStableFunc(left, func(a, b *Ask) int { return compareRank(b, a) })
	var names []string
	for _, a := range left {
		text := capcli.Quoted(a.Event)
		if a.Team != "" {
			text += " of " + a.Team
		}
		names = append(names, fmt.Sprintf("%s (%s GPU-hours, %s)", text, hoursText(a.GPUHours), a.Cost.Brief()))
	}
	how := "They hold without these requests, the one of the least value first"
	if c.bareFails {
		how = "They do not hold without any request either. The requests, the one of the least value first"
	}
	return fmt.Sprintf(" %s: %s.", how, strings.Join(names, ", "))
}

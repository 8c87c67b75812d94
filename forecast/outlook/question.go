package outlook

import (
	"context"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/change"
	"capcli/forecast/demand"
	"capcli/forecast/holidays"
)

// question is a request together with its histories: the input of every stage of the
// answer. Stages do not change it.
type question struct {
	Request // with defaults filled in
	hs      *demand.Histories
	views   []*view
	periods []period   // the entries of Horizon where it is a list; else nil
	plan    *eventPlan // nil without events
	notes   []string
	errors  int  // number of one-step errors to keep of each series
	longest int  // number of values of the longest series
	season  int  // shortest season of the series with the most known values, in steps
	look    bool // search for changes
}

// view is one history with the settings of its forecast.
type view struct {
	*demand.History
	steps   int              // number of steps ahead
	cap     []float64        // upper bound in each step of the history and ahead; nil is none
	room    []float64        // capacity in each step of the history and ahead; nil is not known
	options forecast.Options // without Memory
	notes   []string         // on seasons that were left out of the options
	usage   *unconstrainer   // nil where the values are taken for demand
	spoilt  []change.Spoilt  // stretches of the values that are estimates: see setAside
	gone    bool             // the series has ended: it is not forecast
	aside   []OddValue       // the same, for the result; nil for a sum
}

// maxFit is the largest number of values that a model is fitted to. With more values the fit
// takes longer and the forecast is no better.
const maxFit = 20_000

// newQuestion checks r and prepares every history of hs.
func newQuestion(ctx context.Context, hs *demand.Histories, r Request) (*question, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if !hs.Peak && !r.ByPeriods() && r.AllowsPeriods() {
		r.Horizon += ","
	}
	if _, wanted := r.reconciliation(); wanted && r.Reconcile != "" && hs.Tree == nil && !hs.Peak {
		return nil, &capcli.RequestError{Field: "reconcile", Text: "makes parts and sums agree, and there are no sums", Hint: "for a job log give --by pool,total or several keys, for a table --total or --id-sep /"}
	}
	q := &question{Request: r.withDefaults(), hs: hs, notes: slices.Clone(hs.Notes)}
	var err error
	if q.periods, err = r.periods(); err != nil {
		return nil, err
	}
	known := 0
	for _, h := range hs.List {
		v := &view{History: lastValues(h)}
		v.options, v.notes = q.optionsFor(v.CountKnown())
		if v.Censoring != nil {
			v.usage = &unconstrainer{Censoring: v.Censoring}
		}
		q.longest, known = max(q.longest, len(v.Values)), max(known, v.CountKnown())
		q.views = append(q.views, v)
	}
	q.errors = max(fewErrors, min(q.longest, 1000, max(50, 3_000_000/max(1, len(q.views)))))
	all, _ := q.optionsFor(known)
	q.season = all.Period()
	for i, gone := range q.ended() {
		q.views[i].gone = gone
	}
	q.setAside()
	if hs.Tree != nil {
		q.addSummedDemand()
	}
	if err := q.planEvents(ctx); err != nil {
		return nil, err
	}
	for _, v := range q.views {
		if v.steps, err = q.stepsAhead(v.History); err != nil {
			return nil, err
		}
		v.cap = hs.CapOver(v.History, len(v.Values)+v.steps)
		if v.room = v.cap; hs.Ahead > 0 {
			v.room = slices.Repeat([]float64{hs.Ahead}, len(v.Values)+v.steps)
		}
	}
	return q, nil
}

// lastValues returns a copy of h with at most the last maxFit values.
func lastValues(h *demand.History) *demand.History {
	out := *h
	out.Warnings = slices.Clone(h.Warnings)
	k := len(h.Values) - maxFit
	if k <= 0 {
		return &out
	}
	out.Warnings = append(out.Warnings, fmt.Sprintf("%s values: the last %s are used", capcli.Grouped(int64(len(h.Values))), capcli.Grouped(maxFit)))
	if h.Censoring != nil {
		c := *h.Censoring
		out.Censoring = &c
	}
	out.Forget(k)
	return &out
}

// optionsFor returns the options of a model for a series with the given number of known values,
// and notes on requested seasons that were left out.
func (q *question) optionsFor(known int) (forecast.Options, []string) {
	out := forecast.Options{Seed: q.Seed}
	seasons, asked := q.Seasons, len(q.Seasons) > 0
	if !asked {
		seasons = usualSeasons(q.hs.Step)
	}
	var notes []string
	for _, s := range slices.Sorted(slices.Values(seasons)) {
		switch {
		case s <= 1 || slices.Contains(out.Seasons, s):
		case 2*s > known:
			if asked {
				notes = append(notes, fmt.Sprintf("season %d left out: it needs two whole seasons, %d values, and there are %d", s, 2*s, known))
			}
		default:
			out.Seasons = append(out.Seasons, s)
		}
	}
	return out, notes
}

// sums returns the number of views that are sums of others. They come first.
func (q *question) sums() int {
	if q.hs.Tree == nil {
		return 0
	}
	return len(q.hs.Tree.Sums)
}

// partsOf returns the views of the parts of sum i.
func (q *question) partsOf(i int) []*view {
	out := make([]*view, len(q.hs.Tree.PartsOf[i]))
	for k, j := range q.hs.Tree.PartsOf[i] {
		out[k] = q.views[q.sums()+j]
	}
	return out
}

// agrees reports whether parts and sums are reconciled.
func (q *question) agrees() bool {
	_, ok := q.reconciliation()
	return ok && q.hs.Tree != nil
}

// modelFor returns the model that forecasts a series: the one called name as it is shipped,
// within the cap of the series, on the demand behind its usage, and with the known holidays.
// With UseChanges it is fitted to the values since the last move of the level.
func (q *question) modelFor(v *view, name string, steps int, opts forecast.Options) forecast.Bounded {
	b := q.bounded(v, name, steps, opts)
	if q.Changes == UseChanges {
		b.Model = change.SinceChange{Model: b.Model, Seasons: opts.Seasons}
	}
	if days := q.specialDays(v.History, steps); len(days) > 0 {
		b.Model = holidays.Model{Model: b.Model, Days: days, Zone: q.holidayZone(v.Name), At: func(i int) capcli.Time { return capcli.Time(v.Stamp(i)) }}
	}
	return b
}

// bounded returns the model as it is shipped, without holidays and changes. The benchmarks of a
// trial on the past use it too.
func (q *question) bounded(v *view, name string, steps int, opts forecast.Options) forecast.Bounded {
	b, _ := forecast.Shipped(name, v.Series, steps, opts) // the name was checked before
	if q.Negative {
		b.Floor = math.Inf(-1)
	}
	b.Cap = v.cap
	if usage := v.usage; usage != nil {
		b.Behind = func(values []float64) (forecast.Behind, error) {
			t := usage.latent(values, opts)
			return forecast.Behind{Demand: t.demand, Draw: t.draw, Uncertainty: t.unsure}, t.err
		}
	}
	return b
}

// meanKnown returns the mean of the known values, NaN where there are none.
func meanKnown(v []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range v {
		if !math.IsNaN(x) {
			sum, n = sum+x, n+1
		}
	}
	return sum / float64(n)
}

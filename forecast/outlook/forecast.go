package outlook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/demand"
)

// Forecast forecasts every history of hs as r requests. It calls progress, which may be nil,
// with the number of finished series. The result does not depend on the number of cores. The
// error is a *capcli.RequestError where r is invalid or does not suit the histories, and a
// *capcli.InputError where no series can be forecast. Where some can, Result.NotForecast lists
// the others.
func Forecast(ctx context.Context, hs *demand.Histories, r Request, progress func(done int)) (*Result, error) {
	q, err := newQuestion(ctx, hs, r)
	if err != nil {
		return nil, err
	}
	notes := q.notes
	looks, note := q.looksForChanges()
	if q.look = looks; note != "" {
		notes = append(notes, note)
	}
	list, err := capcli.MapParallel(ctx, q.views, progress, q.forecastSeries)
	if err != nil {
		return nil, err
	}
	agreed, more, err := q.reconcile(list)
	if err != nil {
		return nil, err
	}
	notes = append(notes, more...)
	drawn, more, err := q.draw(ctx, list, agreed)
	if err != nil {
		return nil, err
	}
	out := q.newResult(append(notes, more...))
	out.Reconciled = agreed.document()
	out.Series = make([]Series, 0, len(list))
	periods := make([][]Period, len(list))
	trials, whole := poolTrials(list)
	if q.ByPeriods() {
		out.PeriodTrials, periods = trials, calibratePeriods(list, drawn, trials)
	}
	for i, s := range list {
		if s.gone {
			out.Ended = append(out.Ended, Ended{s.Name, s.lastKnownText()})
			continue
		}
		if s.failure != nil {
			out.NotForecast = append(out.NotForecast, fmt.Sprintf("%s: %v", s.Name, s.failure))
			continue
		}
		one := q.document(s, i < q.sums())
		one.Periods, one.Futures, one.Full, one.apart = periods[i], drawn[i].paths, drawn[i].full, drawn[i].apart
		one.Suffices = drawn[i].sufficesOf(s, whole)
		out.Series = append(out.Series, one)
	}
	if len(out.Series) == 0 {
		return nil, noForecast(hs, out.NotForecast)
	}
	if hs.ByName {
		slices.SortStableFunc(out.Series, func(a, b Series) int { return strings.Compare(a.ID, b.ID) })
	}
	if q.ByPeriods() {
		out.draws = q.futuresOf(len(out.Series[0].Mean))
	}
	out.Events = q.eventsOf(list, out.Series)
	out.outcomes = q.outcomesOf(out.Series)
	out.addHistory()
	return out, nil
}

func noForecast(hs *demand.Histories, left []string) error {
	text := "no series can be forecast: " + left[0]
	if len(left) == 1 {
		text = "cannot forecast " + left[0]
	}
	return &capcli.InputError{File: strings.Join(hs.Inputs, ", "), Text: text, Hint: "give a longer history, or another --model (capcli forecast models)"}
}

// stepText returns the step of the histories in words; "1" where stamps are whole numbers.
func (q *question) stepText() string {
	if !q.hs.Clock {
		return "1"
	}
	return q.hs.Step.String()
}

// newResult returns a result without series.
func (q *question) newResult(notes []string) *Result {
	out := &Result{
		Schema: "capcli/forecast/v1", Input: q.hs.Inputs, Measure: q.hs.Measure, Unit: q.hs.Unit, Peak: q.hs.Peak, Step: q.stepText(),
		Seed: uint64(q.Seed), Levels: q.Levels, NotForecast: []string{}, Warnings: append([]string{}, notes...), Lines: map[string]float64{},
		Cap: q.hs.Cap, Capacity: q.hs.Ahead, PastCapacity: q.hs.Past, histories: q.hs, asked: q.Request,
	}
	for _, l := range lines {
		out.Lines[l.name] = l.quantile
	}
	return out
}

// document returns the forecast of one series in the form of the result.
func (q *question) document(s *seriesForecast, sum bool) Series {
	n, levels := len(s.Values), len(q.Levels)
	quantiles := s.fc.Intervals[levels:]
	out := Series{
		ID: s.Name, Model: s.model, Method: s.info.Method, Parameters: []Parameter{},
		LogLik: capcli.Figure(s.info.LogLik), AIC: capcli.Figure(s.info.AIC), AICc: capcli.Figure(s.info.AICc), BIC: capcli.Figure(s.info.BIC), Sigma2: capcli.Figure(s.info.Sigma2),
		History: History{
			Values: n, Missing: s.Missing(), Filled: s.Filled, Start: s.StampText(0), End: s.StampText(n - 1),
			Now: capcli.Figure(demand.LastKnown(s.seen)), Season: s.options.Period(),
		},
		Censoring: s.censoring, Backtest: s.test.document(), Mean: s.fc.Mean, Intervals: s.fc.Intervals[:levels:levels], Warnings: append([]string{}, s.warnings...),
		Lines: Lines{quantiles[0].Hi, quantiles[1].Hi, quantiles[2].Hi}, FlatTop: s.flat, Source: s.History, Demand: s.seen, Sum: sum, Moves: s.moves, Odd: s.odd,
	}
	if s.test == nil {
		out.Backwhy = "the history is too short for a backtest"
	}
	out.Changepoints, out.Anomalies = lastItems(s.moves, givenChanges), lastItems(s.odd, givenChanges)
	out.MoreChanges = len(s.moves) + len(s.odd) - len(out.Changepoints) - len(out.Anomalies)
	for _, p := range s.info.Params {
		out.Parameters = append(out.Parameters, Parameter{p.Name, capcli.Figure(p.Value)})
	}
	for i := range s.fc.Mean {
		out.DS = append(out.DS, s.StampText(n+i))
	}
	return out
}

// mostHistories is the most series of a result that have the end of their history in it, and
// mostLast the most values of one.
const (
	mostHistories = 50
	mostLast      = 400
)

// addHistory adds the end of each history to the result: four times as long as the forecast.
func (r *Result) addHistory() {
	if len(r.Series) > mostHistories {
		return
	}
	for i := range r.Series {
		s := &r.Series[i]
		n := len(s.Demand)
		for k := n - min(n, mostLast, max(4*len(s.Mean), 60)); k < n; k++ {
			s.History.Last = append(s.History.Last, capcli.Figure(s.Demand[k]))
			s.History.LastDS = append(s.History.LastDS, s.Source.StampText(k))
		}
	}
}

// eventsOf returns the events with their changes, in the order of the series in the result; nil
// where there are none.
func (q *question) eventsOf(list []*seriesForecast, order []Series) []Event {
	if q.plan == nil {
		return nil
	}
	byName := map[string]*seriesForecast{}
	for _, s := range list {
		byName[s.Name] = s
	}
	out := make([]Event, len(q.plan.List))
	for i := range q.plan.List {
		e := &q.plan.List[i]
		out[i] = describeEvent(e)
		out[i].Why = q.plan.why[e]
		for _, one := range order {
			for _, a := range byName[one.ID].effects {
				if a.event == e.Name {
					out[i].Changes = append(out[i].Changes, a)
				}
			}
		}
	}
	return out
}

package outlook

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast"
)

// agreement makes what is forecast of all series of a hierarchy at one time agree.
//
// The middle is reconciled. A range keeps the ends that the series' own model gave it,
// which are calibrated on its past, around the new middle, and grows where reconciled
// one-step errors are larger than the model's own, by their ratio; it never shrinks,
// for that they were smaller on the past that they were fitted to is no evidence. A
// backtest reconciles at each start with what was known there, and so measures what
// such ranges held. Futures are drawn of all series together by the law of their
// one-step errors (forecast.Innovations), and each future is reconciled (Panagiotelis
// et al. 2023, "Probabilistic forecast reconciliation": a coherent sample is a
// reconciled one).
type agreement struct {
	q      *question
	by     *forecast.Coherent
	adding *forecast.Coherent // adds up, and changes no part
	order  []int              // of the sums, by their number of parts
	grow   []float64          // of each series, how much wider its ranges become
	floor  bool               // nothing is below zero
	caps   bool               // something is capped
	notes  []string
}

// Reconciliation says what adds up, and how it was made to.
type Reconciliation struct {
	Method    string         `json:"method"`
	Shrink    *capcli.Figure `json:"shrinkage"` // null where the method has none
	Parts     int            `json:"parts"`
	Hierarchy []SumOfParts   `json:"hierarchy"`
	Widened   []Widened      `json:"widened"`
}

// SumOfParts is a series with the names of those that it is the sum of.
type SumOfParts struct {
	ID    string   `json:"unique_id"`
	Parts []string `json:"parts"`
}

// Widened is a series whose ranges grew by a factor.
type Widened struct {
	ID     string  `json:"unique_id"`
	Factor float64 `json:"by"`
}

// mostGrowth bounds how much wider a range becomes.
const mostGrowth = 4

// fewErrors is how many one-step errors say how large they are.
const fewErrors = 8

// agreementOn prepares the reconciliation of all series by their one-step errors; nil
// where none is wanted. known are the values before it.
func (q *question) agreementOn(errs, known [][]float64) (*agreement, error) {
	way, ok := q.reconciliation()
	if !ok {
		return nil, nil //nolint:nilnil // nothing is to be made to agree
	}
	t := q.hs.Tree
	a := &agreement{q: q, floor: !q.Negative}
	for i, v := range q.views {
		a.floor, a.caps = a.floor && v.NeverNegative(), a.caps || v.cap != nil
		standIn(errs[i], known[i])
	}
	if len(t.Sums) > forecast.MaxSums && way != forecast.BottomUp {
		a.notes = append(a.notes, fmt.Sprintf("%s sums are over the %s that can be reconciled so: added up from the bottom", capcli.Grouped(int64(len(t.Sums))), capcli.Grouped(forecast.MaxSums)))
		way = forecast.BottomUp
	}
	var err error
	for _, next := range []forecast.Reconciliation{way, forecast.WLSVariance, forecast.WLSStructural} {
		if a.by, err = forecast.NewCoherent(len(t.Parts), t.PartsOf, next, errs); err == nil {
			break
		}
		a.notes = append(a.notes, err.Error())
	}
	if err != nil {
		return nil, err
	}
	if a.adding, err = forecast.NewCoherent(len(t.Parts), t.PartsOf, forecast.BottomUp, nil); err != nil {
		return nil, err
	}
	for s := range t.Sums {
		a.order = append(a.order, s)
	}
	slices.SortStableFunc(a.order, func(x, y int) int { return cmp.Compare(len(t.PartsOf[x]), len(t.PartsOf[y])) })
	a.grow, err = a.growth(errs)
	return a, err
}

// standIn gives a series whose model has hardly any one-step errors those of repeating
// the last value: no errors would pass for certainty.
func standIn(errs, known []float64) {
	n := 0
	for _, e := range errs {
		if !math.IsNaN(e) {
			n++
		}
	}
	if n >= fewErrors {
		return
	}
	for k := 1; k <= len(errs) && k < len(known); k++ {
		errs[len(errs)-k] = known[len(known)-k] - known[len(known)-k-1]
	}
}

// growth returns by how much reconciled one-step errors are larger than the models' own.
func (a *agreement) growth(errs [][]float64) ([]float64, error) {
	own, now := make([]float64, len(errs)), make([]float64, len(errs))
	y := make([]float64, len(errs))
	for k := range errs[0] {
		for i := range errs {
			if y[i] = errs[i][k]; math.IsNaN(y[i]) {
				y[i] = 0
			}
		}
		if err := a.by.Apply(y, forecast.Bounds{}); err != nil {
			return nil, err
		}
		for i, v := range y {
			if e := errs[i][k]; !math.IsNaN(e) {
				own[i], now[i] = own[i]+e*e, now[i]+v*v
			}
		}
	}
	out := make([]float64, len(errs))
	for i := range out {
		out[i] = 1
		if r := math.Sqrt(now[i] / own[i]); r > 1 && own[i] > 0 {
			out[i] = min(r, mostGrowth)
		}
	}
	return out, nil
}

// bounds are those of step i after the origin, which lies at origins[k] of series k.
func (a *agreement) bounds(origins []int, i, places int) forecast.Bounds {
	b := forecast.Bounds{Floor: a.floor, Round: true, Places: places}
	if !a.caps {
		return b
	}
	b.Caps = make([]float64, len(origins))
	for k, v := range a.q.views {
		b.Caps[k] = math.Inf(1)
		if n := origins[k] + i; n >= 0 && n < len(v.cap) {
			b.Caps[k] = v.cap[n]
		}
	}
	return b
}

// historyEnds are the ends of the histories.
func (q *question) historyEnds() []int {
	var out []int
	for _, v := range q.views {
		out = append(out, len(v.Values))
	}
	return out
}

// largestFigure is the largest figure of a list, without its sign.
func largestFigure(list []float64) float64 {
	out := 0.0
	for _, v := range list {
		out = math.Max(out, math.Abs(v))
	}
	return out
}

// reconcileForecasts makes forecasts agree, in place: one for each series, which has so many values
// before it as origins says. extra is what events add to each in its mean; nil is
// nothing.
func (a *agreement) reconcileForecasts(set []*forecast.Forecast, origins []int, extra [][]float64) error {
	steps, high := len(set[0].Mean), 0.0
	for _, f := range set {
		high += largestFigure(f.Mean)
	}
	y := make([]float64, len(set))
	for i := range steps {
		for k, f := range set {
			y[k] = f.Mean[i] - extraAt(extra, k, i)
		}
		b := a.bounds(origins, i, forecast.PlacesFor(high))
		if err := a.reconcileStep(y, b, extra, i); err != nil {
			return err
		}
		for k, f := range set {
			cap := math.Inf(1)
			if b.Caps != nil {
				cap = b.Caps[k]
			}
			a.move(f, i, y[k], a.grow[k], cap)
		}
	}
	return nil
}

func extraAt(extra [][]float64, k, i int) float64 {
	if extra == nil || extra[k] == nil {
		return 0
	}
	return extra[k][i]
}

// reconcileStep makes the figures of step i agree. What events add is no error of the models and
// so is not shared out by their errors: what is added to a part is added to its sums,
// and what is added to a sum beyond its parts goes to them in proportion.
func (a *agreement) reconcileStep(y []float64, b forecast.Bounds, extra [][]float64, i int) error {
	if extra == nil {
		return a.by.Apply(y, b)
	}
	if err := a.by.Apply(y, forecast.Bounds{Floor: b.Floor}); err != nil {
		return err
	}
	t := a.q.hs.Tree
	parts := y[len(t.Sums):]
	adds := make([]float64, len(parts))
	for j := range adds {
		adds[j] = extraAt(extra, len(t.Sums)+j, i)
	}
	for _, s := range a.order {
		own := extraAt(extra, s, i)
		rest, weight := own, 0.0
		for _, j := range t.PartsOf[s] {
			rest -= adds[j]
			weight += math.Max(0, parts[j])
		}
		if own == 0 || math.Abs(rest) <= 1e-9*math.Abs(own) {
			continue
		}
		for _, j := range t.PartsOf[s] {
			share := 1 / float64(len(t.PartsOf[s]))
			if weight > 0 {
				share = math.Max(0, parts[j]) / weight
			}
			adds[j] += rest * share
		}
	}
	for j, v := range adds {
		parts[j] += v
	}
	return a.adding.Apply(y, b)
}

// move puts the middle of step i at to, and the ranges around it.
func (a *agreement) move(f *forecast.Forecast, i int, to, grow, cap float64) {
	from := f.Mean[i]
	within := func(v float64) float64 {
		if a.floor {
			v = math.Max(0, v)
		}
		return math.Min(v, cap)
	}
	for _, iv := range f.Intervals {
		below, above := from-iv.Lo[i], iv.Hi[i]-from
		if a.floor && iv.Lo[i] <= 0 { // the floor cut it: the other side says how far it went
			below = math.Max(below, above)
		}
		if iv.Hi[i] >= cap {
			above = math.Max(above, from-iv.Lo[i])
		}
		iv.Lo[i], iv.Hi[i] = within(to-grow*below), within(to+grow*above)
	}
	f.Mean[i] = to
}

// reconcile makes the forecasts of all series agree, and their trials, and returns the
// figures. The agreement is nil where none is made; notes say why, or what was done.
func (q *question) reconcile(list []*seriesForecast) (*agreement, []figures, []string, error) {
	out := make([]figures, len(list))
	for i, s := range list {
		out[i] = s.figures
	}
	if q.hs.Tree == nil {
		return nil, out, nil, nil
	}
	errs, known, extra := make([][]float64, len(list)), make([][]float64, len(list)), extrasOf(list)
	for i, s := range list {
		if s.failure != nil {
			return nil, out, []string{fmt.Sprintf("not reconciled, for %s has no forecast: %v", s.Name, s.failure)}, nil
		}
		errs[i], known[i] = s.errs, s.Values
	}
	a, err := q.agreementOn(errs, known)
	if err != nil || a == nil {
		return nil, out, nil, err
	}
	set := make([]*forecast.Forecast, len(list))
	for i := range list {
		set[i] = out[i].withLines()
	}
	if err := a.reconcileForecasts(set, q.historyEnds(), extra); err != nil {
		return nil, nil, nil, err
	}
	for i, fc := range set {
		out[i] = reconciledFigures(fc, len(q.Levels))
	}
	tests := make([]*trial, len(list))
	for i, s := range list {
		tests[i] = s.test
	}
	return a, out, append([]string{a.words()}, a.notes...), q.reconcileTrials(tests)
}

// extrasOf are what events add to the means; nil where there is no event.
func extrasOf(list []*seriesForecast) [][]float64 {
	var out [][]float64
	for i, s := range list {
		if s.extra != nil {
			if out == nil {
				out = make([][]float64, len(list))
			}
			out[i] = s.extra
		}
	}
	return out
}

// withLines is a copy of the figures as a forecast whose last ranges are the capacity
// lines: both ends of such a range are the line.
func (f *figures) withLines() *forecast.Forecast {
	out := &forecast.Forecast{Mean: slices.Clone(f.mean)}
	for _, iv := range f.ranges {
		out.Intervals = append(out.Intervals, forecast.Interval{Level: iv.Level, Lo: slices.Clone(iv.Lo), Hi: slices.Clone(iv.Hi)})
	}
	for _, line := range f.lines {
		out.Intervals = append(out.Intervals, forecast.Interval{Lo: slices.Clone(line), Hi: slices.Clone(line)})
	}
	return out
}

// reconciledFigures are those of a forecast that has the capacity lines after its
// ranges.
func reconciledFigures(fc *forecast.Forecast, levels int) figures {
	out := figures{mean: fc.Mean, ranges: fc.Intervals[:levels]}
	for k := range out.lines {
		out.lines[k] = fc.Intervals[levels+k].Hi
	}
	out.orderLines()
	return out
}

// words say what was done.
func (a *agreement) words() string {
	t := a.q.hs.Tree
	text := fmt.Sprintf("reconciled by %s: in each step %d parts add up to %d %s", a.by.Way, len(t.Parts), len(t.Sums), capcli.Plural(int64(len(t.Sums)), "sum"))
	if !math.IsNaN(a.by.Shrink) {
		text += fmt.Sprintf(" (covariance shrunk by %.0f%%)", 100*a.by.Shrink)
	}
	wider := 0
	for _, g := range a.grow {
		if g > 1.01 {
			wider++
		}
	}
	if wider > 0 {
		text += fmt.Sprintf("; ranges of %d series widened, for their reconciled errors are larger", wider)
	}
	return text
}

// document is the agreement as the result has it; nil of none.
func (a *agreement) document() *Reconciliation {
	if a == nil {
		return nil
	}
	t := a.q.hs.Tree
	out := &Reconciliation{Method: a.by.Way.String(), Parts: len(t.Parts), Hierarchy: []SumOfParts{}, Widened: []Widened{}}
	if !math.IsNaN(a.by.Shrink) {
		s := capcli.Figure(a.by.Shrink)
		out.Shrink = &s
	}
	for i, h := range t.Sums {
		s := SumOfParts{ID: h.Name}
		for _, j := range t.PartsOf[i] {
			s.Parts = append(s.Parts, t.Parts[j].Name)
		}
		out.Hierarchy = append(out.Hierarchy, s)
	}
	for i, v := range a.q.views {
		if a.grow[i] > 1 {
			out.Widened = append(out.Widened, Widened{v.Name, a.grow[i]})
		}
	}
	return out
}

// reconcileTrials makes what was forecast from each past start agree, by what was known
// there, and measures it again. A part that has no forecast from a start, for it had
// only begun, repeats its last value there, or is zero.
func (q *question) reconcileTrials(tests []*trial) error {
	if !q.agrees() {
		return nil
	}
	starts, steps, every := 0, 0, 1
	for _, t := range tests {
		if t != nil && len(t.runs) > starts {
			starts, steps, every = len(t.runs), t.Steps, t.every
		}
	}
	for k := 1; k <= starts; k++ {
		if err := q.reconcileStart(tests, k, steps, every); err != nil {
			return err
		}
	}
	for i, v := range q.views {
		if tests[i] != nil {
			tests[i].score(v, q.Levels)
			tests[i].runs, tests[i].base = nil, nil
		}
	}
	return nil
}

// reconcileStart does the k-th start from the end.
func (q *question) reconcileStart(tests []*trial, k, steps, every int) error {
	n := len(q.views)
	set, origins := make([]*forecast.Forecast, n), make([]int, n)
	errs, known := make([][]float64, n), make([][]float64, n)
	for i, v := range q.views {
		origins[i] = len(v.Values) - steps - (k-1)*every
		known[i] = v.Values[:max(0, origins[i])]
		if t := tests[i]; t != nil && k <= len(t.runs) && t.Steps == steps && t.every == every {
			r := &t.runs[len(t.runs)-k]
			if r.Err == nil && r.At == origins[i] {
				set[i], errs[i] = &r.Forecast, r.Errors
				continue
			}
		}
		if i < q.sums() {
			return nil // a start from which not even a sum has a forecast
		}
		errs[i] = make([]float64, q.errors)
		set[i] = &forecast.Forecast{Mean: make([]float64, steps)}
		if v := lastKnown(known[i]); !math.IsNaN(v) {
			for s := range set[i].Mean {
				set[i].Mean[s] = v
			}
		}
	}
	a, err := q.agreementOn(errs, known)
	if err != nil || a == nil {
		return err
	}
	return a.reconcileForecasts(set, origins, nil)
}

// reconcileFutures makes each future of all series agree, in place.
func (a *agreement) reconcileFutures(ctx context.Context, list []futures) error {
	high, numbers := 0.0, make([]int, len(list[0].paths))
	withEvents := false
	for _, f := range list {
		highest := 0.0
		for _, p := range f.paths {
			highest = math.Max(highest, largestFigure(p))
		}
		high += highest
		withEvents = withEvents || f.extras != nil
	}
	for k := range numbers {
		numbers[k] = k
	}
	places, ends := forecast.PlacesFor(high), a.q.historyEnds()
	_, err := capcli.MapParallel(ctx, numbers, nil, func(_ context.Context, k int) (struct{}, error) {
		var extra [][]float64
		if withEvents {
			extra = make([][]float64, len(list))
			for s, f := range list {
				if f.extras != nil {
					extra[s] = f.extras[k]
				}
			}
		}
		y := make([]float64, len(list))
		for i := range list[0].paths[k] {
			for s, f := range list {
				y[s] = f.paths[k][i]
			}
			if err := a.reconcileStep(y, a.bounds(ends, i, places), extra, i); err != nil {
				return struct{}{}, err
			}
			for s, f := range list {
				f.paths[k][i] = y[s]
			}
		}
		return struct{}{}, nil
	})
	return err
}

package outlook

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast/demand"
	"capcli/forecast/hierarchy"
	"capcli/forecast/model"
)

// agreement reconciles the forecasts of the series of a hierarchy.
//
// The means are reconciled. A range keeps its width, which the series' own model calibrated on
// its past, around the new mean. It grows where reconciled one-step errors are larger than the
// model's own, by their ratio. It never shrinks: smaller errors on the values that a model was
// fitted to are no evidence. A backtest reconciles at each start with the values known there,
// and so measures the coverage of such ranges. Futures of all series are drawn jointly
// (forecast.Innovations), and each is reconciled (Panagiotelis et al. 2023, "Probabilistic
// forecast reconciliation": a coherent sample is a reconciled one).
type agreement struct {
	q      *question
	by     *hierarchy.Reconciler
	adding *hierarchy.Reconciler // adds up the parts and does not change them
	order  []int                 // indices of the sums, those with the fewest parts first
	grow   []float64             // by series, the factor by which its ranges become wider
	floor  bool                  // no value is below zero
	caps   bool                  // some series has a cap
	notes  []string
}

// Reconciliation describes which series are sums of which, and how they were reconciled.
type Reconciliation struct {
	Method    string         `json:"method"`
	Shrink    *capcli.Figure `json:"shrinkage"` // null where the method has none
	Parts     int            `json:"parts"`
	Hierarchy []SumOfParts   `json:"hierarchy"`
	Widened   []Widened      `json:"widened"`
}

// SumOfParts is the name of a sum with the names of its parts.
type SumOfParts struct {
	ID    string   `json:"unique_id"`
	Parts []string `json:"parts"`
}

// Widened is a series whose ranges grew by a factor.
type Widened struct {
	ID     string  `json:"unique_id"`
	Factor float64 `json:"by"`
}

// mostGrowth is the largest factor by which a range grows.
const mostGrowth = 4

// fewErrors is the least number of one-step errors from which their size is estimated.
const fewErrors = 8

// agreementOn prepares the reconciliation of all series from their one-step errors. It returns
// nil where none is requested. known are the values before the forecast, by series. For series
// with too few errors it fills in errors: see fillErrors.
func (q *question) agreementOn(errs, known [][]float64) (*agreement, error) {
	way, ok := q.reconciliation()
	if !ok {
		return nil, nil //nolint:nilnil // nothing is to be made to agree
	}
	t := q.hs.Tree
	a := &agreement{q: q, floor: !q.Negative}
	for i, v := range q.views {
		a.floor, a.caps = a.floor && v.NeverNegative(), a.caps || v.cap != nil
		fillErrors(errs[i], known[i])
	}
	if len(t.Sums) > hierarchy.MaxSums && way != hierarchy.BottomUp {
		a.notes = append(a.notes, fmt.Sprintf("%s sums are more than the %s that this method can reconcile: they are summed from the bottom up", capcli.Grouped(int64(len(t.Sums))), capcli.Grouped(hierarchy.MaxSums)))
		way = hierarchy.BottomUp
	}
	var err error
	for _, next := range []hierarchy.Method{way, hierarchy.WLSVariance, hierarchy.WLSStructural} {
		if a.by, err = hierarchy.NewReconciler(len(t.Parts), t.PartsOf, next, errs); err == nil {
			break
		}
		a.notes = append(a.notes, err.Error())
	}
	if err != nil {
		return nil, err
	}
	if a.adding, err = hierarchy.NewReconciler(len(t.Parts), t.PartsOf, hierarchy.BottomUp, nil); err != nil {
		return nil, err
	}
	for s := range t.Sums {
		a.order = append(a.order, s)
	}
	slices.SortStableFunc(a.order, func(x, y int) int { return cmp.Compare(len(t.PartsOf[x]), len(t.PartsOf[y])) })
	a.grow, err = a.growth(errs)
	return a, err
}

// fillErrors fills in the errors of repeating the last value where a model has fewer than
// fewErrors of its own: missing errors would count as certainty.
func fillErrors(errs, known []float64) {
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

// growth returns the factor by which the ranges of each series grow.
func (a *agreement) growth(errs [][]float64) ([]float64, error) {
	own, now := make([]float64, len(errs)), make([]float64, len(errs))
	y := make([]float64, len(errs))
	for k := range errs[0] {
		for i := range errs {
			if y[i] = errs[i][k]; math.IsNaN(y[i]) {
				y[i] = 0
			}
		}
		if err := a.by.Reconcile(y, hierarchy.Bounds{}); err != nil {
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

// bounds returns the bounds of step i after the origin, which is origins[k] for series k.
func (a *agreement) bounds(origins []int, i, places int) hierarchy.Bounds {
	b := hierarchy.Bounds{Floor: a.floor, Round: true, Places: places}
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

func (q *question) historyEnds() []int {
	return capcli.Map(q.views, func(v *view) int { return len(v.Values) })
}

func largestFigure(list []float64) float64 {
	out := 0.0
	for _, v := range list {
		out = math.Max(out, math.Abs(v))
	}
	return out
}

// reconcileForecasts reconciles one forecast for each series, in place. origins are the numbers
// of values before them. extra is what events add to each mean, by series and step; nil is
// nothing.
func (a *agreement) reconcileForecasts(set []*model.Forecast, origins []int, extra [][]float64) error {
	steps, high := len(set[0].Mean), 0.0
	for _, f := range set {
		high += largestFigure(f.Mean)
	}
	y := make([]float64, len(set))
	for i := range steps {
		for k, f := range set {
			y[k] = f.Mean[i] - extraAt(extra, k, i)
		}
		b := a.bounds(origins, i, hierarchy.PlacesFor(high))
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

// reconcileStep reconciles the figures of step i. The errors of the models do not distribute
// what events add: the amount of a part is added to its sums too, and what a sum gains beyond
// its parts is divided among them in proportion to their level.
func (a *agreement) reconcileStep(y []float64, b hierarchy.Bounds, extra [][]float64, i int) error {
	if extra == nil {
		return a.by.Reconcile(y, b)
	}
	if err := a.by.Reconcile(y, hierarchy.Bounds{Floor: b.Floor}); err != nil {
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
	return a.adding.Reconcile(y, b)
}

// move moves the mean of step i, and its ranges with it, to a new value. It multiplies the
// distances of the ranges by grow.
func (a *agreement) move(f *model.Forecast, i int, to, grow, cap float64) {
	from := f.Mean[i]
	for _, iv := range f.Intervals {
		cap := cap
		if iv.Level == 0 { // a capacity line is a quantile of the demand, which no cap cuts
			cap = math.Inf(1)
		}
		within := func(v float64) float64 {
			if a.floor {
				v = math.Max(0, v)
			}
			return math.Min(v, cap)
		}
		below, above := from-iv.Lo[i], iv.Hi[i]-from
		if a.floor && iv.Lo[i] <= 0 { // cut by the floor: assume the range is symmetric
			below = math.Max(below, above)
		}
		if iv.Hi[i] >= cap {
			above = math.Max(above, from-iv.Lo[i])
		}
		iv.Lo[i], iv.Hi[i] = within(to-grow*below), within(to+grow*above)
	}
	f.Mean[i] = to
}

// reconcile reconciles the forecasts of all series, in place, and their trials. It returns nil
// where it reconciles nothing, and notes on what it did or why it did not.
func (q *question) reconcile(list []*seriesForecast) (*agreement, []string, error) {
	if q.hs.Tree == nil {
		return nil, nil, nil
	}
	errs, known, tests := make([][]float64, len(list)), make([][]float64, len(list)), make([]*trial, len(list))
	set := make([]*model.Forecast, len(list))
	for i, s := range list {
		if s.failure != nil {
			return nil, []string{fmt.Sprintf("not reconciled, for %s has no forecast: %v", s.Name, s.failure)}, nil
		}
		errs[i], known[i], set[i], tests[i] = s.errs, s.Values, s.fc, s.test
	}
	a, err := q.agreementOn(errs, known)
	if err != nil || a == nil {
		return nil, nil, err
	}
	if err := a.reconcileForecasts(set, q.historyEnds(), extrasOf(list)); err != nil {
		return nil, nil, err
	}
	for _, fc := range set {
		orderLines(fc)
	}
	return a, append([]string{a.words()}, a.notes...), q.reconcileTrials(tests)
}

// extrasOf returns what events add to the means, by series; nil where there is no event.
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
		text += fmt.Sprintf("; the ranges of %d series are wider, because their reconciled errors are larger", wider)
	}
	return text
}

// document returns the description of the agreement for the result; nil where a is nil.
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

// reconcileTrials reconciles the forecasts from each past start, with the values known there,
// and measures them again. A part that was too short to be forecast from a start is forecast
// there by its last value, or by zero.
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

// reconcileStart reconciles the forecasts from the k-th start, counted from the end.
func (q *question) reconcileStart(tests []*trial, k, steps, every int) error {
	n := len(q.views)
	set, origins := make([]*model.Forecast, n), make([]int, n)
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
			return nil // not even a sum has a forecast from this start
		}
		errs[i] = make([]float64, q.errors)
		set[i] = &model.Forecast{Mean: make([]float64, steps)}
		if v := demand.LastKnown(known[i]); !math.IsNaN(v) {
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

// reconcileFutures reconciles each future of all series, in place.
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
	places, ends := hierarchy.PlacesFor(high), a.q.historyEnds()
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

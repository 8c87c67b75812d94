package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"capcli/forecast"
)

// agreement makes what is forecast of all series of a tree at one time agree.
//
// The middle is reconciled. A range keeps the ends that the series' own model gave
// it, which are calibrated on its past, around the new middle, and grows where
// reconciled one-step errors are larger than the model's own, by their ratio; it
// never shrinks, for that they were smaller on the past that they were fitted to
// is no evidence. A backtest reconciles at each start with what was known there,
// and so measures what such ranges held. Futures are drawn of all series together
// by the law of their one-step errors (forecast.Innovations), and each future is
// reconciled (Panagiotelis et al. 2023, "Probabilistic forecast
// reconciliation": a coherent sample is a reconciled one).
type agreement struct {
	tree  *tree
	all   []*history // the sums, then the parts
	by    *forecast.Coherent
	add   *forecast.Coherent // adds up, and changes no part
	order []int              // of the sums, by their number of parts
	grow  []float64          // of each series
	floor bool
	caps  bool // something is capped
	notes []string
}

// mostGrowth bounds how much wider a range becomes.
const mostGrowth = 4

// errorsKept is how many one-step errors of each series tell the covariance: so
// many that those of all series fit into memory, and no more than there are.
func (hs *histories) errorsKept() int {
	longest := 0
	for _, h := range hs.list {
		longest = max(longest, len(h.Values))
	}
	return max(fewErrors, min(longest, 1000, max(50, 3_000_000/max(1, len(hs.list)))))
}

// agree prepares the reconciliation of the series of t by their one-step errors.
// known are the values before it.
func (o *forecastOptions) agree(t *tree, errs, known [][]float64) (*agreement, error) {
	way, ok := o.history.tree.way()
	if !ok {
		return nil, nil //nolint:nilnil // nothing is to be made to agree
	}
	a := &agreement{tree: t, all: t.all(), floor: !o.negative}
	for i, h := range a.all {
		a.floor, a.caps = a.floor && h.NeverNegative(), a.caps || h.most != nil
		standIn(errs[i], known[i])
	}
	if len(t.sums) > forecast.MaxSums && way != forecast.BottomUp {
		a.notes = append(a.notes, fmt.Sprintf("%s sums are over the %s that can be reconciled so: added up from the bottom", grouped(int64(len(t.sums))), grouped(forecast.MaxSums)))
		way = forecast.BottomUp
	}
	var err error
	for _, next := range []forecast.Reconciliation{way, forecast.WLSVariance, forecast.WLSStructural} {
		if a.by, err = forecast.NewCoherent(len(t.parts), t.of, next, errs); err == nil {
			break
		}
		a.notes = append(a.notes, err.Error())
	}
	if err != nil {
		return nil, err
	}
	if a.add, err = forecast.NewCoherent(len(t.parts), t.of, forecast.BottomUp, nil); err != nil {
		return nil, err
	}
	for s := range t.sums {
		a.order = append(a.order, s)
	}
	slices.SortStableFunc(a.order, func(x, y int) int { return cmp.Compare(len(t.of[x]), len(t.of[y])) })
	return a, a.growth(errs)
}

// fewErrors is how many one-step errors say how large they are.
const fewErrors = 8

// standIn gives a series whose model has hardly any one-step errors those of
// repeating the last value: no errors would pass for certainty.
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

// growth holds the reconciled one-step errors against the models' own.
func (a *agreement) growth(errs [][]float64) error {
	a.grow = make([]float64, len(errs))
	own, now := make([]float64, len(errs)), make([]float64, len(errs))
	y := make([]float64, len(errs))
	for k := range errs[0] {
		for i := range errs {
			if y[i] = errs[i][k]; math.IsNaN(y[i]) {
				y[i] = 0
			}
		}
		if err := a.by.Apply(y, forecast.Bounds{}); err != nil {
			return err
		}
		for i, v := range y {
			if e := errs[i][k]; !math.IsNaN(e) {
				own[i], now[i] = own[i]+e*e, now[i]+v*v
			}
		}
	}
	for i := range a.grow {
		a.grow[i] = 1
		if r := math.Sqrt(now[i] / own[i]); r > 1 && own[i] > 0 {
			a.grow[i] = min(r, mostGrowth)
		}
	}
	return nil
}

// bounds are those of step i after the origin that lies at of each series.
func (a *agreement) bounds(at []int, i, places int) forecast.Bounds {
	b := forecast.Bounds{Floor: a.floor, Round: true, Places: places}
	if !a.caps {
		return b
	}
	b.Caps = make([]float64, len(at))
	for k, h := range a.all {
		b.Caps[k] = math.Inf(1)
		if n := at[k] + i; n >= 0 && n < len(h.most) {
			b.Caps[k] = h.most[n]
		}
	}
	return b
}

// origins are the ends of the histories.
func (t *tree) origins() []int {
	var out []int
	for _, h := range t.all() {
		out = append(out, len(h.Values))
	}
	return out
}

// most is the largest figure of lists.
func most(lists ...[]float64) float64 {
	out := 0.0
	for _, list := range lists {
		for _, v := range list {
			out = math.Max(out, math.Abs(v))
		}
	}
	return out
}

// apply makes forecasts agree, in place: set has those of the sums, then those of
// the parts, of series that have at values before them. extra is what events add
// to each in its mean; nil is nothing.
func (a *agreement) apply(set []*forecast.Forecast, at []int, extra [][]float64) error {
	steps, high := len(set[0].Mean), 0.0
	for _, f := range set {
		high += most(f.Mean)
	}
	y := make([]float64, len(set))
	for i := range steps {
		for k, f := range set {
			y[k] = f.Mean[i]
			if extra != nil && extra[k] != nil {
				y[k] -= extra[k][i]
			}
		}
		b := a.bounds(at, i, forecast.PlacesFor(high))
		if err := a.step(y, b, func(k int) float64 { return at0(extra, k, i) }, extra != nil); err != nil {
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

func at0(extra [][]float64, k, i int) float64 {
	if extra == nil || extra[k] == nil {
		return 0
	}
	return extra[k][i]
}

// step makes one step's figures agree. What events add is no error of the models
// and so is not shared out by their errors: what is added to a part is added to
// its sums, and what is added to a sum beyond its parts goes to them in proportion.
func (a *agreement) step(y []float64, b forecast.Bounds, extra func(k int) float64, any bool) error {
	if !any {
		return a.by.Apply(y, b)
	}
	if err := a.by.Apply(y, forecast.Bounds{Floor: b.Floor}); err != nil {
		return err
	}
	sums := len(a.tree.sums)
	parts := y[sums:]
	adds := make([]float64, len(parts))
	for j := range adds {
		adds[j] = extra(sums + j)
	}
	for _, s := range a.order {
		own := extra(s)
		rest, weight := own, 0.0
		for _, j := range a.tree.of[s] {
			rest -= adds[j]
			weight += math.Max(0, parts[j])
		}
		if own == 0 || math.Abs(rest) <= 1e-9*math.Abs(own) {
			continue
		}
		for _, j := range a.tree.of[s] {
			share := 1 / float64(len(a.tree.of[s]))
			if weight > 0 {
				share = math.Max(0, parts[j]) / weight
			}
			adds[j] += rest * share
		}
	}
	for j, v := range adds {
		parts[j] += v
	}
	return a.add.Apply(y, b)
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

// agreed makes the forecasts of a call agree.
func (o *forecastOptions) agreed(hs *histories, list []*forecasted) (*agreement, error) {
	if hs.tree == nil {
		return nil, nil //nolint:nilnil // nothing adds up
	}
	errs, known := make([][]float64, len(list)), make([][]float64, len(list))
	for i, f := range list {
		if f.left != nil {
			hs.Notes = append(hs.Notes, fmt.Sprintf("not reconciled, for %s has no forecast: %v", f.h.Name, f.left))
			return nil, nil //nolint:nilnil // the note says why
		}
		errs[i], known[i] = f.errs, f.h.Values
	}
	a, err := o.agree(hs.tree, errs, known)
	if err != nil || a == nil {
		return nil, err
	}
	set := make([]*forecast.Forecast, len(list))
	for i, f := range list {
		set[i] = f.whole()
	}
	if err := a.apply(set, hs.tree.origins(), extrasOf(list)); err != nil {
		return nil, err
	}
	for i, f := range list {
		f.take(set[i])
	}
	hs.Notes = append(hs.Notes, a.say())
	hs.Notes = append(hs.Notes, a.notes...)
	tests := make([]*trial, len(list))
	for i, f := range list {
		tests[i] = f.test
	}
	return a, o.agreeTrials(hs, tests)
}

// extrasOf are what events add to the means; nil where there is no event.
func extrasOf(list []*forecasted) [][]float64 {
	var out [][]float64
	for i, f := range list {
		if f.extra != nil {
			if out == nil {
				out = make([][]float64, len(list))
			}
			out[i] = f.extra
		}
	}
	return out
}

// whole is the forecast with the capacity lines as ranges that are lines.
func (f *forecasted) whole() *forecast.Forecast {
	out := &forecast.Forecast{Mean: f.mean, Intervals: append([]forecast.Interval(nil), f.ranges...)}
	for _, line := range f.lines {
		out.Intervals = append(out.Intervals, forecast.Interval{Lo: append([]float64(nil), line...), Hi: line})
	}
	return out
}

func (f *forecasted) take(fc *forecast.Forecast) {
	k := len(f.ranges)
	for n := range f.lines {
		copy(f.lines[n], fc.Intervals[k+n].Hi)
		for i := range f.lines[n] {
			if n > 0 {
				f.lines[n][i] = max(f.lines[n][i], f.lines[n-1][i])
			}
		}
	}
}

// say tells in words what was done.
func (a *agreement) say() string {
	text := fmt.Sprintf("reconciled by %s: in each step %d parts add up to %d %s", a.by.Way, len(a.tree.parts), len(a.tree.sums), plural(int64(len(a.tree.sums)), "sum"))
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

// reconciledJSON says what adds up, and how it was made to.
type reconciledJSON struct {
	Method    string        `json:"method"`
	Shrink    *figure       `json:"shrinkage"`
	Parts     int           `json:"parts"`
	Hierarchy []sumJSON     `json:"hierarchy"`
	Widened   []widenedJSON `json:"widened"`
}

type sumJSON struct {
	ID    string   `json:"unique_id"`
	Parts []string `json:"parts"`
}

type widenedJSON struct {
	ID string  `json:"unique_id"`
	By float64 `json:"by"`
}

func (a *agreement) json() *reconciledJSON {
	if a == nil {
		return nil
	}
	out := &reconciledJSON{Method: a.by.Way.String(), Parts: len(a.tree.parts), Hierarchy: []sumJSON{}, Widened: []widenedJSON{}}
	if !math.IsNaN(a.by.Shrink) {
		s := figure(a.by.Shrink)
		out.Shrink = &s
	}
	for i, h := range a.tree.sums {
		s := sumJSON{ID: h.Name}
		for _, j := range a.tree.of[i] {
			s.Parts = append(s.Parts, a.tree.parts[j].Name)
		}
		out.Hierarchy = append(out.Hierarchy, s)
	}
	for i, h := range a.all {
		if a.grow[i] > 1 {
			out.Widened = append(out.Widened, widenedJSON{h.Name, a.grow[i]})
		}
	}
	return out
}

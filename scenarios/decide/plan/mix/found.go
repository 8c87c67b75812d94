package mix

import (
	"cmp"
	"math"
	"slices"

	"capcli"
)

// runInFull returns the mixes that had all their runs, best first by byChoice.
func (f *Found) runInFull() []*Entry {
	var out []*Entry
	for _, e := range f.Entries {
		if e.Fate == Full {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, byChoice)
	return out
}

// BestEntry returns the cheapest mix, waits priced, that holds all limits in the required share of runs, and those on
// unserved work on the mean; nil where there is none.
func (f *Found) BestEntry() *Entry {
	for _, e := range f.runInFull() {
		if e.holds(f.hold) {
			return e
		}
	}
	return nil
}

// secondBest returns the cheapest mix, waits priced, other than the best that holds all limits in the required
// share of runs, of the mixes run in full; nil where there is none.
func (f *Found) secondBest() *Entry {
	best := f.BestEntry()
	for _, e := range f.runInFull() {
		if e != best && e.holds(f.hold) {
			return e
		}
	}
	return nil
}

// bestOnMean returns the cheapest mix, waits priced, whose mean figures hold all limits; nil where there is none.
func (f *Found) bestOnMean() *Entry {
	for _, e := range f.runInFull() {
		if f.meanHolds(e) {
			return e
		}
	}
	return nil
}

func (f *Found) meanHolds(e *Entry) bool {
	return !slices.ContainsFunc(f.limits, func(l Limit) bool { return !l.holdsOnMean(e) })
}

// frontier returns the mixes that no other mix beats in cost and wait, in order of cost. The
// figures are the mean cost, or the risk of the search, and the mean over the runs of the p95 wait.
// Mixes that leave more work undone on the mean than a limit allows are not on the frontier and beat
// none.
func (f *Found) frontier() []*Entry {
	var out []*Entry
	for _, e := range slices.SortedFunc(slices.Values(f.runInFull()), byCost) { // by cost, then wait
		if !e.Serves() {
			continue
		}
		if n := len(out); n == 0 || e.Wait() < out[n-1].Wait() {
			out = append(out, e)
		}
	}
	return out
}

// LeastFloor returns the lowest floor of any mix that was tried.
func (f *Found) LeastFloor() capcli.USD {
	var least capcli.USD
	for i, e := range f.Entries {
		if i == 0 || e.floor() < least {
			least = e.floor()
		}
	}
	return least
}

// Distance is how far a mix is from a limit.
type Distance struct {
	Limit string   `json:"limit"`
	Mean  *float64 `json:"mean"`       // the mean of the figure over the runs; null where unknown
	Miss  *float64 `json:"beyond_by"`  // how far the figure is beyond the limit, in its unit; below 0 it is within; null where unknown
	Held  float64  `json:"held_share"` // the share of the runs in which the limit held
}

// Distances returns the distance of a mix from each limit.
func (f *Found) Distances(e *Entry) []Distance {
	out := make([]Distance, len(f.limits))
	for i := range f.limits {
		out[i].Limit = f.limits[i].Text
		mean, miss, held, known := f.distance(e, i)
		if out[i].Held = held; known {
			out[i].Mean, out[i].Miss = &mean, &miss
		}
	}
	return out
}

// distance returns the mean of the figure of limit i, how far it is beyond the limit, the share of the runs in
// which the limit held, and whether the figure is known.
func (f *Found) distance(e *Entry, i int) (mean, miss, held float64, known bool) {
	l := &f.limits[i]
	mean, known = e.Mean(l.Metric)
	miss = l.miss(mean)
	for run, o := range e.figures {
		if l.holds(o) {
			held += e.shareOf(run)
		}
	}
	return mean, miss, held, known
}

// nearestMix returns the mix that is nearest to holding all limits: its worst miss, as a share of
// the limit, is least. Ties go to the cheaper mix.
func (f *Found) nearestMix() *Entry {
	var best *Entry
	var least float64
	for _, e := range f.runInFull() {
		worst := 0.0
		for i := range f.limits {
			_, miss, held, known := f.distance(e, i)
			if !known {
				worst = 1e300
				break
			}
			worst = max(worst, miss/max(math.Abs(f.limits[i].Value), 1e-9)) + (1-min(1, held))*1e-6
		}
		if best == nil || worst < least {
			best, least = e, worst
		}
	}
	return best
}

// Binding returns the index of the limit that keeps mixes out: the limit that the fewest of the
// mixes run in full hold. Of equals it is the limit without which the most mixes would hold all
// others. Where bounds ruled out every mix it is the lowest limit on cost; -1 where there is none.
func (f *Found) Binding() int {
	if len(f.runInFull()) == 0 {
		return f.bindingOnCost()
	}
	binding, fewest, most := -1, 0, 0
	for i := range f.limits {
		own, rest := 0, 0
		for _, e := range f.runInFull() {
			if f.heldOnly(e, func(k int) bool { return k == i }) {
				own++
			}
			if f.heldOnly(e, func(k int) bool { return k != i }) {
				rest++
			}
		}
		if binding < 0 || own < fewest || own == fewest && rest > most {
			binding, fewest, most = i, own, rest
		}
	}
	return binding
}

// bindingOnCost returns the lowest limit on cost; -1 where there is none.
func (f *Found) bindingOnCost() int {
	binding := -1
	for i := range f.limits {
		l := &f.limits[i]
		if l.onCost() && (binding < 0 || l.Value < f.limits[binding].Value) {
			binding = i
		}
	}
	return binding
}

// heldOnly reports whether the limits that counts selects hold together in the required share of
// runs, and those of them on unserved work on the mean too.
func (f *Found) heldOnly(e *Entry, counts func(limit int) bool) bool {
	held := 0.0
	for run, o := range e.figures {
		all := true
		for i := range f.limits {
			all = all && (!counts(i) || f.limits[i].holds(o))
		}
		if all {
			held += e.shareOf(run)
		}
	}
	for i := range f.limits {
		if counts(i) && f.limits[i].OnMean && !f.limits[i].holdsOnMean(e) {
			return false
		}
	}
	return held >= f.hold-1e-9
}

// rankedMixes returns the mixes of the frontier that hold the limits in the required share of runs,
// or on the mean, in order of cost, and the best mix. It also returns how many mixes run in full
// are beaten: they cost no less and wait no less than one of the list.
func (f *Found) rankedMixes() (list []*Entry, beaten int) {
	for _, e := range f.frontier() {
		if e.holds(f.hold) || f.meanHolds(e) {
			list = append(list, e)
		}
	}
	if best := f.BestEntry(); best != nil && !slices.Contains(list, best) {
		list = append(list, best)
		slices.SortFunc(list, byCost)
	}
	for _, e := range f.runInFull() {
		if slices.ContainsFunc(list, func(r *Entry) bool { return r != e && cmp.Compare(r.Cost(), e.Cost()) <= 0 && r.Wait() <= e.Wait() }) {
			beaten++
		}
	}
	return list, beaten
}

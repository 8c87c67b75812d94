package mix

import (
	"cmp"
	"math"
	"slices"

	"capcli"
)

// runInFull are the mixes that had all their runs, by cost.
func (f *Found) runInFull() []*Entry {
	var out []*Entry
	for _, e := range f.Entries {
		if e.Fate == Full {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, byCost)
	return out
}

// BestEntry is the cheapest mix that holds every limit in the share of runs that was
// asked, and those of each run in each; nil where there is none.
func (f *Found) BestEntry() *Entry {
	for _, e := range f.runInFull() {
		if e.holds(f.hold) {
			return e
		}
	}
	return nil
}

// secondBest is the cheapest mix but the best that holds every limit in the share of
// runs that was asked, of those run in full; nil where there is none.
func (f *Found) secondBest() *Entry {
	best := f.BestEntry()
	for _, e := range f.runInFull() {
		if e != best && e.holds(f.hold) {
			return e
		}
	}
	return nil
}

// bestOnMean is the cheapest mix whose mean figures hold every limit, however many of
// its runs do, and that holds those of each run in each; nil where there is none.
func (f *Found) bestOnMean() *Entry {
	for _, e := range f.runInFull() {
		if f.meanHolds(e) {
			return e
		}
	}
	return nil
}

func (f *Found) meanHolds(e *Entry) bool {
	if !e.Serves() {
		return false
	}
	for i := range f.limits {
		v, ok := e.Mean(f.limits[i].Metric)
		if !ok || f.limits[i].miss(v) > 0 {
			return false
		}
	}
	return true
}

// frontier are the mixes of which no other costs less and waits no longer, or
// waits less and costs no more, by cost: mean cost against the mean of the runs'
// 95th percentile of waits. Mixes that break a limit of each run, and so leave work
// undone, are not among them and beat none.
func (f *Found) frontier() []*Entry {
	var out []*Entry
	for _, e := range f.runInFull() { // by cost, then wait
		if !e.Serves() {
			continue
		}
		if n := len(out); n == 0 || e.Wait() < out[n-1].Wait() {
			out = append(out, e)
		}
	}
	return out
}

// LeastFloor is the least that any mix which was tried can cost, on the mean.
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
	Mean  *float64 `json:"mean"`      // the figure, mean over the runs; null is not known
	Miss  *float64 `json:"beyond_by"` // beyond the limit by so much, in its unit; below 0 is within. Of a limit of each run, that of the worst run
	Held  float64  `json:"held_share"`
}

// Distances are how far a mix is from each limit.
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

// distance is how far a mix is from limit i: the mean of the figure, by how much it is
// beyond the limit, in which share of the runs it held, and whether it is known.
func (f *Found) distance(e *Entry, i int) (mean, miss, held float64, known bool) {
	l := &f.limits[i]
	mean, known = e.Mean(l.Metric)
	miss = l.miss(mean)
	for _, o := range e.figures {
		if v, ok := o.Exact(l.Metric); ok && l.Each {
			miss = max(miss, l.miss(v))
		}
		if l.holds(o) {
			held += 1 / float64(len(e.Outcomes))
		}
	}
	return mean, miss, held, known
}

// nearestMix is the mix that comes nearest to holding all limits: its worst miss,
// as a share of the limit, is least; then the cheaper one.
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

// Binding is the limit that keeps mixes out: the one that the fewest of the mixes
// that were run in full hold, and of equals the one without which the most would
// hold all. Where bounds ruled out every mix it is the limit on cost that the
// least floor is furthest beyond. -1 where there is no limit.
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

// bindingOnCost is the least limit on cost, under which no mix can come.
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

// heldOnly tells whether the limits that count hold together in the share of runs
// that is asked, and those of each run in each.
func (f *Found) heldOnly(e *Entry, counts func(limit int) bool) bool {
	n, each := 0, true
	for _, o := range e.figures {
		all := true
		for i := range f.limits {
			if counts(i) && !f.limits[i].holds(o) {
				all, each = false, each && !f.limits[i].Each
			}
		}
		if all {
			n++
		}
	}
	return each && float64(n)/float64(max(1, len(e.Outcomes))) >= f.hold
}

// rankedMixes are the mixes of the frontier that hold the limits in the share of runs
// asked, or on the mean, by cost; and how many mixes that had all their runs cost
// more and wait no less than one of them.
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

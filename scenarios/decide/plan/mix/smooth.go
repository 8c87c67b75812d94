package mix

import (
	"cmp"
	"math/bits"
	"slices"

	"capcli"
)

// window is work that may start at any time from Earliest to Latest and holds Milli thousandths of
// GPUs for Run. Times are seconds since the start of the run.
//
// Where Slow is over 0 the work is done in one of several ways, or in one after the other. They take
// from Run to Slow, hold at most Milli, and each takes a GPU time of Area or more.
type window struct {
	Earliest, Latest, Run capcli.Seconds
	Milli                 int64
	Slow                  capcli.Seconds
	Area                  capcli.GPUTime
}

func (w *window) latestEnd() capcli.Seconds { return w.Latest + max(w.Run, w.Slow) }

// smooth is the flattest curve of GPUs in use that the windows allow: it is never ahead of the work
// as it arrives, nor behind what must be done by then, and nowhere higher than it needs to be. No
// schedule beats it: see newSmooth.
type smooth struct {
	steps []step           // by falling slope
	time  []capcli.Seconds // total time of the steps up to and including step i
	work  []capcli.GPUTime // total work of the steps up to and including step i

	over []capcli.GPUTime // workOver by number of GPUs, where that is all that is known; else nil
}

// step is a stretch of time in which work is done at a constant rate.
type step struct {
	time capcli.Seconds
	work capcli.GPUTime
}

// compareSlope compares the slopes, work over time, of two steps longer than 0.
func compareSlope(a, b step) int {
	switch {
	case a.work < 0 && b.work >= 0:
		return -1
	case a.work >= 0 && b.work < 0:
		return 1
	case a.work < 0:
		return compareSlope(step{b.time, -b.work}, step{a.time, -a.work}) // negate both slopes and swap them: -b against -a, each with its own time
	}
	ah, al := bits.Mul64(uint64(a.work), uint64(b.time))
	bh, bl := bits.Mul64(uint64(b.work), uint64(a.time))
	return cmp.Or(cmp.Compare(ah, bh), cmp.Compare(al, bl))
}

// newSmooth relaxes a schedule of the windows within [0, until). Any part of any job may be done by
// any GPU at any instant, under two constraints. The work done by time t is at most A(t), the work
// done if every job starts at its earliest. It is at least L(t), the work done if every job starts
// at its latest. Work that may start so late that it ends after until need not be done.
//
// Every schedule that starts each job in its window keeps to L ≤ C ≤ A, for the work that a job has
// done by t falls as its start is put off. Of all C between the two, the shortest path ("taut
// string") from (0, 0) to (until, L(until)) has the derivative c that is majorised by every other:
// it makes ∫ φ(c(t)) dt least for every convex and rising φ at once (Salehi, Zhang, Kurose and
// Towsley 1996, "Supporting stored video", theorem 1, for sums over slots). φ(c) = (c - k)+ gives
// the work that k GPUs cannot have done, so workOver is a lower bound for each k. A schedule may
// not end below L(until), and to end above it is never less work.
//
// Where no job may wait, A = L and the curve is the demand itself. The bound is then the exact
// optimum of the newsvendor rule (a quantile of the demand). All sums are of whole numbers.
//
// A job with several ways counts for Area times the share of its work that is done, or for what it would
// have done at the slowest pace from Latest on, if that is more. That grows no faster than the GPUs that the
// job holds in any way, since each way takes at least Area in all. It stays between Area at the fastest pace
// from Earliest on and Area at the slowest from Latest on. So A and L are these two.
func newSmooth(windows []window, until capcli.Seconds) *smooth {
	at, upper, lower := envelopes(windows, until)
	s := &smooth{steps: tautString(at, upper, lower)}
	slices.SortStableFunc(s.steps, func(a, b step) int { return compareSlope(b, a) })
	var t capcli.Seconds
	var w capcli.GPUTime
	for _, x := range s.steps {
		t, w = t+x.time, w+x.work
		s.time, s.work = append(s.time, t), append(s.work, w)
	}
	return s
}

// workOver returns the least work that the given number of GPUs cannot do, under any schedule: ∫ (c
// - gpus)+ dt. It is convex in gpus.
func (s *smooth) workOver(gpus int64) capcli.GPUTime {
	if n := int64(len(s.over)); n > 0 {
		if gpus >= n {
			return 0
		}
		return s.over[gpus]
	}
	level := step{1, capcli.GPUTime(gpus) * capcli.GPUSecond}
	n, _ := slices.BinarySearchFunc(s.steps, level, func(x, level step) int {
		if compareSlope(x, level) > 0 {
			return -1
		}
		return 1
	})
	if n == 0 {
		return 0
	}
	return s.work[n-1] - capcli.GPUTime(int64(level.work)*int64(s.time[n-1]))
}

// total returns all the work that must be done.
func (s *smooth) total() capcli.GPUTime { return s.workOver(0) }

// peak returns the least number of GPUs that can do all the work.
func (s *smooth) peak() int64 {
	if n := int64(len(s.over)); n > 0 {
		return n - 1
	}
	if len(s.steps) == 0 {
		return 0
	}
	per := int64(s.steps[0].time) * int64(capcli.GPUSecond)
	return (int64(s.steps[0].work) + per - 1) / per
}

// edge is a change of the rate at which work arrives.
type edge struct {
	at    capcli.Seconds
	milli int64 // the change, in thousandths of GPUs
	late  bool  // a change of L, else of A
}

// envelopes returns A and L at all instants where either bends, from 0 to until. At until both are
// L: work that can be put off beyond the end is left out.
func envelopes(windows []window, until capcli.Seconds) (at []capcli.Seconds, upper, lower []capcli.GPUTime) {
	edges := make([]edge, 0, 4*len(windows))
	add := func(from, to capcli.Seconds, milli int64, late bool) {
		from, to = max(0, from), min(to, until)
		if from < to {
			edges = append(edges, edge{from, milli, late}, edge{to, -milli, late})
		}
	}
	for i := range windows {
		w := &windows[i]
		if w.Slow > 0 {
			addWays(add, w, until)
			continue
		}
		add(w.Earliest, w.Earliest+w.Run, w.Milli, false)
		if w.Latest < until { // also guards the sum below
			add(w.Latest, w.Latest+w.Run, w.Milli, true)
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	at, upper, lower = append(at, 0), append(upper, 0), append(lower, 0)
	var rate [2]int64
	var sum [2]capcli.GPUTime
	to := func(t capcli.Seconds) {
		last := at[len(at)-1]
		if t == last {
			return
		}
		for k := range sum {
			sum[k] += capcli.GPUTime(rate[k] * int64(t-last))
		}
		at, upper, lower = append(at, t), append(upper, sum[0]), append(lower, sum[1])
	}
	for _, e := range edges {
		to(e.at)
		if e.late {
			rate[1] += e.milli
		} else {
			rate[0] += e.milli
		}
	}
	to(until)
	upper[len(upper)-1] = lower[len(lower)-1]
	return at, upper, lower
}

// addWays adds a window with several ways. Each rate is a whole number, so the rest of the division is done in
// the first seconds of A and in the last of L.
func addWays(add func(from, to capcli.Seconds, milli int64, late bool), w *window, until capcli.Seconds) {
	rate, rest := int64(w.Area)/int64(w.Run), capcli.Seconds(int64(w.Area)%int64(w.Run))
	add(w.Earliest, w.Earliest+rest, rate+1, false)
	add(w.Earliest+rest, w.Earliest+w.Run, rate, false)
	if w.Latest >= until {
		return
	}
	rate, rest = int64(w.Area)/int64(w.Slow), capcli.Seconds(int64(w.Area)%int64(w.Slow))
	add(w.Latest, w.Latest+w.Slow-rest, rate, true)
	add(w.Latest+w.Slow-rest, w.Latest+w.Slow, rate+1, true)
}

// knot is a point at which the string may bend.
type knot struct {
	at   capcli.Seconds
	work capcli.GPUTime
}

func (a knot) stepTo(b knot) step { return step{b.at - a.at, b.work - a.work} }

// tautString returns the straight pieces of the shortest path from the first point to the last that
// stays between lower and upper. It is the funnel algorithm: each point enters and leaves either
// chain once. The bounds meet at both ends.
func tautString(at []capcli.Seconds, upper, lower []capcli.GPUTime) []step {
	var f funnel
	f.from = knot{at[0], lower[0]}
	for i := 1; i < len(at); i++ {
		f.narrow(&f.above, &f.below, knot{at[i], upper[i]}, 1)
		f.narrow(&f.below, &f.above, knot{at[i], lower[i]}, -1)
	}
	if last := (knot{at[len(at)-1], lower[len(at)-1]}); f.from != last {
		f.out = append(f.out, f.from.stepTo(last))
	}
	return f.out
}

// funnel is the region in which the string may continue: from its last fixed knot, below a convex
// chain and above a concave one.
type funnel struct {
	from         knot
	above, below chain
	out          []step
}

// chain is a queue of knots that shrinks at both ends.
type chain struct {
	knots []knot
	head  int
}

func (c *chain) n() int { return len(c.knots) - c.head }

// narrow adds a point to its own chain; sign is 1 for the upper chain and -1 for the lower one.
func (f *funnel) narrow(own, other *chain, p knot, sign int) {
	for own.n() > 0 {
		last, before := own.knots[len(own.knots)-1], f.from
		if own.n() > 1 {
			before = own.knots[len(own.knots)-2]
		}
		if sign*compareSlope(before.stepTo(last), last.stepTo(p)) < 0 {
			break
		}
		own.knots = own.knots[:len(own.knots)-1]
	}
	if own.n() == 0 {
		own.knots, own.head = own.knots[:0], 0
		// The straight line to p may cross the other chain: then the string is fixed at that
		// chain's first knot.
		for other.n() > 0 && sign*compareSlope(f.from.stepTo(other.knots[other.head]), f.from.stepTo(p)) > 0 {
			k := other.knots[other.head]
			f.out = append(f.out, f.from.stepTo(k))
			f.from = k
			other.head++
		}
	}
	own.knots = append(own.knots, p)
}

// timeAt returns for how long the curve is at the given number of GPUs or above.
func (s *smooth) timeAt(gpus int64) capcli.Seconds {
	level := step{1, capcli.GPUTime(gpus) * capcli.GPUSecond}
	n, _ := slices.BinarySearchFunc(s.steps, level, func(x, level step) int {
		if compareSlope(x, level) >= 0 {
			return -1
		}
		return 1
	})
	if n == 0 {
		return 0
	}
	return s.time[n-1]
}

package shift

import (
	"cmp"
	"math/bits"
	"slices"

	"capcli"
	"capcli/simulate"
)

// Ask is the question of one job: when should it run?
type Ask struct {
	At   capcli.Time    // it could start now
	Run  capcli.Seconds // time that it is believed to run, at least 1 s
	Most capcli.Seconds // longest time that it may wait by choice
	// Step is the time between two starts that are looked at. 0 looks at every second: the cost of
	// a run changes its slope only where its first or its last second meets a step of the signal, so that
	// only these starts are tried.
	Step capcli.Seconds
}

// Policy chooses when a job runs: one part, or several between which it is suspended. Parts are in
// order of time, do not touch, begin at or after 0 and sum to Ask.Run.
type Policy func(s *Signal, a Ask) []simulate.Part

// Policies are the ways to choose.
var Policies = capcli.Catalog[Policy]{Kind: "policy of shifting"}

func init() {
	Policies.Add("none", "starts at once", startAtOnce)
	Policies.Add("lowest-window", "starts so that the job's whole run costs least (GAIA)", lowestWindow)
	Policies.Add("carbon-time", "starts where the saving for each second until the job's end is largest (GAIA)", savingPerTime)
	Policies.Add("suspend", "runs in the cheapest seconds before its last end, and is suspended in between (Wait Awhile)", cheapestSeconds)
}

// runFrom returns the plan of a job that runs without a pause from a time on.
func runFrom(from capcli.Seconds, a *Ask) []simulate.Part {
	return []simulate.Part{{From: from, To: from + a.Run}}
}

func startAtOnce(_ *Signal, a Ask) []simulate.Part { return runFrom(0, &a) }

// lowestWindow starts where the sum over the run is least.
func lowestWindow(s *Signal, a Ask) []simulate.Part {
	best, least := capcli.Seconds(0), a.cost(s, 0)
	for _, start := range a.starts(s) {
		if c := a.cost(s, start); c < least {
			best, least = start, c
		}
	}
	return runFrom(best, &a)
}

// savingPerTime starts where
//
//	(cost at once - cost at the start) / (start + run)
//
// is largest: what is saved for each second from arrival to the end.
func savingPerTime(s *Signal, a Ask) []simulate.Part {
	now := a.cost(s, 0)
	best, saved := capcli.Seconds(0), int64(0)
	for _, start := range a.starts(s) {
		if d := now - a.cost(s, start); d > 0 && exceeds(d, int64(start+a.Run), saved, int64(best+a.Run)) {
			best, saved = start, d
		}
	}
	return runFrom(best, &a)
}

// exceeds reports whether a/b > c/d, for numbers that are not negative.
func exceeds(a, b, c, d int64) bool {
	h1, l1 := bits.Mul64(uint64(a), uint64(d))
	h2, l2 := bits.Mul64(uint64(c), uint64(b))
	return h1 > h2 || h1 == h2 && l1 > l2
}

// cost returns the sum of the signal over the job's run from a start on.
func (a *Ask) cost(s *Signal, start capcli.Seconds) int64 {
	from := a.At + capcli.Time(start)
	return s.Sum(from, from+capcli.Time(a.Run))
}

// starts returns the starts to look at, in order: see Ask.Step. A run that ends after the signal is
// known is looked at only if it starts at once.
func (a *Ask) starts(s *Signal) []capcli.Seconds {
	s.begin(a.At)
	last := min(a.Most, capcli.Seconds(s.KnownUntil(a.At+capcli.Time(a.Run+a.Most))-a.At)-a.Run)
	out := []capcli.Seconds{0}
	if last <= 0 {
		return out
	}
	if a.Step > 0 {
		for at := a.Step; at <= last; at += a.Step {
			out = append(out, at)
		}
		return out
	}
	for _, back := range []capcli.Seconds{0, a.Run} {
		from := a.At + capcli.Time(back)
		for _, x := range s.steps(from, from+capcli.Time(last)+1) {
			out = append(out, capcli.Seconds(x.From-from))
		}
	}
	out = append(out, last)
	slices.Sort(out)
	return slices.Compact(out)
}

// cheapestSeconds runs in the Run cheapest seconds of the time until the last end, earlier ones first
// among equals. No other plan within the slack costs less: exchange any second for a cheaper one.
func cheapestSeconds(s *Signal, a Ask) []simulate.Part {
	s.begin(a.At)
	end := s.KnownUntil(a.At + capcli.Time(a.Run+a.Most))
	steps := s.steps(a.At, end)
	if capcli.Seconds(end-a.At) < a.Run || len(steps) == 0 {
		return runFrom(0, &a)
	}
	parts := make([]simulate.Part, len(steps))
	order := make([]int, len(steps))
	for i, x := range steps {
		parts[i], order[i] = simulate.Part{From: capcli.Seconds(x.From - a.At), To: capcli.Seconds(end - a.At)}, i
		if i > 0 {
			parts[i-1].To = parts[i].From
		}
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(steps[i].Value, steps[k].Value) })
	left, used := a.Run, make([]capcli.Seconds, len(steps))
	for _, i := range order {
		used[i] = min(left, parts[i].To-parts[i].From)
		left -= used[i]
	}
	var out []simulate.Part
	for i, p := range parts {
		out = appendPart(out, p.From, p.From+used[i])
	}
	return out
}

// appendPart adds [from, to) to a plan; it joins the last part if the two touch.
func appendPart(plan []simulate.Part, from, to capcli.Seconds) []simulate.Part {
	switch n := len(plan); {
	case to <= from:
		return plan
	case n > 0 && plan[n-1].To == from:
		plan[n-1].To = to
		return plan
	}
	return append(plan, simulate.Part{From: from, To: to})
}

// CostOf returns the sum of the signal over a plan that begins at a time.
func CostOf(s *Signal, at capcli.Time, plan []simulate.Part) (sum int64) {
	for _, p := range plan {
		sum += s.Sum(at+capcli.Time(p.From), at+capcli.Time(p.To))
	}
	return sum
}

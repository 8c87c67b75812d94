// Package shift chooses when jobs start within their slack: where electricity is clean, or capacity is
// cheap. A Signal says what a GPU costs over time, a Policy reads it and chooses the time of one job,
// and a Delayer asks the policy for the jobs of a run: see simulate.Config.Delayer.
//
// The policies are those of GAIA (Hanafy, Liang, Bashir, Irwin and Shenoy, "Going Green for Less Green:
// Optimizing the Cost of Reducing Cloud Carbon Emissions", ASPLOS 2024), with Wait Awhile (Wiesner,
// Behnke, Scheinert, Gontarska and Thamsen, "Let's Wait Awhile", Middleware 2021) for jobs that may be
// suspended. All sums are integers, so that of two times the cheaper one is chosen exactly, and of equal
// ones the earlier.
package shift

import (
	"fmt"
	"sort"

	"capcli"
)

// Signal is what a GPU costs in each second, as steps over time: milligrams of CO2e for a kilowatt-hour,
// say, or millionths of a dollar for an hour. The first value also holds before the first step.
type Signal struct {
	starts []capcli.Time
	values []int64
	sums   []int64 // value x seconds of all steps before
	end    capcli.Time
	next   func(at capcli.Time) (value int64, until capcli.Time, ok bool)
	fresh  bool // has no start yet
}

// Dearest is the largest value of a Signal. Its sum over fifty years fits in 63 bits.
const Dearest = 1_000_000_000

// Step is a value of a Signal from a time on.
type Step struct {
	From  capcli.Time
	Value int64
}

// ReadSignal returns a signal that asks next for the steps as they are needed: the value at a time, and
// when it ends. It begins with the hour of the first time that it is asked for, and is known up to the
// first time for which next reports false. A value outside 0 to Dearest ends it too.
func ReadSignal(next func(at capcli.Time) (value int64, until capcli.Time, ok bool)) *Signal {
	return &Signal{next: next, fresh: true}
}

// begin sets the start of a signal that has none to the hour of t.
func (s *Signal) begin(t capcli.Time) {
	if s.fresh {
		s.end, s.fresh = t-t%capcli.Time(capcli.Hour), false
	}
}

// add appends a step from the end of the signal until a time.
func (s *Signal) add(value int64, until capcli.Time) error {
	switch {
	case until <= s.end:
		return fmt.Errorf("the step at %s ends at %s, which is not after it", s.end, until)
	case value < 0 || value > Dearest:
		return fmt.Errorf("the value at %s is %d: want 0 to %d", s.end, value, int64(Dearest))
	}
	sum := int64(0)
	if n := len(s.values); n > 0 {
		sum = s.sums[n-1] + s.values[n-1]*int64(s.end-s.starts[n-1])
	}
	s.starts, s.values, s.sums = append(s.starts, s.end), append(s.values, value), append(s.sums, sum)
	s.end = until
	return nil
}

// KnownUntil returns the time up to which the signal is known, at most to.
func (s *Signal) KnownUntil(to capcli.Time) capcli.Time {
	for s.next != nil && s.end < to {
		value, until, ok := s.next(s.end)
		if !ok || s.add(value, until) != nil {
			s.next = nil
		}
	}
	return min(s.end, to)
}

// index returns the step that holds at t.
func (s *Signal) index(t capcli.Time) int {
	return max(0, sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > t })-1)
}

// At returns the value at t. After its end the last value holds.
func (s *Signal) At(t capcli.Time) int64 {
	s.begin(t)
	if s.KnownUntil(t + 1); len(s.values) == 0 {
		return 0
	}
	return s.values[s.index(t)]
}

// Sum returns the value over all seconds of [from, to).
func (s *Signal) Sum(from, to capcli.Time) int64 {
	s.begin(from)
	if s.KnownUntil(to); len(s.values) == 0 || to <= from {
		return 0
	}
	return s.sumBefore(to) - s.sumBefore(from)
}

// sumBefore returns the value over all seconds from the signal's first step until t.
func (s *Signal) sumBefore(t capcli.Time) int64 {
	i := s.index(t)
	return s.sums[i] + s.values[i]*int64(t-s.starts[i])
}

// steps returns the steps of [from, to), each cut to it, and where they end.
func (s *Signal) steps(from, to capcli.Time) []Step {
	s.begin(from)
	s.KnownUntil(to)
	if len(s.values) == 0 {
		return nil
	}
	var out []Step
	for i := s.index(from); i < len(s.starts) && (s.starts[i] < to || i == 0); i++ {
		at := max(from, s.starts[i])
		if n := len(out); n > 0 && out[n-1].Value == s.values[i] {
			continue
		}
		out = append(out, Step{at, s.values[i]})
	}
	return out
}

package traffic

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/simulate/serving"
)

// Replay says how a trace is played.
type Replay struct {
	Scale  float64        // so many times as many requests; 0 is 1
	Speed  float64        // the time runs so many times as fast; 0 is 1
	Repeat capcli.Seconds // the trace begins anew after so long; RepeatOwn after its own length; 0 is not
	Model  string         // only requests of this model; "" is all
	Cached float64        // share of each prompt that is cached; below 0 is as the trace has it
	Spread capcli.Seconds // each request comes later by a random part of this, for traces in whole seconds
	Shift  int64          // microseconds from the start of the run to time 0 of the trace
	Name   string         // of the service, whose random numbers are its own
}

// RepeatOwn repeats a trace after its own length: its last arrival and the mean gap.
const RepeatOwn capcli.Seconds = -1

// spreadCopies is how far a copy of a request may be from it, in microseconds: copies at one instant
// would be a burst that no one saw.
const spreadCopies = 60 * second

// Replayed is a Source of the requests of a trace.
type Replayed struct {
	rows   []requests.Row // in order of arrival
	period int64          // microseconds; 0 is once
	shift  int64
	users  int
}

// Play returns the requests of a trace, from time 0 of the trace on. Requests before the start of the run
// are left out. The trace is not changed.
//
// With a scale of 2 each request comes twice, the copy within a minute of it; with 0.5 every second comes;
// with 1 the trace is as it is.
func Play(t *requests.Trace, o Replay, seed capcli.Seed) (*Replayed, error) {
	for _, f := range []struct {
		name string
		v    *float64
	}{{"scale", &o.Scale}, {"speed", &o.Speed}} {
		*f.v = cmp.Or(*f.v, 1)
		if !(*f.v > 0 && *f.v <= 1e6) {
			return nil, &capcli.RequestError{Field: f.name, Text: fmt.Sprintf("wants over 0 and at most 1e6, found %v", *f.v)}
		}
	}
	rows, err := rowsOf(t, &o)
	if err != nil {
		return nil, err
	}
	s := &Replayed{rows: rows, shift: o.Shift, users: usersOf(rows)}
	if o.Speed != 1 {
		for i := range s.rows {
			s.rows[i].Arrival = int64(math.Floor(float64(s.rows[i].Arrival) / o.Speed))
		}
	}
	if o.Spread > 0 {
		rng := seed.Stream("service/" + o.Name + "/spread")
		for i := range s.rows {
			s.rows[i].Arrival += rng.Int64N(int64(o.Spread) * second)
		}
		slices.SortStableFunc(s.rows, func(a, b requests.Row) int { return cmp.Compare(a.Arrival, b.Arrival) })
	}
	length := s.rows[len(s.rows)-1].Arrival
	length += max(1, length/int64(len(s.rows)))
	switch {
	case o.Repeat == RepeatOwn:
		s.period = length
	case o.Repeat > 0:
		if s.period = int64(o.Repeat) * second; s.rows[len(s.rows)-1].Arrival >= s.period {
			return nil, &capcli.RequestError{Field: "repeat", Text: fmt.Sprintf("wants at least the length of the trace, %s; found %s", capcli.Seconds((length+second-1)/second), o.Repeat)}
		}
	}
	if o.Scale != 1 {
		if err := s.scale(o.Scale, max(length, s.period), seed, o.Name); err != nil {
			return nil, err
		}
	}
	if s.period == 0 && s.indexAt(math.MaxInt64) == s.indexAt(0) {
		return nil, &capcli.RequestError{Field: "start", Text: fmt.Sprintf(": all requests of %s come before the run", t.Input), Hint: "leave start out: the trace then begins with the run"}
	}
	return s, nil
}

// rowsOf returns copies of the rows that the service gets.
func rowsOf(t *requests.Trace, o *Replay) ([]requests.Row, error) {
	rows := make([]requests.Row, 0, len(t.Rows))
	model := int32(-1)
	if o.Model != "" {
		i := slices.Index(t.Models, o.Model)
		if i < 0 {
			return nil, &capcli.RequestError{Field: "only_model", Text: fmt.Sprintf(": %s has no requests to %s%s", t.Input, capcli.Quoted(o.Model), capcli.DidYouMean(o.Model, t.Models))}
		}
		model = int32(i) //nolint:gosec // an index of a list
	}
	for _, r := range t.Rows {
		if model >= 0 && r.Model != model {
			continue
		}
		if o.Cached >= 0 {
			r.Cached = cachedOf(r.In, o.Cached)
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, &capcli.RequestError{Field: "only_model", Text: fmt.Sprintf(": %s has no requests to %s", t.Input, capcli.Quoted(o.Model))}
	}
	return rows, nil
}

func usersOf(rows []requests.Row) int {
	seen := map[int32]bool{}
	for i := range rows {
		if rows[i].User != 0 {
			seen[rows[i].User] = true
		}
	}
	return len(seen)
}

// scale makes the requests so many times as many.
func (s *Replayed) scale(times float64, length int64, seed capcli.Seed, name string) error {
	if want := times * float64(len(s.rows)); want > requests.MaxRows {
		return &capcli.RequestError{Field: "scale", Text: fmt.Sprintf("%v makes %s requests of the trace, over %s", times, capcli.Grouped(int64(want)), capcli.Grouped(requests.MaxRows)), Hint: "give a curve of demand with the lengths of the trace: requests: {rate: …, tokens_in: {from: FILE}}"}
	}
	rng := seed.Stream("service/" + name + "/scale")
	phase := rng.Float64()
	var out []requests.Row
	for i, r := range s.rows {
		n := int(math.Floor(float64(i+1)*times+phase) - math.Floor(float64(i)*times+phase))
		for k := range n {
			own := r
			if k > 0 {
				own.Arrival = (r.Arrival + rng.Int64N(min(spreadCopies, length))) % length
			}
			out = append(out, own)
		}
	}
	if len(out) == 0 {
		return &capcli.RequestError{Field: "scale", Text: fmt.Sprintf("%v leaves no request of %d", times, len(s.rows))}
	}
	slices.SortStableFunc(out, func(a, b requests.Row) int { return cmp.Compare(a.Arrival, b.Arrival) })
	s.rows = out
	return nil
}

// indexAt returns how many requests come before a time since the start of the run, counted from time 0
// of the trace.
func (s *Replayed) indexAt(t int64) int64 {
	if t > math.MaxInt64/2 {
		t = math.MaxInt64 / 2
	}
	if t -= s.shift; t <= 0 {
		return 0
	}
	n := int64(0)
	if s.period > 0 {
		n = t / s.period * int64(len(s.rows))
		t %= s.period
	}
	i, _ := slices.BinarySearchFunc(s.rows, t, func(r requests.Row, t int64) int { return cmp.Compare(r.Arrival, t) })
	return n + int64(i)
}

// Counts implements Source.
func (s *Replayed) Counts(length capcli.Seconds, n int) ([]int64, error) {
	if length < 1 || n < 0 {
		return nil, &capcli.RequestError{Field: "step", Text: fmt.Sprintf("wants steps of at least a second, found %d of %s", n, length)}
	}
	out := make([]int64, n)
	last := s.indexAt(0)
	for i := range out {
		next := s.indexAt(int64(i+1) * int64(length) * second)
		out[i] = next - last
		last = next
	}
	return out, nil
}

// Requests implements Source.
func (s *Replayed) Requests(until capcli.Seconds) iter.Seq[serving.Request] {
	return s.requestsFrom(s.indexAt(0), until)
}

// requestsFrom yields the requests from a number on.
func (s *Replayed) requestsFrom(first int64, until capcli.Seconds) iter.Seq[serving.Request] {
	return func(yield func(serving.Request) bool) {
		end := s.indexAt(int64(until) * second)
		for i := first; i < end; i++ {
			r := &s.rows[i%int64(len(s.rows))]
			at := r.Arrival + s.shift
			if s.period > 0 {
				at += i / int64(len(s.rows)) * s.period
			}
			if !yield(serving.Request{Arrival: at, In: r.In, Out: r.Out, Cached: r.Cached, Prefix: r.Prefix}) {
				return
			}
		}
	}
}

// Lengths implements Source.
func (s *Replayed) Lengths() Lengths { return lengthsOf(s.rows) }

// Length implements Source.
func (s *Replayed) Length() capcli.Seconds {
	if s.period > 0 {
		return 0
	}
	return capcli.Seconds((s.rows[len(s.rows)-1].Arrival+s.shift)/second) + 1
}

// Users implements Source.
func (s *Replayed) Users() int { return s.users }

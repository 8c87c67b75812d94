// Package traffic makes the requests that come to a service: those of a trace, or of a curve of demand
// with a distribution of lengths.
//
// A Source gives them twice: as whole requests in each step, for a queue in steps and months of time, and
// one by one, for the request level. The two agree: a step's count is the number of requests in it. The
// same seed gives the same requests on every machine. A Source holds no more than a trace and a minute of
// requests, so a year at a thousand requests a second needs no memory.
package traffic

import (
	"iter"
	"math"
	"slices"

	"capcli"
	"capcli/simulate/serving"
)

// Source is the requests of a service from the start of a run on.
type Source interface {
	// Counts returns how many requests arrive in each of n steps of a length.
	Counts(length capcli.Seconds, n int) ([]int64, error)
	// Requests yields those that arrive before a time, in order of arrival. Arrivals count from the
	// start of the run.
	Requests(until capcli.Seconds) iter.Seq[serving.Request]
	// Lengths sums up the tokens of a request.
	Lengths() Lengths
	// Length returns the time from the start of the run to the end of the last request's second; 0
	// is without end.
	Length() capcli.Seconds
	// Users returns how many different users there are; 0 is unknown.
	Users() int
}

// Lengths sums up tokens of requests.
type Lengths struct {
	In     Quantiles `json:"tokens_in"`
	Out    Quantiles `json:"tokens_out"`
	Cached Quantiles `json:"cached"`
}

// Quantiles sum up a distribution. A quantile is the smallest value with at least that share at or below
// it.
type Quantiles struct {
	Mean float64 `json:"mean"`
	P50  int64   `json:"p50"`
	P90  int64   `json:"p90"`
	P95  int64   `json:"p95"`
	P99  int64   `json:"p99"`
	Max  int64   `json:"max"` // 0 is without bound
}

// Collect returns the requests of a source before a time. It fails where they are over limit.
func Collect(s Source, until capcli.Seconds, limit int) ([]serving.Request, error) {
	var out []serving.Request
	for r := range s.Requests(until) {
		if len(out) == limit {
			return nil, tooMany(int64(limit))
		}
		out = append(out, r)
	}
	return out, nil
}

func tooMany(limit int64) error {
	return &capcli.RequestError{
		Field: "requests", Text: ": there are over " + capcli.Grouped(limit) + " of them, the most that are played one by one",
		Hint: "play a shorter time, or the approximation",
	}
}

// quantilesOf sums up values, which it sorts.
func quantilesOf(values []int64) Quantiles {
	if len(values) == 0 {
		return Quantiles{}
	}
	slices.Sort(values)
	sum := capcli.Sum(values, func(v int64) float64 { return float64(v) })
	at := func(q float64) int64 { return values[max(0, int(math.Ceil(q*float64(len(values))))-1)] }
	return Quantiles{sum / float64(len(values)), at(0.5), at(0.9), at(0.95), at(0.99), values[len(values)-1]}
}

// RequestsBetween yields the requests of a source from one time up to another, in order of arrival, the same as
// Requests yields then. It does not make those before where the source is a curve or a trace.
func RequestsBetween(s Source, from, until capcli.Seconds) iter.Seq[serving.Request] {
	list := s.Requests(until)
	switch s := s.(type) {
	case *Drawn:
		list = s.cells(int(from/s.cell), until)
	case *Replayed:
		list = s.requestsFrom(s.indexAt(int64(from)*second), until)
	}
	return func(yield func(serving.Request) bool) {
		for r := range list {
			if r.Arrival >= int64(from)*second && !yield(r) {
				return
			}
		}
	}
}

package traffic

import (
	"iter"

	"capcli"
	"capcli/simulate/serving"
)

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

package nvml

import (
	"time"

	"capcli/profile"
)

// rate computes the rate of a counter that may wrap, restart or be wrong.
type rate struct {
	last  uint64
	at    time.Duration
	ready bool
	falls int // number of times the counter fell since the library was set up
}

// tooManyFalls is the number of falls after which a counter is taken to wrap within a tick and no
// longer used. A restart of the driver is one fall, but also resets the number, since the library
// is then set up again.
const tooManyFalls = 3

// takeCount takes the counter at a time and returns its growth per second since the last call.
// The reason is First at the first call and after a fall, where the number of wraps or the value
// at the restart is not known. It is OutOfRange after tooManyFalls.
func (r *rate) takeCount(count uint64, at time.Duration) (float64, profile.Reason) {
	was, since, ready := r.last, at-r.at, r.ready
	r.last, r.at, r.ready = count, at, true
	switch {
	case r.falls >= tooManyFalls:
		return 0, profile.OutOfRange
	case !ready || since <= 0:
		return 0, profile.First
	case count < was:
		r.falls++
		return 0, profile.First
	}
	return float64(count-was) / since.Seconds(), profile.Known
}

// forget makes the next call of takeCount count as the first.
func (r *rate) forget() { r.ready = false }

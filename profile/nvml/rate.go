package nvml

import (
	"time"

	"capcli/profile"
)

// rate makes a rate of a counter that may wrap, restart or lie.
type rate struct {
	last  uint64
	at    time.Duration
	ready bool
	falls int // since the library was set up
}

// tooManyFalls is how often a counter may fall before it is taken for one that
// wraps within a tick. A restart of the driver is one fall, and sets the library
// up again besides.
const tooManyFalls = 3

// takeCount takes the counter at a time and returns its growth per second. The
// reason is First where there is nothing to compare with: at the start and after
// a fall, since how often the counter wrapped, or from where it restarted, is
// not known.
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

// forget makes the next count the first.
func (r *rate) forget() { r.ready = false }

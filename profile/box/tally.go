package box

import (
	"math"
	"time"

	"capcli/profile"
)

// tally computes the rate of a counter of the kernel.
type tally struct {
	last  uint64
	at    time.Duration
	ready bool
}

// take takes the counter at a time and returns its growth per second since the last call. The reason is
// First at the first call and where it fell: it began anew, and what it counted before is not known.
func (t *tally) take(count uint64, at time.Duration) (perS float64, why profile.Reason) {
	was, since, ready := t.last, at-t.at, t.ready
	t.last, t.at, t.ready = count, at, true
	if !ready || since <= 0 || count < was {
		return 0, profile.First
	}
	return float64(count-was) / since.Seconds(), profile.Known
}

// narrow is the number of values of a counter of 32 bits.
const narrow = 1 << 32

// takeNarrow is take for a counter that may have 32 bits only. One that fell went round once where
// it cannot have gone round twice: most is how much it grows at most in a second, 0 where that is not
// known. A counter that stays at its end has stopped there (InfiniBand Architecture, Performance
// Management): it tells nothing.
func (t *tally) takeNarrow(count uint64, at time.Duration, most float64) (perS float64, why profile.Reason) {
	was, since, ready := t.last, (at - t.at).Seconds(), t.ready
	switch {
	case count == narrow-1 && was == count && ready:
		return 0, profile.OutOfRange
	case ready && since > 0 && count < was && was < narrow && most*since < narrow:
		if v := float64(count+narrow-was) / since; v <= most {
			t.last, t.at = count, at
			return v, profile.Known
		}
	}
	return t.take(count, at)
}

// flow is the sum of the rates of all devices of a kind in one look. Devices that are new do not count
// yet; where no device counts, or the counter of one began anew, the sum is not known.
type flow struct {
	sum    float64
	based  bool // a rate is in the sum
	unsure bool // a rate that belongs to it is not known
	why    profile.Reason
}

// add adds the rate of one device. known says that the device has been looked at before.
func (f *flow) add(v float64, why profile.Reason, known bool) {
	switch {
	case why == profile.Known:
		f.sum, f.based = f.sum+v, true
	case known:
		f.unsure, f.why = true, why
	case f.why == profile.Known:
		f.why = why
	}
}

// rate returns the sum of rates in bytes a second, in MiB/s.
func (f *flow) rate() (float64, profile.Reason) {
	switch {
	case f.unsure || !f.based && f.why != profile.Known:
		return 0, f.why
	case !f.based:
		return 0, profile.Unsupported
	}
	return f.sum / mib, profile.Known
}

// total is the sum of counters that only grow, although devices come and go and counters begin anew:
// the counts at the first look, and what each counted later.
type total struct {
	sum   float64
	begun bool
}

// grow adds what a counter counted since its last look.
func (s *total) grow(t *tally, count uint64) {
	switch {
	case !t.ready && s.begun: // a device that came later: its past does not count
	case !t.ready:
		s.sum += float64(count)
	case count < t.last:
		s.sum += float64(count)
	default:
		s.sum += float64(count - t.last)
	}
	t.last, t.ready = count, true
}

// percent returns v as a percentage; a rounding of the kernel's times may take it over 100.
func percent(v float64) float64 { return math.Min(v, 100) }

package trace

import (
	"time"

	"capcli"
)

// zoned is a clock for formats whose times name no zone and whose zone does
// not change the answer (there is one zone and only lengths matter): without
// Options.TZ they are read as UTC, and a note says so.
type zoned struct {
	r     *Reader
	clock clock
}

func newZoned(r *Reader) *zoned {
	return &zoned{r: r, clock: clock{zone: r.o.TZ, later: r.o.DSTLater}}
}

func (z *zoned) read(b []byte) (capcli.Time, flaw) {
	m, bad := z.clock.read(b)
	if bad == noZone {
		z.r.Note("the times name no zone and were read as UTC; --tz says otherwise")
		z.r.o.TZ, z.clock.zone = time.UTC, time.UTC
		m, bad = z.clock.read(b)
	}
	if bad != flawless {
		if bad == gapHour {
			bad += flaw(", " + string(trim(b)[:10]))
		}
		return capcli.NoTime, bad
	}
	if m.rounded {
		z.r.Assume("fractions of a second: rounded to the nearest")
	}
	if m.other.IsKnown() {
		z.r.Assume(z.r.repeatedNote(m.at))
	}
	return m.at, flawless
}

// lift makes a run time of zero one second, which is what the public
// simulators of these logs do: a job of no length never leaves their queue.
func (r *Reader) lift(run capcli.Seconds) capcli.Seconds {
	if run == 0 {
		r.Assume("run time 0: taken as 1 s")
		return 1
	}
	return run
}

package trace

import (
	"time"

	"capcli"
)

// zoned is a clock for formats whose times have no zone and where the zone does not change
// the result, because all times are in one zone and only durations matter. Without Options.TZ
// it reads times as UTC and adds a note.
type zoned struct {
	r     *Reader
	clock clock
}

func newZoned(r *Reader) *zoned { return &zoned{r: r, clock: r.newClock()} }

// read parses b; an empty b is NoTime. It counts what it had to assume.
func (z *zoned) read(b []byte) (capcli.Time, flaw) {
	m, bad := z.clock.read(b)
	if bad == noZone {
		z.r.Note("the times have no zone and were read as UTC; --tz overrides it")
		z.r.o.TZ, z.clock.zone = time.UTC, time.UTC
		m, bad = z.clock.read(b)
	}
	if bad != flawless {
		if bad == gapHour {
			bad += flaw(", " + string(trim(b)[:10]))
		}
		return capcli.NoTime, bad
	}
	z.r.noteMoment(m)
	return m.at, flawless
}

func (r *Reader) newClock() clock {
	return clock{zone: r.o.TZ, later: r.o.DSTLater, unit: r.o.Unit, dates: r.dates}
}

// lift returns one second for a run time of zero, else run. The public simulators of these
// logs do the same, because a job without a duration would never leave their queue.
func (r *Reader) lift(run capcli.Seconds) capcli.Seconds {
	if run == 0 {
		r.Assume("run time 0: taken as 1 s")
		return 1
	}
	return run
}

package anomaly

import (
	"fmt"
	"math"

	"capcli/profile"
)

// counted are the counters that are watched.
var counted = [...]profile.Metric{profile.ECCCorrected, profile.ECCUncorrected, profile.PCIeReplays, profile.NVLinkErrors, profile.RowsRemapped, profile.RowsPending}

// Indices in counted.
const (
	corrected = iota
	uncorrected
	replays
	nvlink
	remapped
	pending
)

// counter is a counter of a device and by how much it grew in each hour.
type counter struct {
	last  float64
	known bool
	hours []growth
	seen  int64           // hours in which it was told
	hour  profile.Instant // the last of them
}

// growth is by how much a counter grew in an hour.
type growth struct {
	hour profile.Instant
	by   float64
	at   profile.Instant // first time that it grew in it
}

const hourMicros = profile.Instant(3_600_000_000)

// count notes the counters of a sample. One that goes back was reset, with the GPU or its driver.
func (d *device) count(at profile.Instant, s *profile.Sample) {
	for i, m := range counted {
		v, ok := s.Get(m)
		if !ok {
			continue
		}
		c := &d.counts[i]
		hour := at - at%hourMicros
		if c.seen == 0 || hour != c.hour {
			c.hour = hour
			c.seen++
		}
		if c.known && v > c.last {
			if n := len(c.hours); n == 0 || c.hours[n-1].hour != hour {
				c.hours = append(c.hours, growth{hour: hour, at: at})
			}
			c.hours[len(c.hours)-1].by += v - c.last
		}
		c.last, c.known = v, true
	}
}

// total is by how much the counter grew in all.
func (c *counter) total() (sum float64) {
	for _, g := range c.hours {
		sum += g.by
	}
	return sum
}

// xidRow is the Xids of one number of a device.
type xidRow struct {
	code, n     int64
	first, last profile.Instant
}

func (b *box) event(e *profile.Event) {
	d := b.devices[e.Device]
	if e.Kind != profile.Xid || d == nil {
		return
	}
	for i := range d.codes {
		if x := &d.codes[i]; x.code == e.Value {
			x.n, x.last = x.n+1, e.At
			return
		}
	}
	if len(d.codes) < 64 {
		d.codes = append(d.codes, xidRow{e.Value, 1, e.At, e.At})
	}
}

// Bounds of counters.
const (
	manyCorrected = 50.0   // corrected errors in a day
	timesBefore   = 10.0   // as many as on a day before
	manyReplays   = 1000.0 // in an hour
	manyNVLink    = 100.0  // in an hour
)

// counters reports counters of errors that rise.
func (b *box) counters(d *device) {
	for _, x := range d.codes {
		b.report(xids, d, "", x.first, x.last, float64(x.n), "errors", 1, "Xid %d, %d times", x.code, x.n)
	}
	for _, i := range []int{uncorrected, remapped} {
		c := &d.counts[i]
		if len(c.hours) == 0 {
			continue
		}
		kind, unit := eccFatal, "errors"
		if i == remapped {
			kind, unit = rowsRemapped, "rows"
		}
		b.report(kind, d, "", c.hours[0].at, 0, c.total(), unit, 1, "%s grew by %.0f, in %d hours", counted[i], c.total(), len(c.hours))
	}
	if c := &d.counts[pending]; c.known && c.last > 0 {
		since := b.first
		if len(c.hours) > 0 {
			since = c.hours[0].at
		}
		b.report(rowsRemapped, d, "", since, 0, c.last, "rows", 1, "a row waits for a reset of the GPU to be replaced")
	}
	b.corrected(d)
	b.bursts(d, replays, manyReplays)
	b.bursts(d, nvlink, manyNVLink)
}

// corrected reports corrected errors that come far more often than before: at least manyCorrected in a day, and
// timesBefore as many as on an average day before it.
func (b *box) corrected(d *device) {
	const day = 24 * hourMicros
	c := &d.counts[corrected]
	for i := range c.hours {
		at := c.hours[i].hour
		inDay, before := 0.0, 0.0
		for _, g := range c.hours {
			switch {
			case g.hour >= at && g.hour < at+day:
				inDay += g.by
			case g.hour < at:
				before += g.by
			}
		}
		days := math.Max(1, float64(at-b.first)/float64(day))
		if inDay >= manyCorrected && inDay >= timesBefore*before/days {
			b.report(eccRising, d, "", c.hours[i].at, 0, inDay, "errors a day", confidenceOf(inDay/manyCorrected),
				"%.0f in a day, %.1f a day in the %.1f days before", inDay, before/days, float64(at-b.first)/float64(day))
			return
		}
	}
}

// bursts reports hours in which a counter of link errors grew by at least many, as one time.
func (b *box) bursts(d *device, i int, many float64) {
	var first, last *growth
	hours, most := 0, 0.0
	c := &d.counts[i]
	for k := range c.hours {
		g := &c.hours[k]
		if g.by < many {
			continue
		}
		if first == nil {
			first = g
		}
		last = g
		hours, most = hours+1, max(most, g.by)
	}
	if first == nil {
		return
	}
	until := last.hour + hourMicros
	if until >= b.last {
		until = 0
	}
	b.report(linkErrors, d, "", first.at, until, most, "errors an hour", confidenceOf(most/many), "%s", fmt.Sprintf("%s grew by up to %.0f an hour, in %d hours", counted[i], most, hours))
}

package profile

import (
	"time"

	"capcli/profile/rhythm"
)

// Reasons for clocks that are held back, as bits of the metric Throttle (nvml.h, nvmlClocksEventReason…).
const (
	throttledByPower = 0x4 | 0x80  // software power cap, hardware power brake
	throttledByHeat  = 0x20 | 0x40 // software and hardware thermal slowdown
)

// Waits is how much a device waited inside of kernels, by whole minutes: the time in which a kernel ran, less the
// share of SMs that were active. A kernel of a collective runs on few SMs until all ranks are there.
type Waits struct {
	Minutes int64
	Sum     int64 // in hundredths of a percent
	Squares int64
}

// Merge adds the minutes of o.
func (w *Waits) Merge(o *Waits) {
	w.Minutes, w.Sum, w.Squares = w.Minutes+o.Minutes, w.Sum+o.Sum, w.Squares+o.Squares
}

// add counts a minute, in percent.
func (w *Waits) add(pct float64) {
	v := int64(max(0, pct)*100 + 0.5)
	w.Minutes, w.Sum, w.Squares = w.Minutes+1, w.Sum+v, w.Squares+v*v
}

// beat follows a device that one job holds through windows of some minutes, to see its steps, and through minutes, to
// see its waits.
type beat struct {
	window rhythm.Window
	start  Instant // of the window
	length Instant // 0: none is under way
	every  int64

	minute   Instant
	samples  int64
	util, sm float64
}

// leastMinute is the least share of a minute that must be sampled for its waits to count.
const leastMinute = 0.5

// drop forgets what is under way, because others hold the device. A window that is cut by the
// end of a span goes on, and counts where it ends.
func (b *beat) drop() {
	b.length, b.minute = 0, 0
	b.samples, b.util, b.sm = 0, 0, 0
}

// follow counts a sample of a device that one job holds.
func (p *Spanner) follow(d *spanDevice, s *Sample, at Instant, every time.Duration) {
	b := &d.beat
	micros := every.Microseconds()
	if micros != b.every {
		b.drop()
		b.every = micros
	}
	util, hasUtil := s.Get(UtilGPU)
	sm, hasSM := s.Get(SMActive)
	if start := at - positive(at, minuteMicros); start != b.minute {
		p.endWaits(d)
		b.minute = start
	}
	if hasUtil && hasSM {
		b.samples, b.util, b.sm = b.samples+1, b.util+util, b.sm+sm
	}
	if at+Instant(micros) >= b.minute+minuteMicros {
		p.endWaits(d)
	}
	if b.length > 0 && (at < b.start || at >= b.start+b.length) {
		p.endWindow(d)
	}
	if b.length == 0 {
		if b.length = Instant(rhythm.Length(micros)); b.length == 0 {
			return
		}
		b.start = at - positive(at, b.length)
		b.window.Begin(int64(b.length), micros)
	}
	i := b.window.Slot(int64(at - b.start))
	if hasSM {
		b.window.Set(i, rhythm.SM, sm)
	}
	b.signals(s, i)
	if at+Instant(micros) >= b.start+b.length {
		p.endWindow(d)
	}
}

// signals sets the other signals of a place of the window.
func (b *beat) signals(s *Sample, i int) {
	if v, ok := s.Get(TensorActive); ok {
		b.window.Set(i, rhythm.Tensor, v)
	}
	if v, ok := s.Get(Power); ok {
		b.window.Set(i, rhythm.Power, v)
	}
	if v, ok := s.Get(NVLinkTx); ok {
		b.window.Set(i, rhythm.Link, v)
	} else if v, ok := s.Get(PCIeTx); ok {
		b.window.Set(i, rhythm.Link, v)
	}
}

// endWindow judges the window that is under way.
func (p *Spanner) endWindow(d *spanDevice) {
	d.seen.Use.Steps.Add(p.finder.Find(&d.beat.window))
	d.beat.length = 0
}

// endWaits counts the minute that is under way.
func (p *Spanner) endWaits(d *spanDevice) {
	b := &d.beat
	if float64(b.samples*b.every) >= leastMinute*minuteMicros {
		d.seen.Use.Waits.add((b.util - b.sm) / float64(b.samples))
	}
	b.samples, b.util, b.sm = 0, 0, 0
}

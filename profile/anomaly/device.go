package anomaly

import (
	"time"

	"capcli/profile"
)

// end is the end of window i of the windows, 0 where it is the last: it goes on.
func (b *box) end(windows []window, i int) profile.Instant {
	if i+1 >= len(windows) {
		return 0
	}
	return windows[i].at + windowMicros
}

// Bounds of clocks that are held back.
const (
	hotShare    = 0.1 // of the time at work
	hotWindows  = 4   // an hour
	capShare    = 0.5
	capWindows  = 8 // two hours
	leastActive = 4 // the part of a window in which there must have been work: a quarter
)

// caps reports times in which heat or the power limit held the clocks back.
func (b *box) caps(d *device) {
	for _, c := range []struct {
		kind  string
		of    func(w *window) int64
		share float64
		least int
	}{
		{heatCapped, func(w *window) int64 { return w.hot }, hotShare, hotWindows},
		{powerCapped, func(w *window) int64 { return w.capped }, capShare, capWindows},
	} {
		flags := make([]bool, len(d.windows))
		for i := range d.windows {
			w := &d.windows[i]
			flags[i] = w.active*leastActive >= w.seen && float64(c.of(w)) >= c.share*float64(w.active)
		}
		for _, r := range runs(flags, c.least, 2) {
			held, active := int64(0), int64(0)
			for i := r.from; i < r.to; i++ {
				held, active = held+c.of(&d.windows[i]), active+d.windows[i].active
			}
			share := 100 * float64(held) / float64(active)
			b.report(c.kind, d, d.job(r), d.windows[r.from].at, b.end(d.windows, r.to-1), share, "% of the time at work", confidenceOf(share/100/c.share),
				"%.0f%% of the time at work, for %v", share, time.Duration(r.to-r.from)*Window)
		}
	}
}

// job is who held the device through a run; "" where it was not one alone.
func (d *device) job(r run) string {
	for i := r.from; i < r.to; i++ {
		if w := &d.windows[i]; w.mixed || w.holder != d.windows[r.from].holder {
			return ""
		}
	}
	return d.windows[r.from].holder
}

// hotter is what a shift of the temperature at the same power must be: 5 degrees.
var hotter = threshold{least: lasting, size: 5, sigmas: 4, p: 1e-3}

// heat reports that a device is hotter or cooler at the same power than before.
func (b *box) heat(d *device) {
	var x, y []float64
	var at []int
	for i := range d.windows {
		w := &d.windows[i]
		p, ok := w.means[power].mean()
		t, has := w.means[temp].mean()
		if ok && has {
			x, y, at = append(x, p), append(y, t), append(at, i)
		}
	}
	if len(x) < 2*lasting {
		return
	}
	a, slope := fitLine(x, y)
	rest := make([]float64, len(x))
	for i := range x {
		rest[i] = y[i] - a - slope*x[i]
	}
	for _, s := range shifts(rest, hotter) {
		by := s.after - s.before
		b.report(heatShift, d, "", d.windows[at[s.at]].at, 0, by, "°C", confidenceOf(abs(by)/hotter.size),
			"%+.1f °C at the same power, by a line of %.3f °C a watt; spread %.1f °C", by, slope, s.spread)
	}
}

func abs(v float64) float64 {
	if v < 0 {
		return -v
	}
	return v
}

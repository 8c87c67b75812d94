package anomaly

import (
	"slices"
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

// warmth is how much hotter a device is than a line by power has it, by window.
type warmth struct {
	at    []profile.Instant
	rest  []float64
	slope float64 // °C a watt
}

// warmthOf returns the warmth of d; nil where it has too few windows.
func warmthOf(d *device) *warmth {
	var x, y []float64
	w := &warmth{}
	for i := range d.windows {
		p, ok := d.windows[i].means[power].mean()
		t, has := d.windows[i].means[temp].mean()
		if ok && has {
			x, y, w.at = append(x, p), append(y, t), append(w.at, d.windows[i].at)
		}
	}
	if len(x) < 2*lasting {
		return nil
	}
	var a float64
	a, w.slope = fitLine(x, y)
	w.rest = make([]float64, len(x))
	for i := range x {
		w.rest[i] = y[i] - a - w.slope*x[i]
	}
	return w
}

// level returns the median from an instant until before another, and of how many windows it is.
func (w *warmth) level(from, to profile.Instant) (float64, int) {
	i, _ := slices.BinarySearch(w.at, from)
	j, _ := slices.BinarySearch(w.at, to)
	return median(w.rest[i:j]), j - i
}

// heat reports devices that are hotter at the same power than before, and than their peers on the box: what
// all of them do together is the room's. A cooler device is no fault.
func (b *box) heat() {
	all := make([]*warmth, len(b.order))
	for i, d := range b.order {
		all[i] = warmthOf(d)
	}
	for i, d := range b.order {
		w := all[i]
		if w == nil {
			continue
		}
		list := shifts(w.rest, hotter)
		for k, s := range list {
			next, ends := len(w.at), profile.Instant(0)
			if k+1 < len(list) {
				next = list[k+1].at
				if list[k+1].after < (s.before+s.after)/2 {
					ends = w.at[next]
				}
			}
			// A device that comes back from a cool time is not hotter than it was.
			by := s.after - max(s.before, median(w.rest[:s.at]))
			over := by - max(0, riseOfPeers(all, i, w.at[0], w.at[s.at], w.at[next-1]+1))
			if by < hotter.size || over < hotter.size {
				continue
			}
			b.report(heatShift, d, "", w.at[s.at], ends, by, "°C", confidenceOf(over/hotter.size),
				"%+.1f °C at the same power, by a line of %.3f °C a watt; spread %.1f °C; %+.1f °C more than its peers", by, w.slope, s.spread, over)
		}
	}
}

// riseOfPeers returns by how much a quarter of the other devices got hotter, or less, from the time before an instant to
// that from it on; 0 where there is none to compare with.
func riseOfPeers(all []*warmth, of int, begin, at, end profile.Instant) float64 {
	var rises []float64
	for i, w := range all {
		if i == of || w == nil {
			continue
		}
		before, n := w.level(begin, at)
		after, m := w.level(at, end)
		if n >= lasting && m >= lasting {
			rises = append(rises, after-before)
		}
	}
	if len(rises) == 0 {
		return 0
	}
	slices.Sort(rises)
	return rises[len(rises)/4]
}

package rhythm

import "math"

// Signal is one of the metrics of a window.
type Signal uint8

// The signals. All but Power are means over the interval between two samples.
const (
	SM     Signal = iota // share of SMs active, in percent
	Tensor               // share of time in which tensor cores work, in percent
	Link                 // sent over links, MiB/s
	Power                // W
	NumSignals
)

// Limits of a window.
const (
	MostSlots  = 1200 // samples of a window
	leastSlots = 60
	leastThere = 0.8 // share of the samples of a window that must be there
)

// Window is the samples of one device over some minutes. The zero value takes no samples until Begin.
type Window struct {
	slots   int
	every   float64 // seconds
	values  [NumSignals][]float32
	known   [NumSignals]int
	present int
	last    int // slot of the last sample
}

// Length returns the length of windows of samples that are every microseconds apart: 5 minutes, or the
// longest whole number of minutes under it, a divisor of the hour, that has MostSlots samples or fewer. It is
// 0 where samples are too far apart, or too close, to show steps.
func Length(every int64) int64 {
	const minute = 60_000_000
	if every <= 0 {
		return 0
	}
	for _, minutes := range []int64{5, 4, 3, 2, 1} {
		if n := minutes * minute / every; n <= MostSlots {
			if n < leastSlots {
				return 0
			}
			return minutes * minute
		}
	}
	return 0
}

// Begin empties the window, for samples that are every microseconds apart over length microseconds.
func (w *Window) Begin(length, every int64) {
	slots := int(length / every)
	if len(w.values[0]) < slots {
		for s := range w.values {
			w.values[s] = make([]float32, slots)
		}
	}
	nan := float32(math.NaN())
	for s := range w.values {
		for i := range w.values[s][:slots] {
			w.values[s][i] = nan
		}
	}
	w.slots, w.every, w.present, w.last, w.known = slots, float64(every)/1e6, 0, -1, [NumSignals]int{}
}

// Slot says that a sample is at offset microseconds from the begin of the window, and returns its place
// for Set; -1 where it is outside of the window or its place is taken.
func (w *Window) Slot(offset int64) int {
	i := int(float64(offset)/1e6/w.every + 1e-9)
	if i == w.last && i+1 < w.slots { // two samples of uneven distances in one place: the second goes to the next
		i++
	}
	if i <= w.last || i >= w.slots {
		return -1
	}
	w.last = i
	w.present++
	return i
}

// Set notes the value of a signal at a place that Slot returned.
func (w *Window) Set(i int, s Signal, v float64) {
	if i >= 0 {
		w.values[s][i] = float32(v)
		w.known[s]++
	}
}

// hasEnough reports whether the signal has samples enough to be judged.
func (w *Window) hasEnough(s Signal) bool {
	return w.slots >= leastSlots && float64(w.known[s]) >= leastThere*float64(w.slots)
}

package judge

import "math"

// Signal is a measurement that a Window takes.
type Signal uint8

// The signals of a device, then those of its box and of the job's processes. % is of time, cycles or
// the peak, as the metric says.
const (
	Util      Signal = iota // %, time in which a kernel ran
	SM                      // %, SMs with a warp
	Occupancy               // %
	Tensor                  // %
	FP64                    // %
	FP32                    // %
	FP16                    // %
	DRAM                    // %
	Power                   // W
	Clock                   // MHz, of the SMs
	PCIeTx                  // MiB/s
	PCIeRx                  // MiB/s
	NVLinkTx                // MiB/s
	NVLinkRx                // MiB/s
	NetTx                   // MiB/s, network and fabric of the box
	NetRx                   // MiB/s
	IOWait                  // %, time in which a task of the job, or of the box, waited for a disk
	CPUWait                 // %, time in which a limit or a full box kept a task from a core
	NumSignals
)

// Values are the signals of one sample; NaN is not measured.
type Values [NumSignals]float64

// Level sums the values of a signal over time.
type Level struct {
	Time int64 // microseconds with values
	Sum  float64
}

// Mean returns the mean over time, or NaN without values.
func (l *Level) Mean() float64 { return l.Sum / float64(l.Time) }

// Device is what a Window must know of its device; 0 is not known.
type Device struct {
	PeakPCIe, PeakNVLink float64 // MiB/s in one direction
	MaxClock             float64 // MHz
	PowerLimit           float64 // W; the highest that the minute saw
}

// Caps says what held the clocks back in a sample.
type Caps struct {
	Power, Heat bool
	Known       bool // of both
}

// Window takes the samples of one minute of a device with the same holders. The zero value is empty.
type Window struct {
	Device  Device
	Holders int
	Time    int64 // microseconds
	Samples int
	Unknown int64 // time in which activity was not known
	Idle    int64 // time without activity
	Paused  int64 // of Idle, in pauses of 2 s or more between two bursts
	// At is what signals showed without activity (0) and with it (1). Where activity is not known it
	// counts as there.
	At                 [2][NumSignals]Level
	Low, High          [NumSignals]float64 // of the values with activity; 0 where there were none
	Squares            [2]float64          // of power and of SM, with activity
	PowerCap, HeatCap  int64               // active time in which the limit or heat held the clocks back
	CapKnown           int64               // active time in which that was known
	Collect, Calculate int64               // active time with links at work and SMs waiting, and the reverse
	Turns              int                 // changes between the two
	Rhythm             Rhythm

	state, phase int8
	begun        bool  // the begin of the burst was seen
	run, span    int64 // length of the pause, and time since the begin of the burst
}

// Rhythm sums the times from the begin of a burst to the begin of the next.
type Rhythm struct{ Bursts, Millis, Squares int64 }

// Add counts one time between bursts.
func (r *Rhythm) Add(micros int64) {
	ms := micros / 1000
	r.Bursts, r.Millis, r.Squares = r.Bursts+1, r.Millis+ms, r.Squares+ms*ms
}

// Merge adds the times of o.
func (r *Rhythm) Merge(o Rhythm) {
	r.Bursts, r.Millis, r.Squares = r.Bursts+o.Bursts, r.Millis+o.Millis, r.Squares+o.Squares
}

// Period returns the mean time in seconds from a burst to the next, or NaN without any.
func (r *Rhythm) Period() float64 { return float64(r.Millis) / 1000 / float64(r.Bursts) }

// Variation returns the standard deviation over the mean: 0 is a clock, 1 is chance. NaN without bursts.
func (r *Rhythm) Variation() float64 {
	n := float64(r.Bursts)
	mean := float64(r.Millis) / n
	return math.Sqrt(max(0, float64(r.Squares)/n-mean*mean)) / mean
}

// States of a Window.
const (
	stateNone int8 = iota
	stateFirstIdle
	stateActive
	stateIdle
)

// Phases of a Window.
const (
	phaseCollect   int8 = 1
	phaseCalculate int8 = 2
)

// pauseLeast is the shortest pause that is more than a gap between kernels, in microseconds.
const pauseLeast = 2_000_000

// Add counts a sample that stands for some microseconds. known says whether activity was measured.
func (w *Window) Add(v *Values, micros int64, active, known bool, caps Caps) {
	w.Time += micros
	w.Samples++
	if !known {
		w.Unknown += micros
	}
	at := 0
	if active || !known {
		at = 1
	} else {
		w.Idle += micros
	}
	w.sum(v, at, micros)
	if at == 1 && caps.Known {
		w.CapKnown += micros
		if caps.Power {
			w.PowerCap += micros
		}
		if caps.Heat {
			w.HeatCap += micros
		}
	}
	if known {
		w.step(active, micros)
	}
	if at == 1 {
		w.alternate(v, micros)
	}
}

// sum adds the values to the levels without activity (0) or with it (1).
func (w *Window) sum(v *Values, at int, micros int64) {
	levels, time := &w.At[at], float64(micros)
	for s, x := range v {
		if x != x { // not measured
			continue
		}
		l := &levels[s]
		if at == 1 {
			if x > w.High[s] || l.Time == 0 {
				w.High[s] = x
			}
			if x < w.Low[s] || l.Time == 0 {
				w.Low[s] = x
			}
		}
		l.Time += micros
		l.Sum += x * time
	}
	if at == 1 {
		for i, s := range squared {
			if x := v[s]; x == x {
				w.Squares[i] += x * x * time
			}
		}
	}
}

// squared are the signals whose squares are summed.
var squared = [2]Signal{Power, SM}

// spread returns the standard deviation over active time of a squared signal, or NaN without values.
func (w *Window) spread(i int) float64 {
	l := &w.At[1][squared[i]]
	m := l.Mean()
	return math.Sqrt(max(0, w.Squares[i]/float64(l.Time)-m*m))
}

// step follows bursts and pauses. A pause under 2 s is part of the burst.
func (w *Window) step(active bool, micros int64) {
	switch {
	case active && w.state == stateIdle && w.run < pauseLeast && w.run > 0:
		w.state = stateActive
	case active && w.state == stateIdle:
		w.Paused += w.run
		if w.begun {
			w.Rhythm.Add(w.span)
		}
		w.begun, w.span, w.state = true, 0, stateActive
	case active && w.state == stateFirstIdle:
		w.begun, w.span, w.state = true, 0, stateActive
	case active:
		w.state = stateActive
	case w.state == stateNone:
		w.state = stateFirstIdle
	case w.state == stateActive:
		w.run, w.state = 0, stateIdle
	}
	if !active {
		w.run += micros
	}
	w.span += micros
}

// Levels at which a sample counts as one of a collective or a copy, or as one of computing.
const (
	collectSM   = 45.0 // % of SMs: under
	calculateSM = 60.0 // and over
	phaseLink   = 0.12 // of the peak of a link
)

// alternate follows the phases of collectives and of computing.
func (w *Window) alternate(v *Values, micros int64) {
	sm := v[SM]
	busy := maxKnown(v[NVLinkTx], v[NVLinkRx]) >= phaseLink*w.Device.nvlink() || maxKnown(v[PCIeTx], v[PCIeRx]) >= phaseLink*w.Device.pcie()
	phase := int8(0)
	switch {
	case busy && sm < collectSM:
		phase = phaseCollect
		w.Collect += micros
	case !busy && sm >= calculateSM:
		phase = phaseCalculate
		w.Calculate += micros
	}
	if phase != 0 {
		if w.phase != 0 && w.phase != phase {
			w.Turns++
		}
		w.phase = phase
	}
}

// Peaks of links that are not known: NVLink of an A100 carries 286,000 MiB/s each way, a slot of
// PCIe 4.0 x16 about 24,000 MiB/s in practice.
const (
	usualNVLink = 286_000
	usualPCIe   = 24_000
)

func (d *Device) nvlink() float64 { return orUsual(d.PeakNVLink, usualNVLink) }
func (d *Device) pcie() float64   { return orUsual(d.PeakPCIe, usualPCIe) }

func orUsual(v, otherwise float64) float64 {
	if v > 0 {
		return v
	}
	return otherwise
}

// maxKnown returns the larger of two values of which either may be NaN.
func maxKnown(a, b float64) float64 {
	if a >= b || b != b {
		return a
	}
	return b
}

package profile

import (
	"math"

	"capcli/profile/judge"
)

// minuteWindow is the window of a device that is under way: the samples of one minute of UTC, or of the
// part of it in which the same jobs held the device and no samples are missing.
type minuteWindow struct {
	judge.Window
	start  Instant
	part   int64 // microseconds of each holder but the first, where there are several
	values judge.Values
	power  capCounter
	heat   capCounter
	looks  int     // of the box that values hold
	seen   Instant // time of the last sample
}

// windowMetrics are the metrics of a device that a window takes, by signal.
var windowMetrics = [...]Metric{
	judge.Util: UtilGPU, judge.SM: SMActive, judge.Occupancy: SMOccupancy, judge.Tensor: TensorActive, judge.FP64: FP64Active,
	judge.FP32: FP32Active, judge.FP16: FP16Active, judge.DRAM: DRAMActive, judge.Power: Power, judge.Clock: ClockSM,
	judge.PCIeTx: PCIeTx, judge.PCIeRx: PCIeRx, judge.NVLinkTx: NVLinkTx, judge.NVLinkRx: NVLinkRx,
}

// observe counts a sample that stands for some microseconds of a held device.
func (w *minuteWindow) observe(s *Sample, h *spanHost, held []Holder, at Instant, micros int64) {
	if w.Samples == 0 {
		w.start = at - positive(at, minuteMicros)
		w.Holders = len(held)
		d := s.Device
		w.Device = judge.Device{PeakPCIe: d.PeakPCIeMiBPerS, PeakNVLink: d.PeakNVLinkMiBPerS, MaxClock: d.MaxSMClockMHz}
		w.looks = -1
	}
	for i, m := range windowMetrics {
		if s.Why[m] == Known {
			w.values[i] = s.Values[m]
		} else {
			w.values[i] = math.NaN()
		}
	}
	if h.looks != w.looks {
		h.setSurroundings(&w.values, held)
		w.looks = h.looks
	}
	if v, ok := s.Get(PowerLimit); ok {
		w.Device.PowerLimit = max(w.Device.PowerLimit, v)
	}
	if w.seen+Instant(micros) != at { // what the counters of time did in between is not known
		w.power.any, w.heat.any = false, false
	}
	w.seen = at
	active, known := s.Active()
	w.part += micros / int64(len(held))
	w.Add(&w.values, micros, active, known, w.caps(s, micros))
}

// end gives what the window shows to the span and its parts, and empties the window.
func (w *minuteWindow) end(sp *Span) {
	if w.Samples == 0 {
		return
	}
	f := judge.Minute(&w.Window)
	add := func(u *Use, micros int64) {
		u.Signs.Add(&f, micros)
		u.Rhythm.Merge(w.Rhythm)
	}
	add(sp.Use, w.Time)
	if n := int64(len(sp.Parts)); n > 1 {
		for k := range sp.Parts {
			micros := w.part
			if k == 0 {
				micros = w.Time - w.part*(n-1)
			}
			add(sp.Parts[k].Use, micros)
		}
	}
	w.Window, w.part = judge.Window{}, 0
}

// What a hardware slowdown without another reason is: heat on a GPU that is hot, else power.
const (
	throttledByEither = 0x8
	throttledByBrake  = 0x80
	hotEnough         = 85 // °C
)

// capCounter follows a counter of the time for which clocks were held back.
type capCounter struct {
	last float64
	any  bool
}

// share returns the share of the microseconds since the last sample in which clocks were held back.
func (c *capCounter) share(s *Sample, m Metric, micros int64) (share float64, known bool) {
	v, ok := s.Get(m)
	last, had := c.last, c.any
	c.last, c.any = v, ok
	if !ok || !had || v < last {
		return 0, false
	}
	return (v - last) * 1000 / float64(micros), true
}

// caps says what held the clocks back: by the counters of time, which miss nothing, and by the
// reasons at the moment of the sample.
func (w *minuteWindow) caps(s *Sample, micros int64) judge.Caps {
	power, byPower := w.power.share(s, ThrottlePower, micros)
	heat, byHeat := w.heat.share(s, ThrottleThermal, micros)
	bits, told := s.Get(Throttle)
	reasons := uint64(bits)
	if reasons&throttledByEither != 0 && reasons&(throttledByPower|throttledByHeat) == 0 {
		if t, ok := s.Get(Temp); ok && t >= hotEnough {
			reasons |= throttledByHeat
		} else {
			reasons |= throttledByPower
		}
	}
	return judge.Caps{
		Known: told || byPower || byHeat,
		Power: power >= 0.5 || !byPower && reasons&throttledByPower != 0 || reasons&throttledByBrake != 0,
		Heat:  heat >= 0.5 || reasons&throttledByHeat != 0,
	}
}

// setSurroundings sets the signals of the box and of the job's own processes. What is not known is NaN.
func (h *spanHost) setSurroundings(v *judge.Values, held []Holder) {
	sum := func(a, b HostMetric) float64 {
		x, okX := h.box.Get(a)
		y, okY := h.box.Get(b)
		if !h.boxKnown || !okX && !okY {
			return math.NaN()
		}
		return x + y
	}
	v[judge.NetTx], v[judge.NetRx] = sum(NetTx, FabricTx), sum(NetRx, FabricRx)
	v[judge.IOWait], v[judge.CPUWait] = math.NaN(), math.NaN()
	for i := range h.groups {
		g := &h.groups[i]
		if len(held) != 1 || g.holder.Compare(&held[0]) != 0 {
			continue
		}
		v[judge.IOWait], v[judge.CPUWait] = g.io, g.cpu
		return
	}
	if h.boxKnown { // the box's own waits tell less: they may be another job's
		if x, ok := h.box.Get(IOPressure); ok {
			v[judge.IOWait] = x
		}
		cpu, ok := h.box.Get(HostCPU)
		if x, has := h.box.Get(CPUPressure); ok && has && cpu >= fullCPU {
			v[judge.CPUWait] = x
		}
	}
}

// fullCPU is the share of a box's cores at work, in %, at which tasks that wait for one are short of it.
const fullCPU = 90

// groupWaits is what the processes of a job wait for, in % of time; NaN is not known.
type groupWaits struct {
	holder  Holder
	io, cpu float64
}

// look takes what a tick saw of the box and of its jobs' processes.
func (h *spanHost) look(t *Tick) {
	if t.LookedAtHost || len(t.Groups) > 0 {
		h.looks++
	}
	if h.boxKnown && t.At-h.boxAt > knownFor || len(h.groups) > 0 && t.At-h.groupsAt > knownFor {
		h.boxKnown, h.groups = h.boxKnown && t.At-h.boxAt <= knownFor, h.groups[:0]
		h.looks++
	}
	if t.LookedAtHost {
		h.box, h.boxKnown, h.boxAt = t.Host, true, t.At
	}
	if len(t.Groups) == 0 {
		return
	}
	h.groups, h.groupsAt = h.groups[:0], t.At
	for i := range t.Groups {
		g := &t.Groups[i]
		o := &g.Owner
		x := groupWaits{holder: HolderOf(&Process{User: o.User, Container: o.Container, Pod: o.Pod, Namespace: o.Namespace, Job: o.Job}), io: math.NaN(), cpu: math.NaN()}
		if v, ok := g.Get(GroupIOWait); ok {
			x.io = v
		}
		if v, ok := g.Get(GroupThrottled); ok {
			x.cpu = v
		}
		h.groups = append(h.groups, x)
	}
}

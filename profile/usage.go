package profile

import "math"

// How long a GPU must do nothing to be more than between two kernels, and how
// long to be given up on rather than waited with. Microseconds.
const (
	starvedAfter = 2_000_000   // shorter pauses are part of the work
	idleAfter    = 600_000_000 // longer ones are no starvation: nobody is at work
)

// Active tells whether a device computes in a sample: a warp on an SM, or where
// that is not told, a kernel. known is false where neither is told.
func (s *Sample) Active() (active, known bool) {
	if v, ok := s.Get(SMActive); ok {
		return v >= 1, true
	}
	v, ok := s.Get(UtilGPU)
	return v > 0, ok
}

// Use is what was seen of a device, or of a job on its devices. Times are in
// microseconds of one device, so that two devices for a second make two seconds.
type Use struct {
	Seen    int64   // time in which samples were there
	Held    int64   // of it with a process
	Busy    float64 // of Seen, by utilisation: share of time in which a kernel ran
	BusyFor int64   // time in which utilisation was known
	Idle    int64   // held and not active
	Starved int64   // of Idle, in pauses between bursts of work: over 2 s, under 10 min
	Longest int64   // pause while held
	Pauses  int64   // that count as starved
	Joules  float64
	// ByPower tells that some energy was summed from power, for want of a counter.
	ByPower bool
	Shared  int64 // held by more than one

	Util, SM, Tensor, DRAM Distribution // %
	Memory                 Distribution // share of the device's, %
	MemoryBytes            float64      // the most that was used
	MemoryTotal            float64      // of the device
	Watts                  Distribution
	Occupancy, FP64, FP32  Average // %
	Link                   Average // NVLink and PCIe, MiB/s, both ways

	bursts [burstBins]int32 // active stretches by their length
}

// newUse gives a Use whose ranges are set.
func newUse() *Use {
	u := &Use{}
	for _, d := range []*Distribution{&u.Util, &u.SM, &u.Tensor, &u.DRAM, &u.Memory} {
		d.Top = 100
	}
	u.Watts.Top = 2048
	return u
}

// add counts a sample that stands for some microseconds.
func (u *Use) add(s *Sample, micros int64, joules float64, byPower bool) {
	u.Seen += micros
	if v, ok := s.Get(UtilGPU); ok {
		u.Busy += v / 100 * float64(micros)
		u.BusyFor += micros
	}
	for _, p := range [...]struct {
		m Metric
		d interface{ Add(v float64, micros int64) }
	}{{UtilGPU, &u.Util}, {SMActive, &u.SM}, {SMOccupancy, &u.Occupancy}, {TensorActive, &u.Tensor}, {DRAMActive, &u.DRAM}, {Power, &u.Watts}, {FP64Active, &u.FP64}, {FP32Active, &u.FP32}} {
		if v, ok := s.Get(p.m); ok {
			p.d.Add(v, micros)
		}
	}
	used, ok := s.Get(MemUsed)
	total, has := s.Get(MemTotal)
	if ok {
		u.MemoryBytes = max(u.MemoryBytes, used)
		if has && total > 0 {
			u.MemoryTotal = max(u.MemoryTotal, total)
			u.Memory.Add(100*used/total, micros)
		}
	}
	link, any := 0.0, false
	for _, m := range [...]Metric{NVLinkTx, NVLinkRx, PCIeTx, PCIeRx} {
		if v, ok := s.Get(m); ok {
			link, any = link+v, true
		}
	}
	if any {
		u.Link.Add(link, micros)
	}
	u.Joules += joules
	u.ByPower = u.ByPower || byPower
}

// Merge adds what o has seen on another device or in another job.
func (u *Use) Merge(o *Use) {
	u.Seen, u.Held, u.Idle, u.Starved, u.Shared = u.Seen+o.Seen, u.Held+o.Held, u.Idle+o.Idle, u.Starved+o.Starved, u.Shared+o.Shared
	u.Busy, u.BusyFor, u.Joules = u.Busy+o.Busy, u.BusyFor+o.BusyFor, u.Joules+o.Joules
	u.Pauses, u.Longest, u.ByPower = u.Pauses+o.Pauses, max(u.Longest, o.Longest), u.ByPower || o.ByPower
	u.MemoryBytes, u.MemoryTotal = max(u.MemoryBytes, o.MemoryBytes), max(u.MemoryTotal, o.MemoryTotal)
	for _, p := range [...][2]*Distribution{
		{&u.Util, &o.Util}, {&u.SM, &o.SM}, {&u.Tensor, &o.Tensor}, {&u.DRAM, &o.DRAM}, {&u.Memory, &o.Memory}, {&u.Watts, &o.Watts},
	} {
		p[0].Merge(p[1])
	}
	for _, p := range [...][2]*Average{{&u.Occupancy, &o.Occupancy}, {&u.FP64, &o.FP64}, {&u.FP32, &o.FP32}, {&u.Link, &o.Link}} {
		p[0].Merge(p[1])
	}
	for i, n := range o.bursts {
		u.bursts[i] += n
	}
}

// BusyShare is the mean utilisation, from 0 to 1; NaN where it was not reported.
func (u *Use) BusyShare() float64 { return u.Busy / float64(u.BusyFor) }

// HeldHours and UsedHours are GPU-hours with a process, and those of them in
// which kernels ran. Used is NaN where utilisation was not reported.
func (u *Use) HeldHours() float64 { return hours(float64(u.Held)) }

// UsedHours is described with HeldHours.
func (u *Use) UsedHours() float64 {
	if u.BusyFor == 0 {
		return math.NaN()
	}
	return hours(u.Busy)
}

// Burst is the median length of a stretch of work, in seconds; NaN where there
// was none that ended. Over 20 s it is known to 30 %.
func (u *Use) Burst() float64 {
	total := int32(0)
	for _, n := range u.bursts {
		total += n
	}
	if total == 0 {
		return math.NaN()
	}
	left := (total + 1) / 2
	for i, n := range u.bursts {
		if left -= n; left <= 0 {
			return burstLength(i)
		}
	}
	return burstLength(burstBins - 1)
}

// Bins of the lengths of bursts: each second up to 20, then steps of 30 %.
const (
	burstBins  = 48
	burstExact = 20
	burstStep  = 1.3
)

func burstBin(micros int64) int {
	s := float64(micros) / 1e6
	if s < burstExact+0.5 {
		return int(s + 0.5)
	}
	return min(burstBins-1, burstExact+1+int(math.Log(s/burstExact)/math.Log(burstStep)))
}

// burstLength is a length in the middle of a bin, in seconds.
func burstLength(bin int) float64 {
	if bin <= burstExact {
		return float64(bin)
	}
	return burstExact * math.Pow(burstStep, float64(bin-burstExact)-0.5)
}

func hours(micros float64) float64 { return micros / 3.6e9 }

// stretch follows a device, or a job on it, through work and pauses.
type stretch struct {
	begun  bool
	active bool
	length int64 // microseconds so far
	worked bool  // there was work before the pause
}

// step goes on for some microseconds.
func (st *stretch) step(u *Use, active bool, micros int64) {
	if st.begun && st.active != active {
		st.turn(u, true)
	}
	st.begun, st.active = true, active
	st.length += micros
}

// turn ends a stretch. Only a pause that work follows is starvation.
func (st *stretch) turn(u *Use, resumed bool) {
	switch {
	case !st.begun:
	case st.active:
		if resumed {
			u.bursts[burstBin(st.length)]++
		}
		st.worked = true
	default:
		u.Longest = max(u.Longest, st.length)
		if resumed && st.worked && st.length >= starvedAfter && st.length < idleAfter {
			u.Starved += st.length
			u.Pauses++
		}
	}
	st.length = 0
}

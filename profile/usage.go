package profile

import (
	"math"

	"capcli/profile/judge"
	"capcli/profile/rhythm"
)

// How long a GPU must do nothing to be more than between two kernels, and how
// long to be given up on rather than waited with. Microseconds.
const (
	starvedAfter = 2_000_000   // shorter pauses are part of the work
	idleAfter    = 600_000_000 // longer ones are no starvation: nobody is at work
)

// mostlyKernel is the utilisation in % from which a device computes although fewer than 1 % of its SMs
// were active: one block on one of 132 SMs is 0.8 %.
const mostlyKernel = 50

// Active tells whether a device computes in a sample: 1 % of its SMs had a warp, or a kernel ran for most
// of the time; where SMs are not told, any kernel. known is false where neither is told.
func (s *Sample) Active() (active, known bool) {
	util, ok := s.Get(UtilGPU)
	if v, has := s.Get(SMActive); has {
		return v >= 1 || ok && util >= mostlyKernel, true
	}
	return util > 0, ok
}

// Use is what was seen of a device, or of a job on its devices. Times are in
// microseconds of one device, so that two devices for a second make two seconds. In a Summary they
// are GPU-time: a second of a MIG instance is its share of a second.
//
// All of it is whole numbers, maxima and Edges, so that a Use of a long time is exactly that of
// its parts: in time by Append, over devices and jobs by Merge. Whoever adds a field adds it to
// both, and to Reset.
type Use struct {
	Watched int64 // time in which samples were there, that of an instance whole
	Seen    int64 // the same as GPU-time
	Held    int64 // of it with a process
	Idle    int64 // held and not active
	Starved int64 // of Idle, in pauses between bursts of work: over 2 s, under 10 min
	Longest int64 // pause while held
	Pauses  int64 // that count as starved
	Energy  Sum   // in eighths of a microjoule, which power and time give without a rest
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
	Clock                  Average // of the SMs, MHz

	Hot    int64        // time in which heat held clocks back
	Capped int64        // time in which the power limit did
	Waits  Waits        // of whole minutes
	Steps  rhythm.Tally // what windows of some minutes show of the length of its steps

	// Parts is what a microsecond of Util and of the other values over time stands for, in parts of
	// accelerator.WholeGPU: values of instances weigh less than those of whole GPUs.
	Parts int64

	Bursts [BurstBins]int64 // active stretches by their length
	Edges  Edges            // stretches under way while held, which do not count yet

	Signs  judge.Tally  // what each minute showed while held
	Rhythm judge.Rhythm // times from a burst to the next within minutes
}

// NewUse returns a Use of nothing whose ranges are set.
func NewUse() *Use {
	u := &Use{Parts: wholeGPU}
	for _, d := range []*Distribution{&u.Util, &u.SM, &u.Tensor, &u.DRAM, &u.Memory} {
		d.Top = 100
	}
	u.Watts.Top = 2048
	return u
}

// Reset makes u a Use of nothing and keeps its memory.
func (u *Use) Reset() {
	old := *u
	*u = Use{Steps: old.Steps, Parts: old.Parts}
	u.Steps.Reset()
	for i, d := range u.distributions() {
		from := old.distributions()[i]
		*d = *from
		d.Reset()
	}
	u.Signs = old.Signs
	clear(u.Signs)
}

func (u *Use) distributions() [6]*Distribution {
	return [...]*Distribution{&u.Util, &u.SM, &u.Tensor, &u.DRAM, &u.Memory, &u.Watts}
}

func (u *Use) averages() [5]*Average {
	return [...]*Average{&u.Occupancy, &u.FP64, &u.FP32, &u.Link, &u.Clock}
}

// gpuTimes are the times that count as GPU-time. Whoever adds such a time to Use adds it here.
func (u *Use) gpuTimes() [numGPUTimes]*int64 {
	return [...]*int64{&u.Seen, &u.Held, &u.Idle, &u.Starved, &u.Shared, &u.Hot, &u.Capped}
}

const numGPUTimes = 7

// weigh adds all of o but its GPU-times and Signs. Its values over time count n-fold, but for power, which only
// whole GPUs have.
func (u *Use) weigh(o *Use, n int64) {
	kept := *o
	kept.Signs = nil
	for _, t := range kept.gpuTimes() {
		*t = 0
	}
	for _, d := range kept.distributions() {
		if d != &kept.Watts {
			*d = d.times(n)
		}
	}
	for _, a := range kept.averages() {
		*a = a.times(n)
	}
	u.Merge(&kept)
}

// spent is the energy of a sample.
type spent struct {
	units   uint64 // eighths of a microjoule
	byPower bool
}

// unitsPerJoule is the resolution of Use.Energy.
const unitsPerJoule = 8_000_000

// add counts a sample that stands for some microseconds.
func (u *Use) add(s *Sample, micros int64, energy spent) {
	u.addWhole(s, micros, energy)
	for i, d := range [...]*Distribution{&u.Util, &u.SM, &u.Tensor, &u.DRAM} {
		if v, ok := s.Get([...]Metric{UtilGPU, SMActive, TensorActive, DRAMActive}[i]); ok {
			d.Add(v, micros)
		}
	}
	for i, a := range [...]*Average{&u.Occupancy, &u.FP64, &u.FP32, &u.Clock} {
		if v, ok := s.Get([...]Metric{SMOccupancy, FP64Active, FP32Active, ClockSM}[i]); ok {
			a.Add(v, micros)
		}
	}
	if v, ok := s.Get(Throttle); ok && v < math.MaxUint32 {
		if uint64(v)&throttledByHeat != 0 {
			u.Hot += micros
		}
		if uint64(v)&throttledByPower != 0 {
			u.Capped += micros
		}
	}
	if used, ok := s.Get(MemUsed); ok {
		u.MemoryBytes = max(u.MemoryBytes, used)
		if total, has := s.Get(MemTotal); has && total > 0 {
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
}

// addWhole counts of a sample what a divided GPU has itself: its instances have the rest.
func (u *Use) addWhole(s *Sample, micros int64, energy spent) {
	u.Watched, u.Seen = u.Watched+micros, u.Seen+micros
	if v, ok := s.Get(Power); ok && !s.Device.MIG() {
		u.Watts.Add(v, micros)
	}
	u.Energy.Add(energy.units)
	u.ByPower = u.ByPower || energy.byPower
}

// hold counts the sample of add as held by one or, where shared is set, by several.
func (u *Use) hold(s *Sample, micros int64, shared bool) {
	u.Held += micros
	if shared {
		u.Shared += micros
	}
	if active, known := s.Active(); known {
		u.Edges.step(u, active, micros)
		if !active {
			u.Idle += micros
		}
	}
}

// Append adds what o has seen of the same device or job on a device right after u, without a gap:
// what was under way at the end of u goes on in o.
func (u *Use) Append(o *Use) {
	u.sum(o)
	u.Edges.join(u, o.Edges)
}

// Merge adds what o has seen on another device or in another job. What is under way in o is over.
func (u *Use) Merge(o *Use) {
	u.sum(o)
	edges := o.Edges
	edges.close(u)
}

// Close ends what is under way: what comes next is not known, or has nothing to do with it.
func (u *Use) Close() { u.Edges.close(u) }

// sum adds all of o but its edges.
func (u *Use) sum(o *Use) {
	times := o.gpuTimes()
	for i, t := range u.gpuTimes() {
		*t += *times[i]
	}
	u.Watched += o.Watched
	u.Waits.Merge(&o.Waits)
	u.Steps.Merge(&o.Steps)
	u.Pauses, u.Longest, u.ByPower = u.Pauses+o.Pauses, max(u.Longest, o.Longest), u.ByPower || o.ByPower
	u.MemoryBytes, u.MemoryTotal = max(u.MemoryBytes, o.MemoryBytes), max(u.MemoryTotal, o.MemoryTotal)
	u.Energy.Merge(o.Energy)
	u.Signs.Merge(o.Signs)
	u.Rhythm.Merge(o.Rhythm)
	from := o.distributions()
	for i, d := range u.distributions() {
		d.Merge(from[i])
	}
	means := o.averages()
	for i, a := range u.averages() {
		a.Merge(means[i])
	}
	for i, n := range o.Bursts {
		u.Bursts[i] += n
	}
}

// Joules is the energy.
func (u *Use) Joules() float64 { return u.Energy.Float() / unitsPerJoule }

// BusyShare is the mean utilisation, from 0 to 1; NaN where it was not reported.
func (u *Use) BusyShare() float64 { return u.Util.Mean() / 100 }

// HeldHours and UsedHours are GPU-hours with a process, and those of them in
// which kernels ran. Used is NaN where utilisation was not reported.
func (u *Use) HeldHours() float64 { return hours(float64(u.Held)) }

// UsedHours is described with HeldHours.
func (u *Use) UsedHours() float64 {
	if u.Util.Micros == 0 {
		return math.NaN()
	}
	return hours(u.Util.Sum.Float() / 800 * float64(u.Parts) / wholeGPU)
}

// Burst is the median length of a stretch of work, in seconds; NaN where there
// was none that ended. Over 20 s it is known to 30 %.
func (u *Use) Burst() float64 {
	total := int64(0)
	for _, n := range u.Bursts {
		total += n
	}
	if total == 0 {
		return math.NaN()
	}
	left := (total + 1) / 2
	for i, n := range u.Bursts {
		if left -= n; left <= 0 {
			return burstLength(i)
		}
	}
	return burstLength(BurstBins - 1)
}

// Bins of the lengths of bursts: each second up to 20, then steps of 30 %.
const (
	BurstBins  = 48 // number of bins
	burstExact = 20
	burstStep  = 1.3
)

func burstBin(micros int64) int {
	s := float64(micros) / 1e6
	if s < burstExact+0.5 {
		return int(s + 0.5)
	}
	return min(BurstBins-1, burstExact+1+int(math.Log(s/burstExact)/math.Log(burstStep)))
}

// burstLength is a length in the middle of a bin, in seconds.
func burstLength(bin int) float64 {
	if bin <= burstExact {
		return float64(bin)
	}
	return burstExact * math.Pow(burstStep, float64(bin-burstExact)-0.5)
}

func hours(micros float64) float64 { return micros / 3.6e9 }

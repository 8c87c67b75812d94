package judge

import "math"

// Thresholds of the signs of a minute. See the sources in the package's documentation.
const (
	leastTime    = 10_000_000 // microseconds of samples: less is no base
	coarseEvery  = 10_000_000 // samples further apart do not show the shape of a minute
	idleShare    = 0.99       // without activity for more of the time: idle
	openShare    = 0.5        // without activity for more, and no pause between bursts: idle
	pausedShare  = 0.15       // in pauses between bursts for more
	wholeUtil    = 90.0       // % of time with a kernel
	mostUtil     = 70.0
	effectiveSM  = 85.0 // % of SMs that good training keeps active
	waitSM       = 60.0 // % of SMs: under, with a kernel all the time, SMs wait
	waitTensor   = 30.0 // % tensor activity: over, the arithmetic is no wait
	smallSM      = 35.0 // % of SMs: under, with a kernel all the time and no link at work
	lightSM      = 25.0
	fullDRAM     = 60.0 // % of peak bandwidth; 60 to 80 is what memory-bound kernels reach
	fullTensor   = 50.0 // % of cycles; 40 to 60 is what large models reach
	fullPipe     = 60.0 // % of cycles of FP32, FP64 or FP16
	stuckSM      = 35.0 // % of SMs that a hung kernel may hold
	stuckQuiet   = 1.0  // % of DRAM, tensor and other pipes: under
	stuckLink    = 200.0
	stuckPower   = 0.45 // of the power limit: under
	stuckFlatW   = 3.0  // W of standard deviation, or 1.5 %
	stuckFlatSM  = 1.5  // % of standard deviation
	nvlinkWaits  = 0.05 // of the peak of NVLink
	pcieWaits    = 0.12 // of the peak of the slot, at most pcieWaitsMiB
	pcieWaitsMiB = 3000.0
	evenRatio    = 0.3    // lesser direction over the larger: over, as much each way
	netWaits     = 1000.0 // MiB/s
	inputWait    = 10.0   // % of time in which tasks wait
	inputNet     = 300.0  // MiB/s received, and little sent: input over the network
	heatShare    = 0.3    // of active time
	powerShare   = 0.5
	heatClock    = 0.95 // of the highest clock: under
	powerClock   = 0.9
	unevenCV     = 0.45 // variation of the time between bursts: under, a rhythm, and over, chance
	leastBursts  = 4
)

// Finding is what a minute shows.
type Finding struct {
	Sign       Sign
	Lost       float64 // share of the minute that brought nothing, 0 to 1
	Confidence Confidence
	Evidence   Evidence
}

// minute is a window with its means.
type minute struct {
	*Window
	mean   [NumSignals]float64 // with activity; NaN is not measured
	coarse bool
	idle   float64 // share of the time
	paused float64
}

// Minute returns what a window shows. The sign is Unknown where that cannot be told.
func Minute(w *Window) Finding {
	m := minute{Window: w, idle: ratio(w.Idle, w.Time), paused: ratio(w.Paused, w.Time)}
	m.coarse = w.Samples == 0 || w.Time/int64(w.Samples) > coarseEvery || w.Samples < 4
	for s := range m.mean {
		m.mean[s] = w.At[1][s].Mean()
	}
	f := m.judge()
	if w.Holders > 1 { // whose activity it is cannot be told
		f.Confidence = min(f.Confidence, Low)
	}
	f.Lost = min(1, max(0, f.Lost))
	f.Evidence = m.evidence()
	return f
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (m *minute) judge() Finding {
	if m.Time < leastTime || m.Unknown == m.Time && !(m.mean[Power] > 0) {
		return Finding{Sign: SignUnknown, Confidence: Low}
	}
	for _, rule := range [...]func(*minute) (Finding, bool){
		(*minute).idling, (*minute).contradictory, (*minute).stuck, (*minute).pausing, (*minute).heat, (*minute).unmeasured,
		(*minute).memory, (*minute).waiting, (*minute).power, (*minute).compute, (*minute).coarseLoad, (*minute).smallKernels, (*minute).light,
	} {
		if f, ok := rule(m); ok {
			return f
		}
	}
	return Finding{SignWork, m.idle, m.levelConfidence(), Evidence{}}
}

// levelConfidence is that of a finding that rests on levels: high, where samples are not coarse.
func (m *minute) levelConfidence() Confidence {
	if m.coarse {
		return Medium
	}
	return High
}

// wholeMean returns the mean of a signal over the whole minute, with and without activity; NaN is not measured.
func (m *minute) wholeMean(s Signal) float64 {
	a, b := &m.At[0][s], &m.At[1][s]
	return (a.Sum + b.Sum) / float64(a.Time+b.Time)
}

// net returns what the box sends and receives, in MiB/s, the lesser direction first.
func (m *minute) net() (lo, hi float64) {
	tx, rx := m.wholeMean(NetTx), m.wholeMean(NetRx)
	return min(tx, rx), max(tx, rx)
}

// idling is a minute without work, or the rest of a minute after work.
func (m *minute) idling() (Finding, bool) {
	if m.Unknown == m.Time || m.idle < idleShare && (m.idle < openShare || m.paused >= pausedShare) {
		return Finding{}, false
	}
	lo, hi := m.net()
	pcie := maxKnown(m.wholeMean(PCIeTx), m.wholeMean(PCIeRx))
	if lo >= netWaits || hi >= netWaits || pcie >= pcieWaitsMiB/2 {
		return Finding{SignIdleTraffic, m.idle, Low, Evidence{}}, true
	}
	return Finding{SignIdle, m.idle, m.levelConfidence(), Evidence{}}, true
}

// contradictory is a minute whose counters deny each other: a counter stands still.
func (m *minute) contradictory() (Finding, bool) {
	flat := func(s Signal) bool { return m.At[1][s].Time > 0 && m.High[s] == m.Low[s] }
	frozen := m.Samples >= 30 && m.mean[SM] >= 5 && flat(SM) && flat(DRAM) && flat(Power) && flat(PCIeRx) && flat(Clock) && m.mean[DRAM] >= 1
	if frozen || m.mean[Util] == 0 && m.mean[SM] >= 5 {
		return Finding{SignUnknown, 0, Low, Evidence{}}, true
	}
	return Finding{}, false
}

// stuck is a kernel that runs all the time and does nothing.
func (m *minute) stuck() (Finding, bool) {
	at := &m.At[1]
	over := func(s Signal, most float64) bool { return at[s].Time > 0 && m.High[s] > most }
	if m.Idle > 0 || m.mean[Util] < wholeUtil || at[Util].Time == 0 && at[SM].Time == 0 || over(SM, stuckSM) {
		return Finding{}, false
	}
	for _, s := range [...]Signal{Tensor, FP64, FP32, FP16, DRAM} {
		if over(s, stuckQuiet) {
			return Finding{}, false
		}
	}
	for _, s := range [...]Signal{PCIeTx, PCIeRx, NVLinkTx, NVLinkRx} {
		if over(s, stuckLink) {
			return Finding{}, false
		}
	}
	watts := m.mean[Power]
	if at[SM].Time > 0 && m.spread(1) > stuckFlatSM || watts > 0 && (m.spread(0) > max(stuckFlatW, 0.015*watts) || watts > stuckPower*orUsual(m.Device.PowerLimit, math.Inf(1))) {
		return Finding{}, false
	}
	sure := Low
	switch {
	case at[SM].Time > 0 && at[DRAM].Time > 0 && at[Tensor].Time > 0 && at[Util].Time > 0:
		sure = High
	case at[SM].Time > 0 && at[DRAM].Time > 0:
		sure = Medium
	case at[SM].Time == 0 && !(watts > 0 && watts <= 0.3*m.Device.PowerLimit && m.Low[Util] >= 99):
		return Finding{}, false // util alone does not tell a hung kernel from a small one
	}
	if m.coarse || at[Power].Time == 0 {
		sure = min(sure, Low)
	}
	return Finding{SignStuck, 1, sure, Evidence{}}, true
}

// pausing is work in bursts with pauses between them.
func (m *minute) pausing() (Finding, bool) {
	if m.coarse || m.paused < pausedShare {
		return Finding{}, false
	}
	lo, hi := m.net()
	switch {
	case maxKnown(m.wholeMean(IOWait), m.wholeMean(CPUWait)) >= inputWait:
		return Finding{SignPausedInput, m.idle, High, Evidence{}}, true
	case hi >= inputNet && lo < evenRatio*hi && m.wholeMean(NetRx) == hi:
		return Finding{SignPausedInput, m.idle, Medium, Evidence{}}, true
	}
	return Finding{SignPaused, m.idle, High, Evidence{}}, true
}

// slowed is the share of work that lower clocks cost.
func (m *minute) slowed() float64 {
	if !(m.mean[Clock] > 0) || m.Device.MaxClock <= 0 {
		return 0
	}
	return 1 - m.mean[Clock]/m.Device.MaxClock
}

func (m *minute) heat() (Finding, bool) {
	return m.capped(SignHeat, m.HeatCap, heatShare, heatClock)
}

func (m *minute) power() (Finding, bool) {
	return m.capped(SignPower, m.PowerCap, powerShare, powerClock)
}

// capped is work whose clocks were held back for a share of the active time.
func (m *minute) capped(s Sign, held int64, share, clock float64) (Finding, bool) {
	if ratio(held, m.CapKnown) < share || m.CapKnown == 0 {
		return Finding{}, false
	}
	if m.Device.MaxClock <= 0 || m.At[1][Clock].Time == 0 {
		return Finding{s, 0, Low, Evidence{}}, true
	}
	return Finding{s, m.slowed(), m.levelConfidence(), Evidence{}}, 1-m.slowed() < clock
}

// unmeasured judges by utilisation and power, where the activity of SMs was not measured.
func (m *minute) unmeasured() (Finding, bool) {
	if m.At[1][SM].Time > 0 || m.At[1][DRAM].Time > 0 && m.mean[DRAM] >= fullDRAM {
		return Finding{}, false
	}
	util, watts := m.mean[Util], m.mean[Power]/m.Device.PowerLimit
	if m.At[1][Util].Time == 0 {
		return Finding{SignUnknown, 0, Low, Evidence{}}, true
	}
	if f, ok := m.power(); ok {
		return f, true
	}
	switch f, waits := m.waiting(); {
	case waits && watts < 0.6:
		f.Confidence, f.Lost = Low, 0
		return f, true
	case util < mostUtil && !m.coarse:
		return Finding{SignLight, 1 - util/100, Low, Evidence{}}, true
	case watts >= 0.7:
		return Finding{SignWork, m.idle, Low, Evidence{}}, true
	}
	return Finding{SignUnknown, 0, Low, Evidence{}}, true
}

// memory is work near the peak of memory bandwidth.
func (m *minute) memory() (Finding, bool) {
	if !(m.mean[DRAM] >= fullDRAM) || m.mean[Tensor] > m.mean[DRAM] {
		return Finding{}, false
	}
	return Finding{SignMemory, m.idle, m.levelConfidence(), Evidence{}}, true
}

// compute is work near the peak of an arithmetic pipe.
func (m *minute) compute() (Finding, bool) {
	pipe := maxKnown(m.mean[FP64], maxKnown(m.mean[FP32], m.mean[FP16]))
	if !(m.mean[Tensor] >= fullTensor) && !(pipe >= fullPipe) {
		return Finding{}, false
	}
	return Finding{SignCompute, m.idle, m.levelConfidence(), Evidence{}}, true
}

// waiting is a minute in which kernels run, SMs wait, and a link or the network is at work.
func (m *minute) waiting() (Finding, bool) {
	if m.mean[Util] < mostUtil || m.mean[SM] >= waitSM || m.mean[Tensor] >= waitTensor {
		return Finding{}, false
	}
	nvlink := maxKnown(m.mean[NVLinkTx], m.mean[NVLinkRx])
	tx, rx := m.mean[PCIeTx], m.mean[PCIeRx]
	pcie := maxKnown(tx, rx)
	byNVLink := nvlink >= nvlinkWaits*m.Device.nvlink()
	byPCIe := pcie >= min(pcieWaits*m.Device.pcie(), pcieWaitsMiB)
	lost := 1 - m.mean[SM]/effectiveSM
	if lo, hi := m.net(); (byNVLink || byPCIe) && lo >= netWaits && lo >= evenRatio*hi {
		return Finding{SignNetwork, lost, m.levelConfidence(), Evidence{}}, true
	}
	switch {
	case byNVLink && !(byPCIe && pcie/m.Device.pcie() > nvlink/m.Device.nvlink()): // the link nearest to its peak
		return Finding{SignNVLink, lost, m.levelConfidence(), Evidence{}}, true
	case byPCIe && min(tx, rx) >= evenRatio*pcie:
		return Finding{SignPCIeEven, lost, m.levelConfidence(), Evidence{}}, true
	case byPCIe:
		return Finding{SignPCIeOneWay, lost, m.levelConfidence(), Evidence{}}, true
	}
	return Finding{}, false
}

// coarseLoad is a middling load in samples too coarse to tell a light load from bursts and pauses.
func (m *minute) coarseLoad() (Finding, bool) {
	return Finding{SignUnknown, 0, Low, Evidence{}}, m.coarse && m.mean[Util] < mostUtil
}

// smallKernels is a kernel all the time on a small part of the GPU, with no link at work.
func (m *minute) smallKernels() (Finding, bool) {
	if !(m.mean[Util] >= mostUtil) || !(m.mean[SM] < smallSM) || m.mean[DRAM] >= smallSM {
		return Finding{}, false
	}
	sure := Medium
	if m.At[1][PCIeRx].Time > 0 && m.At[1][DRAM].Time > 0 {
		sure = m.levelConfidence()
	}
	return Finding{SignSmall, 1 - m.mean[SM]/effectiveSM, sure, Evidence{}}, true
}

// light is a load that leaves most of the GPU free, or gaps between kernels.
func (m *minute) light() (Finding, bool) {
	util := m.mean[Util]
	if m.mean[SM] < lightSM {
		return Finding{SignLight, 1 - m.mean[SM]/effectiveSM, m.levelConfidence(), Evidence{}}, true
	}
	if util < mostUtil {
		if maxKnown(m.wholeMean(PCIeTx), m.wholeMean(PCIeRx)) >= pcieWaitsMiB/2 { // as at a checkpoint
			return Finding{SignPCIeOneWay, 1 - util/100, Low, Evidence{}}, true
		}
		return Finding{SignGaps, 1 - util/100, Medium, Evidence{}}, true
	}
	return Finding{}, false
}

package judge

import "math"

// Datum is a measurement that findings carry as evidence.
type Datum uint8

// The evidence, in the order in which it is shown.
const (
	DatumUtil Datum = iota
	DatumSM
	DatumTensor
	DatumDRAM
	DatumPower
	DatumClock
	DatumPCIeTx
	DatumPCIeRx
	DatumNVLink
	DatumNet
	DatumPaused
	DatumCollect
	DatumCapped
	DatumWait
	NumData
)

// DatumNames are the JSON keys of the evidence, with the unit.
var DatumNames = [NumData]string{
	"util_gpu_pct", "sm_active_pct", "tensor_active_pct", "dram_active_pct", "power_w", "clock_sm_mhz",
	"pcie_tx_mib_s", "pcie_rx_mib_s", "nvlink_mib_s", "net_mib_s", "paused_pct", "collective_pct", "clocks_held_back_pct", "host_wait_pct",
}

// Evidence is the values that a finding rests on: means of a minute on a grid of 1/8; NaN is not
// measured. Known says which are there.
type Evidence struct {
	Values [NumData]float64
	Known  [NumData]bool
}

func (e *Evidence) set(d Datum, v float64) {
	if v == v && !math.IsInf(v, 0) {
		e.Values[d], e.Known[d] = math.Round(v*8)/8, true
	}
}

func (m *minute) evidence() Evidence {
	var e Evidence
	for d, s := range plainData {
		e.set(Datum(d), m.wholeMean(s))
	}
	e.set(DatumNVLink, maxKnown(m.wholeMean(NVLinkTx), m.wholeMean(NVLinkRx)))
	_, hi := m.net()
	e.set(DatumNet, hi)
	if m.Time > m.Unknown && !m.coarse {
		e.set(DatumPaused, 100*m.paused)
	}
	if m.Turns >= leastBursts {
		e.set(DatumCollect, 100*ratio(m.Collect, m.Collect+m.Calculate))
	} else if share := m.linkShare(); share > 0 {
		e.set(DatumCollect, 100*share)
	}
	if m.CapKnown > 0 {
		e.set(DatumCapped, 100*ratio(max(m.PowerCap, m.HeatCap), m.CapKnown))
	}
	e.set(DatumWait, maxKnown(m.wholeMean(IOWait), m.wholeMean(CPUWait)))
	return e
}

// plainData are the signals whose means are evidence as they are.
var plainData = [...]Signal{DatumUtil: Util, DatumSM: SM, DatumTensor: Tensor, DatumDRAM: DRAM, DatumPower: Power, DatumClock: Clock, DatumPCIeTx: PCIeTx, DatumPCIeRx: PCIeRx}

// linkShare is the least share of time in which the link was at work, if it was at its peak whenever it
// was: the traffic over the peak.
func (m *minute) linkShare() float64 {
	if m.Device.PeakNVLink <= 0 {
		return math.NaN()
	}
	return min(1, maxKnown(m.mean[NVLinkTx], m.mean[NVLinkRx])/m.Device.PeakNVLink)
}

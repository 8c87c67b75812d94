//go:build linux && cgo && nvml

package nvml

import (
	driver "github.com/NVIDIA/go-nvml/pkg/nvml"

	"capcli/profile"
)

// getter is a call that gives one metric. The getters of one metric are tried in
// order until one gives it.
type getter struct {
	metric profile.Metric
	sym    symbol
	state  bool // hardly moves: asked every five seconds
	slow   bool // holds the driver up: only where SourceOptions.Slow
	get    func(driver.Device) (float64, driver.Return)
}

// In which place of the table the last resort for power looks.
const powerGetter = 0

// numGetters is the length of getters.
const numGetters = 17

// The units of NVML: mW, mJ, MHz, KB/s (1024 bytes here, as its MB/s are made of
// them by others; the manual does not say).
var getters = [numGetters]getter{
	powerGetter: {profile.Power, symPower, false, false, func(d driver.Device) (float64, driver.Return) {
		mw, ret := d.GetPowerUsage()
		return float64(mw) / 1e3, ret
	}},
	{profile.Energy, symEnergy, false, false, func(d driver.Device) (float64, driver.Return) {
		mj, ret := d.GetTotalEnergyConsumption()
		return float64(mj) / 1e3, ret
	}},
	{profile.Temp, symTemp, false, false, func(d driver.Device) (float64, driver.Return) {
		t, ret := d.GetTemperatureV().V1()
		return float64(t.Temperature), ret
	}},
	{profile.Temp, symTempOld, false, false, func(d driver.Device) (float64, driver.Return) {
		t, ret := d.GetTemperature(driver.TEMPERATURE_GPU) // drivers before CUDA 13 have no other
		return float64(t), ret
	}},
	{profile.ClockSM, symClock, false, false, func(d driver.Device) (float64, driver.Return) {
		mhz, ret := d.GetClockInfo(driver.CLOCK_SM)
		return float64(mhz), ret
	}},
	{profile.ClockMem, symClock, false, false, func(d driver.Device) (float64, driver.Return) {
		mhz, ret := d.GetClockInfo(driver.CLOCK_MEM)
		return float64(mhz), ret
	}},
	{profile.PState, symPState, false, false, func(d driver.Device) (float64, driver.Return) {
		p, ret := d.GetPerformanceState()
		return float64(p), ret
	}},
	{profile.Throttle, symReasons, false, false, func(d driver.Device) (float64, driver.Return) {
		bits, ret := d.GetCurrentClocksEventReasons()
		return float64(bits), ret
	}},
	{profile.Throttle, symReasonsOld, false, false, func(d driver.Device) (float64, driver.Return) {
		bits, ret := d.GetCurrentClocksThrottleReasons()
		return float64(bits), ret
	}},
	{profile.UtilEnc, symEncoder, false, false, func(d driver.Device) (float64, driver.Return) {
		pct, _, ret := d.GetEncoderUtilization()
		return float64(pct), ret
	}},
	{profile.UtilDec, symDecoder, false, false, func(d driver.Device) (float64, driver.Return) {
		pct, _, ret := d.GetDecoderUtilization()
		return float64(pct), ret
	}},
	{profile.Fan, symFan, true, false, func(d driver.Device) (float64, driver.Return) {
		pct, ret := d.GetFanSpeed()
		return float64(pct), ret
	}},
	{profile.PowerLimit, symLimit, true, false, func(d driver.Device) (float64, driver.Return) {
		mw, ret := d.GetEnforcedPowerLimit()
		return float64(mw) / 1e3, ret
	}},
	{profile.ECCCorrected, symECC, true, false, func(d driver.Device) (float64, driver.Return) {
		n, ret := d.GetTotalEccErrors(driver.MEMORY_ERROR_TYPE_CORRECTED, driver.VOLATILE_ECC)
		return float64(n), ret
	}},
	{profile.ECCUncorrected, symECC, true, false, func(d driver.Device) (float64, driver.Return) {
		n, ret := d.GetTotalEccErrors(driver.MEMORY_ERROR_TYPE_UNCORRECTED, driver.VOLATILE_ECC)
		return float64(n), ret
	}},
	{profile.PCIeTx, symPCIe, false, true, func(d driver.Device) (float64, driver.Return) {
		kb, ret := d.GetPcieThroughput(driver.PCIE_UTIL_TX_BYTES)
		return float64(kb) / 1024, ret
	}},
	{profile.PCIeRx, symPCIe, false, true, func(d driver.Device) (float64, driver.Return) {
		kb, ret := d.GetPcieThroughput(driver.PCIE_UTIL_RX_BYTES)
		return float64(kb) / 1024, ret
	}},
}

// callGetters asks the getters for what is not known yet.
func (g *gpu) callGetters(s *profile.Sample, o *order) {
	for i := range getters {
		x := &getters[i]
		switch {
		case s.Why[x.metric] == profile.Known, x.state && !o.state, x.slow && !g.slow:
			continue
		case !g.lib.has[x.sym]:
			g.miss(s, x.metric, profile.NoSymbol)
			continue
		case g.never[i]:
			g.miss(s, x.metric, profile.Unsupported)
			continue
		}
		v, ret := x.get(g.handle)
		switch c := g.note(code(ret)); c {
		case success:
			put(s, x.metric, v)
		default:
			g.never[i] = c == notSupported
			g.miss(s, x.metric, c.reason())
		}
		if g.failed() {
			return
		}
	}
}

// kept are the metrics that hardly move.
var keptMetrics = [...]profile.Metric{profile.Fan, profile.PowerLimit, profile.ECCCorrected, profile.ECCUncorrected}

// keep repeats what hardly moves until it is asked again.
func (g *gpu) keep(s *profile.Sample, o *order) {
	for _, m := range keptMetrics {
		if !o.state {
			s.Values[m], s.Why[m] = g.kept.Values[m], g.kept.Why[m]
			continue
		}
		was, known := g.kept.Get(m)
		now, still := s.Get(m)
		if m == profile.ECCUncorrected && known && still && now > was && !g.eccEvents {
			g.eccRose = int64(now - was)
		}
		g.kept.Values[m], g.kept.Why[m] = s.Values[m], s.Why[m]
	}
}

// utilisation is the mean of the driver's own samples since the last tick, or
// its latest figure where there are none: an idle GPU has none, and one that is
// divided never has.
func (g *gpu) utilisation(s *profile.Sample, _ *order) {
	if !g.lib.has[symUtil] {
		g.miss(s, profile.UtilGPU, profile.NoSymbol)
		g.miss(s, profile.UtilMem, profile.NoSymbol)
	} else if u, ret := g.handle.GetUtilizationRates(); g.note(code(ret)) == success {
		put(s, profile.UtilGPU, float64(u.Gpu))
		put(s, profile.UtilMem, float64(u.Memory))
	} else {
		g.miss(s, profile.UtilGPU, code(ret).reason())
		g.miss(s, profile.UtilMem, code(ret).reason())
	}
	if g.mig || g.failed() || !g.lib.has[symSamples] || g.every < historyFrom {
		return
	}
	g.history(s, profile.UtilGPU, driver.GPU_UTILIZATION_SAMPLES, &g.lastSeen[0])
	g.history(s, profile.UtilMem, driver.MEMORY_UTILIZATION_SAMPLES, &g.lastSeen[1])
}

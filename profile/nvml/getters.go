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
	powerGetter: {profile.Power, symPower, false, false, figure(driver.Device.GetPowerUsage, 1e3)},
	{profile.Energy, symEnergy, false, false, figure(driver.Device.GetTotalEnergyConsumption, 1e3)},
	{profile.Temp, symTemp, false, false, func(d driver.Device) (float64, driver.Return) {
		t, ret := d.GetTemperatureV().V1()
		return float64(t.Temperature), ret
	}},
	{profile.Temp, symTempOld, false, false, figureOf(driver.Device.GetTemperature, driver.TEMPERATURE_GPU, 1)}, // drivers before CUDA 13 have no other
	{profile.ClockSM, symClock, false, false, figureOf(driver.Device.GetClockInfo, driver.CLOCK_SM, 1)},
	{profile.ClockMem, symClock, false, false, figureOf(driver.Device.GetClockInfo, driver.CLOCK_MEM, 1)},
	{profile.PState, symPState, false, false, figure(driver.Device.GetPerformanceState, 1)},
	{profile.Throttle, symReasons, false, false, figure(driver.Device.GetCurrentClocksEventReasons, 1)},
	{profile.Throttle, symReasonsOld, false, false, figure(driver.Device.GetCurrentClocksThrottleReasons, 1)},
	{profile.UtilEnc, symEncoder, false, false, firstFigure(driver.Device.GetEncoderUtilization)},
	{profile.UtilDec, symDecoder, false, false, firstFigure(driver.Device.GetDecoderUtilization)},
	{profile.Fan, symFan, true, false, figure(driver.Device.GetFanSpeed, 1)},
	{profile.PowerLimit, symLimit, true, false, figure(driver.Device.GetEnforcedPowerLimit, 1e3)},
	{profile.ECCCorrected, symECC, true, false, eccErrors(driver.MEMORY_ERROR_TYPE_CORRECTED)},
	{profile.ECCUncorrected, symECC, true, false, eccErrors(driver.MEMORY_ERROR_TYPE_UNCORRECTED)},
	{profile.PCIeTx, symPCIe, false, true, figureOf(driver.Device.GetPcieThroughput, driver.PCIE_UTIL_TX_BYTES, 1024)},
	{profile.PCIeRx, symPCIe, false, true, figureOf(driver.Device.GetPcieThroughput, driver.PCIE_UTIL_RX_BYTES, 1024)},
}

type integer interface {
	~int | ~int32 | ~uint32 | ~uint64
}

// figure returns a call that gives one figure, over per.
func figure[N integer](get func(driver.Device) (N, driver.Return), per float64) func(driver.Device) (float64, driver.Return) {
	return func(d driver.Device) (float64, driver.Return) {
		n, ret := get(d)
		return float64(n) / per, ret
	}
}

// figureOf returns a call that gives the figure of one kind, over per.
func figureOf[N integer, K any](get func(driver.Device, K) (N, driver.Return), kind K, per float64) func(driver.Device) (float64, driver.Return) {
	return figure(func(d driver.Device) (N, driver.Return) { return get(d, kind) }, per)
}

// firstFigure returns a call that gives two figures, of which the first counts.
func firstFigure(get func(driver.Device) (uint32, uint32, driver.Return)) func(driver.Device) (float64, driver.Return) {
	return figure(func(d driver.Device) (uint32, driver.Return) {
		n, _, ret := get(d)
		return n, ret
	}, 1)
}

// eccErrors returns a call that counts memory errors since the driver was loaded.
func eccErrors(kind driver.MemoryErrorType) func(driver.Device) (float64, driver.Return) {
	return figure(func(d driver.Device) (uint64, driver.Return) { return d.GetTotalEccErrors(kind, driver.VOLATILE_ECC) }, 1)
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

//go:build linux && cgo && nvml

package nvml

import (
	driver "github.com/NVIDIA/go-nvml/pkg/nvml"

	"capcli/profile"
)

// getter is a call that reads one metric. The getters of the same metric are tried in order until
// one succeeds.
type getter struct {
	metric profile.Metric
	sym    symbol
	state  bool // rarely changes: asked every five seconds
	slow   bool // slow in the driver: asked only with SourceOptions.Slow
	get    func(driver.Device) (float64, driver.Return)
}

// powerGetter is the index in getters of the getter of power.
const powerGetter = 0

// numGetters is the length of getters.
const numGetters = 20

// getters are the getters in the order they are called. Units of NVML: mW, mJ, MHz, KB/s. A KB is
// taken as 1024 bytes, as other tools do; the manual does not say.
var getters = [numGetters]getter{
	powerGetter: {profile.Power, symPower, false, false, figure(driver.Device.GetPowerUsage, 1e3)},
	{profile.Energy, symEnergy, false, false, figure(driver.Device.GetTotalEnergyConsumption, 1e3)},
	{profile.Temp, symTemp, false, false, func(d driver.Device) (float64, driver.Return) {
		t, ret := d.GetTemperatureV().V1()
		return float64(t.Temperature), ret
	}},
	{profile.Temp, symTempOld, false, false, figureOf(driver.Device.GetTemperature, driver.TEMPERATURE_GPU, 1)}, // for drivers before CUDA 13
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
	{profile.PCIeReplays, symReplays, true, false, figure(driver.Device.GetPcieReplayCounter, 1)},
	{profile.RowsRemapped, symRemapped, true, false, func(d driver.Device) (float64, driver.Return) {
		corrected, not, _, _, ret := d.GetRemappedRows()
		return float64(corrected + not), ret
	}},
	{profile.RowsPending, symRemapped, true, false, func(d driver.Device) (float64, driver.Return) {
		_, _, pending, _, ret := d.GetRemappedRows()
		if pending {
			return 1, ret
		}
		return 0, ret
	}},
	{profile.PCIeTx, symPCIe, false, true, figureOf(driver.Device.GetPcieThroughput, driver.PCIE_UTIL_TX_BYTES, 1024)},
	{profile.PCIeRx, symPCIe, false, true, figureOf(driver.Device.GetPcieThroughput, driver.PCIE_UTIL_RX_BYTES, 1024)},
}

type integer interface {
	~int | ~int32 | ~uint32 | ~uint64
}

// figure returns a getter of the result of get divided by per.
func figure[N integer](get func(driver.Device) (N, driver.Return), per float64) func(driver.Device) (float64, driver.Return) {
	return func(d driver.Device) (float64, driver.Return) {
		n, ret := get(d)
		return float64(n) / per, ret
	}
}

// figureOf returns a getter of the result of get for kind, divided by per.
func figureOf[N integer, K any](get func(driver.Device, K) (N, driver.Return), kind K, per float64) func(driver.Device) (float64, driver.Return) {
	return figure(func(d driver.Device) (N, driver.Return) { return get(d, kind) }, per)
}

// firstFigure returns a getter of the first of the two results of get.
func firstFigure(get func(driver.Device) (uint32, uint32, driver.Return)) func(driver.Device) (float64, driver.Return) {
	return figure(func(d driver.Device) (uint32, driver.Return) {
		n, _, ret := get(d)
		return n, ret
	}, 1)
}

// eccErrors returns a getter of the memory errors of one kind since the driver was loaded.
func eccErrors(kind driver.MemoryErrorType) func(driver.Device) (float64, driver.Return) {
	return figure(func(d driver.Device) (uint64, driver.Return) { return d.GetTotalEccErrors(kind, driver.VOLATILE_ECC) }, 1)
}

// callGetters calls the getters of the metrics that are not known yet.
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

// keptMetrics are the metrics that rarely change.
var keptMetrics = [...]profile.Metric{
	profile.Fan, profile.PowerLimit, profile.ECCCorrected, profile.ECCUncorrected, profile.ThrottlePower, profile.ThrottleThermal,
	profile.PCIeReplays, profile.NVLinkErrors, profile.RowsRemapped, profile.RowsPending,
}

// keep repeats the last values of keptMetrics in the ticks that do not ask for them. It sets
// eccRose where uncorrected errors grew and no event reports them.
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

// utilisation puts the mean of the driver's own samples since the last tick, or the latest figure
// where there are none. An idle GPU has no samples, and neither has a divided one.
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

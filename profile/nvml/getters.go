//go:build linux && cgo

package nvml

import (
	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// getter is a call that reads one metric. The getters of the same metric are tried in order until
// one succeeds.
type getter struct {
	metric profile.Metric
	sym    driver.Symbol
	state  bool // rarely changes: asked every five seconds
	slow   bool // slow in the driver: asked only with SourceOptions.Slow
	get    func(driver.Device, driver.Symbol) (float64, driver.Return)
}

// powerGetter is the index in getters of the getter of power.
const powerGetter = 0

// numGetters is the length of getters.
const numGetters = 20

// getters are the getters in the order they are called. Units of NVML: mW, mJ, MHz, KB/s. A KB is
// taken as 1024 bytes, as other tools do; the manual does not say.
var getters = [numGetters]getter{
	powerGetter: {profile.Power, driver.SymPower, false, false, numberPer(1e3)},
	{profile.Energy, driver.SymEnergy, false, false, longNumberPer(1e3)},
	{profile.Temp, driver.SymTemp, false, false, temperatureV},
	{profile.Temp, driver.SymTempOld, false, false, numberOf(driver.TemperatureGPU, 1)}, // for drivers before CUDA 13
	{profile.ClockSM, driver.SymClock, false, false, numberOf(driver.ClockSM, 1)},
	{profile.ClockMem, driver.SymClock, false, false, numberOf(driver.ClockMem, 1)},
	{profile.PState, driver.SymPState, false, false, numberPer(1)},
	{profile.Throttle, driver.SymReasons, false, false, longNumberPer(1)},
	{profile.Throttle, driver.SymReasonsOld, false, false, longNumberPer(1)},
	{profile.UtilEnc, driver.SymEncoder, false, false, firstOfPair},
	{profile.UtilDec, driver.SymDecoder, false, false, firstOfPair},
	{profile.Fan, driver.SymFan, true, false, numberPer(1)},
	{profile.PowerLimit, driver.SymLimit, true, false, numberPer(1e3)},
	{profile.ECCCorrected, driver.SymECC, true, false, errorsOf(driver.MemoryErrorCorrected)},
	{profile.ECCUncorrected, driver.SymECC, true, false, errorsOf(driver.MemoryErrorUncorrected)},
	{profile.PCIeReplays, driver.SymReplays, true, false, numberPer(1)},
	{profile.RowsRemapped, driver.SymRemapped, true, false, func(d driver.Device, _ driver.Symbol) (float64, driver.Return) {
		corrected, not, _, _, ret := d.GetRemappedRows()
		return float64(corrected + not), ret
	}},
	{profile.RowsPending, driver.SymRemapped, true, false, func(d driver.Device, _ driver.Symbol) (float64, driver.Return) {
		_, _, pending, _, ret := d.GetRemappedRows()
		if pending {
			return 1, ret
		}
		return 0, ret
	}},
	{profile.PCIeTx, driver.SymPCIe, false, true, numberOf(driver.PCIeTxBytes, 1024)},
	{profile.PCIeRx, driver.SymPCIe, false, true, numberOf(driver.PCIeRxBytes, 1024)},
}

// numberPer returns a getter of a number divided by per.
func numberPer(per float64) func(driver.Device, driver.Symbol) (float64, driver.Return) {
	return func(d driver.Device, s driver.Symbol) (float64, driver.Return) {
		n, ret := d.Number(s)
		return float64(n) / per, ret
	}
}

// longNumberPer returns a getter of a number of 64 bits divided by per.
func longNumberPer(per float64) func(driver.Device, driver.Symbol) (float64, driver.Return) {
	return func(d driver.Device, s driver.Symbol) (float64, driver.Return) {
		n, ret := d.LongNumber(s)
		return float64(n) / per, ret
	}
}

// numberOf returns a getter of the number of a kind divided by per.
func numberOf(kind uint32, per float64) func(driver.Device, driver.Symbol) (float64, driver.Return) {
	return func(d driver.Device, s driver.Symbol) (float64, driver.Return) {
		n, ret := d.NumberOf(s, kind)
		return float64(n) / per, ret
	}
}

// firstOfPair is the getter of the first of two numbers.
func firstOfPair(d driver.Device, s driver.Symbol) (float64, driver.Return) {
	n, _, ret := d.Pair(s)
	return float64(n), ret
}

// temperatureV is the getter of the temperature since CUDA 13.
func temperatureV(d driver.Device, _ driver.Symbol) (float64, driver.Return) {
	n, ret := d.GetTemperatureV()
	return float64(n), ret
}

// errorsOf returns the getter of the memory errors of a kind.
func errorsOf(kind uint32) func(driver.Device, driver.Symbol) (float64, driver.Return) {
	return func(d driver.Device, _ driver.Symbol) (float64, driver.Return) {
		n, ret := d.GetTotalEccErrors(kind)
		return float64(n), ret
	}
}

// callGetters calls the getters of the metrics that are not known yet.
func (g *gpu) callGetters(s *profile.Sample, o *order) {
	for i := range getters {
		x := &getters[i]
		switch {
		case s.Why[x.metric] == profile.Known, x.state && !o.state, x.slow && !g.slow:
			continue
		case !g.lib.lib.Has(x.sym):
			g.miss(s, x.metric, profile.NoSymbol)
			continue
		case g.never[i]:
			g.miss(s, x.metric, profile.Unsupported)
			continue
		}
		v, ret := x.get(g.handle, x.sym)
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
	if !g.lib.lib.Has(driver.SymUtil) {
		g.miss(s, profile.UtilGPU, profile.NoSymbol)
		g.miss(s, profile.UtilMem, profile.NoSymbol)
	} else if u, ret := g.handle.GetUtilizationRates(); g.note(code(ret)) == success {
		put(s, profile.UtilGPU, float64(u.GPU))
		put(s, profile.UtilMem, float64(u.Memory))
	} else {
		g.miss(s, profile.UtilGPU, code(ret).reason())
		g.miss(s, profile.UtilMem, code(ret).reason())
	}
	if g.mig || g.failed() || !g.lib.lib.Has(driver.SymSamples) || g.every < historyFrom {
		return
	}
	g.history(s, profile.UtilGPU, driver.SamplesUtilGPU, &g.lastSeen[0])
	g.history(s, profile.UtilMem, driver.SamplesUtilMem, &g.lastSeen[1])
}

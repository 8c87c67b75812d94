package nvml

import "capcli/profile"

// most is the largest value of a metric that can be; 0 is no limit. The largest
// boards draw a tenth of the power limit here, and the fastest links carry a
// tenth of theirs.
var most = [profile.NumMetrics]float64{
	profile.UtilGPU:        100,
	profile.UtilMem:        100,
	profile.SMActive:       100,
	profile.SMOccupancy:    100,
	profile.TensorActive:   100,
	profile.DRAMActive:     100,
	profile.FP64Active:     100,
	profile.FP32Active:     100,
	profile.FP16Active:     100,
	profile.MemUsed:        1 << 50,
	profile.MemReserved:    1 << 50,
	profile.MemTotal:       1 << 50,
	profile.Power:          10_000,
	profile.PowerLimit:     10_000,
	profile.Energy:         1 << 50,
	profile.Temp:           150,
	profile.MemTemp:        150,
	profile.ClockSM:        20_000,
	profile.ClockMem:       40_000,
	profile.PState:         15,
	profile.Throttle:       1 << 52,
	profile.Fan:            200, // of the speed meant for noise: more than 100 % is possible
	profile.PCIeTx:         1 << 19,
	profile.PCIeRx:         1 << 19,
	profile.NVLinkTx:       1 << 24,
	profile.NVLinkRx:       1 << 24,
	profile.ECCCorrected:   1 << 52,
	profile.ECCUncorrected: 1 << 52,
	profile.UtilEnc:        100,
	profile.UtilDec:        100,
}

// nonzero are the metrics of which 0 is a blank: a GPU that answers is powered,
// warm and clocked.
var nonzero = [profile.NumMetrics]bool{
	profile.MemTotal:   true,
	profile.Power:      true,
	profile.PowerLimit: true,
	profile.Temp:       true,
	profile.MemTemp:    true,
	profile.ClockSM:    true,
	profile.ClockMem:   true,
}

// slack is what GPM's rounding may put on top of 100 %.
const slack = 101

// put gives a metric the value, or OutOfRange where it cannot be.
func put(s *profile.Sample, m profile.Metric, v float64) {
	top := most[m]
	if top == 100 && v > top && v <= slack && m >= profile.SMActive && m <= profile.FP16Active {
		v = top
	}
	if top > 0 && v > top || nonzero[m] && v == 0 {
		s.Miss(m, profile.OutOfRange)
		return
	}
	s.Set(m, v)
}

package nvml

import "capcli/profile"

// most is the largest plausible value of each metric, in its unit; 0 is no limit. The largest
// boards draw a tenth of the limit of power, and the fastest links carry a tenth of theirs.
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
	profile.Fan:            200, // % of the speed intended for noise, so over 100 is possible
	profile.PCIeTx:         1 << 19,
	profile.PCIeRx:         1 << 19,
	profile.NVLinkTx:       1 << 24,
	profile.NVLinkRx:       1 << 24,
	profile.ECCCorrected:   1 << 52,
	profile.ECCUncorrected: 1 << 52,
	profile.UtilEnc:        100,
	profile.UtilDec:        100,

	profile.ThrottlePower:   1 << 52,
	profile.ThrottleThermal: 1 << 52,
	profile.PCIeReplays:     1 << 52,
	profile.NVLinkErrors:    1 << 52,
	profile.RowsRemapped:    1 << 52,
	profile.RowsPending:     1,
}

// nonzero are the metrics for which 0 means no value: a GPU that answers has power, temperature
// and clocks.
var nonzero = [profile.NumMetrics]bool{
	profile.MemTotal:   true,
	profile.Power:      true,
	profile.PowerLimit: true,
	profile.Temp:       true,
	profile.MemTemp:    true,
	profile.ClockSM:    true,
	profile.ClockMem:   true,
}

// slack is the largest percentage that GPM gives for 100 % by its rounding.
const slack = 101

// put sets a metric to v, or to OutOfRange where v is not plausible.
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

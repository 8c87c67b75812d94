package forecast

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// PeriodErrors are how far off the figures of one kind of period, such as the mean
// of a week or its highest hour, were when they were forecast from past starts: see
// PeriodError.
type PeriodErrors struct {
	Means, Peaks []float64
	Starts       int // that the errors come from
}

// PeriodCalibration says by how much the ranges of a kind of period must be set:
// wider about their means by MeanScale, never narrower; peaks moved by PeakShift
// half widths of their 80 % range and then wider by PeakScale.
type PeriodCalibration struct {
	MeanScale            float64
	PeakShift, PeakScale float64
}

// Starts count for so much against what the models say of themselves, no range
// becomes more than so many times wider or narrower, and a calm
// stretch is poorer evidence than a surprise.
const (
	startsTrusted = 4
	mostScale     = 4
	calmTrust     = 0.75
)

// PeriodError is what came less the middle of what futures said, over half of the
// width of their 80 % range. It sorts futures; ok is false where they do not differ.
func PeriodError(came float64, futures []float64) (e float64, ok bool) {
	slices.Sort(futures)
	half := (model.Quantile(futures, 0.9) - model.Quantile(futures, 0.1)) / 2
	e = (came - model.Quantile(futures, 0.5)) / half
	return e, model.IsFinite(e)
}

// Calibrate sets ranges by how far those of the past were off (split conformal
// prediction, as calibration has it for steps). The means stay, for they are those of
// the steps, and their ranges only grow; those of peaks move and shrink as well, for
// the highest of many steps takes all of the futures' noise to one side, real or not.
func (p PeriodErrors) Calibrate() PeriodCalibration {
	trust := float64(p.Starts) / float64(p.Starts+startsTrusted)
	c := PeriodCalibration{MeanScale: max(1, scaleOf(p.Means, 0, trust))}
	if len(p.Peaks) > 0 {
		c.PeakShift = trust * max(-mostScale, min(mostScale, model.Median(p.Peaks)))
	}
	c.PeakScale = scaleOf(p.Peaks, c.PeakShift, trust)
	return c
}

// scaleOf is how much wider ranges must be, for 80 % of the errors to lie in 80 %
// ranges.
func scaleOf(errs []float64, shift, trust float64) float64 {
	if len(errs) == 0 {
		return 1
	}
	off := make([]float64, len(errs))
	for i, e := range errs {
		off[i] = math.Abs(e - shift)
	}
	slices.Sort(off)
	at := int(math.Ceil(0.8*float64(len(off)+1))) - 1
	q := off[max(0, min(len(off)-1, at))]
	pull := math.Log(max(1.0/mostScale, min(mostScale, q)))
	if pull < 0 {
		trust *= calmTrust
	}
	return math.Exp(trust * pull)
}

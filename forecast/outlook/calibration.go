package outlook

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// PeriodTrial describes how one kind of period, such as a week, was tried on the past, and how
// that calibrates the ranges of such periods. The distance of a range from the mean is
// multiplied by MeanScale, 1 or more. The range of a peak is moved by PeakShift and then
// multiplied by PeakScale.
type PeriodTrial struct {
	Horizon   string  `json:"horizon"`
	Steps     int     `json:"steps"`
	Tried     int     `json:"tried"`
	Starts    int     `json:"starts"`
	MeanScale float64 `json:"mean_range_scaled"`
	PeakShift float64 `json:"peak_shifted"` // in half widths of the 80 % range
	PeakScale float64 `json:"peak_range_scaled"`
}

// triedPeriods holds the errors of one kind of period from past starts: see periodError.
type triedPeriods struct {
	window
	means, peaks []float64
	starts       int // number of starts that gave errors
}

const (
	startsTrusted = 4    // number of starts that weigh as much as the models' own ranges
	mostScale     = 4    // the largest factor by which a range becomes wider or narrower
	calmTrust     = 0.75 // weight of errors that are smaller than expected, which are weaker evidence
)

// periodError returns the actual value minus the median of the futures, over the half width of
// their 80 % range. It sorts futures. ok is false where the result is not finite, as where
// futures do not differ.
func periodError(came float64, futures []float64) (e float64, ok bool) {
	slices.Sort(futures)
	half := (model.Quantile(futures, 0.9) - model.Quantile(futures, 0.1)) / 2
	e = (came - model.Quantile(futures, 0.5)) / half
	return e, model.IsFinite(e)
}

// calibrate computes the calibration of the ranges from the past errors (split conformal
// prediction). Means do not change, since they are those of the steps, and their ranges only
// grow. The ranges of peaks also move and shrink, since the noise of the futures biases the
// highest of many steps upwards.
func (t *triedPeriods) calibrate() PeriodTrial {
	trust := float64(t.starts) / float64(t.starts+startsTrusted)
	out := PeriodTrial{Horizon: t.horizon, Steps: t.steps, Tried: len(t.means), Starts: t.starts, MeanScale: max(1, scaleOf(t.means, 0, trust))}
	if len(t.peaks) > 0 {
		out.PeakShift = trust * max(-mostScale, min(mostScale, model.Median(t.peaks)))
	}
	out.PeakScale = scaleOf(t.peaks, out.PeakShift, trust)
	return out
}

// scaleOf returns the factor that widens 80 % ranges to hold 80 % of the errors, pulled towards
// 1 by trust, from 0 to 1.
func scaleOf(errs []float64, shift, trust float64) float64 {
	if len(errs) == 0 {
		return 1
	}
	off := make([]float64, len(errs))
	for i, e := range errs {
		off[i] = math.Abs(e - shift)
	}
	pull := math.Log(max(1.0/mostScale, min(mostScale, model.ConformalQuantile(off, 0.8))))
	if pull < 0 {
		trust *= calmTrust
	}
	return math.Exp(trust * pull)
}

package outlook

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// PeriodTrial says how one kind of period, such as a week, was tried on the past, and how
// the ranges of such periods are set by that: wider about their means by MeanScale,
// never narrower; peaks are moved by PeakShift and then wider by PeakScale.
type PeriodTrial struct {
	Horizon   string  `json:"horizon"`
	Steps     int     `json:"steps"`
	Tried     int     `json:"tried"`
	Starts    int     `json:"starts"`
	MeanScale float64 `json:"mean_range_scaled"`
	PeakShift float64 `json:"peak_shifted"` // in halves of the width of the 80 % range
	PeakScale float64 `json:"peak_range_scaled"`
}

// triedPeriods are the errors of one kind of period from past starts: see periodError.
type triedPeriods struct {
	window
	means, peaks []float64
	starts       int // that the errors come from
}

const (
	startsTrusted = 4    // starts that weigh as much as what the models say of themselves
	mostScale     = 4    // the most by which a range becomes wider or narrower
	calmTrust     = 0.75 // weight of errors that are smaller than expected, which are poorer evidence
)

// periodError returns what came less the median of what futures said, over half of the
// width of their 80 % range. It sorts futures; ok is false where they do not differ.
func periodError(came float64, futures []float64) (e float64, ok bool) {
	slices.Sort(futures)
	half := (model.Quantile(futures, 0.9) - model.Quantile(futures, 0.1)) / 2
	e = (came - model.Quantile(futures, 0.5)) / half
	return e, model.IsFinite(e)
}

// calibrate sets the ranges by the errors of the past (split conformal prediction). Means
// stay, since they are those of the steps, and their ranges only grow. The ranges of
// peaks move and shrink too, since the highest of many steps takes all noise of the
// futures to one side.
func (t *triedPeriods) calibrate() PeriodTrial {
	trust := float64(t.starts) / float64(t.starts+startsTrusted)
	out := PeriodTrial{Horizon: t.horizon, Steps: t.steps, Tried: len(t.means), Starts: t.starts, MeanScale: max(1, scaleOf(t.means, 0, trust))}
	if len(t.peaks) > 0 {
		out.PeakShift = trust * max(-mostScale, min(mostScale, model.Median(t.peaks)))
	}
	out.PeakScale = scaleOf(t.peaks, out.PeakShift, trust)
	return out
}

// scaleOf returns by how much to widen ranges for 80 % of the errors to lie in 80 %
// ranges, weighted by trust.
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

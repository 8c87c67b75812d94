package forecast

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// Constants of tails and of calibration.narrowing, tuned on ends of training data only.
const (
	tailsFreedom = 4    // degrees of freedom of the errors of a series without season
	tailsPrior   = 20.0 // number of one-step errors that weigh as much as that law
	tailsLeast   = 0.5  // least half width, over that of normal errors
	tailsCount   = 5    // least number of one-step errors

	mostlyStill = 0.5 // share of steps without a change from which moves are rare
)

// tails holds the one-step errors of a fit to a series without season, by which the half widths of
// its ranges are set before a backtest. Errors of such series have heavier tails than normal ones:
// for the same variance, 80 % of them lie closer to zero. Series with a season showed no such gain.
type tails struct {
	sizes []float64 // absolute errors over their root mean square, in increasing order
}

// tailsOf returns the tails of the one-step errors of the given fitted values.
func tailsOf(y, fitted []float64) tails {
	var sizes []float64
	sum := 0.0
	for _, e := range lastErrors(y, fitted, len(y)) {
		if model.IsFinite(e) {
			sizes = append(sizes, math.Abs(e))
			sum += e * e
		}
	}
	rms := math.Sqrt(sum / float64(len(sizes)))
	if len(sizes) < tailsCount || !(rms > 0) || !model.IsFinite(rms) {
		return tails{}
	}
	for i := range sizes {
		sizes[i] /= rms
	}
	slices.Sort(sizes)
	return tails{sizes}
}

// half returns the half width of the range of a level, in standard deviations. It is the geometric
// mean of two quantiles: that of Student's law with tailsFreedom degrees of freedom and variance 1,
// and that of the one-step errors, raised by their standard error, which has the more weight the
// more errors there are. Neither counts for more than the normal quantile: tails beyond it are left
// to the backtest.
func (t tails) half(level float64) float64 {
	normal := model.ZScore(level)
	law := math.Min(normal, model.TScore(level, tailsFreedom)*math.Sqrt((tailsFreedom-2.0)/tailsFreedom))
	n := float64(len(t.sizes))
	if n == 0 {
		return law
	}
	rank := int(math.Ceil(level / 100 * (n + 1)))
	own := t.sizes[max(1, min(len(t.sizes), rank))-1] * (1 + 1/math.Sqrt(n))
	own = math.Max(tailsLeast*normal, math.Min(normal, own))
	share := n / (n + tailsPrior)
	return math.Pow(law, 1-share) * math.Pow(own, share)
}

package forecast

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// The measures compare a forecast with the actual values. They leave out pairs in which either
// side is missing, and are NaN where no pair is left.

// MAE is the mean absolute error.
func MAE(actual, mean []float64) float64 {
	return averageOf(actual, mean, func(y, f float64) float64 { return math.Abs(y - f) })
}

// rmse is the root of the mean squared error.
func rmse(actual, mean []float64) float64 {
	return math.Sqrt(averageOf(actual, mean, func(y, f float64) float64 { return (y - f) * (y - f) }))
}

// bias is the mean error, actual - forecast: positive where the forecast was low.
func bias(actual, mean []float64) float64 {
	return averageOf(actual, mean, func(y, f float64) float64 { return y - f })
}

// smape is 200/h sum |y-f| / (|y|+|f|), in percent between 0 and 200 (Makridakis,
// Spiliotis & Assimakopoulos 2020, "The M4 Competition"); 0 met by 0 counts 0.
func smape(actual, mean []float64) float64 {
	return averageOf(actual, mean, func(y, f float64) float64 {
		if y == f {
			return 0
		}
		return 200 * math.Abs(y-f) / (math.Abs(y) + math.Abs(f))
	})
}

// scale returns the mean absolute difference of a history at a lag of one season, the
// denominator of mase and msis (Hyndman & Koehler 2006). It is NaN where the history is no
// longer than a season, and 0 where seasons repeat exactly.
func scale(history []float64, period int) float64 {
	period = max(1, period)
	if len(history) <= period {
		return math.NaN()
	}
	return MAE(history[period:], history[:len(history)-period])
}

// mase is the mean absolute error over scale: see the function scale.
func mase(actual, mean []float64, scale float64) float64 { return ratio(MAE(actual, mean), scale) }

// OWA is the overall weighted average of M4: the mean of sMAPE and MASE, each over that of naive
// 2. For many series, average each argument over the series first.
func OWA(smape, mase, smape2, mase2 float64) float64 {
	return (ratio(smape, smape2) + ratio(mase, mase2)) / 2
}

// ratio returns a/b, with 0/0 = 1: both are equally good.
func ratio(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 1
	}
	return a / b
}

// msis is the mean scaled interval score of M4: the width of the interval plus 2/alpha times the
// distance by which an actual value lies outside it, alpha = 1 - level/100, over scale (Gneiting
// & Raftery 2007).
func msis(actual []float64, iv model.Interval, scale float64) float64 {
	penalty := 2 / (1 - iv.Level/100)
	return ratio(intervalScore(actual, iv, func(y, lo, hi float64) float64 {
		return hi - lo + penalty*(math.Max(0, lo-y)+math.Max(0, y-hi))
	}), scale)
}

// coverage returns the share of actual values inside the interval or at its ends.
func coverage(actual []float64, iv model.Interval) float64 {
	return intervalScore(actual, iv, func(y, lo, hi float64) float64 {
		if lo <= y && y <= hi {
			return 1
		}
		return 0
	})
}

// intervalScore returns the mean over the finite actual values of a score of the interval.
func intervalScore(actual []float64, iv model.Interval, score func(y, lo, hi float64) float64) float64 {
	sum, n := 0.0, 0
	for i, y := range actual {
		if model.IsFinite(y) && i < len(iv.Lo) {
			sum += score(y, iv.Lo[i], iv.Hi[i])
			n++
		}
	}
	return sum / float64(n)
}

// pinball is the mean quantile loss of forecasts of quantile q, 0 < q < 1: q (y-f) where the
// actual value y lies above the forecast f, and (1-q) (f-y) where it lies below (Koenker &
// Bassett 1978).
func pinball(actual, quantile []float64, q float64) float64 {
	return averageOf(actual, quantile, func(y, f float64) float64 {
		return math.Max(q*(y-f), (q-1)*(y-f))
	})
}

// crps is the continuous ranked probability score, approximated from a forecast's mean (used as
// its median) and the ends of its intervals: twice the mean pinball loss over these quantiles.
// More levels make the approximation better.
func crps(actual []float64, f model.Forecast) float64 {
	sum := pinball(actual, f.Mean, 0.5)
	for _, iv := range f.Intervals {
		tailed := (1 - iv.Level/100) / 2
		sum += pinball(actual, iv.Lo, tailed) + pinball(actual, iv.Hi, 1-tailed)
	}
	return 2 * sum / float64(1+2*len(f.Intervals))
}

// averageOf returns the mean of a loss over the pairs in which both sides are known.
func averageOf(actual, f []float64, loss func(y, f float64) float64) float64 {
	sum, n := 0.0, 0
	for i, y := range actual {
		if i >= len(f) || !model.IsFinite(y) || math.IsNaN(f[i]) {
			continue
		}
		sum += loss(y, f[i])
		n++
	}
	return sum / float64(n)
}

// spreadLevel is the level, in percent, of the interval whose half width is one standard
// deviation of a normal distribution.
const spreadLevel = 68.26894921370859

// halfWidth returns half of the width of an interval at each step.
func halfWidth(iv model.Interval) []float64 {
	out := make([]float64, len(iv.Lo))
	for i := range out {
		out[i] = iv.Hi[i]/2 - iv.Lo[i]/2
	}
	return out
}

// calibration holds the errors of a backtest relative to the model's own spread. Intervals are
// calibrated by split conformal prediction (Vovk, Gammerman & Shafer 2005) over rolling origins
// (Stankeviciute, Alaa & van der Schaar 2021). Errors are divided by the spread at their step
// ahead, so that intervals keep their shape, and one factor for each level serves all steps.
type calibration struct {
	ratios  []float64 // |error| over spread, in no order
	origins int
	held    bool // the spreads are held: see hold
	still   bool // the series seldom moves: see narrowing
}

// add records the errors of one origin.
func (c *calibration) add(actual, mean, spread []float64) {
	before := len(c.ratios)
	for i, y := range actual {
		if r := math.Abs(y-mean[i]) / spread[i]; model.IsFinite(r) {
			c.ratios = append(c.ratios, r)
		} else if y == mean[i] {
			c.ratios = append(c.ratios, 0)
		}
	}
	if len(c.ratios) > before {
		c.origins++
	}
}

// factor returns the half width of the interval of a level, in spreads. It pulls prior, the half
// width before any evidence, towards the conformal quantile, the more the more origins there are:
// the errors of one origin count as little more than one observation.
func (c *calibration) factor(level, prior float64) float64 {
	if len(c.ratios) == 0 {
		return prior
	}
	q := model.ConformalQuantile(slices.Clone(c.ratios), level/100)
	if q <= 0 {
		return prior
	}
	// A factor beyond four times the prior one, either way, is an accident of a short past.
	pull := math.Max(-math.Log(4), math.Min(math.Log(4), math.Log(q/prior)))
	if pull < 0 {
		pull *= c.narrowing(level)
	}
	trust := float64(c.origins) / (float64(c.origins) + 6)
	return prior * math.Exp(trust*pull)
}

// narrowing returns the weight of errors that were smaller than expected, from 0 to 1. Where a
// series seldom moves, a few origins without a move tell of the range of 80 %, and nothing of that
// of 95 % and more, which is for the moves; in between the weight falls in a straight line.
func (c *calibration) narrowing(level float64) float64 {
	if !c.still {
		return 1
	}
	return math.Max(0, math.Min(1, (95-level)/15))
}

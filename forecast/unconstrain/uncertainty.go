package unconstrain

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// Uncertainty describes how uncertain the level of an estimated demand is: standard deviations
// below and above its expected value, for each of the next steps of one season. It adds to a
// model's own spread, since the model takes its history for known. The zero value is no
// uncertainty.
type Uncertainty struct{ Below, Above []float64 }

// uncertaintyOf returns the uncertainty from draws of the level in the last steps, which end at
// the indices at, for the steps from next on. To it adds the noise about the level, by scale and
// weighted by the root of the odds, as far as that exceeds the noise of the best scale: models
// see the latter in its draw.
func uncertaintyOf(levels [][]float64, noise []Uncertainty, best Uncertainty, at []int, next int) Uncertainty {
	n := best.Steps()
	out := Uncertainty{Below: make([]float64, n), Above: make([]float64, n)}
	row := make([]float64, len(levels))
	for i := range n {
		for k, l := range levels {
			row[k] = l[i]
		}
		mean := model.Mean(row)
		slices.Sort(row)
		k, ahead := len(row)/40, ((at[len(at)-n+i]-next)%n+n)%n
		below, above := math.Max(0, mean-row[k])/model.ZScore(95), math.Max(0, row[len(row)-1-k]-mean)/model.ZScore(95)
		lower, upper := -best.Below[i]*best.Below[i], -best.Above[i]*best.Above[i]
		for _, o := range noise {
			lower, upper = lower+o.Below[i]*o.Below[i], upper+o.Above[i]*o.Above[i]
		}
		out.Below[ahead] = math.Hypot(below, math.Sqrt(math.Max(0, lower)))
		out.Above[ahead] = math.Hypot(above, math.Sqrt(math.Max(0, upper)))
	}
	return out
}

func (u Uncertainty) times(by float64) Uncertainty {
	out := Uncertainty{Below: slices.Clone(u.Below), Above: slices.Clone(u.Above)}
	for i := range out.Below {
		out.Below[i] *= by
		out.Above[i] *= by
	}
	return out
}

// Steps returns the length of the cycle of steps. Step i ahead uses entry i modulo
// Steps.
func (u Uncertainty) Steps() int { return len(u.Below) }

// Coarse returns the uncertainty for steps that each combine the given number of these steps: of
// their sum where sum is set, else of their mean.
func (u Uncertainty) Coarse(each int, sum bool) Uncertainty {
	n := u.Steps()
	if each <= 1 || n == 0 {
		return u
	}
	var out Uncertainty
	for from := 0; from < max(n, each); from += each {
		below, above := 0.0, 0.0
		for i := from; i < from+each; i++ {
			below, above = below+u.Below[i%n], above+u.Above[i%n]
		}
		if !sum {
			below, above = below/float64(each), above/float64(each)
		}
		out.Below, out.Above = append(out.Below, below), append(out.Above, above)
	}
	return out
}

// Plus returns the uncertainty of the sum of two levels whose errors are independent.
func (u Uncertainty) Plus(o Uncertainty) Uncertainty {
	if o.Steps() > u.Steps() {
		u, o = o, u
	}
	if o.Steps() == 0 {
		return u
	}
	out := Uncertainty{Below: slices.Clone(u.Below), Above: slices.Clone(u.Above)}
	for i := range out.Below {
		k := i % o.Steps()
		out.Below[i], out.Above[i] = math.Hypot(out.Below[i], o.Below[k]), math.Hypot(out.Above[i], o.Above[k])
	}
	return out
}

// Widen widens the intervals of a forecast, in place: it adds the spread of the level to that of
// the model, in squares.
func (u Uncertainty) Widen(f model.Forecast) {
	n := u.Steps()
	if n == 0 {
		return
	}
	for _, iv := range f.Intervals {
		q := model.ZScore(iv.Level)
		for i, mean := range f.Mean {
			iv.Lo[i] = mean - math.Hypot(math.Max(0, mean-iv.Lo[i]), q*u.Below[i%n])
			iv.Hi[i] = mean + math.Hypot(math.Max(0, iv.Hi[i]-mean), q*u.Above[i%n])
		}
	}
}

// Move shifts a drawn future, in place, to one possible level: all steps to the same side.
func (u Uncertainty) Move(path []float64, rng model.Noise) {
	n := u.Steps()
	if n == 0 {
		return
	}
	draw := rng.NormFloat64()
	for i := range path {
		if draw < 0 {
			path[i] += draw * u.Below[i%n]
		} else {
			path[i] += draw * u.Above[i%n]
		}
	}
}

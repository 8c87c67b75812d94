package smoothing

import (
	"math"

	"capcli/forecast/decompose"
)

// etsStart returns first states for a form. Seasonal figures come from a classical
// decomposition: from a centred moving average, or from a straight line where there are fewer
// than three seasons. Level and slope come from a line through the first values without season
// (Hyndman et al. 2008, sec. 2.6.1). y has no missing values and a mean absolute value of one.
func etsStart(form etsForm, m int, y []float64) etsParams {
	p := etsParams{phi: 1}
	flat := y
	if form.Season != etsNone {
		p.s, flat = etsFigures(form.Season, m, y)
	}
	head := flat[:min(len(flat), max(10, 2*m))]
	if form.Trend == etsNone {
		p.l = etsMean(head)
		return p
	}
	p.l, p.b = etsLine(head)
	if form.Error == etsMul || form.Season == etsMul {
		lowest, _ := etsExtremes(head)
		if p.l+p.b <= 0.1*lowest {
			p.l, p.b = head[0], 0
		}
	}
	return p
}

func etsMean(y []float64) float64 {
	sum := 0.0
	for _, v := range y {
		sum += v
	}
	return sum / float64(len(y))
}

// etsExtremes returns the smallest and the largest known value, +Inf and -Inf where all are
// missing.
func etsExtremes(y []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range y {
		if v < low {
			low = v
		}
		if v > high {
			high = v
		}
	}
	return low, high
}

// etsLine returns the least squares line through y at 1, 2, …: its value at 0 and its slope.
func etsLine(y []float64) (at0, slope float64) {
	n := float64(len(y))
	mid, mean := (n+1)/2, etsMean(y)
	var sxy, sxx float64
	for i, v := range y {
		x := float64(i+1) - mid
		sxy += x * (v - mean)
		sxx += x * x
	}
	if sxx > 0 {
		slope = sxy / sxx
	}
	return mean - slope*mid, slope
}

// etsFigures returns the seasonal figures of y by phase, and y without them.
func etsFigures(season byte, m int, y []float64) (figures, flat []float64) {
	trend := make([]float64, len(y))
	if len(y) >= 3*m {
		decompose.CentredAverage(y, m, trend)
	} else {
		a, b := etsLine(y)
		for i := range trend {
			trend[i] = a + b*float64(i+1)
		}
	}
	figures = etsPhases(season, m, y, trend)
	flat = make([]float64, len(y))
	for i, v := range y {
		if season == etsMul {
			figures[i%m] = max(figures[i%m], 1e-2)
			flat[i] = v / figures[i%m]
		} else {
			flat[i] = v - figures[i%m]
		}
	}
	return figures, flat
}

// etsPhases returns the means by phase of y - trend, centred on zero, or for a multiplicative
// season of y / trend, scaled to average one. It passes over steps where trend is NaN.
func etsPhases(season byte, m int, y, trend []float64) []float64 {
	figures, counts := make([]float64, m), make([]float64, m)
	for i, v := range y {
		switch {
		case math.IsNaN(trend[i]):
		case season != etsMul:
			figures[i%m] += v - trend[i]
			counts[i%m]++
		case trend[i] > 0:
			figures[i%m] += v / trend[i]
			counts[i%m]++
		}
	}
	centre := 0.0
	for i := range figures {
		if counts[i] > 0 {
			figures[i] /= counts[i]
		} else if season == etsMul {
			figures[i] = 1
		}
		centre += figures[i] / float64(m)
	}
	for i := range figures {
		if season != etsMul {
			figures[i] -= centre
		} else if centre > 0 {
			figures[i] /= centre
		}
	}
	return figures
}

// etsGuesses are starting values of alpha, beta, gamma and phi: for series whose level hardly
// moves, for series whose level moves with every value, and between. The corners matter: the
// likelihood of a seasonal form has optima of its own there.
var etsGuesses = [...]etsParams{
	{alpha: 0.1, beta: 0.01, gamma: 0.05, phi: 0.97},
	{alpha: 0.5, beta: 0.05, gamma: 0.1, phi: 0.95},
	{alpha: 0.9, beta: 0.2, gamma: 0.01, phi: 0.9},
	{alpha: 0.1, beta: 0.08, gamma: 0.5, phi: 0.97},
	{alpha: 0.95, beta: 0.9, gamma: 0.01, phi: 0.85},
	{alpha: 0.02, beta: 0.005, gamma: 0.01, phi: 0.975},
	{alpha: 0.97, beta: 0.07, gamma: 0.01, phi: 0.95},
	{alpha: 0.97, beta: 0.01, gamma: 0.001, phi: 0.97},
	{alpha: 0.3, beta: 0.2, gamma: 0.4, phi: 0.9},
	{alpha: 0.005, beta: 0.0005, gamma: 0.001, phi: 0.85},
	{alpha: 0.4, beta: 0.1, gamma: 0.2, phi: 0.81},
}

// etsFill returns y with missing values replaced by the line between their neighbours, or by the
// nearest value at the ends. Only the first states are found from it.
func etsFill(y []float64) []float64 {
	out := append([]float64(nil), y...)
	last := -1
	for i, v := range y {
		if math.IsNaN(v) {
			continue
		}
		for k := last + 1; k < i; k++ {
			if last < 0 {
				out[k] = v
			} else {
				out[k] = y[last] + (v-y[last])*float64(k-last)/float64(i-last)
			}
		}
		last = i
	}
	for k := last + 1; k < len(out); k++ {
		out[k] = y[last]
	}
	return out
}

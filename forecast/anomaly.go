package forecast

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"capcli"
)

// Anomaly is a value far from what its surroundings and its season say.
type Anomaly struct {
	Index    int // in the series; Series.At gives its date
	Value    float64
	Expected float64
	Lo, Hi   float64 // the fence: a value between them is no anomaly
}

// fences is how many interquartile ranges beyond the quartiles are far out
// (Tukey 1977, "Exploratory Data Analysis").
const fences = 3

// seasonCounts is the seasonal strength from which seasons are taken off first.
const seasonCounts = 0.6

// Anomalies finds them as R's tsoutliers does, in the order of time: a robust
// STL takes off the seasons, where they are strong, Friedman's super smoother
// the trend, and what is left is held against Tukey's outer fences. Missing
// values are none. It needs 3 known values.
func Anomalies(y capcli.Series, seasons []int) ([]Anomaly, error) {
	v, err := joined(y.Values)
	if err != nil {
		return nil, fmt.Errorf("anomalies: %w", err)
	}
	season := strongSeasons(v, seasons, stat.Variance)
	for i := range v {
		v[i] -= season[i]
	}
	smooth := superSmooth(v)
	var rest []float64
	for i, x := range y.Values {
		if known(x) {
			rest = append(rest, v[i]-smooth[i])
		}
	}
	slices.Sort(rest)
	first, third := quantile(rest, 0.25), quantile(rest, 0.75)
	lo, hi := first-fences*(third-first), third+fences*(third-first)
	if !(hi-lo > 1e-14*math.Max(1e-300, largest(v))) {
		return nil, nil
	}
	var out []Anomaly
	for i, x := range y.Values {
		e := v[i] - smooth[i]
		if known(x) && (e < lo || e > hi) {
			at := smooth[i] + season[i]
			out = append(out, Anomaly{Index: i, Value: x, Expected: at, Lo: at + lo, Hi: at + hi})
		}
	}
	return out, nil
}

// joined is a copy with missing values on lines between known ones.
func joined(y []float64) ([]float64, error) {
	out, last, count := slices.Clone(y), -1, 0
	for i, x := range y {
		if math.IsInf(x, 0) || math.Abs(x) > math.MaxFloat64/1e10 {
			return nil, fmt.Errorf("value %d is %g, want a smaller one: %w", i+1, x, ErrUnfit)
		}
		if math.IsNaN(x) {
			continue
		}
		for k := last + 1; k < i; k++ {
			out[k] = x
			if last >= 0 {
				out[k] = y[last] + (x-y[last])*float64(k-last)/float64(i-last)
			}
		}
		last = i
		count++
	}
	if count < 3 {
		return nil, fmt.Errorf("%d known values, want 3 or more: %w", count, ErrTooShort)
	}
	for k := last + 1; k < len(out); k++ {
		out[k] = y[last]
	}
	return out, nil
}

// strongSeasons is the sum of the seasons by robust STL, nought where there are
// none or where they are weak, as measured by spread.
func strongSeasons(v []float64, seasons []int, spread func(v, weights []float64) float64) []float64 {
	n := len(v)
	sum := make([]float64, n)
	periods := usable(n, seasons)
	if len(periods) == 0 {
		return sum
	}
	rounds := min(2, len(periods))
	parts := make([][]float64, len(periods))
	rest := slices.Clone(v)
	var trend []float64
	for range rounds {
		for k, p := range periods {
			if parts[k] != nil {
				for i := range rest {
					rest[i] += parts[k][i]
				}
			}
			t, s, _, err := STL(rest, p, STLOptions{Window: 11 + 4*k, Robust: true})
			if err != nil {
				return sum
			}
			trend, parts[k] = t, s
			for i := range rest {
				rest[i] -= s[i]
			}
		}
	}
	detrended := make([]float64, n)
	for i := range rest {
		detrended[i] = v[i] - trend[i]
		rest[i] -= trend[i]
	}
	all := spread(detrended, nil)
	if !(all > 0) || 1-spread(rest, nil)/all < seasonCounts {
		return sum
	}
	for _, s := range parts {
		for i := range sum {
			sum[i] += s[i]
		}
	}
	return sum
}

// quantile is R's type 7 of sorted values: linear between order statistics.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[j]-sorted[i])
}

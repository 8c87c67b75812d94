package change

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// Anomaly is a value far from the one that its neighbours and its season suggest.
type Anomaly struct {
	Index    int // index in the series; Series.At gives its date
	Value    float64
	Expected float64
	Lo, Hi   float64 // the fence: a value between them is no anomaly
}

// fences is the number of interquartile ranges beyond the quartiles at which a value is an
// outlier (Tukey 1977, "Exploratory Data Analysis").
const fences = 3

// seasonCounts is the seasonal strength from which the search removes seasons first.
const seasonCounts = 0.6

// findAnomalies returns the anomalies in the order of time, as R's tsoutliers does: it removes
// strong seasons by robust STL and the trend by Friedman's super smoother, and compares
// the rest with Tukey's outer fences. It does so twice, the second time without the
// anomalies found, since large anomalies hide smaller ones. Expected is interpolated
// from the values around it and their season. A missing value is no anomaly. It needs 3
// known values.
func findAnomalies(y capcli.Series, seasons []int) ([]Anomaly, error) {
	if _, err := interpolateGaps(y.Values); err != nil {
		return nil, fmt.Errorf("anomalies: %w", err)
	}
	found, left := map[int]Anomaly{}, y.Values
	for range 2 {
		out := findOutliers(restoreMissing(left, seasons), left, seasons)
		for _, a := range out {
			if _, ok := found[a.Index]; !ok && model.IsFinite(y.Values[a.Index]) {
				a.Value = y.Values[a.Index]
				found[a.Index] = a
			}
		}
		holed := slices.Clone(left)
		for i := range found {
			holed[i] = math.NaN()
		}
		if len(out) > 0 || len(model.Observed(left)) < len(left) {
			left = restoreMissing(holed, seasons)
		}
	}
	if len(found) >= len(model.Observed(y.Values)) {
		return nil, nil
	}
	var out []Anomaly
	for i := range y.Values {
		if a, ok := found[i]; ok {
			a.Expected = left[i]
			out = append(out, a)
		}
	}
	return out, nil
}

// findOutliers returns the values of v beyond the fences as anomalies. Values missing in y are
// skipped and do not count for the fences. It overwrites v.
func findOutliers(v, y []float64, seasons []int) []Anomaly {
	if model.IsFlat(v) {
		return nil
	}
	season := strongSeasons(v, seasons, stat.Variance)
	for i := range v {
		v[i] -= season[i]
	}
	smooth := decompose.SuperSmooth(v)
	var rest []float64
	for i, x := range y {
		if model.IsFinite(x) {
			rest = append(rest, v[i]-smooth[i])
		}
	}
	slices.Sort(rest)
	first, third := model.Quantile(rest, 0.25), model.Quantile(rest, 0.75)
	lo, hi := first-fences*(third-first), third+fences*(third-first)
	if !(hi-lo > 1e-14*math.Max(1e-300, model.Largest(v))) {
		return nil
	}
	var out []Anomaly
	for i, x := range y {
		e := v[i] - smooth[i]
		if model.IsFinite(x) && (e < lo || e > hi) {
			at := smooth[i] + season[i]
			out = append(out, Anomaly{Index: i, Lo: at + lo, Hi: at + hi})
		}
	}
	return out
}

// interpolateGaps returns a copy in which straight lines fill the missing values. It fails
// where fewer than 3 values are known, or where one is too large to compute with.
func interpolateGaps(y []float64) ([]float64, error) {
	count := 0
	for i, x := range y {
		if math.IsInf(x, 0) || math.Abs(x) > math.MaxFloat64/1e10 {
			return nil, fmt.Errorf("value %d is %g, want a smaller one: %w", i+1, x, model.ErrUnfit)
		}
		if !math.IsNaN(x) {
			count++
		}
	}
	if count < 3 {
		return nil, fmt.Errorf("%d known values, want 3 or more: %w", count, model.ErrTooShort)
	}
	return model.SpanGaps(y), nil
}

// strongSeasons returns the sum of the seasons by robust STL. It returns zeros where
// the seasons are absent or weak, as spread measures them.
func strongSeasons(v []float64, seasons []int, spread func(v, weights []float64) float64) []float64 {
	sum := make([]float64, len(v))
	periods := decompose.UsableSeasons(len(v), seasons)
	if len(periods) == 0 {
		return sum
	}
	d, err := decompose.Split(v, periods, true)
	if err != nil {
		return sum
	}
	detrended := make([]float64, len(v))
	for i := range v {
		detrended[i] = v[i] - d.Trend[i]
	}
	all := spread(detrended, nil)
	if !(all > 0) || 1-spread(d.Remainder, nil)/all < seasonCounts {
		return sum
	}
	return d.Total()
}

// Package change finds unusual values in a series: lasting moves of its level and single
// outliers.
package change

import (
	"math"
	"slices"

	"capcli"
	"capcli/forecast/model"
)

// oddSpread is the least distance of an outlier, in standard deviations of the usual
// difference from one season to the next. A season estimated from few cycles absorbs
// most of the noise, so that the rest seems to jump.
const oddSpread = 4.0

// oddShare is the share of outliers above which they are taken for normal behaviour of the
// series.
const oddShare = 0.05

// Find returns the lasting moves of the level of a series, and its single outliers. It compares
// a value beside a move with the level on the value's own side of the move. Where more than one
// value in twenty is an outlier, it returns no outliers.
func Find(y capcli.Series, seasons []int) ([]Changepoint, []Anomaly, error) {
	one, err := strongSeason(y.Values, seasons)
	if err != nil {
		return nil, nil, err
	}
	moves, err := findChangepoints(y, one)
	if err != nil {
		return nil, nil, err
	}
	level := make([]float64, len(y.Values))
	at := 0.0
	for k, from := 0, 0; k <= len(moves); k++ {
		to := len(level)
		if k < len(moves) {
			to = moves[k].Index
		}
		for i := from; i < to; i++ {
			level[i] = at
		}
		if from = to; k < len(moves) {
			at += moves[k].After - moves[k].Before
		}
	}
	still := y
	still.Values = slices.Clone(y.Values)
	for i := range level {
		still.Values[i] -= level[i]
	}
	odd, err := findAnomalies(still, one)
	if err != nil {
		return nil, nil, err
	}
	if len(one) > 0 {
		usual := oddSpread * betweenSeasons(still.Values, one[0])
		odd = slices.DeleteFunc(odd, func(a Anomaly) bool { return math.Abs(still.Values[a.Index]-a.Expected) <= usual })
	}
	if float64(len(odd)) > oddShare*float64(len(model.Observed(y.Values))) {
		return moves, nil, nil
	}
	for k := range odd {
		a := &odd[k]
		add := level[a.Index]
		a.Value, a.Expected, a.Lo, a.Hi = y.Values[a.Index], a.Expected+add, a.Lo+add, a.Hi+add
	}
	return moves, odd, nil
}

// betweenSeasons returns a robust standard deviation of the values about their season:
// that of the difference from a season before, divided by the root of two.
func betweenSeasons(y []float64, period int) float64 {
	var d []float64
	for i := period; i < len(y); i++ {
		if v := math.Abs(y[i] - y[i-period]); model.IsFinite(v) {
			d = append(d, v)
		}
	}
	if len(d) == 0 {
		return 0
	}
	return 1.4826 * model.Median(d) / math.Sqrt2
}

// strongSeason returns the season to remove: the longest strong season with two cycles in
// the history, since it contains the shorter ones. It returns nil where there is none,
// and an error where y cannot be interpolated.
func strongSeason(y []float64, seasons []int) ([]int, error) {
	v, err := interpolateGaps(y)
	if err != nil {
		return nil, err
	}
	sorted := slices.Clone(seasons)
	slices.Sort(sorted)
	for _, p := range slices.Backward(sorted) {
		if p < 2 || len(v) < 2*p {
			continue
		}
		if season := strongSeasons(v, []int{p}, robustVariance); model.Largest(season) > 0 {
			return []int{p}, nil
		}
	}
	return nil, nil
}

package forecast

import (
	"slices"

	"capcli"
)

// seasonCycles are the whole cycles that a season needs before it is taken off
// to look for changes: the season of few cycles takes the noise with it, and what
// is left seems to jump.
const seasonCycles = 4

// oddShare is the share of values from which those far off are no exception any
// more but the way of the series.
const oddShare = 0.05

// Changes is what a series has that is not its usual way: moves of its level for
// good, and single values far off. A value beside a move is held against the
// level on its own side of it; where more than one value in twenty is far off,
// none is named.
func Changes(y capcli.Series, seasons []int) ([]Changepoint, []Anomaly, error) {
	one, err := telling(y.Values, seasons)
	if err != nil {
		return nil, nil, err
	}
	moves, err := Changepoints(y, one)
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
	odd, err := Anomalies(still, one)
	if err != nil {
		return nil, nil, err
	}
	if float64(len(odd)) > oddShare*float64(len(observed(y.Values))) {
		return moves, nil, nil
	}
	for k := range odd {
		a := &odd[k]
		add := level[a.Index]
		a.Value, a.Expected, a.Lo, a.Hi = y.Values[a.Index], a.Expected+add, a.Lo+add, a.Hi+add
	}
	return moves, odd, nil
}

// telling is the season to take off: the longest that has cycles enough and is
// strong, as it has the shorter ones in it; none where there is none.
func telling(y []float64, seasons []int) ([]int, error) {
	v, err := joined(y)
	if err != nil {
		return nil, err
	}
	sorted := slices.Clone(seasons)
	slices.Sort(sorted)
	for _, p := range slices.Backward(sorted) {
		if p < 2 || len(v) < seasonCycles*p {
			continue
		}
		if season := strongSeasons(v, []int{p}, robustVariance); largest(season) > 0 {
			return []int{p}, nil
		}
	}
	return nil, nil
}

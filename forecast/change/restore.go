package change

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

const (
	restoreWaves     = 5  // the largest number of harmonics of a single season
	restoreWavesEach = 20 // the largest number of harmonics of each of several seasons
	restorePower     = 6  // the highest power of time
)

// restoreMissing returns y with missing values filled, as R's na.interp does: it fits waves of
// the seasons and powers of time, computes the seasons of that fit by robust STL, and adds them
// to straight lines through the seasonally adjusted values. Without two seasons of known values,
// or where the result leaves the range of y by more than half, it fills by straight lines
// through y.
func restoreMissing(y []float64, seasons []int) []float64 {
	plain := model.SpanGaps(y)
	seen := model.Observed(y)
	periods := decompose.UsableSeasons(len(seen), seasons)
	if len(seen) == len(y) || len(periods) == 0 {
		return plain
	}
	out := slices.Clone(y)
	guess := waveGuess(y, periods)
	for i, v := range y {
		if !model.IsFinite(v) {
			if guess == nil {
				return plain
			}
			out[i] = guess[i]
		}
	}
	d, err := decompose.Split(out, periods, true)
	if err != nil {
		return plain
	}
	adjusted, season := d.Adjusted(), d.Total()
	for i, v := range y {
		if !model.IsFinite(v) {
			adjusted[i] = math.NaN()
		}
	}
	adjusted = model.SpanGaps(adjusted)
	low, high := slices.Min(seen), slices.Max(seen)
	for i, v := range y {
		if !model.IsFinite(v) {
			out[i] = adjusted[i] + season[i]
			if !(out[i] >= low-(high-low)/2 && out[i] <= high+(high-low)/2) {
				return plain
			}
		}
	}
	return out
}

// waveGuess returns the least squares fit of sines, cosines and powers of time to the
// known values. It returns nil where these do not determine the fit.
func waveGuess(y []float64, periods []int) []float64 {
	n, width := len(y), 0
	rows := make([][]float64, n)
	for t := range rows {
		rows[t] = waveRow(t, n, periods)
		width = len(rows[t])
	}
	unit := math.Max(model.Largest(model.Observed(y)), math.SmallestNonzeroFloat64/1e-16)
	gram, right := mat.NewSymDense(width, nil), mat.NewVecDense(width, nil)
	for t, v := range y {
		if !model.IsFinite(v) {
			continue
		}
		row := rows[t]
		for i, a := range row {
			right.SetVec(i, right.AtVec(i)+a*v/unit)
			for j := i; j < width; j++ {
				gram.SetSym(i, j, gram.At(i, j)+a*row[j])
			}
		}
	}
	for i := range width {
		gram.SetSym(i, i, gram.At(i, i)+1e-11*float64(n))
	}
	var chol mat.Cholesky
	coef := mat.NewVecDense(width, nil)
	if !chol.Factorize(gram) {
		return nil
	}
	if err := chol.SolveVecTo(coef, right); err != nil && !model.IsCondition(err) {
		return nil
	}
	out := make([]float64, n)
	for t, row := range rows {
		out[t] = unit * model.Dot(row, coef.RawVector().Data)
	}
	return out
}

// waveRow returns the regressors of the value at t of n: Chebyshev polynomials, which span
// the powers and are nearly independent, and each wave once.
func waveRow(t, n int, periods []int) []float64 {
	x := 2*float64(t)/math.Max(1, float64(n-1)) - 1
	row := []float64{1, x}
	for len(row) <= min(n/10, restorePower) {
		row = append(row, 2*x*row[len(row)-1]-row[len(row)-2])
	}
	most := restoreWaves
	if len(periods) > 1 {
		most = restoreWavesEach
	}
	for k, p := range periods {
		for j := 1; j <= min(p/2, most); j++ {
			if slices.ContainsFunc(periods[:k], func(q int) bool { return j*q%p == 0 && j*q/p <= min(q/2, most) }) {
				continue
			}
			sin, cos := math.Sincos(2 * math.Pi * float64(j*t%p) / float64(p))
			row = append(row, cos)
			if 2*j != p {
				row = append(row, sin)
			}
		}
	}
	return row
}

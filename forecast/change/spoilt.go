package change

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// Spoilt is a stretch of a series that does not show what the series measures: the values from
// From up to, but not including, To.
type Spoilt struct {
	From, To int
	Outage   bool // nothing was recorded; false: values that the series cannot have
}

const (
	spoiltLeast   = 12   // least number of known values of a series that is judged
	absurdTimes   = 4.0  // times the largest distance of any other value, that an absurd one is away from the values beside it
	absurdLevel   = 2.0  // times the level beside it that it is away at least
	absurdShare   = 0.01 // most absurd values of a series
	absurdRun     = 2    // most of them in a row
	absurdBeside  = 3    // values on each side that it is compared with
	outageShare   = 0.1  // most of the series that outages take
	outageRuns    = 3    // most outages of a series
	outageAtEnd   = 0.05 // most of the series that an outage takes that has not ended, or outageFew steps
	outageFew     = 3
	outageBelow   = 3.0 // times the usual change, and times the spread of low values, that zero lies below the least value
	outageOfUsual = 0.1 // least value, of the median
)

// FindSpoilt returns the stretches of y that do not show what y measures, in order. The rules are
// strict, since a forecast without a true value is worse than one with a false value:
//
// An outage is a stretch of zeros in a series that is never zero: zero lies far below its least
// other value, and there are few such stretches. A step at its edge that is lower than any other
// belongs to it. An outage at the end is one while it is short.
//
// Absurd values stand alone, or two together. Their distance from the median of their neighbours is
// several times that of every other value, and several times the level there. A series that is
// often zero, or has such values a season apart, has none.
//
// known are stretches that are known to be spoilt; they are in the result.
func FindSpoilt(y []float64, known []Spoilt, seasons []int) []Spoilt {
	out := slices.Clone(known)
	if left := blank(y, known); len(model.Observed(left)) >= spoiltLeast {
		outages := FindOutages(left, seasons)
		out = append(out, outages...)
		out = append(out, findAbsurd(blank(left, outages), seasons)...)
	}
	slices.SortFunc(out, func(a, b Spoilt) int { return a.From - b.From })
	return out
}

// Mend returns y with the values of spoilt stretches, missing ones too, estimated from the values and
// the season around them. It returns y itself where nothing else is known.
func Mend(y []float64, spoilt []Spoilt, seasons []int) []float64 {
	if len(spoilt) == 0 {
		return y
	}
	missing := blank(y, spoilt)
	if len(model.Observed(missing)) == 0 {
		return y
	}
	full, out := restoreMissing(missing, seasons), slices.Clone(y)
	least := math.Inf(-1)
	if slices.Min(model.Observed(missing)) >= 0 {
		least = 0
	}
	for _, s := range spoilt {
		for i := s.From; i < s.To; i++ {
			out[i] = max(least, full[i])
		}
	}
	return out
}

// blank returns a copy of y without the values of spoilt stretches.
func blank(y []float64, spoilt []Spoilt) []float64 {
	out := slices.Clone(y)
	for _, s := range spoilt {
		for i := s.From; i < s.To; i++ {
			out[i] = math.NaN()
		}
	}
	return out
}

// FindOutages returns the outages of y alone: see FindSpoilt.
func FindOutages(y []float64, seasons []int) []Spoilt {
	var out []Spoilt
	total := 0
	for i := 0; i < len(y); i++ {
		if !(y[i] <= 0) {
			continue
		}
		from := i
		for k := i + 1; k < len(y) && !(y[k] > 0); k++ { // a missing value within an outage is part of it
			if y[k] <= 0 {
				i = k
			}
		}
		out, total = append(out, Spoilt{from, i + 1, true}), total+i+1-from
	}
	if len(out) == 0 || len(out) > outageRuns || float64(total) > outageShare*float64(len(y)) {
		return nil
	}
	most := max(outageFew, int(outageAtEnd*float64(len(y))))
	if len(seasons) > 0 {
		most = max(outageFew, min(most, 2*slices.Min(seasons)))
	}
	if last := out[len(out)-1]; last.To == len(y) && last.To-last.From > most {
		return nil
	}
	// The first and the last step of an outage may have been recorded in part.
	rest := slices.Clone(y)
	for _, s := range out {
		for i := max(0, s.From-1); i < min(len(y), s.To+1); i++ {
			rest[i] = math.NaN()
		}
	}
	least, ok := farAboveZero(rest)
	if !ok {
		return nil
	}
	for k := range out {
		s := &out[k]
		if s.From > 0 && y[s.From-1] < least {
			s.From--
		}
		if s.To < len(y) && y[s.To] < least {
			s.To++
		}
	}
	return out
}

// farAboveZero returns the least value of y, and whether zero is no value that y may come to have.
func farAboveZero(y []float64) (least float64, ok bool) {
	seen := model.Observed(y)
	if len(seen) < spoiltLeast {
		return 0, false
	}
	var moves []float64
	for i := 1; i < len(y); i++ {
		if d := math.Abs(y[i] - y[i-1]); d > 0 {
			moves = append(moves, d)
		}
	}
	slices.Sort(seen)
	least = seen[0]
	usual := model.Quantile(seen, 0.1) - least
	if len(moves) > 0 {
		usual = math.Max(usual, model.Median(moves))
	}
	return least, least > outageBelow*usual && least >= outageOfUsual*model.Quantile(seen, 0.5)
}

// findAbsurd returns the isolated absurd values of y.
func findAbsurd(y []float64, seasons []int) []Spoilt {
	away, level := distances(y)
	var order []int
	zeros := 0
	for i, v := range y {
		if model.IsFinite(v) {
			order = append(order, i)
			if v == 0 {
				zeros++
			}
		}
	}
	if len(order) < spoiltLeast || 10*zeros > len(order) {
		return nil
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case away[a] > away[b]:
			return -1
		case away[a] < away[b]:
			return 1
		}
		return 0
	})
	for k := min(max(1, int(absurdShare*float64(len(order)))), len(order)-1); k > 0; k-- {
		found, edge := slices.Clone(order[:k]), absurdTimes*away[order[k]]
		if slices.ContainsFunc(found, func(i int) bool { return away[i] <= math.Max(edge, absurdLevel*level[i]) || level[i] == 0 }) {
			continue
		}
		slices.Sort(found)
		if out := joinIsolated(found, len(y)); out != nil && !recurs(found, seasons) {
			return out
		}
	}
	return nil
}

// distances returns the distance of each value from the median of its neighbours, and the size of
// that median.
func distances(y []float64) (away, level []float64) {
	away, level = make([]float64, len(y)), make([]float64, len(y))
	for i, v := range y {
		if !model.IsFinite(v) {
			continue
		}
		var beside []float64
		for _, by := range []int{-1, 1} {
			for j, n := i+by, 0; j >= 0 && j < len(y) && n < absurdBeside; j += by {
				if model.IsFinite(y[j]) {
					beside = append(beside, y[j])
					n++
				}
			}
		}
		if len(beside) > 0 {
			middle := model.Median(beside)
			away[i], level[i] = math.Abs(v-middle), math.Abs(middle)
		}
	}
	return away, level
}

// joinIsolated returns the stretches of the values found of n, in order; nil where more than
// absurdRun are in a row, or more than one is at the end, where a new level begins in the same way.
func joinIsolated(found []int, n int) []Spoilt {
	var out []Spoilt
	for _, i := range found {
		if k := len(out) - 1; k >= 0 && out[k].To == i {
			out[k].To++
			if out[k].To-out[k].From > absurdRun || out[k].To == n {
				return nil
			}
			continue
		}
		out = append(out, Spoilt{From: i, To: i + 1})
	}
	return out
}

// recurs reports whether two of the values found are a whole number of seasons apart.
func recurs(found, seasons []int) bool {
	for k, i := range found {
		for _, j := range found[:k] {
			for _, p := range seasons {
				if p > 1 && (i-j)%p == 0 {
					return true
				}
			}
		}
	}
	return false
}

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

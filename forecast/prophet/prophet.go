// Package prophet is the model of Taylor & Letham (2018): a trend of straight pieces,
// Fourier seasons and regressors, with autoregressive errors.
package prophet

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"capcli"
	"capcli/forecast/model"
)

// Piecewise is the model of Taylor & Letham (2018, "Forecasting at scale"):
//
//	y_t = m + k t + sum_j d_j (t - s_j)+ + sum Fourier terms + sum regressors + e_t
//
// with t from 0 to 1 over history and y in units of its largest value. The places s_j where the
// slope may change are spread evenly over the first 80 %. The changes d_j have a Laplace prior,
// so that most are near zero, and all other coefficients a normal one. The fit is the maximum of
// the posterior, found by ridge regressions in which each |d| is replaced by the parabola that
// touches it at the last d (majorise and minimise). Beyond the paper, the errors e are an
// autoregression of order one, so that the forecast starts where the data ends.
type Piecewise struct {
	Seasons []int // lengths in steps
}

const (
	pieceChanges   = 25 // number of places where the slope may change
	pieceRange     = 0.8
	pieceChange    = 0.05 // scale of the Laplace prior, in largest values per history
	pieceSeason    = 10.0 // prior standard deviation of the coefficients of seasons
	pieceTrend     = 5.0  // prior standard deviation of level and slope
	pieceHarmonics = 10
	pieceRounds    = 100
	pieceLeast     = 1e-5 // least standard deviation of the noise, in largest values
)

// Fit fits the model and leaves out missing values. It needs 3 known values.
func (p Piecewise) Fit(y capcli.Series) (model.Fitted, error) {
	count := 0
	for i, v := range y.Values {
		if math.IsInf(v, 0) {
			return nil, fmt.Errorf("prophet: value %d is infinite: %w", i+1, model.ErrUnfit)
		}
		if model.IsFinite(v) {
			count++
		}
	}
	if count < 3 {
		return nil, fmt.Errorf("prophet: %d known values, want 3 or more: %w", count, model.ErrTooShort)
	}
	f := newPieces(p, y.Values)
	if err := f.climb(); err != nil {
		return nil, err
	}
	return f.fitted(), nil
}

// pieces is one fit of Piecewise.
type pieces struct {
	p        Piecewise
	y        []float64
	unit     float64       // the largest absolute value of y
	places   []float64     // places where the slope may change, in t
	waves    [][][]float64 // Fourier terms by season and phase
	width    int           // number of columns
	coef     []float64
	variance float64 // of the errors, in squares of unit
}

func newPieces(p Piecewise, y []float64) *pieces {
	f := &pieces{p: p, y: y, unit: 1}
	top := 0.0
	for _, v := range y {
		if model.IsFinite(v) {
			top = math.Max(top, math.Abs(v))
		}
	}
	if top > 0 {
		f.unit = top
	}
	early := int(pieceRange * float64(len(y)))
	for j := range min(pieceChanges, early-1) {
		i := math.Round(float64(j+1) * float64(early-1) / float64(min(pieceChanges, early-1)))
		f.places = append(f.places, i/float64(len(y)-1))
	}
	f.width = 2 + len(f.places)
	var taken []int
	for _, m := range p.Seasons {
		if m < 2 || len(y) < 2*m {
			continue
		}
		w := fourierTable(m, taken)
		taken = append(taken, m)
		f.waves = append(f.waves, w)
		f.width += len(w[0])
	}
	return f
}

// fourierTable returns the cosines and sines of a season of m steps by phase, without those that
// a season in taken has too.
func fourierTable(m int, taken []int) [][]float64 {
	table := make([][]float64, m)
	for j := 1; j <= min(pieceHarmonics, m/2); j++ {
		if slices.ContainsFunc(taken, func(other int) bool { return j*other%m == 0 && j*other/m <= min(pieceHarmonics, other/2) }) {
			continue
		}
		for phase := range table {
			a := 2 * math.Pi * float64(j*phase%m) / float64(m)
			table[phase] = append(table[phase], math.Cos(a))
			if 2*j < m {
				table[phase] = append(table[phase], math.Sin(a))
			}
		}
	}
	return table
}

// row writes the columns of step i, which may lie beyond the end, to out.
func (f *pieces) row(i int, out []float64) {
	t := float64(i) / float64(len(f.y)-1)
	out = append(out[:0], 1, t)
	for _, s := range f.places {
		out = append(out, math.Max(0, t-s))
	}
	for _, w := range f.waves {
		out = append(out, w[i%len(w)]...)
	}
}

// climb sets the coefficients and the variance to the maximum of the posterior.
func (f *pieces) climb() error {
	gram, right, square, n := f.products()
	f.coef = make([]float64, f.width)
	f.variance = math.Max(pieceLeast*pieceLeast, square/n)
	precision := make([]float64, f.width)
	solved := mat.NewVecDense(f.width, nil)
	a := mat.NewSymDense(f.width, nil)
	var chol mat.Cholesky
	for range pieceRounds {
		f.priors(precision)
		for i := range f.width {
			for j := i; j < f.width; j++ {
				a.SetSym(i, j, gram.At(i, j))
			}
			a.SetSym(i, i, gram.At(i, i)+f.variance*precision[i])
		}
		if !chol.Factorize(a) {
			return fmt.Errorf("prophet: the columns have no single best fit: %w", model.ErrUnfit)
		}
		if err := chol.SolveVecTo(solved, mat.NewVecDense(f.width, right)); err != nil && !model.IsCondition(err) {
			return fmt.Errorf("prophet: %w: %w", err, model.ErrUnfit)
		}
		moved := 0.0
		for j := range f.coef {
			moved = math.Max(moved, math.Abs(solved.AtVec(j)-f.coef[j]))
			f.coef[j] = solved.AtVec(j)
		}
		left := square - 2*model.Dot(right, f.coef)
		for i := range f.coef {
			for j := range f.coef {
				left += f.coef[i] * f.coef[j] * gram.At(i, j)
			}
		}
		f.variance = math.Max(pieceLeast*pieceLeast, left/n)
		if moved < 1e-7 {
			break
		}
	}
	return nil
}

// products returns X'X, X'y, y'y and the number of rows, with y in units.
func (f *pieces) products() (gram *mat.SymDense, right []float64, square, n float64) {
	gram, right = mat.NewSymDense(f.width, nil), make([]float64, f.width)
	row := make([]float64, f.width)
	v := mat.NewVecDense(f.width, row)
	for i, y := range f.y {
		if !model.IsFinite(y) {
			continue
		}
		f.row(i, row)
		gram.SymRankOne(gram, 1, v)
		y /= f.unit
		for j, x := range row {
			right[j] += x * y
		}
		square += y * y
		n++
	}
	return gram, right, square, n
}

// priors writes the precision of each coefficient's normal prior to out. For a change of slope
// it is that of the parabola that touches the Laplace prior at its value.
func (f *pieces) priors(out []float64) {
	for j := range out {
		switch {
		case j < 2:
			out[j] = 1 / (pieceTrend * pieceTrend)
		case j < 2+len(f.places):
			out[j] = 1 / (pieceChange * math.Max(math.Abs(f.coef[j]), 1e-6))
			if f.coef[j] == 0 {
				out[j] = 1 / (pieceChange * pieceChange)
			}
		default:
			out[j] = 1 / (pieceSeason * pieceSeason)
		}
	}
}

// fitted returns the fit as a forecasting model: it estimates the autocorrelation of the errors
// and the spread of future changes of slope. As in the paper, slopes are assumed to change in
// future at the rate of the places for a change, and by the mean size of the past changes. With
// changes of Laplace scale b at r places per history, the variance of the trend after a share u
// of a history is 2 b^2 r u^3 / 3.
func (f *pieces) fitted() *model.Gaussian {
	n := len(f.y)
	row, fit, left := make([]float64, f.width), make([]float64, n), model.NaNs(n)
	for i, y := range f.y {
		f.row(i, row)
		fit[i] = model.Dot(row, f.coef)
		if model.IsFinite(y) {
			left[i] = y/f.unit - fit[i]
		}
	}
	ar, last, own := f.errors(left)
	scale := 0.0
	for _, d := range f.coef[2 : 2+len(f.places)] {
		scale += math.Abs(d) / float64(len(f.places))
	}
	rate := float64(len(f.places))
	info := f.info(fit, left, scale, ar, own)
	at := func(h int) (mean, sd []float64) {
		mean, sd = make([]float64, h), make([]float64, h)
		columns := make([]float64, f.width)
		for i := range mean {
			f.row(n+i, columns)
			decay, u := math.Pow(ar, float64(i+1)), float64(i+1)/float64(n-1)
			mean[i] = (model.Dot(columns, f.coef) + decay*last) * f.unit
			noise := own * math.Sqrt((1-decay*decay)/(1-ar*ar))
			sd[i] = math.Hypot(noise, scale*math.Sqrt(2*rate*u*u*u/3)) * f.unit
		}
		return mean, sd
	}
	path := func(h int, rng model.Noise) []float64 {
		mean, _ := at(h)
		e, slope, trend := 0.0, 0.0, 0.0
		for i := range mean {
			if rng.Float64() < rate/float64(n-1) {
				change := scale * rng.ExpFloat64()
				if rng.Uint64()&1 == 0 {
					change = -change
				}
				slope += change
			}
			trend += slope / float64(n-1)
			e = ar*e + own*model.Innovation(rng, i)
			mean[i] += (trend + e) * f.unit
		}
		return mean
	}
	return &model.Gaussian{Fit: info, Moments: at, Draw: path}
}

// info describes the fit. Its one-step fitted values include the autoregression on the last
// error.
func (f *pieces) info(fit, left []float64, scale, ar, own float64) model.Info {
	n := len(f.y)
	info := model.Info{
		Method: fmt.Sprintf("Piecewise trend with %d places of change and %d seasons, AR(1) errors", len(f.places), len(f.waves)),
		Params: []model.Param{{Name: "level", Value: f.coef[0] * f.unit}, {Name: "slope", Value: f.coef[1] * f.unit / float64(n-1)}, {Name: "change.scale", Value: scale * f.unit}, {Name: "ar1", Value: ar}},
		LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN(),
		Sigma2: own * own * f.unit * f.unit,
		Fitted: make([]float64, n),
	}
	for i := range fit {
		info.Fitted[i] = fit[i] * f.unit
		if i > 0 && model.IsFinite(left[i-1]) {
			info.Fitted[i] += ar * left[i-1] * f.unit
		}
	}
	return info
}

// errors returns the first autocorrelation of the errors, from 0 to 0.99; the error at the last
// step, as carried on from the last known one; and the standard deviation of the innovations.
func (f *pieces) errors(left []float64) (ar, last, own float64) {
	cross, square, sum, pairs, count := 0.0, 0.0, 0.0, 0.0, 0.0
	for i, e := range left {
		if !model.IsFinite(e) {
			continue
		}
		sum += e * e
		count++
		if i > 0 && model.IsFinite(left[i-1]) {
			cross += e * left[i-1]
			square += left[i-1] * left[i-1]
			pairs++
		}
	}
	if pairs > 2 && square > 0 {
		ar = math.Max(0, math.Min(0.99, cross/square))
	}
	for i := len(left) - 1; i >= 0; i-- {
		if model.IsFinite(left[i]) {
			last = left[i] * math.Pow(ar, float64(len(left)-1-i))
			break
		}
	}
	free := math.Max(1, count-math.Min(count/2, float64(f.width-len(f.places))))
	return ar, last, math.Sqrt(sum / free * (1 - ar*ar))
}

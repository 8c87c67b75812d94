package simple

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"capcli"
	"capcli/forecast/model"
)

// Line is the straight line by least squares, with seasonal figures where they are significant: the ordinary
// regression on time and, for a season, on its phases. Errors are independent and alike, so a forecast does not
// depend on the last value more than on others. With slope b, p coefficients and residual variance s², the
// variance of a value at time t is
//
//	s² (1 + 1/n + (t - mean of t)² / sum of (t - mean of t)²),
//
// with the n and the means of the phase of t where there are seasonal figures, and ranges are those of Student's t with n - p
// degrees of freedom.
type Line struct {
	Period int // season in steps; below 2 is none
}

// seasonLevel is the probability with which a series without season is taken to have none.
const seasonLevel = 0.99

// LineFit is a fitted Line.
type LineFit struct {
	model.Gaussian
	Slope    float64   // per step
	Errors   []float64 // residuals
	Curve    float64   // t value of a quadratic term beside the line; NaN where it cannot be told
	Seasonal bool      // there are seasonal figures
}

// regression is the least squares fit of a line with one level for each phase.
type regression struct {
	slope, sxx float64   // sxx is the sum of squares of time about the means of the phases
	times      []float64 // mean time by phase
	levels     []float64 // mean value by phase
	counts     []float64
	errors     []float64
	sse        float64
	free       int // degrees of freedom of the residuals
}

// regress fits a line with one level for each of m phases to y. Time is the index.
func regress(y []float64, m int) *regression {
	r := &regression{times: make([]float64, m), levels: make([]float64, m), counts: make([]float64, m), errors: make([]float64, len(y)), free: len(y) - m - 1}
	for i, v := range y {
		r.counts[i%m]++
		r.times[i%m] += float64(i)
		r.levels[i%m] += v
	}
	for k := range m {
		r.times[k] /= r.counts[k]
		r.levels[k] /= r.counts[k]
	}
	sxy := 0.0
	for i, v := range y {
		d := float64(i) - r.times[i%m]
		r.sxx += d * d
		sxy += d * (v - r.levels[i%m])
	}
	r.slope = sxy / r.sxx
	for i, v := range y {
		r.errors[i] = v - r.valueAt(i)
		r.sse += r.errors[i] * r.errors[i]
	}
	return r
}

func (r *regression) valueAt(i int) float64 {
	k := i % len(r.times)
	return r.levels[k] + r.slope*(float64(i)-r.times[k])
}

// curve returns the t value of a quadratic term beside the line.
func (r *regression) curve() float64 {
	squares := make([]float64, len(r.errors))
	for i := range squares {
		squares[i] = float64(i) * float64(i)
	}
	bend := regress(squares, len(r.times))
	by := 0.0
	for i, e := range bend.errors {
		by += e * r.errors[i]
	}
	rest := r.sse - by*by/bend.sse
	return by / math.Sqrt(bend.sse*rest/float64(r.free-1))
}

// Fit fits the line. It needs four values, none missing.
func (l Line) Fit(y capcli.Series) (model.Fitted, error) {
	fit, err := l.FitLine(y)
	if err != nil {
		return nil, err
	}
	return fit, nil
}

// FitLine does what Fit does, and returns the fit by its own type.
func (l Line) FitLine(y capcli.Series) (*LineFit, error) {
	v := y.Values
	n := len(v)
	if err := model.CheckPresent(v); err != nil {
		return nil, fmt.Errorf("line: %w", err)
	}
	if n < 4 {
		return nil, fmt.Errorf("line: %d values, want 4 or more: %w", n, model.ErrTooShort)
	}
	r, seasonal := regress(v, 1), false
	if m := l.Period; m > 1 && n >= 2*m {
		by := regress(v, m)
		f := (r.sse - by.sse) / float64(m-1) / (by.sse / float64(by.free))
		if f > (distuv.F{D1: float64(m - 1), D2: float64(by.free)}).Quantile(seasonLevel) {
			r, seasonal = by, true
		}
	}
	return r.fit(seasonal), nil
}

// fit returns the regression as a fitted model.
func (r *regression) fit(seasonal bool) *LineFit {
	n := len(r.errors)
	sigma := math.Sqrt(r.sse / float64(r.free))
	info := model.Info{
		Method: "Line", Params: []model.Param{{Name: "slope", Value: r.slope}}, Sigma2: sigma * sigma,
		LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN(), Fitted: make([]float64, n),
	}
	for i := range n {
		info.Fitted[i] = r.valueAt(i)
	}
	if seasonal {
		info.Notes = []string{"seasonally adjusted"}
	}
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(r.free)}
	out := &LineFit{Slope: r.slope, Errors: r.errors, Curve: math.NaN(), Seasonal: seasonal}
	if r.free > 1 && r.sse > 0 {
		out.Curve = r.curve()
	}
	away := func(i int) (level, slope float64) { // how far errors of level and slope move the value i steps ahead, in sigmas
		k := (n + i) % len(r.times)
		return 1 / math.Sqrt(r.counts[k]), (float64(n+i) - r.times[k]) / math.Sqrt(r.sxx)
	}
	out.Gaussian = model.Gaussian{
		Fit: info, Quantile: student.Quantile,
		Moments: func(h int) ([]float64, []float64) {
			mean, sd := make([]float64, h), make([]float64, h)
			for i := range mean {
				level, slope := away(i)
				mean[i], sd[i] = r.valueAt(n+i), sigma*math.Sqrt(1+level*level+slope*slope)
			}
			return mean, sd
		},
		Draw: func(h int, rng model.Noise) []float64 {
			out, tilt, shift := make([]float64, h), sigma*rng.NormFloat64(), make([]float64, len(r.times))
			for k := range shift {
				shift[k] = sigma * rng.NormFloat64()
			}
			for i := range out {
				level, slope := away(i)
				out[i] = r.valueAt(n+i) + tilt*slope + shift[(n+i)%len(shift)]*level + sigma*model.Innovation(rng, i)
			}
			return out
		},
	}
	return out
}

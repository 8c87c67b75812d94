package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"capcli"
)

func init() {
	Models.Add("tbats", "Box-Cox, ARMA errors, trend and trigonometric seasons", func(o Options) Model { return TBATS{Seasons: o.Seasons} })
}

// TBATS is the model of De Livera, Hyndman & Snyder (2011) with its form chosen
// by AIC: Box-Cox or not, level, trend or damped trend, the number of harmonics
// of each season, and an autoregression of order one in the errors or none.
// Point forecasts are medians where there is a Box-Cox transform.
type TBATS struct{ Seasons []int }

// tbatsLeast is how many values more than states are wanted.
const tbatsLeast = 4

// Fit fits the model; it takes no missing values.
func (m TBATS) Fit(y capcli.Series) (Fitted, error) {
	if err := present(y.Values); err != nil {
		return nil, fmt.Errorf("tbats: %w", err)
	}
	n := len(y.Values)
	if n < tbatsLeast+4 {
		return nil, fmt.Errorf("tbats: %d values, want %d or more: %w", n, tbatsLeast+4, ErrTooShort)
	}
	unit := largest(y.Values)
	if unit == 0 {
		unit = 1
	}
	v := scaled(y.Values, 1/unit)
	if slices.Max(v)-slices.Min(v) < 1e-12 {
		return nil, fmt.Errorf("tbats: all values are %g: %w", y.Values[0], ErrUnfit)
	}
	best, err := chooseTBATS(v, usable(n, m.Seasons))
	if err != nil {
		return nil, err
	}
	return best.fitted(unit), nil
}

// tbatsChoice is the best form so far.
type tbatsChoice struct {
	form   tbatsForm
	params []float64
	score  float64
	aic    float64
}

// chooseTBATS climbs from the plainest form by one change at a time while AIC falls.
func chooseTBATS(y []float64, seasons []int) (*tbatsFit, error) {
	best := tbatsChoice{aic: math.Inf(1)}
	try := func(f tbatsForm) bool {
		if f.places()+tbatsLeast > len(y) {
			return false
		}
		f.harmonics = slices.Clone(f.harmonics)
		params, score, aic, err := newTBATS(f, y).search(best.params)
		if err != nil || !(aic < best.aic-1e-6) {
			return false
		}
		best = tbatsChoice{f, params, score, aic}
		return true
	}
	form := tbatsForm{seasons: seasons, harmonics: slices.Repeat([]int{1}, len(seasons))}
	if !try(form) {
		return nil, fmt.Errorf("tbats: no form fits %d values: %w", len(y), ErrUnfit)
	}
	if slices.Min(y) > 0 {
		next := best.form
		next.boxCox = true
		try(next)
	}
	for k, m := range seasons {
		for misses := 0; misses < 2; {
			next := best.form
			next.harmonics = slices.Clone(next.harmonics)
			next.harmonics[k] += 1 + misses
			if 2*next.harmonics[k] >= m {
				break
			}
			if !try(next) {
				misses++
			} else {
				misses = 0
			}
		}
	}
	for _, change := range []func(*tbatsForm){
		func(f *tbatsForm) { f.trend = true },
		func(f *tbatsForm) { f.trend, f.damp = true, true },
		func(f *tbatsForm) { f.ar = true },
		func(f *tbatsForm) { f.boxCox = !f.boxCox && slices.Min(y) > 0 },
	} {
		next := best.form
		change(&next)
		if next.trend != best.form.trend || next.damp != best.form.damp || next.ar != best.form.ar || next.boxCox != best.form.boxCox {
			try(next)
		}
	}
	f := newTBATS(best.form, y)
	f.score(best.params)
	return &tbatsFit{tbats: f, choice: best}, nil
}

// tbatsFit is a fitted TBATS; it is read only once made.
type tbatsFit struct {
	*tbats
	choice tbatsChoice
	unit   float64
	end    []float64 // states after the last value
	sigma  float64
	info   Info
}

var _ Fitted = (*tbatsFit)(nil)

// fitted runs the states to the end of the data.
func (f *tbatsFit) fitted(unit float64) *tbatsFit {
	n := len(f.y)
	f.unit, f.sigma = unit, math.Sqrt(f.sse/float64(n))
	x, next := slices.Clone(f.start), make([]float64, f.size)
	values := make([]float64, n)
	for t := range f.y {
		level := dot(f.w, x)
		values[t] = unboxcox(level, f.lambda) * unit
		e := f.z[t] - level
		f.forward(x, next)
		for i := range next {
			next[i] += f.g[i] * e
		}
		x, next = next, x
	}
	f.end = x
	// R's measure, on the scale of the data: y = unit v, so each log y is log unit more.
	shift := 2 * float64(n) * math.Log(unit)
	k := float64(len(f.choice.params) + f.size)
	score, count := f.choice.score+shift, float64(n)
	f.info = Info{
		Method: f.form.String(), LogLik: -score / 2, AIC: score + 2*k, AICc: math.NaN(), BIC: score + k*math.Log(count),
		Sigma2: f.sigma * f.sigma, Fitted: values,
		Params: []Param{{"alpha", f.alpha}, {"beta", f.beta}, {"phi", f.phi}, {"ar1", f.ar}, {"lambda", f.lambda}},
		Notes:  []string{"log-likelihood is up to a constant, as the paper's; sigma2 is of the transformed series over its largest value"},
	}
	if count > k+1 {
		f.info.AICc = f.info.AIC + 2*k*(k+1)/(count-k-1)
	}
	return f
}

// Info says what was fitted.
func (f *tbatsFit) Info() Info { return f.info }

// Forecast gives medians and intervals, from normal errors on the transformed scale.
func (f *tbatsFit) Forecast(h int, levels ...float64) (Forecast, error) {
	if err := asked(h, levels); err != nil {
		return Forecast{}, err
	}
	out := Forecast{Mean: make([]float64, h)}
	for _, level := range levels {
		out.Intervals = append(out.Intervals, Interval{Level: level, Lo: make([]float64, h), Hi: make([]float64, h)})
	}
	x, next := slices.Clone(f.end), make([]float64, f.size)
	c, cNext := slices.Clone(f.g), make([]float64, f.size)
	variance := 1.0
	for i := range h {
		m, sd := dot(f.w, x), f.sigma*math.Sqrt(variance)
		out.Mean[i] = unboxcox(m, f.lambda) * f.unit
		for k, level := range levels {
			out.Intervals[k].Lo[i] = unboxcox(m-z(level)*sd, f.lambda) * f.unit
			out.Intervals[k].Hi[i] = unboxcox(m+z(level)*sd, f.lambda) * f.unit
		}
		psi := dot(f.w, c)
		variance += psi * psi
		f.forward(x, next)
		x, next = next, x
		f.forward(c, cNext)
		c, cNext = cNext, c
	}
	out.bound()
	return out, nil
}

// Path draws one future.
func (f *tbatsFit) Path(h int, rng *rand.Rand) []float64 {
	out := make([]float64, max(0, h))
	x, next := slices.Clone(f.end), make([]float64, f.size)
	for i := range out {
		e := f.sigma * rng.NormFloat64()
		out[i] = math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, unboxcox(dot(f.w, x)+e, f.lambda)*f.unit))
		f.forward(x, next)
		for k := range next {
			next[k] += f.g[k] * e
		}
		x, next = next, x
	}
	return out
}

// boxcox is the transform of one value, which is itself, not one less, at 1.
func boxcox(v, lambda float64) float64 {
	switch {
	case lambda >= 1:
		return v
	case lambda < 1e-6:
		return math.Log(v)
	}
	return (math.Pow(v, lambda) - 1) / lambda
}

// unboxcox takes boxcox back; what no value has gives 0.
func unboxcox(v, lambda float64) float64 {
	switch {
	case lambda >= 1:
		return v
	case lambda < 1e-6:
		return math.Exp(v)
	}
	return math.Pow(math.Max(0, lambda*v+1), 1/lambda)
}

package tbats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// TBATS is the model of De Livera, Hyndman & Snyder (2011). AICc chooses its form: a Box-Cox
// transform or none, a level, a trend or a damped trend, the number of harmonics of each season,
// and an ARMA process in the errors or none. Seasons are lengths in steps; a season is left out
// unless the series has more than two of it. Point forecasts are medians where there is a
// Box-Cox transform.
type TBATS struct{ Seasons []int }

// tbatsLeast is the least number of values beyond the parameters and seed states of a form.
// tbatsMost is the highest AR and MA order of the errors. tbatsLong is the greatest number of
// values used: every form is searched over all of them many times, and the states forget old
// values.
const (
	tbatsLeast = 4
	tbatsMost  = 5
	tbatsLong  = 4000
)

// Fit fits the model. Of a series longer than 4,000 values it uses the last 4,000, and the Info
// of the fit says so. It fails with ErrMissing for missing values, with ErrTooShort below 8
// values and with ErrUnfit for a constant series or where no form fits.
func (m TBATS) Fit(y capcli.Series) (model.Fitted, error) {
	from := len(y.Values) - tbatsLong
	if from <= 0 {
		return m.fit(y)
	}
	if err := model.CheckPresent(y.Values); err != nil {
		return nil, fmt.Errorf("tbats: %w", err)
	}
	y.Values, y.Start = y.Values[from:], y.At(from)
	fit, err := m.fit(y)
	if err != nil {
		return nil, err
	}
	return &lately{fit, from}, nil
}

// lately is a fit to the values of a series from index from on.
type lately struct {
	model.Fitted
	from int
}

// Info returns the info of the fit, with NaN as the fitted values before from.
func (l *lately) Info() model.Info {
	info := l.Fitted.Info()
	info.Fitted = append(model.NaNs(l.from), info.Fitted...)
	info.Notes = append(slices.Clone(info.Notes), fmt.Sprintf("TBATS: the last %d of %d values are used", tbatsLong, len(info.Fitted)))
	return info
}

// fit fits the model to all values of y, divided by their largest absolute value.
func (m TBATS) fit(y capcli.Series) (model.Fitted, error) {
	if err := model.CheckPresent(y.Values); err != nil {
		return nil, fmt.Errorf("tbats: %w", err)
	}
	n := len(y.Values)
	if n < tbatsLeast+4 {
		return nil, fmt.Errorf("tbats: %d values, want %d or more: %w", n, tbatsLeast+4, model.ErrTooShort)
	}
	unit := cmp.Or(model.Largest(y.Values), 1)
	v := model.Scaled(y.Values, 1/unit)
	if slices.Max(v)-slices.Min(v) < 1e-12 {
		return nil, fmt.Errorf("tbats: all values are %g: %w", y.Values[0], model.ErrUnfit)
	}
	best, err := chooseTBATS(v, decompose.UsableSeasons(n, m.Seasons))
	if err != nil {
		return nil, err
	}
	return best.fitted(unit), nil
}

// tbatsChoice is the best form found so far for the values y.
type tbatsChoice struct {
	y      []float64
	form   tbatsForm
	params tbatsParams
	score  float64 // -2 log-likelihood up to a constant
	aicc   float64
}

// try fits a form and keeps it if its AICc is lower than the best so far; it reports whether it
// did. The search starts from the best parameters so far and from common first parameters.
// Parameters and seed states both count, as in R. R compares AIC, which in a short series tends
// to spend a state on every few values.
func (c *tbatsChoice) try(form tbatsForm) bool {
	if form.parameterCount()+form.places()+tbatsLeast > len(c.y) || form.boxCox && slices.Min(c.y) <= 0 {
		return false
	}
	f := newTBATS(form, c.y)
	var params tbatsParams
	score := math.Inf(1)
	for _, start := range c.starts() {
		if p, v := f.search(start, tbatsCoarse); v < score {
			params, score = p, v
		}
	}
	k, n := float64(form.parameterCount()+form.places()), float64(len(c.y))
	aicc := score + 2*k + 2*k*(k+1)/(n-k-1)
	if !(aicc < c.aicc-1e-6) {
		return false
	}
	c.form, c.params, c.score, c.aicc = form, params, score, aicc
	return true
}

// starts returns the parameters from which the search for a form starts.
func (c *tbatsChoice) starts() []tbatsParams {
	if !model.IsFinite(c.aicc) {
		return []tbatsParams{tbatsFirst(0.09), tbatsFirst(0.5)}
	}
	return []tbatsParams{c.params, tbatsFirst(0.09)}
}

// change tries the best form so far with one change.
func (c *tbatsChoice) change(how func(*tbatsForm)) bool { return c.try(c.form.cloneWith(how)) }

// chooseTBATS starts from the plainest form that fits and tries one change at a time, keeping
// those that lower AICc. It makes at most three rounds over all changes and ends after a round
// without gain. Then it searches the parameters of the chosen form finely.
func chooseTBATS(y []float64, seasons []int) (*tbatsFit, error) {
	c := &tbatsChoice{y: y, aicc: math.Inf(1)}
	for !c.try(tbatsForm{seasons: seasons, harmonics: harmonicsOf(y, seasons)}) {
		if c.try(tbatsForm{seasons: seasons, harmonics: slices.Repeat([]int{1}, len(seasons))}) {
			break
		}
		if len(seasons) == 0 {
			return nil, fmt.Errorf("tbats: no form fits %d values: %w", len(y), model.ErrUnfit)
		}
		seasons = seasons[:len(seasons)-1] // the series is too short for the longest
	}
	for range 3 {
		before := c.aicc
		c.tryTrends()
		for k := range seasons {
			c.waves(k)
		}
		c.tryTrends()
		c.errors()
		if !(c.aicc < before-1e-6) {
			break
		}
	}
	f := newTBATS(c.form, y)
	for _, start := range []tbatsParams{c.params, tbatsFirst(0.09), tbatsFirst(0.5)} {
		if params, score := f.search(start, tbatsFine); score < c.score {
			c.params, c.score = params, score
		}
	}
	f.tbatsParams = c.params
	if !model.IsFinite(f.evaluate()) {
		return nil, fmt.Errorf("tbats: no form fits %d values: %w", len(y), model.ErrUnfit)
	}
	return &tbatsFit{tbats: f, choice: *c}, nil
}

// harmonicsOf returns a first guess at how many harmonics each season has. It subtracts the
// moving average over the longest season and then regresses the remainder on the harmonics,
// season after season, with the least AIC.
func harmonicsOf(y []float64, seasons []int) []int {
	out := slices.Repeat([]int{1}, len(seasons))
	if len(seasons) == 0 {
		return out
	}
	trend := make([]float64, len(y))
	decompose.CentredAverage(y, slices.Max(seasons), trend)
	var rest []float64
	for i, v := range trend {
		if model.IsFinite(v) {
			rest = append(rest, y[i]-v)
		}
	}
	for k, m := range seasons {
		out[k], rest = harmonicsIn(rest, m)
	}
	return out
}

// harmonicsIn returns the number of harmonics of a season of m steps in v with the least AIC,
// and the residuals of v after them. There is at least one harmonic.
func harmonicsIn(v []float64, m int) (count int, rest []float64) {
	n, best := float64(len(v)), math.Inf(1)
	left := slices.Clone(v)
	count, rest = 1, v
	for j := 1; 2*j <= m && 4*j < len(v); j++ {
		var a, b float64
		for i, x := range v {
			sin, cos := math.Sincos(2 * math.Pi * float64(i*j%m) / float64(m))
			a, b = a+x*cos*2/n, b+x*sin*2/n
		}
		if 2*j == m {
			a /= 2 // the wave of two steps has no sine
		}
		for i := range left {
			sin, cos := math.Sincos(2 * math.Pi * float64(i*j%m) / float64(m))
			left[i] -= a*cos + b*sin
		}
		if aic := n*math.Log(math.Max(model.Dot(left, left), 1e-300)) + 4*float64(j); aic < best {
			best, count, rest = aic, j, slices.Clone(left)
		}
	}
	return count, rest
}

// tryTrends tries every other combination of trend and Box-Cox transform.
func (c *tbatsChoice) tryTrends() {
	for _, boxCox := range []bool{!c.form.boxCox, c.form.boxCox} {
		for _, trend := range []tbatsForm{{}, {trend: true}, {trend: true, damp: true}} {
			if boxCox == c.form.boxCox && trend.trend == c.form.trend && trend.damp == c.form.damp {
				continue
			}
			c.change(func(f *tbatsForm) { f.boxCox, f.trend, f.damp = boxCox, trend.trend, trend.damp })
		}
	}
}

// waves looks for the best number of harmonics of season k. It goes up until two numbers in a
// row do not help, then down while each step helps.
func (c *tbatsChoice) waves(k int) {
	for misses, start := 0, c.form.harmonics[k]; misses < 2; {
		up := c.form.harmonics[k] + 1 + misses
		if 2*up > c.form.seasons[k] {
			break
		}
		if c.change(func(f *tbatsForm) { f.harmonics[k] = up }) {
			misses = 0
		} else {
			misses++
		}
		_ = start
	}
	for c.form.harmonics[k] > 1 && c.change(func(f *tbatsForm) { f.harmonics[k]-- }) {
	}
}

// errors looks for the best orders of the ARMA errors. It first tries a long autoregression,
// which catches what the seasons leave, and then moves to better neighbours of the best orders.
func (c *tbatsChoice) errors() {
	c.change(func(f *tbatsForm) { f.ar, f.ma = tbatsMost, 0 })
	for range 2 * tbatsMost {
		better := false
		for _, step := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 0}, {0, -1}, {1, -1}, {-1, 1}} {
			ar, ma := c.form.ar+step[0], c.form.ma+step[1]
			if ar < 0 || ma < 0 || ar > tbatsMost || ma > tbatsMost {
				continue
			}
			if c.change(func(f *tbatsForm) { f.ar, f.ma = ar, ma }) {
				better = true
				break
			}
		}
		if !better {
			return
		}
	}
}

// tbatsFit is a fitted TBATS. Nothing changes it after fitted.
type tbatsFit struct {
	*tbats
	choice tbatsChoice
	unit   float64   // what the values were divided by
	end    []float64 // states after the last value
	sigma  float64   // standard deviation of the innovations, on the transformed scale
	info   model.Info
}

var _ model.Fitted = (*tbatsFit)(nil)

// fitted runs the states to the end of the data and sets the scale, the variance and the info of
// the fit.
func (f *tbatsFit) fitted(unit float64) *tbatsFit {
	n := len(f.y)
	k := float64(f.form.parameterCount() + f.size)
	f.unit, f.sigma = unit, math.Sqrt(f.sse/math.Max(1, float64(n)-k))
	x, next := slices.Clone(f.start), make([]float64, f.size)
	values := make([]float64, n)
	for t := range f.y {
		level := model.Dot(f.w, x)
		values[t] = unboxcox(level, f.lambda) * unit
		e := f.z[t] - level
		f.stepForward(x, next)
		for i := range next {
			next[i] += f.g[i] * e
		}
		x, next = next, x
	}
	f.end = x
	// The score is R's measure on the scale of the data. With y = unit v, SSE has the factor
	// unit^(2 lambda) and each log y is log unit more: the score of y is 2 n log unit above that
	// of v.
	shift := 2 * float64(n) * math.Log(unit)
	score, count := f.choice.score+shift, float64(n)
	f.info = model.Info{
		Method: f.form.String(), LogLik: -score / 2, AIC: score + 2*k, AICc: math.NaN(), BIC: score + k*math.Log(count),
		Sigma2: f.sigma * f.sigma, Fitted: values,
		Params: []model.Param{{Name: "alpha", Value: f.alpha}, {Name: "beta", Value: f.beta}, {Name: "phi", Value: f.phi}, {Name: "lambda", Value: f.lambda}},
		Notes:  []string{"log-likelihood is up to a constant, as the paper's; sigma2 is of the transformed series over its largest value"},
	}
	for i, v := range f.ar {
		f.info.Params = append(f.info.Params, model.Param{Name: fmt.Sprintf("ar%d", i+1), Value: v})
	}
	for i, v := range f.ma {
		f.info.Params = append(f.info.Params, model.Param{Name: fmt.Sprintf("ma%d", i+1), Value: v})
	}
	if count > k+1 {
		f.info.AICc = f.info.AIC + 2*k*(k+1)/(count-k-1)
	}
	return f
}

// Info describes the fit.
func (f *tbatsFit) Info() model.Info { return f.info }

// Forecast returns medians and intervals for the next h values, from normal errors on the
// transformed scale. It fails when h is below 1 or a level is invalid.
func (f *tbatsFit) Forecast(h int, levels ...float64) (model.Forecast, error) {
	if err := model.CheckRequest(h, levels); err != nil {
		return model.Forecast{}, err
	}
	out := model.Forecast{Mean: make([]float64, h)}
	for _, level := range levels {
		out.Intervals = append(out.Intervals, model.Interval{Level: level, Lo: make([]float64, h), Hi: make([]float64, h)})
	}
	x, next := slices.Clone(f.end), make([]float64, f.size)
	c, cNext := slices.Clone(f.g), make([]float64, f.size)
	variance := 1.0
	for i := range h {
		m, sd := model.Dot(f.w, x), f.sigma*math.Sqrt(variance)
		out.Mean[i] = unboxcox(m, f.lambda) * f.unit
		for k, level := range levels {
			out.Intervals[k].Lo[i] = unboxcox(m-model.ZScore(level)*sd, f.lambda) * f.unit
			out.Intervals[k].Hi[i] = unboxcox(m+model.ZScore(level)*sd, f.lambda) * f.unit
		}
		psi := model.Dot(f.w, c)
		variance += psi * psi
		f.stepForward(x, next)
		x, next = next, x
		f.stepForward(c, cNext)
		c, cNext = cNext, c
	}
	out.Bound()
	return out, nil
}

// Path draws one future of h values, with normal errors on the transformed scale.
func (f *tbatsFit) Path(h int, rng model.Noise) []float64 {
	out := make([]float64, max(0, h))
	x, next := slices.Clone(f.end), make([]float64, f.size)
	for i := range out {
		e := f.sigma * model.Innovation(rng, i)
		out[i] = math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, unboxcox(model.Dot(f.w, x)+e, f.lambda)*f.unit))
		f.stepForward(x, next)
		for k := range next {
			next[k] += f.g[k] * e
		}
		x, next = next, x
	}
	return out
}

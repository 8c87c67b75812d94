// Package smoothing is exponential smoothing: ETS in state space by maximum likelihood,
// Holt-Winters by least squares and complex exponential smoothing (CES).
package smoothing

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"

	"capcli"
	"capcli/forecast/model"
)

// ETS is exponential smoothing in state space (Hyndman, Koehler, Ord and Snyder, "Forecasting
// with Exponential Smoothing", 2008). Maximum likelihood gives the parameters together with the
// first states. AICc chooses the form unless Form names one. Missing values are passed over.
//
// The log-likelihood leaves out the constants of the normal density, as R's forecast package
// does: criteria compare forms of ETS with each other, not with other models.
type ETS struct {
	Form   string // such as "AAdM"; "" chooses the form with the least AICc
	Period int    // season in steps; below 2 is without season
	// DampedOnly leaves the undamped trends out of the choice. The likelihood is a little lower,
	// and forecasts far ahead are better (Gardner and McKenzie 1985).
	DampedOnly bool
	// Quick starts the search for parameters from four places, not eleven, and takes less than
	// half of the time. The likelihood is sometimes a little lower.
	Quick bool
	// Seed draws the futures of simulated intervals.
	Seed capcli.Seed
}

const (
	etsLongest = 24   // longest season in steps, as in R
	etsPaths   = 2000 // most futures of a simulated interval
	etsDraws   = 4e6  // most values in all futures together, but at least 200 futures
	etsStream  = "forecast/ets"
)

// Fit fits the form named, or the form with the least AICc. A constant series gets ETS(A,N,N)
// with variance zero. It fails with ErrTooShort below 3 known values or where the series is too
// short for the form, and with ErrUnfit where the values do not suit the form.
func (e ETS) Fit(y capcli.Series) (model.Fitted, error) {
	forms, m, err := e.forms(y.Values)
	if err != nil {
		return nil, err
	}
	if low, high := etsExtremes(y.Values); low == high {
		return etsConstant(y.Values, low, e.Seed), nil
	}
	s := newETSSearch(y.Values, m)
	s.quick = e.Quick
	var best *etsFit
	for _, form := range forms {
		if f := s.fit(form); f != nil && (best == nil || f.aicc < best.aicc || f.aicc == best.aicc && f.aic < best.aic) {
			best = f
		}
	}
	if best == nil {
		return nil, fmt.Errorf("fit exponential smoothing to %q, %d values: %w", y.Name, len(y.Values), e.noFit(len(y.Values)-y.Missing(), forms, m))
	}
	best.seed = e.Seed
	if e.Form == "" && e.Period > 1 && m == 1 {
		best.notes = append(best.notes, fmt.Sprintf("season of %d left out: too long for this model or for the series", e.Period))
	}
	return best, nil
}

// noFit returns the reason why no form could be fitted to n values: ErrTooShort where n is too
// small for all forms, else ErrUnfit.
func (e ETS) noFit(n int, forms []etsForm, m int) error {
	for _, f := range forms {
		if n >= f.parameterCount(m)+2 {
			return model.ErrUnfit
		}
	}
	return model.ErrTooShort
}

// forms returns the forms to try and the season to try them with, 1 for none.
func (e ETS) forms(y []float64) ([]etsForm, int, error) {
	n := 0
	for _, v := range y {
		if math.IsInf(v, 0) || math.Abs(v) > 1e150 {
			return nil, 0, fmt.Errorf("fit exponential smoothing: found the value %g: %w", v, model.ErrUnfit)
		}
		if !math.IsNaN(v) {
			n++
		}
	}
	if n < 3 {
		return nil, 0, fmt.Errorf("fit exponential smoothing: expected at least 3 values, found %d: %w", n, model.ErrTooShort)
	}
	low, _ := etsExtremes(y)
	m := e.Period
	if m < 2 || m > etsLongest || n < m+5 {
		m = 1
	}
	if e.Form == "" {
		return etsForms(m > 1, low > 0, e.DampedOnly), m, nil
	}
	f, err := parseETSForm(e.Form)
	switch {
	case err != nil:
		return nil, 0, errors.Join(err, model.ErrUnfit)
	case (f.Error == etsMul || f.Season == etsMul) && low <= 0:
		return nil, 0, fmt.Errorf("fit %s: expected positive values, found %g: %w", f, low, model.ErrUnfit)
	case f.Season != etsNone && (e.Period < 2 || e.Period > etsLongest):
		return nil, 0, fmt.Errorf("fit %s: expected a season of 2 to %d steps, found %d: %w", f, etsLongest, e.Period, model.ErrUnfit)
	case f.Season != etsNone && m == 1:
		return nil, 0, fmt.Errorf("fit %s: expected more than a season of %d values, found %d: %w", f, e.Period, n, model.ErrTooShort)
	case f.Season == etsNone:
		m = 1
	}
	return []etsForm{f}, m, nil
}

// etsConstant returns the fit of a series that never changes.
func etsConstant(y []float64, value float64, seed capcli.Seed) *etsFit {
	f := &etsFit{
		form: etsForm{Error: etsAdd, Trend: etsNone, Season: etsNone}, m: 1, n: len(y),
		par:    etsParams{alpha: etsHigh, phi: 1, l: value},
		loglik: math.NaN(), aic: math.NaN(), aicc: math.NaN(), bic: math.NaN(),
		guard: newETSGuard(y), seed: seed, notes: []string{"the series is constant"},
	}
	f.end = f.par
	f.fitted = make([]float64, len(y))
	for i := range f.fitted {
		f.fitted[i] = value
	}
	return f
}

// Forecast returns means and intervals for the next h values. The intervals come from formulae
// where they are known, otherwise from futures simulated with the model's seed. It fails when h
// is below 1 or a level is invalid.
func (f *etsFit) Forecast(h int, levels ...float64) (model.Forecast, error) {
	if err := etsAhead(h, levels); err != nil {
		return model.Forecast{}, err
	}
	mean, sd, ok := f.moments(h)
	if !ok {
		mean = f.mean(h)
		f.guard.bound(mean, f.hasRelativeError())
		out := model.Forecast{Mean: mean, Intervals: f.simulateIntervals(mean, levels)}
		out.Contain()
		return out, nil
	}
	f.guard.bound(mean, f.hasRelativeError())
	out := model.Forecast{Mean: mean, Intervals: model.NormalIntervals(mean, sd, levels)}
	for _, iv := range out.Intervals {
		for i, mu := range mean {
			if f.hasRelativeError() && f.guard.positive && sd[i] > mu/2 {
				iv.Lo[i], iv.Hi[i] = etsLognormal(mu, sd[i], model.ZScore(iv.Level))
			}
			iv.Lo[i], iv.Hi[i] = f.guard.ends(mu, iv.Lo[i], iv.Hi[i], f.hasRelativeError())
		}
	}
	out.Contain()
	return out, nil
}

// hasRelativeError reports whether errors are multiplicative. Such a form takes positive values
// only.
func (f *etsFit) hasRelativeError() bool { return f.form.Error == etsMul }

// etsLognormal returns the interval, q standard deviations of the logarithm to each side, of the
// lognormal distribution with this mean and standard deviation. It is for forecasts so uncertain
// that a normal interval would reach below zero.
//
// At a given mean the upper end is highest where the standard deviation s of the logarithm is q,
// and falls beyond, as the mass gathers at zero. For s above q the highest end is taken, so that
// no interval is narrower for knowing less. Intervals up to model.MedianLevel keep their plain
// quantiles.
func etsLognormal(mean, sd, q float64) (lo, hi float64) {
	if mean <= 0 {
		return 0, q * sd
	}
	s := math.Sqrt(math.Log1p((sd / mean) * (sd / mean)))
	top := s
	if q > model.ZScore(model.MedianLevel) {
		top = min(s, q)
	}
	return mean * math.Exp(-s*s/2-q*s), mean * math.Exp(-top*top/2+q*top)
}

// simulateIntervals returns the intervals between the quantiles of simulated futures.
func (f *etsFit) simulateIntervals(mean, levels []float64) []model.Interval {
	h, rng := len(mean), f.seed.Stream(etsStream)
	paths := min(max(etsDraws/h, 200), etsPaths)
	draws := make([]float64, h*paths)
	work, path := make([]float64, f.m), make([]float64, h)
	for k := range paths {
		f.simulate(path, work, rng)
		for i, v := range path {
			draws[i*paths+k] = v
		}
	}
	for i := range h {
		sort.Float64s(draws[i*paths : (i+1)*paths])
	}
	out := make([]model.Interval, len(levels))
	for k, level := range levels {
		iv := model.Interval{Level: level, Lo: make([]float64, h), Hi: make([]float64, h)}
		tail := (1 - level/100) / 2
		for i, mu := range mean {
			d := draws[i*paths : (i+1)*paths]
			iv.Lo[i], iv.Hi[i] = f.guard.ends(mu, model.Quantile(d, tail), model.Quantile(d, 1-tail), f.hasRelativeError())
		}
		out[k] = iv
	}
	return out
}

// Path draws one future of h values with normal errors. Relative errors stay above -1, and no
// value passes the bounds of the intervals.
func (f *etsFit) Path(h int, rng model.Noise) []float64 {
	out := make([]float64, max(h, 0))
	f.simulate(out, make([]float64, f.m), rng)
	return out
}

// Info describes the fit. The parameters have the names that papers use. l, b, s0, s1, … are the
// first states: s0 is the seasonal state of the first value.
func (f *etsFit) Info() model.Info {
	in := model.Info{
		Method: f.form.String(), LogLik: f.loglik, AIC: f.aic, AICc: f.aicc, BIC: f.bic,
		Sigma2: f.sigma2, Fitted: append([]float64(nil), f.fitted...), Notes: f.notes,
	}
	in.Params = append(in.Params, model.Param{Name: "alpha", Value: f.par.alpha})
	if f.form.Trend != etsNone {
		in.Params = append(in.Params, model.Param{Name: "beta", Value: f.par.beta})
	}
	if f.form.Season != etsNone {
		in.Params = append(in.Params, model.Param{Name: "gamma", Value: f.par.gamma})
	}
	if f.form.Damped {
		in.Params = append(in.Params, model.Param{Name: "phi", Value: f.par.phi})
	}
	in.Params = append(in.Params, model.Param{Name: "l", Value: f.par.l})
	if f.form.Trend != etsNone {
		in.Params = append(in.Params, model.Param{Name: "b", Value: f.par.b})
	}
	for i, s := range f.par.s {
		in.Params = append(in.Params, model.Param{Name: fmt.Sprintf("s%d", i), Value: s})
	}
	return in
}

// Letters of an exponential smoothing form.
const (
	etsNone = 'N'
	etsAdd  = 'A'
	etsMul  = 'M'
)

// etsForm is one of the exponential smoothing models in the taxonomy of
// Hyndman, Koehler, Ord and Snyder, "Forecasting with Exponential Smoothing"
// (2008), ch. 2: the error is A or M, the trend N or A, the season N, A or M.
type etsForm struct {
	Error, Trend, Season byte
	Damped               bool
}

// parseETSForm reads a form such as "AAdM", "ANN" or "A,Ad,M". It fails for any other letters.
func parseETSForm(text string) (etsForm, error) {
	bare := strings.ReplaceAll(text, ",", "")
	f := etsForm{Damped: len(bare) == 4 && bare[2] == 'd'}
	if f.Damped {
		bare = bare[:2] + bare[3:]
	}
	if len(bare) == 3 {
		f.Error, f.Trend, f.Season = bare[0], bare[1], bare[2]
	}
	if !strings.ContainsRune("AM", rune(f.Error)) || !strings.ContainsRune("NA", rune(f.Trend)) ||
		!strings.ContainsRune("NAM", rune(f.Season)) || f.Damped && f.Trend == etsNone {
		return etsForm{}, fmt.Errorf("read the ETS form %q: expected error A or M, trend N, A or Ad, season N, A or M, as in AAdM", text)
	}
	return f, nil
}

// String returns the form as papers write it, for example "ETS(M,Ad,M)".
func (f etsForm) String() string {
	damped := ""
	if f.Damped {
		damped = "d"
	}
	return fmt.Sprintf("ETS(%c,%c%s,%c)", f.Error, f.Trend, damped, f.Season)
}

// smoothing returns the number of smoothing parameters among alpha, beta, gamma and phi.
func (f etsForm) smoothing() int {
	n := 1
	if f.Trend != etsNone {
		n++
	}
	if f.Season != etsNone {
		n++
	}
	if f.Damped {
		n++
	}
	return n
}

// parameterCount returns the number of estimated parameters without the variance: the smoothing
// parameters and the first states. One of the m seasonal states follows from the others.
func (f etsForm) parameterCount(m int) int {
	n := f.smoothing() + 1
	if f.Trend != etsNone {
		n++
	}
	if f.Season != etsNone {
		n += m - 1
	}
	return n
}

// etsForms returns the forms among which the automatic choice is made. Additive errors with a
// multiplicative season are left out: their variance is infinite (op. cit. ch. 15).
// Multiplicative forms need positive data.
func etsForms(seasonal, positive, dampedOnly bool) []etsForm {
	trends := []etsForm{{Trend: etsNone}, {Trend: etsAdd, Damped: true}}
	if !dampedOnly {
		trends = append(trends, etsForm{Trend: etsAdd})
	}
	var forms []etsForm
	add := func(e, s byte) {
		for _, f := range trends {
			f.Error, f.Season = e, s
			forms = append(forms, f)
		}
	}
	add(etsAdd, etsNone)
	if positive {
		add(etsMul, etsNone)
	}
	if !seasonal {
		return forms
	}
	add(etsAdd, etsAdd)
	if positive {
		add(etsMul, etsAdd)
		add(etsMul, etsMul)
	}
	return forms
}

// mean returns the point forecasts of the next h values: the states move on without errors.
func (f *etsFit) mean(h int) []float64 {
	out := make([]float64, h)
	l, b := f.end.l, f.end.b
	for i := range out {
		l += f.end.phi * b
		b *= f.end.phi
		out[i] = l
		switch f.form.Season {
		case etsAdd:
			out[i] += f.end.s[i%f.m]
		case etsMul:
			out[i] *= f.end.s[i%f.m]
		}
	}
	return out
}

// moments returns the means and standard deviations of the next h values where formulae are
// known (Hyndman et al. 2008, ch. 6): class 1, additive throughout; class 2, additive states
// with multiplicative errors; class 3, multiplicative errors and season. ok is false for other
// forms.
func (f *etsFit) moments(h int) (mean, sd []float64, ok bool) {
	switch {
	case f.form.Season == etsMul && f.form.Error == etsAdd:
		return nil, nil, false
	case f.form.Season == etsMul:
		mean, sd = f.momentsSeasonal(h)
		return mean, sd, true
	}
	mean, sd = f.mean(h), make([]float64, h)
	c2 := f.weights(h)
	if f.form.Error == etsAdd {
		sum := 1.0
		for i := range sd {
			sd[i] = math.Sqrt(f.sigma2 * sum)
			sum += c2[i]
		}
		return mean, sd, true
	}
	// theta is mu² plus excess, the variance of mu. They are kept apart because a small error
	// beside a large level would be lost in the rounding of its square.
	theta := make([]float64, h)
	for i, mu := range mean {
		sum := 0.0
		for j := range i {
			sum += c2[j] * theta[i-1-j]
		}
		excess := f.sigma2 * sum
		theta[i] = mu*mu + excess
		sd[i] = math.Sqrt(f.sigma2*theta[i] + excess)
	}
	return mean, sd, true
}

// weights returns the squares of c_1, c_2, …, the weight of an error in the value j steps later:
// c_j = alpha + beta (phi + … + phi^j) + gamma [m divides j].
func (f *etsFit) weights(h int) []float64 {
	out := make([]float64, h)
	power, sum := 1.0, 0.0
	for i := range out {
		power *= f.par.phi
		sum += power
		c := f.par.alpha + f.par.beta*sum
		if f.form.Season != etsNone && (i+1)%f.m == 0 {
			c += f.par.gamma
		}
		out[i] = c * c
	}
	return out
}

// etsPair is a level and a slope, or their means.
type etsPair struct{ l, b float64 }

// etsSquare is the covariance matrix of level and slope.
type etsSquare struct{ ll, lb, bb float64 }

// momentsSeasonal returns the means and standard deviations of class 3. With a normal error e of
// variance v, level and slope x become (F + G e) x, and the seasonal state of value h is
// multiplied by 1 + gamma e at h-m, h-2m, …. Errors of different times are independent, so the
// moments of the product are carried forward step by step, once for each phase. They equal op.
// cit. eq. 6.6 to 6.8. The second moments are carried about the mean: those about zero lose a
// small error beside a large level.
func (f *etsFit) momentsSeasonal(h int) (mean, sd []float64) {
	mean, sd = make([]float64, h), make([]float64, h)
	v, phi := f.sigma2, f.par.phi
	for phase := range min(f.m, h) {
		s := f.end.s[phase]
		x := etsPair{f.end.l, f.end.b}
		var c etsSquare
		for t := range h {
			if t%f.m == phase {
				q := x.l + phi*x.b
				second := (1+v)*(c.ll+2*phi*c.lb+phi*phi*c.bb) + v*q*q
				mean[t], sd[t] = q*s, math.Sqrt(max(second, 0))*math.Abs(s)
				x, c = f.step(x, c, f.par.gamma)
			} else {
				x, c = f.step(x, c, 0)
			}
		}
	}
	return mean, sd
}

// step returns the mean and covariance of A(e) x with A(e) = (1 + g e)(F + G e), for a random
// state of mean x and covariance c. The covariance is E[A c A'] plus that of A(e) E[x] = f + e
// (h + g f) + e² g h, where F x = f = (q, phi b) and G x = h = (alpha q, beta q).
func (f *etsFit) step(x etsPair, c etsSquare, g float64) (etsPair, etsSquare) {
	v, phi, alpha, beta := f.sigma2, f.par.phi, f.par.alpha, f.par.beta
	q := x.l + phi*x.b
	next := etsPair{q * (1 + g*v*alpha), phi*x.b + q*g*v*beta}
	// F c F', F c G' + G c F' and G c G'.
	qq := c.ll + 2*phi*c.lb + phi*phi*c.bb
	qb := phi * (c.lb + phi*c.bb)
	bb := phi * phi * c.bb
	c0, c1, c2 := 1+g*g*v, 2*g*v, v*(1+3*g*g*v)
	out := etsSquare{
		ll: c0*qq + c1*2*alpha*qq + c2*alpha*alpha*qq,
		lb: c0*qb + c1*(beta*qq+alpha*qb) + c2*alpha*beta*qq,
		bb: c0*bb + c1*2*beta*qb + c2*beta*beta*qq,
	}
	l, b := (alpha+g)*q, beta*q+g*phi*x.b
	twice := 2 * v * v * g * g * q * q
	out.ll += v*l*l + twice*alpha*alpha
	out.lb += v*l*b + twice*alpha*beta
	out.bb += v*b*b + twice*beta*beta
	return next, out
}

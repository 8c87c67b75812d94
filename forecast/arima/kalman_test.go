package arima

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// simulatedARMA is a series of phi and theta with a burn-in.
func simulatedARMA(n int, phi, theta []float64, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	const burn = 300
	y, e := make([]float64, n+burn), make([]float64, n+burn)
	for t := range y {
		e[t] = rng.NormFloat64()
		y[t] = e[t]
		for j, v := range phi {
			if t > j {
				y[t] += v * y[t-1-j]
			}
		}
		for j, v := range theta {
			if t > j {
				y[t] += v * e[t-1-j]
			}
		}
	}
	return y[burn:]
}

// densely is the log-determinant and quadratic form of the covariance matrix of
// the values of y that are there, from psi weights summed to the end.
func densely(t *testing.T, y, phi, theta []float64) (logs, ssq float64) {
	t.Helper()
	const long = 4000
	psi := make([]float64, long)
	for j := range psi {
		if j == 0 {
			psi[j] = 1
		} else if j <= len(theta) {
			psi[j] = theta[j-1]
		}
		for i := 0; i < len(phi) && i < j; i++ {
			psi[j] += phi[i] * psi[j-1-i]
		}
	}
	gamma := make([]float64, len(y))
	for k := range gamma {
		for j := 0; j+k < long; j++ {
			gamma[k] += psi[j] * psi[j+k]
		}
	}
	var at []int
	for i, v := range y {
		if !math.IsNaN(v) {
			at = append(at, i)
		}
	}
	cov, x := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for a, i := range at {
		x.SetVec(a, y[i])
		for b, j := range at {
			cov.SetSym(a, b, gamma[max(i-j, j-i)])
		}
	}
	var c mat.Cholesky
	if !c.Factorize(cov) {
		t.Fatal("the covariance is not positive")
	}
	var solved mat.VecDense
	if err := c.SolveVecTo(&solved, x); err != nil {
		t.Fatal(err)
	}
	return c.LogDet(), mat.Dot(x, &solved)
}

func TestKalmanIsTheGaussianLikelihood(t *testing.T) {
	for name, c := range map[string]struct {
		form arimaForm
		par  []float64
	}{
		"noise":           {arimaForm{m: 1}, nil},
		"ar":              {arimaForm{p: 2, m: 1}, []float64{0.5, 0.3}},
		"ma":              {arimaForm{q: 2, m: 1}, []float64{0.5, -0.3}},
		"arma":            {arimaForm{p: 1, q: 1, m: 1}, []float64{0.9, -0.6}},
		"near the circle": {arimaForm{p: 1, q: 1, m: 1}, []float64{0.97, 0.99}},
		"not invertible":  {arimaForm{p: 1, q: 1, m: 1}, []float64{0.5, 1.8}},
		"seasonal":        {arimaForm{p: 1, q: 1, bigP: 1, bigQ: 1, m: 7}, []float64{0.4, 0.3, 0.6, -0.5}},
		"seasonal ma":     {arimaForm{q: 1, bigQ: 2, m: 12}, []float64{-0.4, -0.7, 0.2}},
	} {
		ar, ma := c.form.lags()
		phi, theta := make([]float64, ar), make([]float64, ma)
		c.form.expand(c.par, phi, theta)
		for _, gaps := range []bool{false, true} {
			y := simulatedARMA(120, phi, theta, 7)
			if gaps {
				for _, i := range []int{3, 40, 41, 42, 77, 119} {
					y[i] = math.NaN()
				}
			}
			l, err := newArimaLikelihood(c.form, y, nil)
			if err != nil {
				t.Fatal(err)
			}
			l.exactAt(c.par)
			logs, ssq := densely(t, y, phi, theta)
			if relativeError(l.ssq, ssq) > 1e-8 || math.Abs(l.logs-logs) > 1e-8*math.Max(1, math.Abs(logs)) {
				t.Errorf("%s, gaps %v: squares %.10g, logs %.10g; want %.10g, %.10g", name, gaps, l.ssq, l.logs, ssq, logs)
			}
		}
	}
}

// A series whose missing value is replaced by a regressor of its own has the
// same coefficients of everything else.
func TestARIMAMissingValuesAgree(t *testing.T) {
	y := simulatedARMA(150, []float64{0.7}, []float64{0.4}, 3)
	for i := range y {
		y[i] += 50
		if i > 0 {
			y[i] += 0.2*y[i-1] - 10
		}
	}
	whole, err := ARIMA{Order: Order{1, 1, 1}}.FitARIMA(capcli.Series{Values: y})
	if err != nil {
		t.Fatal(err)
	}
	holed := append([]float64(nil), y...)
	holed[149] = math.NaN()
	part, err := ARIMA{Order: Order{1, 1, 1}}.FitARIMA(capcli.Series{Values: holed})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := ARIMA{Order: Order{1, 1, 1}}.FitARIMA(capcli.Series{Values: y[:149]})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(part.Info().LogLik-cut.Info().LogLik) > 2e-3 {
		t.Errorf("a missing last value: loglik %.6f; without it %.6f", part.Info().LogLik, cut.Info().LogLik)
	}
	a, _ := part.Forecast(5, 95)
	b, _ := cut.Forecast(6, 95)
	if worstApart(a.Mean, b.Mean[1:]) > 1e-3 || worstApart(a.Intervals[0].Hi, b.Intervals[0].Hi[1:]) > 1e-3 {
		t.Errorf("forecast after a missing value %v, want %v", a.Mean, b.Mean[1:])
	}
	if whole.Info().LogLik == part.Info().LogLik {
		t.Error("the last value has no part in the likelihood")
	}
}

func TestARIMAPathsFillTheIntervals(t *testing.T) {
	y := logs(t, golden.Series(t, "AirPassengers"), 0)
	fit, err := ARIMA{Order: Order{0, 1, 1}, Seasonal: Order{0, 1, 1}, Period: 12}.FitARIMA(capcli.Series{Values: y})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Forecast(24, 80)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const paths = 4000
	inside := make([]int, 24)
	for range paths {
		for i, v := range fit.Path(24, rng) {
			if f.Intervals[0].Lo[i] <= v && v <= f.Intervals[0].Hi[i] {
				inside[i]++
			}
		}
	}
	for i, n := range inside {
		if share := float64(n) / paths; math.Abs(share-0.8) > 0.03 {
			t.Errorf("step %d: %.3f of the paths are within 80 %%", i+1, share)
		}
	}
}

func TestARIMAOddSeries(t *testing.T) {
	gap := math.NaN()
	spikes := filled(200, func(i int) float64 { return float64(i % 50 / 49 * i) })
	tiny := simulatedARMA(60, []float64{0.5}, nil, 2)
	huge := append([]float64(nil), tiny...)
	for i := range tiny {
		tiny[i] *= 1e-200
		huge[i] = huge[i]*1e200 + 1e203
	}
	level := simulatedARMA(100, []float64{0.5}, nil, 5)
	for i := range level {
		level[i] += 1e9 + float64(i)
	}
	gappy := append([]float64(nil), level...)
	for i := range gappy {
		if i%3 == 1 || i < 4 || i > 95 {
			gappy[i] = gap
		}
	}
	for name, c := range map[string]struct {
		y     []float64
		short bool
	}{
		"empty":        {nil, true},
		"one":          {[]float64{1}, true},
		"two":          {[]float64{1, 2}, true},
		"three":        {[]float64{1, 3, 2}, false},
		"four":         {[]float64{1, 3, 2, 5}, false},
		"seven":        {[]float64{1, 3, 2, 5, 1, 7, 9}, false},
		"constant":     {filled(30, func(int) float64 { return 5 }), false},
		"zeros":        {make([]float64, 100), false},
		"line":         {filled(40, func(i int) float64 { return 3 + 0.1*float64(i) }), false},
		"parabola":     {filled(40, func(i int) float64 { return float64(i * i) }), false},
		"cycle":        {filled(96, func(i int) float64 { return float64(i % 24) }), false},
		"spikes":       {spikes, false},
		"tiny":         {tiny, false},
		"huge":         {huge, false},
		"high level":   {level, false},
		"gaps":         {gappy, false},
		"all missing":  {[]float64{gap, gap, gap, gap}, true},
		"mostly gone":  {[]float64{gap, 1, gap, gap, 4, gap, 2, gap}, false},
		"step":         {filled(100, func(i int) float64 { return float64(i / 50) }), false},
		"exponential":  {filled(60, func(i int) float64 { return math.Exp(float64(i) / 3) }), false},
		"intermittent": {filled(100, func(i int) float64 { return float64(i % 17 / 16) }), false},
	} {
		for _, m := range []AutoARIMA{{Period: 1}, {Period: 24}, {Period: 4}} {
			fit, err := m.Fit(capcli.Series{Values: c.y})
			if c.short {
				if !errors.Is(err, model.ErrTooShort) {
					t.Errorf("%s: %v, want too short", name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, season %d: %v", name, m.Period, err)
				continue
			}
			checkFinite(t, name+" "+fit.Info().Method, fit)
		}
	}
}

// checkFinite holds a fit to what every forecast promises.
func checkFinite(t *testing.T, name string, fit model.Fitted) {
	t.Helper()
	f, err := fit.Forecast(50, 80, 95)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	path := fit.Path(50, rand.New(rand.NewPCG(3, 4)))
	for i, v := range f.Mean {
		if !finite(v) || !finite(path[i]) {
			t.Errorf("%s: step %d: mean %g, path %g", name, i, v, path[i])
			return
		}
		for _, iv := range f.Intervals {
			if !finite(iv.Lo[i]) || !finite(iv.Hi[i]) || iv.Lo[i] > iv.Hi[i] {
				t.Errorf("%s: step %d: %g to %g", name, i, iv.Lo[i], iv.Hi[i])
				return
			}
		}
	}
}

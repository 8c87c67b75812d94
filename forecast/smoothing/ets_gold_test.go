package smoothing

import (
	"fmt"
	"math"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// etsOfR is R's fit with R's parameters, nothing fitted by us.
func etsOfR(t *testing.T, name string, g etsGold, m int) *etsFit {
	t.Helper()
	y, _ := etsClassic(t, name)
	form := etsGoldForm(t, g.Method)
	if form.Season == etsNone {
		m = 1
	}
	f := &etsFit{form: form, m: m}
	f.par = etsParams{alpha: g.Par["alpha"], beta: g.Par["beta"], gamma: g.Par["gamma"], phi: 1, l: g.Init["l"], b: g.Init["b"]}
	if form.Damped {
		f.par.phi = g.Par["phi"]
	}
	if form.Season != etsNone {
		for i := range m {
			f.par.s = append(f.par.s, g.Init[fmt.Sprintf("s%d", m-i)])
		}
	}
	f.guard = newETSGuard(y.Values)
	f.apply(y.Values, 1)
	return f
}

// TestETSRecursionVsR puts R's parameters into our recursion: likelihood,
// criteria, variance, fitted values, forecasts and interval ends must be R's,
// whatever the optimiser does. Two slips of forecast 8.20 are left out:
//   - damped trend with multiplicative season: its forecasts take l + b where
//     its own fitted values take l + phi b, up to 0.05 % away;
//   - A,N,A: gamma enters its variance at h = m, a step before the season
//     comes back; TestETSMomentsVsPaths shows ours by simulation.
func TestETSRecursionVsR(t *testing.T) {
	for _, name := range etsClassics {
		var gold map[string]etsGold
		golden.Read(t, name+"-ets", &gold)
		_, m := etsClassic(t, name)
		for key, g := range gold {
			what := name + " " + key
			if low, _ := etsExtremes(g.Fitted); low < 0 {
				continue // a multiplicative error about a negative forecast: R takes its magnitude
			}
			f := etsOfR(t, name, g, m)
			golden.CheckWithin(t, what+" log-likelihood", []float64{f.loglik}, []float64{g.LogLik}, 1e-8)
			golden.CheckWithin(t, what+" AIC, AICc, BIC", []float64{f.aic, f.aicc, f.bic}, []float64{g.AIC, g.AICc, g.BIC}, 1e-8)
			golden.CheckWithin(t, what+" sigma2", []float64{f.sigma2}, []float64{g.Sigma2}, 1e-8)
			golden.CheckWithin(t, what+" fitted", f.fitted, g.Fitted, 1e-8)
			mean, sd, ok := f.moments(len(g.Forecast.Mean))
			if !ok {
				t.Errorf("%s: no formula", what)
				continue
			}
			ahead := g.Forecast
			if form := f.form.String(); form == "ETS(A,N,A)" {
				mean, sd, ahead = mean[:m-1], sd[:m-1], ahead.firstSteps(m-1)
			} else if form == "ETS(M,Ad,M)" { // as R would have it: l + b, then as ours
				f.end.b, f.par.beta = f.end.b/f.par.phi, f.par.beta/f.par.phi
				mean, sd, _ = f.moments(len(mean))
			}
			golden.CheckWithin(t, what+" mean", mean, ahead.Mean, 1e-8)
			iv := model.NormalIntervals(mean, sd, []float64{80, 95})
			golden.CheckWithin(t, what+" lower 80", iv[0].Lo, ahead.Lower80, 1e-7)
			golden.CheckWithin(t, what+" upper 80", iv[0].Hi, ahead.Upper80, 1e-7)
			golden.CheckWithin(t, what+" lower 95", iv[1].Lo, ahead.Lower95, 1e-7)
			golden.CheckWithin(t, what+" upper 95", iv[1].Hi, ahead.Upper95, 1e-7)
		}
	}
}

func (a etsGoldAhead) firstSteps(h int) etsGoldAhead {
	return etsGoldAhead{a.Mean[:h], a.Lower80[:h], a.Upper80[:h], a.Lower95[:h], a.Upper95[:h]}
}

// TestETSMomentsVsPaths compares the formulae with simulated futures: another
// way to the same figures.
func TestETSMomentsVsPaths(t *testing.T) {
	const h, paths = 13, 40000
	for _, text := range []string{"ANN", "AAdN", "ANA", "AAdA", "MNN", "MAdN", "MNA", "MAdA", "MNM", "MAM", "MAdM"} {
		form, err := parseETSForm(text)
		if err != nil {
			t.Fatal(err)
		}
		f := &etsFit{form: form, m: 4, sigma2: 25, guard: etsGuard{low: -1e4, high: 1e4}}
		f.end = etsParams{phi: 0.9, l: 100, b: 2, s: []float64{-30, 10, 40, -20}}
		if form.Error == etsMul {
			f.sigma2 = 0.01
		}
		if form.Season == etsMul {
			f.end.s = []float64{0.7, 1.1, 1.4, 0.8}
		}
		if !form.Damped {
			f.end.phi = 1
		}
		f.par = etsParams{alpha: 0.3, beta: 0.1, gamma: 0.5, phi: f.end.phi}
		if form.Trend == etsNone {
			f.par.beta, f.end.b = 0, 0
		}
		mean, sd, ok := f.moments(h)
		if !ok {
			t.Fatalf("%s: no formula", text)
		}
		rng := capcli.Seed(1).Stream("test")
		var sum, squares [h]float64
		for range paths {
			for i, v := range f.Path(h, rng) {
				sum[i] += v - mean[i]
				squares[i] += (v - mean[i]) * (v - mean[i])
			}
		}
		for i := range h {
			bias, got := sum[i]/paths, math.Sqrt(squares[i]/paths)
			if math.Abs(bias) > 4*sd[i]/math.Sqrt(paths) || math.Abs(got/sd[i]-1) > 0.03 {
				t.Errorf("%s, %d ahead: mean %.4g and deviation %.4g by formula, off by %.3g and %.4g in %d paths", text, i+1, mean[i], sd[i], bias, got, paths)
			}
		}
	}
}

// TestETSGradient compares the adjoint with differences.
func TestETSGradient(t *testing.T) {
	y := make([]float64, 40)
	for i := range y {
		y[i] = 1 + 0.01*float64(i) + 0.2*math.Sin(float64(i)) + 0.05*math.Cos(float64(7*i))
	}
	y[11] = math.NaN()
	for _, text := range []string{"ANN", "AAdN", "MAdN", "ANA", "AAdA", "MAdA", "AAdM", "MAdM", "MNM"} {
		form, err := parseETSForm(text)
		if err != nil {
			t.Fatal(err)
		}
		task := newETSTask(form, 4, y)
		g := etsGuesses[1]
		start := etsStart(form, 4, etsFill(y))
		g.l, g.b, g.s = start.l, start.b, start.s
		if !form.Damped {
			g.phi = 1
		}
		if form.Trend == etsNone {
			g.beta, g.b = 0, 0
		}
		task.units(&g)
		x, grad := make([]float64, task.size()), make([]float64, task.size())
		task.encode(&g, x)
		task.Value(x)
		task.Gradient(x, grad)
		for i := range x {
			const h = 1e-5
			keep := x[i]
			x[i] = keep + h
			up := task.Value(x)
			x[i] = keep - h
			down := task.Value(x)
			x[i] = keep
			if want := (up - down) / (2 * h); math.Abs(grad[i]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s coordinate %d: gradient %.8g, want %.8g by differences", text, i, grad[i], want)
			}
		}
	}
}

package smoothing

import (
	"errors"
	"math"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// etsOdd are series of the kinds that break programs.
func etsOdd() map[string][]float64 {
	rng := capcli.Seed(3).Stream("odd")
	odd := map[string][]float64{
		"none": nil, "one": {3}, "two": {1, 2}, "three": {1, 2, 4}, "four": {5, 1, 3, 2}, "six": {1, 1, 2, 1, 1, 3},
		"missing": {math.NaN(), math.NaN(), math.NaN(), math.NaN()}, "infinite": {1, 2, math.Inf(1), 3, 4, 5, 6, 7, 8, 9},
	}
	kinds := map[string]func(i int) float64{
		"constant":     func(int) float64 { return 7 },
		"zero":         func(int) float64 { return 0 },
		"line":         func(i int) float64 { return 3 + 2*float64(i) },
		"falling":      func(i int) float64 { return 1000 * math.Exp(-float64(i)/4) },
		"rising":       func(i int) float64 { return math.Exp(float64(i) / 4) },
		"one spike":    func(i int) float64 { return []float64{0, 1e6}[b2i(i == 20)] },
		"spikes":       func(int) float64 { return math.Exp(4 * rng.NormFloat64()) },
		"intermittent": func(int) float64 { return max(0, math.Floor(rng.NormFloat64()-1)) },
		"near zero":    func(int) float64 { return 1e-3 + max(0, 50*rng.NormFloat64()) },
		"noise":        func(int) float64 { return rng.NormFloat64() },
		"walk":         func(i int) float64 { return 100 + math.Sqrt(float64(i))*rng.NormFloat64() },
		"season":       func(i int) float64 { return 10 + 5*math.Sin(2*math.Pi*float64(i)/12) },
		"negative":     func(i int) float64 { return -50 + 5*math.Sin(float64(i)) },
		"huge":         func(int) float64 { return 1e140 * (2 + rng.NormFloat64()) },
		"too huge":     func(int) float64 { return 1e300 * rng.NormFloat64() },
		"tiny":         func(int) float64 { return 1e-140 * (2 + rng.NormFloat64()) },
		"far off":      func(int) float64 { return 1e9 + rng.NormFloat64() },
		"gaps":         func(i int) float64 { return []float64{10 + rng.NormFloat64(), math.NaN()}[b2i(i%5 == 1)] },
		"step":         func(i int) float64 { return []float64{10, 1000}[b2i(i > 30)] + rng.Float64() },
	}
	for name, f := range kinds {
		*rng = *capcli.Seed(3).Stream(name)
		y := make([]float64, 60)
		for i := range y {
			y[i] = f(i)
		}
		odd[name] = y
	}
	return odd
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestSmoothingNeverBreaks fits every model and form to every odd series, at
// several lengths: an error of the stated kinds, or finite ordered forecasts
// with no end further out than the fences, and paths inside them.
func TestSmoothingNeverBreaks(t *testing.T) {
	models := map[string]model.Model{"ses": ETS{Form: "ANN"}, "holt": ETS{Form: "AAN"}, "damped": ETS{Form: "AAdN"}}
	for name, m := range map[string]int{"": 1, "/4": 4, "/12": 12, "/24": 24} {
		models["ets"+name] = ETS{Period: m}
		models["ces"+name] = CES{Period: m}
		models["hw"+name] = HoltWinters{Period: m}
	}
	for _, form := range []string{"MAdM", "AAM", "MAA", "MNM", "MAN", "AAdM"} {
		models[form] = ETS{Form: form, Period: 4}
	}
	for name, all := range etsOdd() {
		for _, n := range []int{3, 4, 5, 7, 9, 13, 20, 29, 60} {
			y := all[:min(n, len(all))]
			for kind, m := range models {
				fit, err := m.Fit(capcli.Series{Name: name, Values: y})
				if err != nil {
					if !errors.Is(err, model.ErrTooShort) && !errors.Is(err, model.ErrMissing) && !errors.Is(err, model.ErrUnfit) {
						t.Errorf("%s of %s: error %v wraps none of the three", kind, name, err)
					}
					continue
				}
				etsHolds(t, kind+" of "+name, fit, y)
			}
		}
	}
}

func etsHolds(t *testing.T, what string, fit model.Fitted, y []float64) {
	t.Helper()
	const h = 30
	low, high := etsExtremes(y)
	f, err := fit.Forecast(h, 80, 95, 99.9)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	path := fit.Path(h, capcli.Seed(1).Stream("path"))
	for i, mean := range f.Mean {
		out := 10*(high-low) + 1e-9*math.Abs(high)
		if !(mean >= low-out && mean <= high+out) {
			t.Errorf("%s: mean %d is %g, want near %g to %g", what, i, mean, low, high)
			return
		}
		before := [2]float64{mean, mean}
		for _, iv := range f.Intervals {
			lo, hi := iv.Lo[i], iv.Hi[i]
			if !(lo <= before[0]+out*1e-6 && hi >= before[1]-out*1e-6 && lo >= min(low, mean)-out && hi <= max(high, mean)+out) && iv.Level > 90 {
				t.Errorf("%s: %g %% interval %d is %g to %g, mean %g, seen %g to %g", what, iv.Level, i, lo, hi, mean, low, high)
				return
			}
			if f, ok := fit.(*etsFit); ok && f.hasRelativeError() && !(lo >= 0 && path[i] >= 0) {
				t.Errorf("%s: %g %% interval %d begins at %g, path at %g, want 0 or more", what, iv.Level, i, lo, path[i])
			}
			before = [2]float64{lo, hi}
		}
		if !(path[i] >= low-out && path[i] <= high+out) {
			t.Errorf("%s: path %d is %g, want near %g to %g", what, i, path[i], low, high)
			return
		}
	}
	in := fit.Info()
	if len(in.Fitted) != len(y) || math.IsNaN(in.Sigma2) || math.IsInf(in.Sigma2, 0) || math.IsInf(in.LogLik, 0) {
		t.Errorf("%s: %d fitted values, variance %g, log-likelihood %g", what, len(in.Fitted), in.Sigma2, in.LogLik)
	}
}

// TestETSSameTwice: the simulated intervals are the same every time.
func TestETSSameTwice(t *testing.T) {
	y := make([]float64, 48)
	for i := range y {
		y[i] = 100 + float64(i) + 20*math.Sin(float64(i)*math.Pi/2) + 3*math.Cos(float64(i*i))
	}
	fit, err := ETS{Form: "AAdM", Period: 4, Seed: 5}.Fit(capcli.Series{Values: y})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := fit.Forecast(12, 80, 95)
	b, _ := fit.Forecast(12, 80, 95)
	golden.CheckWithin(t, "second run", a.Intervals[1].Hi, b.Intervals[1].Hi, 0)
	for i := range a.Mean {
		if !(a.Intervals[1].Lo[i] < a.Intervals[0].Lo[i] && a.Intervals[0].Hi[i] < a.Intervals[1].Hi[i]) {
			t.Errorf("%d ahead: 95 %% interval %g to %g does not hold the 80 %% one, %g to %g", i+1,
				a.Intervals[1].Lo[i], a.Intervals[1].Hi[i], a.Intervals[0].Lo[i], a.Intervals[0].Hi[i])
		}
	}
}

// TestETSMissing: a few missing values change little.
func TestETSMissing(t *testing.T) {
	y, m := etsClassic(t, "nottem")
	whole, err := ETS{Period: m}.Fit(y)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 17, 18, 100, 201, len(y.Values) - 1} {
		y.Values[i] = math.NaN()
	}
	holed, err := ETS{Period: m}.Fit(y)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := whole.Forecast(12)
	b, _ := holed.Forecast(12)
	golden.CheckWithin(t, "forecasts with six values missing", b.Mean, a.Mean, 0.03)
}

package arima

import (
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/testdata/golden"
)

// waved is a series of a day with two harmonics, a week with one, and errors.
func waved(n int, gap func(i int) bool) []float64 {
	e := simulatedARMA(n, []float64{0.8}, []float64{0.3}, 4)
	return filled(n, func(i int) float64 {
		if gap(i) {
			return math.NaN()
		}
		return wave(float64(i)) + 2*e[i]
	})
}

func wave(x float64) float64 {
	return 100 + 20*math.Sin(x*math.Pi/12) + 8*math.Cos(x*math.Pi/6) + 9*math.Sin(x*2*math.Pi/168)
}

// TestDHRIsTheJointFit: regression and errors in turn come to what their joint
// likelihood says, errors of the coefficients included.
func TestDHRIsTheJointFit(t *testing.T) {
	golden.SkipLong(t)
	for name, gap := range map[string]func(i int) bool{
		"whole": func(int) bool { return false },
		"gaps":  func(i int) bool { return i%37 == 5 || i == 2 },
	} {
		y := capcli.Series{Values: waved(600, gap)}
		got, err := DHR{Seasons: []float64{24, 168}}.Fit(y)
		if err != nil {
			t.Fatal(name, err)
		}
		fit := got.(*Fit)
		f := fit.form
		joint, err := ARIMA{Order: Order{f.p, f.d, f.q}, Mean: f.d == 0, Xreg: fit.src.given}.FitARIMA(y)
		if err != nil {
			t.Fatal(name, err)
		}
		if fit.loglik < joint.loglik-1e-3 {
			t.Errorf("%s: loglik %.6f, jointly %.6f", name, fit.loglik, joint.loglik)
		}
		for i, c := range joint.Coef {
			if math.Abs(fit.Coef[i].Value-c.Value) > 0.02*joint.StdErr[i] || relativeError(fit.StdErr[i], joint.StdErr[i]) > 0.02 {
				t.Errorf("%s: %s %.5f (%.5f), jointly %.5f (%.5f)", name, c.Name, fit.Coef[i].Value, fit.StdErr[i], c.Value, joint.StdErr[i])
			}
		}
	}
}

func TestDHRFindsTheWaves(t *testing.T) {
	golden.SkipLong(t)
	e := simulatedARMA(1500, []float64{0.5}, nil, 9)
	none := func(int) bool { return false }
	for name, c := range map[string]struct {
		y       []float64
		seasons []float64
		want    string
		off     float64
	}{
		"day and week":       {waved(800, none), []float64{24, 168}, "(2 of 24, 1 of 168)", 7},
		"in any order":       {waved(800, none), []float64{168, 24}, "(2 of 24, 1 of 168)", 7},
		"with gaps":          {waved(800, func(i int) bool { return i%50 < 3 }), []float64{24, 168}, "(2 of 24, 1 of 168)", 7},
		"a year of days":     {filled(1200, func(i int) float64 { return 10*math.Cos(float64(i)*2*math.Pi/365.25) + e[i]/10 }), []float64{365.25}, "1 of 365.25", 0.3},
		"without error":      {filled(480, func(i int) float64 { return wave(float64(i)) }), []float64{24, 168}, "(2 of 24, 1 of 168)", 1e-9},
		"none of two cycles": {waved(40, none), []float64{24}, "ARIMA", math.Inf(1)},
	} {
		fit, err := DHR{Seasons: c.seasons}.Fit(capcli.Series{Values: c.y})
		if err != nil {
			t.Fatal(name, err)
		}
		if got := fit.Info().Method; !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		ahead, err := fit.Forecast(100, 95)
		if err != nil {
			t.Fatal(name, err)
		}
		for k, v := range ahead.Mean {
			want := wave(float64(len(c.y) + k))
			if name == "a year of days" {
				want = 10 * math.Cos(float64(len(c.y)+k)*2*math.Pi/365.25)
			}
			if math.Abs(v-want) > c.off {
				t.Errorf("%s: step %d is %v, want %v", name, k+1, v, want)
				break
			}
		}
	}
}

package forecast

import (
	"math"
	"testing"

	"capcli/forecast/model"
	"capcli/forecast/simple"
	"capcli/forecast/theta"
	"capcli/testdata/golden"
)

// The walks and Theta are R's to the digits kept. Of a series with missing
// values R's mean counts them among n, so its ends are not looked at.
func TestWalksOnTextbookSeriesAsR(t *testing.T) {
	names, facts := golden.ReadFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		for _, c := range []struct {
			what  string
			model model.Model
			r     *golden.RAhead
			share float64
		}{
			{"naive", simple.Walk{Name: "naive", Lag: 1}, s.Naive, 1e-8},
			{"snaive", simple.SeasonalWalk{Period: s.M}, s.SNaive, 1e-8},
			{"drift", simple.Walk{Name: "drift", Lag: 1, Drift: true}, s.Drift, 1e-8},
			{"mean", simple.Mean{}, s.Mean, 1e-8},
			{"theta", theta.Theta{Period: s.M}, s.Theta, 5e-4}, // R stops within 1e-4 of the best weight
		} {
			if c.r == nil {
				continue
			}
			ends := 10 * c.share
			if len(model.Observed(s.Y)) < len(s.Y) && c.what == "mean" {
				ends = math.Inf(1)
			}
			s.CheckForecast(t, name+" "+c.what, s.FitModel(t, name+" "+c.what, c.model), *c.r, c.share, ends)
		}
	}
}

// The rest after MSTL, by ETS and by ARIMA: R's stlf.
func TestSTLForecastsOfTextbookSeriesAsR(t *testing.T) {
	names, facts := golden.ReadFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		for rest, r := range map[string]*golden.RSmooth{"ets": s.StlfETS, "arima": s.StlfARIMA} {
			if r == nil {
				continue
			}
			what := name + " mstl-" + rest
			fit := s.FitModel(t, what, decomposed{seasons: s.Periods(), rest: rest})
			in := fit.Info()
			if in.AICc > r.AICc+1e-2 {
				t.Errorf("%s: %s has AICc %.4f, R's %s %.4f", what, in.Method, in.AICc, r.Method, r.AICc)
			}
			if math.Abs(in.AICc-r.AICc) < 1e-3 {
				s.CheckForecast(t, what, fit, r.RAhead, 1e-3, 5e-3)
			} else {
				t.Logf("%s: %s AICc %.4f, R's %s %.4f", what, in.Method, in.AICc, r.Method, r.AICc)
			}
		}
	}
}

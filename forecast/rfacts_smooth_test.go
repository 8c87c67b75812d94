package forecast

import (
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/internal/golden"
	"capcli/forecast/model"
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
			{"naive", walk{name: "naive", lag: 1}, s.Naive, 1e-8},
			{"snaive", seasonalWalk{s.M}, s.SNaive, 1e-8},
			{"drift", walk{name: "drift", lag: 1, drift: true}, s.Drift, 1e-8},
			{"mean", constant{}, s.Mean, 1e-8},
			{"theta", theta{s.M}, s.Theta, 5e-4}, // R stops within 1e-4 of the best weight
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

// Likelihoods must be no worse than R's by 0.01, and where they are the same,
// so must be the forecasts. Damped trends with additive season and errors, and
// additive errors with multiplicative season, are simulated by R.
func TestSmoothingOfTextbookSeriesNoWorseThanR(t *testing.T) {
	names, facts := golden.ReadFacts(t)
	better, same, all := 0, 0, 0
	for _, name := range names {
		s := facts.Series[name]
		fits := map[string]golden.RSmooth{}
		maps.Copy(fits, s.Forms)
		for what, r := range map[string]*golden.RSmooth{"ets": s.ETS, "ses": s.SES, "holt": s.Holt, "damped": s.Damped} {
			if r != nil {
				fits[what] = *r
			}
		}
		models := map[string]model.Model{"ets": ETS{Period: s.M}, "ses": ETS{Form: "ANN"}, "holt": ETS{Form: "AAN"}, "damped": ETS{Form: "AAdN"}}
		for _, what := range slices.Sorted(maps.Keys(fits)) {
			r, model := fits[what], models[what]
			if r.Method == "" {
				continue
			}
			if model == nil {
				model = ETS{Form: what, Period: s.M}
			}
			fit := s.FitModel(t, name+" "+what, model)
			in := fit.Info()
			all++
			if in.AICc > r.AICc+1e-2 || what != "ets" && in.LogLik < r.LogLik-1e-2 {
				t.Errorf("%s %s: %s has log-likelihood %.4f and AICc %.4f, R's %s %.4f and %.4f", name, what, in.Method, in.LogLik, in.AICc, r.Method, r.LogLik, r.AICc)
			}
			switch {
			case in.AICc < r.AICc-1e-2:
				better++
			case math.Abs(in.LogLik-r.LogLik) < 1e-3 && r.H > 0:
				same++
				share, ends := 1e-3, 5e-3
				if strings.HasPrefix(in.Method, "ETS(A") && strings.HasSuffix(in.Method, "M)") {
					ends = 0.06 // of both simulations, by chance
				}
				s.CheckForecast(t, name+" "+what, fit, r.RAhead, share, ends)
			}
		}
	}
	t.Logf("%d fits: %d better than R's, %d others with their forecasts compared", all, better, same)
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

func TestHoltWintersOfTextbookSeriesNoWorseThanR(t *testing.T) {
	names, facts := golden.ReadFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		for season, r := range map[string]float64{"additive": s.HWAdd, "multiplicative": s.HWMul} {
			if r == 0 {
				continue
			}
			if got := s.FitModel(t, name, HoltWinters{Period: s.M, Season: season}).(*holtWinters).sse; got > r*(1+1e-6) {
				t.Errorf("%s %s: sum of squared errors %.8g, R's %.8g", name, season, got, r)
			}
		}
	}
}

func TestCrostonOfCountsAsR(t *testing.T) {
	_, facts := golden.ReadFacts(t)
	for name, c := range facts.Counts {
		for i, alpha := range c.Alpha {
			fit, err := intermittent{name: "Croston", alpha: alpha, beta: alpha}.Fit(capcli.Series{Values: c.Y})
			if err != nil {
				t.Fatal(err)
			}
			f, err := fit.Forecast(1)
			if err != nil {
				t.Fatal(err)
			}
			golden.CheckWithin(t, name, f.Mean, c.Mean[i:i+1], 1e-8)
		}
	}
}

func TestTBATSOfTextbookSeriesNoWorseThanR(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	names, facts := golden.ReadFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		if s.TBATS == nil {
			continue
		}
		if len(s.Seasons) > 1 {
			if os.Getenv("CAPCLI_ACCURACY") == "" {
				continue // takes long
			}
			s.Y = s.Y[:1008] // three weeks of half-hours, as R had them
		}
		in := s.FitModel(t, name, TBATS{Seasons: s.Periods()}).Info()
		t.Logf("%s: %s AIC %.3f, R's %s %.3f", name, in.Method, in.AIC, s.TBATS.Method, s.TBATS.AIC)
		if in.AIC > s.TBATS.AIC+1e-2 {
			t.Errorf("%s: %s has AIC %.3f, R's %s %.3f", name, in.Method, in.AIC, s.TBATS.Method, s.TBATS.AIC)
		}
	}
}

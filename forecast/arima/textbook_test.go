package arima

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/testdata/golden"
)

// rARIMA is what R says of an ARIMA model of a textbook series.
type rARIMA struct {
	Spec, Model  string
	Order        [6]int
	Coef         map[string]float64
	LogLik, AICc *float64
	Sigma2       float64
	Mean, Hi95   []float64
	K            int
}

// rARIMAs are R's facts, by series.
func rARIMAs(t *testing.T) map[string]struct {
	Fixed, Auto, Waves []rARIMA
} {
	t.Helper()
	var out map[string]struct {
		Fixed, Auto, Waves []rARIMA
	}
	golden.ReadJSON(t, filepath.Join("forecast", "testdata", "r-arima.json.gz"), &out)
	return out
}

// gapped has every eleventh value missing.
func gapped(y []float64) []float64 {
	return filled(len(y), func(i int) float64 {
		if (i+1)%11 == 5 {
			return math.NaN()
		}
		return y[i]
	})
}

// asked is the model and the series that a specification means.
func (r rARIMA) asked(t *testing.T, y []float64, m int) (ARIMA, []float64) {
	t.Helper()
	a := ARIMA{Period: m, Method: CSSML}
	if _, err := fmt.Sscanf(r.Spec, "%d,%d,%d %d,%d,%d", &a.Order.AR, &a.Order.Diff, &a.Order.MA, &a.Seasonal.AR, &a.Seasonal.Diff, &a.Seasonal.MA); err != nil {
		t.Fatal(r.Spec, err)
	}
	n := len(y) + 2*m + 10
	for _, word := range strings.Fields(r.Spec)[2:] {
		switch word {
		case "mean":
			a.Mean = true
		case "drift":
			a.Drift = true
		case "log":
			y = logs(t, y, 0)
		case "trend":
			a.Xreg = [][]float64{filled(n, func(i int) float64 { return math.Log(float64(i + 1)) })}
		case "waves":
			for k := 1; k <= 2; k++ {
				w := harmonic{turns: float64(k) / float64(m), single: 2*k == m}
				for c := range w.columns() {
					a.Xreg = append(a.Xreg, filled(n, func(i int) float64 { return w.valueAt(c, float64(i+1)) }))
				}
			}
		case "gaps":
			y = gapped(y)
		case "ML":
			a.Method = ML
		case "CSS":
			a.Method = CSS
		}
	}
	return a, y
}

// TestARIMAOfTextbookSeriesNoWorseThanR: of fixed order no likelihood is below
// R's, and where they are the same so are the forecasts.
func TestARIMAOfTextbookSeriesNoWorseThanR(t *testing.T) {
	_, facts := golden.ReadFacts(t)
	all := rARIMAs(t)
	same, better := 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := facts.Series[name]
		for _, r := range all[name].Fixed {
			label := name + " " + r.Spec
			model, y := r.asked(t, s.Y, s.M)
			fit, err := model.FitARIMA(capcli.Series{Values: y})
			if err != nil {
				t.Errorf("%s: %v", label, err)
				continue
			}
			switch d := fit.loglik - *r.LogLik; {
			case d < -2e-3 && r.overstated(t, model, y) <= fit.loglik:
				better++
				t.Logf("%s: better: loglik %.5f; R's coefficients have %.5f, it says %.5f", label, fit.loglik, r.overstated(t, model, y), *r.LogLik)
			case d < -2e-3:
				t.Errorf("%s: loglik %.5f, R %.5f", label, fit.loglik, *r.LogLik)
			case d > 2e-3:
				better++
				t.Logf("%s: better: loglik %.5f, R %.5f", label, fit.loglik, *r.LogLik)
			default:
				same++
				r.ahead(t, label, fit, s.M)
			}
		}
	}
	t.Logf("%d fits equal to R, %d with a better optimum", same, better)
}

// overstated is the log-likelihood of R's coefficients. Next to a unit root R leaves
// the first value out of its own, for it counts no innovation whose variance is
// ten thousand times that of the shocks.
func (r rARIMA) overstated(t *testing.T, a ARIMA, y []float64) float64 {
	t.Helper()
	s, err := newArimaSeries(y)
	if err != nil {
		t.Fatal(err)
	}
	s.given = a.Xreg
	f := a.form()
	x, _ := s.regressors(f, a.Mean, a.Drift)
	l, err := newArimaLikelihood(f, s.y, x)
	if err != nil {
		t.Fatal(err)
	}
	var par []float64
	for _, part := range []struct {
		name string
		n    int
	}{{"ar", f.p}, {"ma", f.q}, {"sar", f.bigP}, {"sma", f.bigQ}} {
		for i := range part.n {
			par = append(par, r.Coef[part.name+digits(i+1)])
		}
	}
	n := float64(l.used)
	return -0.5 * (2*n*l.exactAt(par) + n + n*math.Log(2*math.Pi))
}

// ahead holds forecasts to R's.
func (r rARIMA) ahead(t *testing.T, label string, fit *Fit, m int) {
	t.Helper()
	h := 10
	if m > 1 {
		h = 2 * m
	}
	f, err := fit.Forecast(h, 95)
	if err != nil {
		t.Errorf("%s: %v", label, err)
		return
	}
	if strings.Contains(r.Spec, "log") {
		f = unlogged(f, false)
	}
	at := []int{0, 1, h/2 - 1, h - 1}
	// With gaps R's variance has the values before the differences in it, over
	// their variance of a million shocks, which a level far from zero makes large.
	ends := !fit.src.gaps() || fit.form.lostValues() == 0
	for i, k := range at {
		width := math.Abs(r.Hi95[i] - r.Mean[i])
		if f.Intervals[0].Hi[k] >= 99*finiteTop(fit.src.raw) && r.Hi95[i] > f.Intervals[0].Hi[k] {
			continue // ours has an end
		}
		if math.Abs(f.Mean[k]-r.Mean[i]) > 1e-2*width+1e-7*math.Abs(r.Mean[i]) || ends && math.Abs(f.Intervals[0].Hi[k]-r.Hi95[i]) > 1e-2*width {
			t.Errorf("%s: step %d is %.8g up to %.8g, R %.8g up to %.8g", label, k+1, f.Mean[k], f.Intervals[0].Hi[k], r.Mean[i], r.Hi95[i])
		}
	}
}

// TestAutoARIMAOfTextbookSeriesNoWorseThanR: the order is R's, or has a better AICc.
func TestAutoARIMAOfTextbookSeriesNoWorseThanR(t *testing.T) {
	golden.SkipLong(t)
	_, facts := golden.ReadFacts(t)
	all := rARIMAs(t)
	same, better := 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := facts.Series[name]
		for _, r := range all[name].Auto {
			model, y := AutoARIMA{Period: s.M}, s.Y
			switch r.Spec {
			case "log":
				y = logs(t, y, 0)
			case "gaps":
				y = gapped(y)
			case "exact":
				model.Exact = true
			case "all":
				continue // R tries every order
			}
			fit, err := model.FitARIMA(capcli.Series{Values: y})
			if err != nil {
				t.Errorf("%s %s: %v", name, r.Spec, err)
				continue
			}
			line := fmt.Sprintf("%s %s: %s AICc %.4f; R %s %.4f", name, r.Spec, fit.info.Method, fit.info.AICc, r.Model, *r.AICc)
			switch {
			case fit.form == (arimaForm{r.Order[0], r.Order[1], r.Order[2], r.Order[3], r.Order[4], r.Order[5], fit.form.m}):
				same++
				if d := fit.loglik - *r.LogLik; d < -1e-3 {
					a := ARIMA{
						Order: Order{r.Order[0], r.Order[1], r.Order[2]}, Seasonal: Order{r.Order[3], r.Order[4], r.Order[5]}, Period: s.M,
						Mean: strings.Contains(r.Model, "non-zero"), Drift: strings.Contains(r.Model, "drift"),
					}
					if v := r.overstated(t, a, y); v > fit.loglik+1e-3 {
						t.Errorf("%s: R's coefficients have %.5f", line, v)
					}
				}
			case fit.info.AICc < *r.AICc-1e-2 && fit.form.d == r.Order[1] && fit.form.bigD == r.Order[4]:
				better++
				t.Log("better: ", line)
			case math.Abs(fit.info.AICc-*r.AICc) <= 1e-2:
				same++
			default:
				t.Error(line)
			}
		}
	}
	t.Logf("%d as R, %d with a better AICc", same, better)
}

// TestDHROfTextbookSeriesNoWorseThanR: the best number of harmonics has an AICc no
// worse than the best of R's loop over them by a tenth.
func TestDHROfTextbookSeriesNoWorseThanR(t *testing.T) {
	_, facts := golden.ReadFacts(t)
	all := rARIMAs(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := facts.Series[name]
		var best rARIMA
		for _, r := range all[name].Waves {
			if best.AICc == nil || *r.AICc < *best.AICc {
				best = r
			}
		}
		if best.AICc == nil {
			continue
		}
		fit, err := DHR{Seasons: []float64{float64(s.M)}}.Fit(s.Series())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		line := fmt.Sprintf("%s: %s AICc %.3f; R %d of %d, %s %.3f", name, fit.Info().Method, fit.Info().AICc, best.K, s.M, best.Model, *best.AICc)
		if fit.Info().AICc > *best.AICc+0.1 {
			t.Error(line)
			continue
		}
		t.Log(line)
	}
}

package smoothing

import (
	"fmt"
	"math"
	"testing"

	"capcli/forecast/model"
	"capcli/testdata/golden"
)

type hwGold struct {
	Alpha, Beta, Gamma, SSE float64
	Coef                    map[string]float64
	Fit, Upr, Lwr           []float64
}

// TestHoltWintersVsR puts R's weights into our recursion (squared errors, last
// states, forecasts and, for the additive form, interval ends are R's), then
// looks for better ones. R's ends of the multiplicative form are not compared:
// they take the first error with alpha + gamma (1 - alpha), not 1, and read
// the slope where the last season of the year is meant.
func TestHoltWintersVsR(t *testing.T) {
	for _, name := range []string{"AirPassengers", "JohnsonJohnson", "UKgas", "ldeaths", "nottem", "wineind"} {
		var gold map[string]hwGold
		golden.Read(t, name+"-holtwinters", &gold)
		y, m := etsClassic(t, name)
		for _, kind := range []string{"additive", "multiplicative"} {
			g, what := gold[kind], name+" "+kind
			w := newHoltWinters(y.Values, m, kind == "multiplicative")
			w.alpha, w.beta, w.gamma = g.Alpha, g.Beta, g.Gamma
			w.finish()
			want := []float64{g.SSE, g.Coef["a"], g.Coef["b"]}
			for i := range m {
				want = append(want, g.Coef[fmt.Sprintf("s%d", i+1)])
			}
			golden.CheckWithin(t, what+" errors and states", append([]float64{w.sse, w.endL, w.endB}, w.ring...), want, 1e-8)
			f, err := w.Forecast(len(g.Fit), 95)
			if err != nil {
				t.Fatal(err)
			}
			golden.CheckWithin(t, what+" forecasts", f.Mean, g.Fit, 1e-8)
			if kind == "additive" {
				golden.CheckWithin(t, what+" lower ends", f.Intervals[0].Lo, g.Lwr, 1e-7)
				golden.CheckWithin(t, what+" upper ends", f.Intervals[0].Hi, g.Upr, 1e-7)
			}
			fit, err := HoltWinters{Period: m, Season: kind}.Fit(y)
			if err != nil {
				t.Fatal(err)
			}
			if got := fit.(*holtWinters).sse; got > g.SSE*(1+1e-6) {
				t.Errorf("%s: sum of squared errors %.8g, want at most %.8g", what, got, g.SSE)
			} else {
				t.Logf("%s: sum of squared errors %.8g, R %.8g", what, got, g.SSE)
			}
		}
	}
}

// TestSmoothingVsR holds ses, holt and the damped trend to the figures of R's
// functions of these names.
func TestSmoothingVsR(t *testing.T) {
	models := map[string]model.Model{"ses": ETS{Form: "ANN"}, "holt": ETS{Form: "AAN"}, "holt_damped": ETS{Form: "AAdN"}}
	for _, name := range etsClassics {
		var gold map[string]struct {
			LogLik float64
			etsGoldAhead
		}
		golden.Read(t, name+"-simple", &gold)
		y, _ := etsClassic(t, name)
		level := etsMean(y.Values)
		for key, model := range models {
			g, what := gold[key], name+" "+key
			fit, err := model.Fit(y)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			got := fit.Info().LogLik
			if got < g.LogLik-0.01 {
				t.Errorf("%s: log-likelihood %.4f, want at least %.4f", what, got, g.LogLik)
			}
			if math.Abs(got-g.LogLik) > 1e-3 {
				t.Logf("%s: log-likelihood %.4f, above R's %.4f", what, got, g.LogLik)
				continue // another, better optimum: other forecasts
			}
			f, err := fit.Forecast(len(g.Mean), 80, 95)
			if err != nil {
				t.Fatal(err)
			}
			golden.CheckWithin(t, what+" forecasts", f.Mean, g.Mean, 1e-3, level)
			for i, want := range [][]float64{g.Lower80, g.Upper80, g.Lower95, g.Upper95} {
				iv := f.Intervals[i/2]
				for k, v := range want { // R has no fences
					want[k], _ = newETSGuard(y.Values).ends(f.Mean[k], v, v, false)
				}
				golden.CheckWithin(t, fmt.Sprintf("%s interval ends %d", what, i), [][]float64{iv.Lo, iv.Hi}[i%2], want, 5e-3, level)
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

package arima

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"capcli"
	"capcli/testdata/golden"
)

// autoGold are R's automatic choices by setting.
func autoGold(t testing.TB, name string) map[string]struct {
	Args json0
	arimaGold
} {
	var out map[string]struct {
		Args json0
		arimaGold
	}
	golden.Read(t, name+"-auto-arima", &out)
	return out
}

// json0 are R's arguments; none is an empty list.
type json0 map[string]any

func (j *json0) UnmarshalJSON(b []byte) error { return unlist(b, (*map[string]any)(j)) }

func TestAutoARIMAAgainstR(t *testing.T) {
	same, better := 0, 0
	var ours, theirs float64
	for _, name := range arimaGoldSeries {
		for setting, g := range autoGold(t, name) {
			m, y := AutoARIMA{Period: golden.Frequency[name]}, golden.Series(t, name)
			neighbours := true
			for k, v := range g.Args {
				switch k {
				case "lambda":
					y = logs(t, y, v.(float64))
				case "approximation":
					m.Exact = true
				case "stepwise":
					neighbours = false
				default:
					t.Fatal(name, setting, k, v)
				}
			}
			if !neighbours {
				continue
			}
			start := time.Now()
			fit, err := m.FitARIMA(capcli.Series{Values: y})
			took := time.Since(start).Seconds()
			ours, theirs = ours+took, theirs+g.CPU
			if err != nil {
				t.Errorf("%s %s: %v", name, setting, err)
				continue
			}
			info := fit.Info()
			line := fmt.Sprintf("%-14s %-10s %v %s AICc %.4f; R %s %.4f; %.1f ms, R %.0f ms", name, setting, g.Args, info.Method, info.AICc, g.Model, *g.Aicc, 1000*took, 1000*g.CPU)
			o := g.Order
			switch {
			case info.Method == g.Model || fit.form == (arimaForm{o.P0, o.D0, o.Q0, o.P1, o.D1, o.Q1, o.M}):
				same++
			case fit.form.d == o.D0 && fit.form.bigD == o.D1 && info.AICc <= *g.Aicc+1e-3:
				better++
			default:
				t.Error("worse:", line)
				continue
			}
			t.Log(line)
		}
	}
	t.Logf("%d orders equal to R's, %d with a better AICc; %.3f s, R %.3f s: %.0f times as fast", same, better, ours, theirs, theirs/ours)
}

func TestAutoARIMAOfAStationarySeriesHasAMean(t *testing.T) {
	y := simulatedARMA(300, []float64{0.6}, nil, 11)
	for i := range y {
		y[i] += 20
	}
	fit, err := AutoARIMA{}.FitARIMA(capcli.Series{Values: y})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range fit.Coef {
		names = append(names, p.Name)
	}
	if fit.form.d != 0 || !slices.Contains(names, "intercept") || slices.Contains(names, "drift") {
		t.Errorf("%s with %v, want a mean and no drift", fit.info.Method, names)
	}
	if f, err := fit.Forecast(200); err != nil || math.Abs(f.Mean[199]-20) > 1 {
		t.Errorf("far ahead %v (%v), want about 20", f.Mean[199], err)
	}
}

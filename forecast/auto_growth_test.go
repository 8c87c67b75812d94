package forecast

import (
	"math"
	"strings"
	"testing"

	"capcli"
)

// months are levels from 100 on that grow by a share each month, with noise and a season as shares.
func months(n int, growth, noise, season float64) (y, truth []float64) {
	rng := capcli.Seed(11).Stream("months")
	for i := range n {
		v := 100 * math.Pow(1+growth, float64(i)) * (1 + season*math.Sin(float64(i)*math.Pi/6))
		truth = append(truth, v)
		y = append(y, v*math.Exp(noise*rng.NormFloat64()))
	}
	return y, truth
}

// TestGrowthByShares: 36 months that grow by a share are forecast a year ahead within a tenth of the
// truth, and the 80 % ranges hold it.
func TestGrowthByShares(t *testing.T) {
	for name, c := range map[string]struct{ growth, noise, season float64 }{
		"3 %": {0.03, 0, 0}, "6 %": {0.06, 0, 0}, "12 %": {0.12, 0, 0},
		"3 %, noise": {0.03, 0.02, 0}, "6 %, noise": {0.06, 0.05, 0}, "12 %, noise": {0.12, 0.05, 0},
		"6 %, season": {0.06, 0.01, 0.2},
	} {
		y, truth := months(48, c.growth, c.noise, c.season)
		in := capcli.Series{Name: "y", Step: 1, Values: y[:36]}
		shipped, err := Shipped("auto", in, 12, Options{Seasons: []int{12}, Seed: 1, Memory: NewMemory()})
		if err != nil {
			t.Fatal(err)
		}
		fit, err := shipped.Fit(in)
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.Forecast(12, 80)
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for i, v := range truth[36:] {
			slack := 0.1 + c.season/4 // three years show a season only roughly
			if share := f.Mean[i] / v; math.Abs(share-1) > slack {
				t.Errorf("%s: month %d: %.0f, the truth is %.0f", name, i+1, f.Mean[i], v)
			}
			if iv := f.Intervals[0]; iv.Lo[i] <= v*(1+1e-9) && v*(1-1e-9) <= iv.Hi[i] {
				held++
			}
		}
		if held < 8 {
			t.Errorf("%s: the 80 %% ranges hold %d of 12 months", name, held)
		}
		path := fit.Path(12, capcli.Seed(3).Stream("path"))
		if path[11] < truth[47]/2 || path[11] > truth[47]*2 {
			t.Errorf("%s: a path ends at %.0f, the truth is %.0f", name, path[11], truth[47])
		}
		if got := fit.Info().Fitted[35]; math.Abs(got/truth[35]-1) > 0.25 {
			t.Errorf("%s: fitted %.0f, the truth is %.0f", name, got, truth[35])
		}
	}
}

// TestGrowthNotBorneOut: what grows by amounts, has stopped growing, or came to grow only lately is not
// carried on by shares.
func TestGrowthNotBorneOut(t *testing.T) {
	grown, _ := months(60, 0.06, 0.02, 0)
	for name, at := range map[string]func(i int) float64{
		"line":    func(i int) float64 { return 100 + 12*float64(i) + float64(i*i%7) },
		"stopped": func(i int) float64 { return grown[min(i, 40)] + float64(i*i%5) },
		"lately":  func(i int) float64 { return 100*math.Max(1, math.Pow(1.06, float64(i-48))) + float64(i*i%5) },
		"noise":   func(i int) float64 { return grown[0] * (1 + float64(i*i%11)/10) },
	} {
		y := make([]float64, 60)
		for i := range y {
			y[i] = at(i)
		}
		for _, seasons := range [][]int{nil, {12}} {
			fit, err := Auto{Options: Options{Seasons: seasons, Seed: 1}, Horizon: 12}.Fit(capcli.Series{Name: "y", Step: 1, Values: y})
			if err != nil {
				t.Fatal(err)
			}
			if m := fit.Info().Method; strings.Contains(m, "logarithms") {
				t.Errorf("%s, seasons %v: %s", name, seasons, m)
			}
		}
	}
}

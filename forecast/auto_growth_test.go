package forecast

import (
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/testdata/golden"
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

// TestGrowthUnderNoise: 36 months that grow by a share each, with noise of a share and with or without a season, are
// forecast a year ahead within a tenth of the truth in the mean of 20 draws, and the 80 % ranges hold at least seven tenths of the values
// to come.
func TestGrowthUnderNoise(t *testing.T) {
	golden.SkipLong(t)
	for _, growth := range []float64{0.03, 0.06, 0.12} {
		for _, noise := range []float64{0.05, 0.1} {
			for _, season := range []float64{0, 0.2} {
				var seasons []int
				if season > 0 {
					seasons = []int{12}
				}
				const draws = 20
				last, held := 0.0, 0
				for d := range draws {
					rng := capcli.Seed(100 + d).Stream("growth")
					var y, truth []float64
					for i := range 48 {
						truth = append(truth, 100*math.Pow(1+growth, float64(i))*(1+season*math.Sin(float64(i)*math.Pi/6)))
						y = append(y, truth[i]*math.Exp(noise*rng.NormFloat64()))
					}
					fit, err := Auto{Options: Options{Seasons: seasons, Seed: 1}, Horizon: 12}.Fit(capcli.Series{Name: "y", Step: 1, Values: y[:36]})
					if err != nil {
						t.Fatal(err)
					}
					f, err := fit.Forecast(12, 80)
					if err != nil {
						t.Fatal(err)
					}
					last += f.Mean[11] / truth[47] / draws
					for i, v := range y[36:] {
						if f.Intervals[0].Lo[i] <= v && v <= f.Intervals[0].Hi[i] {
							held++
						}
					}
				}
				share := float64(held) / (12 * draws)
				t.Logf("growth %.2f, noise %.2f, season %.1f: %.3f of the truth, ranges held %.2f", growth, noise, season, last, share)
				if last < 0.9 || last > 1.1 || share < 0.7 {
					t.Errorf("growth %.2f, noise %.2f, season %.1f: %.3f of the truth a year ahead, 80 %% ranges held %.2f; want 0.9 to 1.1 and 0.7", growth, noise, season, last, share)
				}
			}
		}
	}
}

// TestOnLine: what wanders with a drift, what bends and what has too few values does not lie on a line.
func TestOnLine(t *testing.T) {
	rng := capcli.Seed(4).Stream("walks")
	fired := 0
	for range 200 {
		y, at := make([]float64, 48), math.Log(100)
		for i := range y {
			at += 0.05 + 0.1*rng.NormFloat64()
			y[i] = math.Exp(at)
		}
		if (Auto{}).onLine(capcli.Series{Values: y}) {
			fired++
		}
	}
	if fired > 8 {
		t.Errorf("%d of 200 walks in logarithms are taken for lines, want at most 8", fired)
	}
	steady, _ := months(48, 0.04, 0.05, 0)
	line := make([]float64, 48)
	for i := range line {
		line[i] = (100 + 20*float64(i)) * math.Exp(0.05*rng.NormFloat64())
	}
	for name, c := range map[string]struct {
		y       []float64
		seasons []int
		want    bool
	}{
		"growth": {steady, nil, true}, "growth, season": {steady, []int{12}, true}, "short": {steady[:30], nil, false},
		"short, season": {steady[:30], []int{12}, true}, "quarters": {steady, []int{4}, false}, "amounts": {line, nil, false},
	} {
		if got := (Auto{Options: Options{Seasons: c.seasons}}).onLine(capcli.Series{Values: c.y}); got != c.want {
			t.Errorf("%s: on a line: %v, want %v", name, got, c.want)
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

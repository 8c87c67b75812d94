package croston

import (
	"math"
	"math/rand/v2"
	"testing"

	"capcli"
	"capcli/testdata/golden"
)

// R forecast 8.20 croston.
func TestCrostonAsR(t *testing.T) {
	all := map[string]struct {
		Y      []float64  `json:"y"`
		Alpha  float64    `json:"alpha"`
		Mean   []float64  `json:"mean"`
		Fitted []*float64 `json:"fitted"`
	}{}
	golden.Read(t, "intermittent-croston", &all)
	for name, want := range all {
		fit, err := Model{Name: "Croston", Alpha: want.Alpha, Beta: want.Alpha}.Fit(capcli.Series{Values: want.Y})
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.Forecast(len(want.Mean))
		if err != nil {
			t.Fatal(err)
		}
		golden.CheckNear(t, name+" mean", f.Mean, want.Mean, 1e-12)
		for i, w := range want.Fitted {
			if got := fit.Info().Fitted[i]; w != nil && !(math.Abs(got-*w) < 1e-12) {
				t.Errorf("%s fitted[%d] = %g, want %g", name, i, got, *w)
			}
		}
	}
}

// TSB by hand: chance 1/2 and size 4 at first; a demand of 8, then none.
func TestTSBByHand(t *testing.T) {
	fit, err := Model{Name: "TSB", Alpha: 0.5, Beta: 0.2, Fading: true}.Fit(capcli.Series{Values: []float64{4, 0, 8, 0}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Forecast(1)
	if err != nil {
		t.Fatal(err)
	}
	chance := (((0.5+0.1)*0.8)*0.8 + 0.2) * 0.8
	if got, want := f.Mean[0], chance*6; math.Abs(got-want) > 1e-12 {
		t.Errorf("rate %g, want %g", got, want)
	}
}

// Most steps have no demand, so the quantiles of a step are 0 where its mean is not.
func TestIntermittentRangesHoldTheMean(t *testing.T) {
	y := make([]float64, 100)
	y[99] = 1000
	for name, m := range map[string]Model{"croston": {}, "sba": {Unbiased: true}, "tsb": {Fading: true}} {
		m.Name, m.Alpha, m.Beta = name, 0.1, 0.1
		fit, err := m.Fit(capcli.Series{Values: y})
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.Forecast(3, 50, 80)
		if err != nil {
			t.Fatal(err)
		}
		for _, iv := range f.Intervals {
			if f.Mean[2] <= 0 || iv.Lo[2] > f.Mean[2] || iv.Hi[2] < f.Mean[2] {
				t.Errorf("%s: mean %v, %v%% range %v to %v", name, f.Mean[2], iv.Level, iv.Lo[2], iv.Hi[2])
			}
		}
	}
}

// TestTSBAndSBAAsTheirPapers holds the smoothed chance, interval and size
// against weighted sums of all that was seen.
func TestTSBAndSBAAsTheirPapers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	y := make([]float64, 120)
	var sizes, gaps []float64
	since, demands := 0.0, 0.0
	for i := range y {
		since++
		if rng.Float64() < 0.3 {
			y[i] = math.Ceil(5 * rng.Float64())
			sizes, gaps = append(sizes, y[i]), append(gaps, since)
			since = 0
			demands++
		}
	}
	const alpha, beta = 0.2, 0.15
	// smoothed is the sum of weight (1 - weight)^age of the values, and the rest of the first.
	smoothed := func(v []float64, first, weight float64) float64 {
		sum, rest := 0.0, 1.0
		for i := len(v) - 1; i >= 0; i-- {
			sum += rest * weight * v[i]
			rest *= 1 - weight
		}
		return sum + rest*first
	}
	chances := make([]float64, len(y))
	for i, v := range y {
		if v > 0 {
			chances[i] = 1
		}
	}
	want := map[string]float64{
		"TSB": smoothed(chances, demands/float64(len(y)), beta) * smoothed(sizes, sizes[0], alpha),
		"SBA": (1 - beta/2) * smoothed(sizes[1:], sizes[0], alpha) / smoothed(gaps[1:], gaps[0], beta),
	}
	for name, m := range map[string]Model{
		"TSB": {Name: "TSB", Alpha: alpha, Beta: beta, Fading: true},
		"SBA": {Name: "SBA", Alpha: alpha, Beta: beta, Unbiased: true},
	} {
		fit, err := m.Fit(capcli.Series{Values: y})
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.Forecast(1)
		if err != nil {
			t.Fatal(err)
		}
		golden.CheckWithin(t, name, f.Mean, []float64{want[name]}, 1e-12)
	}
}

func TestCrostonOfCountsAsR(t *testing.T) {
	_, facts := golden.ReadFacts(t)
	for name, c := range facts.Counts {
		for i, alpha := range c.Alpha {
			fit, err := Model{Name: "Croston", Alpha: alpha, Beta: alpha}.Fit(capcli.Series{Values: c.Y})
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

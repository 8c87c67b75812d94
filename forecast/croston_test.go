package forecast

import (
	"math"
	"testing"

	"capcli"
	"capcli/forecast/internal/golden"
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
		fit, err := intermittent{name: "Croston", alpha: want.Alpha, beta: want.Alpha}.Fit(capcli.Series{Values: want.Y})
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
	fit, err := intermittent{name: "TSB", alpha: 0.5, beta: 0.2, fading: true}.Fit(capcli.Series{Values: []float64{4, 0, 8, 0}})
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
	for _, name := range []string{"croston", "sba", "tsb"} {
		build, err := Models.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := build(Options{}).Fit(capcli.Series{Values: y})
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

package simple

import (
	"fmt"
	"math"
	"testing"

	"capcli"
)

// Hours that follow a product of autoregressions by step, day and week give its weights back: the
// product (1 - aB)(1 - bB^24)(1 - cB^168), multiplied out, is the truth.
func TestSeasonalARFindsProduct(t *testing.T) {
	const n, skip, a, b, c = 4000, 2000, 0.5, 0.6, 0.4
	truth := map[int]float64{1: a, 24: b, 168: c, 25: -a * b, 169: -a * c, 192: -b * c, 193: a * b * c}
	rng := capcli.Seed(3).Stream("product")
	y := make([]float64, n+skip)
	for i := range y {
		y[i] = rng.NormFloat64()
		for l, w := range truth {
			if i >= l {
				y[i] += w * y[i-l]
			}
		}
	}
	fit, err := SeasonalAR{Seasons: []int{24, 168}}.Fit(capcli.Series{Step: 3600, Values: y[skip:]})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range fit.Info().Params[1:] {
		var lag int
		if _, err := fmt.Sscanf(p.Name, "ar%d", &lag); err != nil {
			t.Fatal(p.Name, err)
		}
		if _, ok := truth[lag]; ok {
			found++
		}
		// 0.08 is four and a half standard errors of one weight, 1/sqrt(n), and more for lags that go together.
		if math.Abs(p.Value-truth[lag]) > 0.08 {
			t.Errorf("lag %d: weight %.3f, want %.3f", lag, p.Value, truth[lag])
		}
	}
	if found != len(truth) {
		t.Errorf("%d of the product's %d lags are in the model", found, len(truth))
	}
	if v := fit.Info().Sigma2; math.Abs(v-1) > 0.1 {
		t.Errorf("variance of the errors %.3f, want 1", v)
	}
}

package forecast

import (
	"math"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

// The half widths of many normal errors are nearly the normal ones, those of many Laplace errors the
// quantiles of Laplace's law of variance 1, -log(1-p)/sqrt 2, and those of none Student's, of which
// tables have 1.533 at 80 % for 4 degrees of freedom. None exceeds the normal one.
func TestTails(t *testing.T) {
	rng := capcli.Seed(7).Stream("tails")
	const n = 40_000
	normal, laplace, zeros := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		normal[i] = 3 * rng.NormFloat64()
		laplace[i] = math.Log(rng.Float64()) * float64(1-2*(i%2))
	}
	for _, c := range []struct {
		name     string
		y        []float64
		level    float64
		want, at float64
	}{
		{"normal", normal, 50, 0.6745, 0.02},
		{"normal", normal, 80, 1.2816, 0.02},
		{"normal", normal, 95, 1.96, 0.02},
		{"Laplace", laplace, 80, math.Log(5) / math.Sqrt2, 0.02},
		{"Laplace: beyond normal", laplace, 99, 2.5758, 1e-3},
		{"none", nil, 80, 1.533 / math.Sqrt2, 1e-3},
		{"all zero", zeros, 80, 1.533 / math.Sqrt2, 1e-3},
	} {
		if got := tailsOf(c.y, make([]float64, len(c.y))).half(c.level); math.Abs(got-c.want) > c.at {
			t.Errorf("%s: half width of %g %% is %.4f, want %.4f", c.name, c.level, got, c.want)
		}
	}
}

// Whatever the errors, a range of a higher level is no narrower, and none is wider than the normal one.
func TestTailsRiseWithTheLevel(t *testing.T) {
	for k := range 200 {
		rng := capcli.Seed(8).Child(k).Stream("tails")
		y := make([]float64, rng.IntN(60))
		for i := range y {
			if rng.IntN(3) > 0 {
				y[i] = math.Pow(rng.NormFloat64(), 3)
			}
		}
		own, last := tailsOf(y, make([]float64, len(y))), 0.0
		for level := 1.0; level < 100; level += 0.5 {
			got := own.half(level)
			if got < last || got > model.ZScore(level)*(1+1e-12) {
				t.Fatalf("errors %v: half width %g at %g %%, %g before, %g for normal errors", y, got, level, last, model.ZScore(level))
			}
			last = got
		}
	}
}

// A past without a move narrows the range of 80 % of a series that seldom moves as it does any
// other's, and leaves that of 95 % as it was; errors that were large widen both.
func TestNarrowingOfStillSeries(t *testing.T) {
	of := func(ratio float64, still bool) *calibration {
		c := &calibration{still: still}
		for range 6 {
			c.add([]float64{ratio, ratio, ratio}, []float64{0, 0, 0}, []float64{1, 1, 1})
		}
		return c
	}
	for _, level := range []float64{80, 90, 95, 99} {
		prior := model.ZScore(level)
		usual, still := of(0.5, false).factor(level, prior), of(0.5, true).factor(level, prior)
		want := math.Pow(usual/prior, max(0, min(1, (95-level)/15))) * prior
		if usual >= prior || math.Abs(still/want-1) > 1e-12 {
			t.Errorf("%g %%: factor %g of any series, %g of one that seldom moves, want %g; %g before", level, usual, still, want, prior)
		}
		if a, b := of(9, false).factor(level, prior), of(9, true).factor(level, prior); a != b || a <= prior {
			t.Errorf("%g %%: large errors give %g and %g, want the same, above %g", level, a, b, prior)
		}
	}
}

package forecast

import (
	"math"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// The errors of the plain forecast as their definition has them, one by one.
func TestPlainErrors(t *testing.T) {
	rng := capcli.Seed(3).Stream("plain")
	for _, c := range []struct{ n, period, h int }{{400, 24, 60}, {500, 7, 30}, {200, 1, 20}, {260, 24, 48}, {240, 24, 25}, {125, 1, 12}} {
		y := make([]float64, c.n)
		for i := range y {
			y[i] = float64(i%c.period) + (1+float64(i%24)/4)*rng.NormFloat64()
		}
		last := 7
		if c.period == 1 {
			last = 30
		}
		for i, got := range plainErrors(y, c.period, c.h) {
			back := c.period
			for back < i+1 {
				back += c.period
			}
			sum, count, all := 0.0, 0.0, 0
			for t := (last-1)*c.period + back; t < c.n; t++ {
				all++
				mean := 0.0
				for j := range last {
					mean += y[t-back-j*c.period]
				}
				apart := math.Abs(float64((t - c.n - i) % c.period))
				if min(apart, float64(c.period)-apart) <= float64(c.period/12) {
					sum, count = sum+(y[t]-mean/float64(last))*(y[t]-mean/float64(last)), count+1
				}
			}
			want := math.Inf(1)
			if all >= 100 {
				want = math.Sqrt(sum / count)
			}
			if got != want && !(math.Abs(got/want-1) < 1e-12) {
				t.Fatalf("%+v: step %d is %g, want %g", c, i+1, got, want)
			}
		}
	}
}

// Where demand returns to its level, ranges of the second day are nearly as narrow as the law that
// drew it allows, and hold as much as they say; those of a walk are as before.
func TestHeldRanges(t *testing.T) {
	golden.SkipLong(t)
	const n, h, each = 24 * 28, 48, 12
	widths := [][2]float64{{0.95, 1.12}, {0.95, 1.15}, {0.95, 1.15}, {0.95, 1.15}, {0.95, 1.25}, {0.85, 1.15}} // over the best possible
	for at, law := range drawnLaws {
		width, inside := 0.0, [2]float64{}
		for k := range each {
			y := law.draw(capcli.Seed(5).Child(k).Stream("held"), nil, n)
			fit, err := Auto{Options: Options{Seasons: []int{24}, Seed: 1}, Horizon: h}.Fit(capcli.Series{Name: "y", Step: 3600, Values: y})
			if err != nil {
				t.Fatal(err)
			}
			f, err := fit.Forecast(h, 80, 95)
			if err != nil {
				t.Fatal(err)
			}
			_, sd := law.ahead(y, h)
			for l, iv := range f.Intervals {
				inside[l] += model.Mean(law.chanceWithin(y, iv)) / each
			}
			for i := day; i < h; i++ {
				width += (f.Intervals[0].Hi[i] - f.Intervals[0].Lo[i]) / (2 * model.ZScore(80) * sd[i]) / (h - day) / each
			}
		}
		t.Logf("%s: width %.3f, inside %.3f %.3f", law.name, width, inside[0], inside[1])
		if width < widths[at][0] || width > widths[at][1] {
			t.Errorf("%s: 80 %% ranges of the second day are %.3f times as wide as the law's, want %.2f to %.2f", law.name, width, widths[at][0], widths[at][1])
		}
		if inside[0] < 0.75 || inside[0] > 0.85 || inside[1] < 0.92 || inside[1] > 0.98 {
			t.Errorf("%s: 80 %% and 95 %% ranges hold %.3f and %.3f", law.name, inside[0], inside[1])
		}
	}
}

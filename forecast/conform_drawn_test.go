package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// drawnSeries is a series of a drawn kind, with what must hold of its forecasts.
type drawnSeries struct {
	name  string
	y     []float64
	sigma float64 // standard deviation of its noise
}

// drawSeries draws a series with noise: a level that may be very far from zero, a
// scale, perhaps a season, a trend, spikes, steps, or only a few values.
func drawSeries(rng *rand.Rand) drawnSeries {
	pick := func(v ...float64) float64 { return v[rng.IntN(len(v))] }
	n := int(pick(6, 9, 14, 24, 40, 60, 100, 200, 400))
	scale := pick(1e-6, 1, 1, 1e3, 1e9)
	offset := pick(0, 0, 10, 50, 1e3, 1e6, 1e8, 1e10)
	season, trend := pick(0, 0, 5, 20), pick(0, 0, 0.05, -0.1)
	spikes, sign := int(pick(0, 0, 1, 1, 3)), pick(1, 1, -1)
	step := pick(0, 0, 100)
	d := drawnSeries{y: make([]float64, n), sigma: scale}
	walk, lag := 0.0, pick(0, 0.7, 1)
	for i := range d.y {
		walk = lag*walk + rng.NormFloat64()
		d.y[i] = offset + walk + season*math.Sin(float64(i)*math.Pi/12) + trend*float64(i)
		if i >= n/2 {
			d.y[i] += step
		}
	}
	for range spikes {
		at := rng.IntN(n)
		if rng.IntN(3) == 0 {
			at = n - 1 - rng.IntN(3) // at the end a spike does most
		}
		d.y[at] += sign * pick(30, 1e3, 1e5)
	}
	positive := rng.IntN(2) == 0
	for i := range d.y {
		if positive {
			d.y[i] = math.Abs(d.y[i])
		}
		d.y[i] *= scale
	}
	d.name = fmt.Sprintf("n %d, scale %g, offset %g, season %g, trend %g, spikes %d, step %g, lag %g, positive %v", n, scale, offset, season, trend, spikes, step, lag, positive)
	return d
}

// drawsOf is how many series a model is fitted to: 200, and of the models that
// search among many forms 60 unless CAPCLI_LONG=1 asks for all; and a quarter of that but for a full run.
func drawsOf(model string) int {
	if slices.Contains([]string{"tbats", "auto", "dhr"}, model) && os.Getenv("CAPCLI_LONG") != "1" {
		return golden.Draws(60)
	}
	return golden.Draws(200)
}

// TestConformDrawn holds every model to two laws on drawn series: a range contains
// the mean, and beside noise no range is without width.
func TestConformDrawn(t *testing.T) {
	const h = 12
	for _, entry := range Models.All() {
		t.Run(entry.Name, func(t *testing.T) {
			t.Parallel()
			rng := capcli.Seed(11).Stream("drawn")
			for i := range drawsOf(entry.Name) {
				d := drawSeries(rng)
				seasons := [][]int{nil, {24}}[i%2]
				fit, err := entry.Value(Options{Seasons: seasons, Seed: 3}).Fit(capcli.Series{Name: "drawn", Step: 3600, Values: d.y})
				if err != nil {
					continue
				}
				f, err := fit.Forecast(h, 50, 80, 95)
				if err != nil {
					t.Errorf("%s: %v", d.name, err)
					continue
				}
				if got := contained(f, 1e-4*d.sigma); got != "" {
					t.Fatalf("series %d (%s), seasons %v: %s: %s", i, d.name, seasons, fit.Info().Method, got)
				}
			}
		})
	}
}

// contained says which step of a forecast has its mean outside of a range, or a
// 95 % range that is narrower than least.
func contained(f model.Forecast, least float64) string {
	for i, m := range f.Mean {
		for _, iv := range f.Intervals {
			if !(iv.Lo[i] <= m && m <= iv.Hi[i]) {
				return fmt.Sprintf("step %d: mean %g outside of its %g %% range, %g to %g", i+1, m, iv.Level, iv.Lo[i], iv.Hi[i])
			}
		}
		if last := f.Intervals[len(f.Intervals)-1]; !(last.Hi[i]-last.Lo[i] > least) {
			return fmt.Sprintf("step %d: a range of %g to %g is no wider than %g", i+1, last.Lo[i], last.Hi[i], least)
		}
	}
	return ""
}

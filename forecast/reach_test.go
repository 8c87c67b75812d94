package forecast

import (
	"errors"
	"math"
	"os"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

func TestReach(t *testing.T) {
	rise := func(n int, f func(float64) float64) []float64 {
		y := make([]float64, n)
		for i := range y {
			y[i] = f(float64(i))
		}
		return y
	}
	line := rise(50, func(x float64) float64 { return x })
	grows := rise(60, func(x float64) float64 { return math.Pow(1.1, x) })
	spike := slices.Concat(rise(99, func(x float64) float64 { return 5 + math.Mod(x, 3) }), []float64{1000})
	for _, c := range []struct {
		name  string
		y     []float64
		step  int
		value float64
		want  float64
	}{
		{"inside", line, 1, 60, 60},
		{"nine ranges above", line, 1, 1e6, 49 + 9*49},
		{"nine ranges below", line, 1, -1e6, -9 * 49},
		{"a line for four times its past", line, 200, 249, 249},
		{"growth goes on", grows, 50, math.Pow(1.1, 109), math.Pow(1.1, 109)},
		{"growth runs away", grows, 1, 1e9, grows[59] + 9*(grows[59]-1)},
		{"a spike is no growth", spike, 30, 1e12, 1000 + 9*995},
		{"constant", []float64{4, 4, 4}, 1, 17, 17},
		{"none", nil, 1, 17, 17},
		{"missing", []float64{math.NaN(), 1, 2, math.NaN()}, 1, 100, 2 + 9},
	} {
		if got := reachOf(c.y).Clamp(c.step, c.value); math.Abs(got-c.want) > 1e-9*math.Abs(c.want) {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
	r := reachOf(line)
	f := model.Forecast{Mean: []float64{50, 1e9}, Intervals: []model.Interval{{Level: 80, Lo: []float64{0, -1e9}, Hi: []float64{60, 1e12}}}}
	if !r.Keep(f) || r.Keep(f) {
		t.Error("a forecast that ran away is not held, or not for good")
	}
	if !(f.Mean[1] < 1000) || !(f.Intervals[0].Hi[1] < 1000) || f.Mean[0] != 50 {
		t.Errorf("held at %v", f)
	}
}

// wild are series without a trend that make programs explode.
func wild() map[string][]float64 {
	rng := capcli.Seed(11).Stream("wild")
	out := map[string][]float64{}
	series := func(name string, n int, f func(i int) float64) {
		y := make([]float64, n)
		for i := range y {
			y[i] = f(i)
		}
		out[name] = y
	}
	daily := func(i int) float64 { return 20 + 8*math.Sin(float64(i)*math.Pi/12) }
	for _, share := range []int{2, 10, 50} {
		series("demand in one of "+string(rune('0'+share/10))+string(rune('0'+share%10)), 200, func(int) float64 {
			if rng.IntN(share) > 0 {
				return 0
			}
			return float64(1 + rng.IntN(8))
		})
	}
	series("lumps", 150, func(int) float64 {
		if rng.IntN(6) > 0 {
			return 0
		}
		return math.Exp(3 * rng.NormFloat64())
	})
	series("spikes", 240, func(i int) float64 {
		if rng.IntN(60) == 0 {
			return 500 * daily(i)
		}
		return daily(i) + rng.NormFloat64()
	})
	series("last is a spike", 120, func(i int) float64 {
		if i == 119 {
			return 1e6
		}
		return daily(i) + rng.NormFloat64()
	})
	series("near zero, then not", 120, func(i int) float64 {
		if i < 100 {
			return 1e-6 * (1 + rng.Float64())
		}
		return daily(i)
	})
	series("heavy tails", 200, func(int) float64 { return math.Exp(4 * rng.NormFloat64()) })
	series("shift", 100, func(i int) float64 { return 10*float64(i/70) + 1 + rng.Float64() })
	series("on and off", 96, func(i int) float64 { return float64(8 * (i / 12 % 2)) })
	series("six values", 6, func(i int) float64 { return []float64{3, 9, 2, 7, 1, 8}[i] })
	series("constant but once", 90, func(i int) float64 { return 64 - float64(1-min(1, (i-40)*(i-40))) })
	return out
}

// TestNeverExplodes holds every model, kept within reach as the program keeps it,
// to ten times the range seen, on series that have no trend. What auto gives needs
// no keeping, and is never below zero where the past is not.
func TestNeverExplodes(t *testing.T) {
	series := wild()
	names := make([]string, 0, len(series))
	for name := range series {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, entry := range Models.All() {
		t.Run(entry.Name, func(t *testing.T) {
			t.Parallel()
			if (entry.Name == "arima" || entry.Name == "tbats") && os.Getenv("CAPCLI_ACCURACY") == "" {
				t.Skip("slow: CAPCLI_ACCURACY=1 runs it")
			}
			for _, seasons := range [][]int{nil, {24}} {
				for _, name := range names {
					if got := explodes(entry.Name, entry.Value(Options{Seasons: seasons, Seed: 3}), series[name], 48); got != "" {
						t.Errorf("%s, seasons %v: %s", name, seasons, got)
					}
				}
			}
		})
	}
}

// explodes says what of a forecast has left the past behind, "" where nothing has.
func explodes(name string, m model.Model, y []float64, h int) string {
	fit, err := m.Fit(capcli.Series{Name: "wild", Step: 3600, Values: y})
	if err != nil {
		if errors.Is(err, model.ErrTooShort) || errors.Is(err, model.ErrMissing) || errors.Is(err, model.ErrUnfit) {
			return ""
		}
		return err.Error()
	}
	f, err := fit.Forecast(h, 80, 95)
	if err != nil {
		return err.Error()
	}
	paths := [][]float64{fit.Path(h, capcli.Seed(1).Stream("p")), fit.Path(h, capcli.Seed(2).Stream("p"))}
	if name != "auto" {
		r := reachOf(y)
		r.Keep(f)
		for _, p := range paths {
			r.Path(p)
		}
	}
	lo, hi := slices.Min(y), slices.Max(y)
	slack := 10*(hi-lo)*math.Max(1, float64(h)/float64(len(y))) + 1e-9*math.Abs(hi)
	if trend := reachOf(y).growth; trend > 1 {
		slack += 2 * hi * math.Pow(trend, float64(h))
	}
	out := func(v float64) bool { return !(v <= hi+slack && v >= lo-slack) || name == "auto" && lo >= 0 && v < 0 }
	for _, iv := range f.Intervals {
		if slices.ContainsFunc(iv.Lo, out) || slices.ContainsFunc(iv.Hi, out) {
			return "an end of an interval is out of reach"
		}
	}
	switch {
	case slices.ContainsFunc(f.Mean, out):
		return "a mean is out of reach"
	case slices.ContainsFunc(slices.Concat(paths...), out):
		return "a path is out of reach"
	}
	return ""
}

// TestNeverExplodesOnTheSets is the same on the sets of the contests: auto on every
// series, the others on some.
func TestNeverExplodesOnTheSets(t *testing.T) {
	if os.Getenv("CAPCLI_ACCURACY") == "" {
		t.Skip("CAPCLI_ACCURACY is not set")
	}
	for _, c := range contests {
		train := table(t, c.train)
		h := len(table(t, c.test)[0])
		for _, entry := range Models.All() {
			some := train
			if entry.Name != "auto" {
				some = evenly(some, 40)
			}
			if entry.Name == "tbats" || c.period >= day && entry.Name == "arima" {
				some = evenly(some, 6)
			}
			t.Run(c.name+"/"+entry.Name, func(t *testing.T) {
				t.Parallel()
				for i, y := range some {
					model := entry.Value(Options{Seasons: c.seasons, Seed: 1})
					if got := explodes(entry.Name, model, y, h); got != "" {
						t.Errorf("series %d of %d: %s", i, len(some), got)
					}
				}
			})
		}
	}
}

package forecast

import (
	"errors"
	"math"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// awkward are series that break forecasting programs.
func awkward() map[string][]float64 {
	make1 := func(n int, f func(i int) float64) []float64 {
		y := make([]float64, n)
		for i := range y {
			y[i] = f(i)
		}
		return y
	}
	rng := capcli.Seed(7).Stream("awkward")
	noise := make1(400, func(int) float64 { return rng.NormFloat64() })
	daily := func(i int) float64 { return 50 + 20*math.Sin(float64(i)*math.Pi/12) + noise[i%400] }
	nan := math.NaN()
	return map[string][]float64{
		"none":                          {},
		"one":                           {5},
		"two":                           {5, 6},
		"three":                         {1, 2, 4},
		"five":                          {3, 1, 4, 1, 5},
		"seven zeros":                   make1(7, func(int) float64 { return 0 }),
		"zeros":                         make1(200, func(int) float64 { return 0 }),
		"constant":                      make1(100, func(int) float64 { return 42 }),
		"constant, tiny":                make1(60, func(int) float64 { return 1e-300 }),
		"constant, below 0":             make1(60, func(int) float64 { return -3 }),
		"line":                          make1(120, func(i int) float64 { return float64(i) }),
		"line, falling":                 make1(120, func(i int) float64 { return 100 - float64(i) }),
		"daily":                         make1(240, daily),
		"daily, exact":                  make1(240, func(i int) float64 { return float64(i % 24) }),
		"daily, huge":                   make1(240, func(i int) float64 { return 1e12 * daily(i) }),
		"daily, tiny":                   make1(240, func(i int) float64 { return 1e-12 * daily(i) }),
		"daily, near the largest float": make1(240, func(i int) float64 { return 1e300 * daily(i) }),
		"daily, near zero":              make1(240, func(i int) float64 { return 1e-300 * daily(i) }),
		"daily, below 0":                make1(240, func(i int) float64 { return daily(i) - 500 }),
		"daily, missing": make1(240, func(i int) float64 {
			if i%17 == 3 {
				return nan
			}
			return daily(i)
		}),
		"daily, ends missing": make1(240, func(i int) float64 {
			if i < 5 || i > 230 {
				return nan
			}
			return daily(i)
		}),
		"growing daily": make1(240, func(i int) float64 { return daily(i) * math.Exp(float64(i)/60) }),
		"all missing":   make1(50, func(int) float64 { return nan }),
		"infinite": make1(50, func(i int) float64 {
			if i == 20 {
				return math.Inf(1)
			}
			return 1
		}),
		"spike": make1(200, func(i int) float64 {
			if i == 150 {
				return 1e9
			}
			return daily(i)
		}),
		"spike at the end": make1(200, func(i int) float64 {
			if i == 199 {
				return 1e9
			}
			return daily(i)
		}),
		"spike in zeros": make1(200, func(i int) float64 {
			if i == 100 {
				return 8
			}
			return 0
		}),
		"level shift": make1(200, func(i int) float64 {
			if i > 150 {
				return 500 + daily(i)
			}
			return daily(i)
		}),
		"intermittent": make1(200, func(i int) float64 {
			if i%7 == 0 {
				return float64(1 + i%3)
			}
			return 0
		}),
		"starts with zeros": make1(200, func(i int) float64 {
			if i < 170 {
				return 0
			}
			return daily(i)
		}),
		"exponential": make1(80, func(i int) float64 { return math.Exp(float64(i) / 4) }),
		"random walk": make1(300, func() func(int) float64 { s := 0.0; return func(i int) float64 { s += noise[i]; return s } }()),
		"alternating": make1(100, func(i int) float64 { return float64(1 - 2*(i%2)) }),
		"two values": make1(100, func(i int) float64 {
			if i*i%7 > 3 {
				return 8
			}
			return 0
		}),
	}
}

// TestConform holds every model to the promises of Model and Fitted.
func TestConform(t *testing.T) {
	slowModels := []string{"arima", "auto", "dhr", "tbats"}
	series := awkward()
	names := make([]string, 0, len(series))
	for name := range series {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, entry := range Models.All() {
		t.Run(entry.Name, func(t *testing.T) {
			t.Parallel()
			for _, seasons := range [][]int{nil, {24}, {24, 168}, {500}} {
				if entry.Name == "arima" && len(seasons) > 1 {
					continue // the first season is all that it takes
				}
				for i, name := range names {
					if i%5 != 0 && slices.Contains(slowModels, entry.Name) && !golden.Full() {
						continue
					}
					model := entry.Value(Options{Seasons: seasons, Seed: 3})
					if got := promise(t, model, series[name]); got != "" {
						t.Errorf("%s, seasons %v: %s", name, seasons, got)
					}
				}
			}
		})
	}
}

// promise gives what a model does not keep on a series, "" when it keeps all.
func promise(t *testing.T, m model.Model, y []float64) string {
	t.Helper()
	before := slices.Clone(y)
	given := capcli.Series{Name: "awkward", Step: 3600, Values: y}
	fit, err := m.Fit(given)
	same := slices.EqualFunc(y, before, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if !same {
		return "Fit changed the series"
	}
	if err != nil {
		if errors.Is(err, model.ErrTooShort) || errors.Is(err, model.ErrMissing) || errors.Is(err, model.ErrUnfit) {
			return ""
		}
		return "an error of no known kind: " + err.Error()
	}
	const h = 30
	f, err := fit.Forecast(h, 50, 80, 95)
	if err != nil {
		return "Forecast: " + err.Error()
	}
	if got := ordered(f, h); got != "" {
		return got
	}
	again, err := fit.Forecast(h, 50, 80, 95)
	if err != nil || !slices.Equal(again.Mean, f.Mean) || !slices.Equal(again.Intervals[2].Hi, f.Intervals[2].Hi) {
		return "two forecasts of one fit differ"
	}
	one, two := fit.Path(h, capcli.Seed(5).Stream("path")), fit.Path(h, capcli.Seed(5).Stream("path"))
	if !slices.Equal(one, two) {
		return "one seed, two paths"
	}
	if len(one) != h || !slices.ContainsFunc(one, model.IsFinite) || slices.ContainsFunc(one, func(v float64) bool { return !model.IsFinite(v) }) {
		return "a path that is not h finite values"
	}
	return ""
}

// ordered says what is wrong with the figures of a forecast with levels that rise.
func ordered(f model.Forecast, h int) string {
	if len(f.Mean) != h {
		return "wrong number of means"
	}
	for i, m := range f.Mean {
		if !model.IsFinite(m) {
			return "a mean that is not finite"
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, iv := range f.Intervals {
			if !model.IsFinite(iv.Lo[i]) || !model.IsFinite(iv.Hi[i]) || iv.Lo[i] > iv.Hi[i] {
				return "an interval that is not finite or not ordered"
			}
			slack := 1e-9 * (math.Abs(iv.Lo[i]) + math.Abs(iv.Hi[i]))
			if iv.Lo[i] > lo+slack || iv.Hi[i] < hi-slack {
				return "a wider level lies inside a narrower one"
			}
			if m < iv.Lo[i] || m > iv.Hi[i] {
				return "a mean outside of its range"
			}
			lo, hi = iv.Lo[i], iv.Hi[i]
		}
	}
	return ""
}

package mixture_test

import (
	"math"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/mixture"
)

// hourly returns a series of hours with a daily and weekly shape around a level by week.
func hourly(weeks int, level func(week int) float64) capcli.Series {
	rng := capcli.Seed(3).Stream("hours")
	y := capcli.Series{Step: capcli.Hour, Values: make([]float64, 168*weeks)}
	for i := range y.Values {
		shape := 1 + 0.3*math.Sin(float64(i%24)*math.Pi/12)
		if i%168 >= 120 {
			shape *= 0.5
		}
		y.Values[i] = max(0, level(i/168)*shape*(1+0.03*rng.NormFloat64()))
	}
	return y
}

// levels returns the sorted mean levels of drawn futures, and their first.
func levels(t *testing.T, y capcli.Series, h int) (means, first []float64) {
	t.Helper()
	fit, err := mixture.Model{Seed: 1}.Fit(y)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 200 {
		path := fit.Path(h, capcli.Seed(1).Child(k).Stream("path"))
		sum := 0.0
		for _, v := range path {
			sum += v / float64(h)
		}
		if means = append(means, sum); k == 0 {
			first = path
		}
	}
	slices.Sort(means)
	return means, first
}

func meanOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}

// TestFollowsTheLevel: a level that shifted or fell two weeks ago is where futures start, one that is
// noisy is averaged, and a year from four weeks stays within reach of them.
func TestFollowsTheLevel(t *testing.T) {
	noise := []float64{0.7, 1.3, 1.2, 0.8, 0.9, 1.4, 0.6, 1.1}
	shape := meanOf(hourly(1, func(int) float64 { return 1 }).Values)
	for _, tt := range []struct {
		name   string
		weeks  int
		level  func(week int) float64
		h      int
		lo, hi float64 // of the median, over the shape
		within float64 // how far apart the 10 % and 90 % quantiles may be, over the median
	}{
		{"steady", 20, func(int) float64 { return 100 }, 720, 97, 103, 0.12},
		{"fell", 20, func(w int) float64 { return map[bool]float64{true: 100, false: 20}[w < 18] }, 720, 15, 32, 4},
		{"shifted up", 20, func(w int) float64 { return map[bool]float64{true: 100, false: 300}[w < 17] }, 720, 230, 330, 4},
		{"noise around a level", 48, func(w int) float64 { return 100 * noise[w%8] }, 720, 88, 112, 0.9},
		{"a year from four weeks", 4, func(int) float64 { return 100 }, 8760, 85, 115, 1.2},
		{"two weeks", 2, func(int) float64 { return 100 }, 720, 90, 110, 0.5},
	} {
		y := hourly(tt.weeks, tt.level)
		means, path := levels(t, y, tt.h)
		median := means[len(means)/2] / shape
		if median < tt.lo || median > tt.hi {
			t.Errorf("%s: the median level is %.1f, want %g to %g", tt.name, median, tt.lo, tt.hi)
		}
		if wide := (means[180] - means[20]) / means[100]; wide > tt.within || wide <= 0 {
			t.Errorf("%s: levels are %.2f apart, want at most %g and some distance", tt.name, wide, tt.within)
		}
		if nights, days := meanOf(path[168*1+12:168*1+24]), meanOf(path[168*1:168*1+12]); days < 1.2*nights {
			t.Errorf("%s: days have %.1f GPUs and nights %.1f: the shape of a day is lost", tt.name, days, nights)
		}
	}
}

// TestDoesNotKnowTheFuture: a fit hangs on the values before its end alone, and on their scale only
// in proportion.
func TestDoesNotKnowTheFuture(t *testing.T) {
	y := hourly(30, func(w int) float64 { return 50 + 3*float64(w) })
	twice := y
	twice.Values = slices.Clone(y.Values)
	for i := range twice.Values {
		twice.Values[i] *= 2
	}
	one, _ := levels(t, y, 720)
	two, _ := levels(t, twice, 720)
	for i := range one {
		if math.Abs(two[i]-2*one[i]) > 1e-9*two[i] {
			t.Fatalf("future %d has the level %g, and that of twice the demand %g", i, one[i], two[i])
		}
	}
}

package scenarios

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"capcli"
	"capcli/forecast"
	"capcli/testdata/golden"
)

// wave is a load with a day of 24 values.
func wave(n int, noise float64) []float64 {
	rng := capcli.Seed(7).Stream("wave")
	y := make([]float64, n)
	for i := range y {
		y[i] = 100 + 60*math.Sin(2*math.Pi*float64(i)/24) + noise*rng.NormFloat64()
	}
	return y
}

func TestForecasterOfTheSeasonBefore(t *testing.T) {
	f, err := NewForecaster("snaive", []int{24}, 1)
	if err != nil {
		t.Fatal(err)
	}
	y := wave(24*5+7, 3)
	got, err := f.Foresee(y, 30)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if want := y[len(y)-24+i%24]; v != want {
			t.Errorf("value %d is %v, want that of a day before, %v", i, v, want)
		}
	}
	if _, err := f.Foresee(nil, 2); err == nil {
		t.Error("nothing was enough")
	}
}

// Every model foresees a wave better than its mean does, from any number of values, and what it foresees
// depends on the values alone.
func TestForecasters(t *testing.T) {
	y := wave(24*9+11, 2)
	for _, name := range forecast.Models.Names() {
		if slices.Contains([]string{"tbats", "dhr", "prophet", "naive", "naive2", "drift", "mean", "ses", "holt", "damped", "croston", "sba", "tsb"}, name) {
			continue // slow here, or without a season
		}
		f, err := NewForecaster(name, []int{24}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var first []float64
		for n := len(y) - 40; n < len(y)-12; n++ { // the state that this leaves must not matter
			if first, err = f.Foresee(y[:n], 6); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		worst := 0.0
		for i, v := range first {
			worst = max(worst, math.Abs(v-y[len(y)-13+i]))
		}
		if worst > 25 {
			t.Errorf("%s is up to %.0f beside a wave of 60", name, worst)
		}
		fresh, err := NewForecaster(name, []int{24}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := fresh.Foresee(y[:len(y)-13], 6); err != nil || !slices.Equal(again, first) {
			t.Errorf("%s: %v after other calls, %v alone (%v)", name, first, again, err)
		}
	}
}

func TestForecasterIsSharedByRuns(t *testing.T) {
	f, err := NewForecaster("ets", []int{24}, 1)
	if err != nil {
		t.Fatal(err)
	}
	y, z := wave(200, 3), wave(200, 9)
	want, err := f.Foresee(y, 4)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for n := 100; n <= 200; n += 10 {
				_, _ = f.Foresee(z[:n], 4)
			}
			if got, err := f.Foresee(y, 4); err != nil || !slices.Equal(got, want) {
				t.Errorf("run %d: %v, %v; want %v", i, got, err, want)
			}
		})
	}
	wait.Wait()
}

// A shift of the level after the last fit moves the forecast with it.
func TestForecasterFollowsAShift(t *testing.T) {
	f, err := NewForecaster("hw", []int{24}, 1)
	if err != nil {
		t.Fatal(err)
	}
	y := wave(24*6+15, 0)
	for i := 24 * 6; i < len(y); i++ {
		y[i] += 500
	}
	got, err := f.Foresee(y, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		want := 600 + 60*math.Sin(2*math.Pi*float64(len(y)+i)/24)
		if math.Abs(v-want) > 15 {
			t.Errorf("value %d is %.0f, want about %.0f", i, v, want)
		}
	}
}

func TestForecasterFaults(t *testing.T) {
	var unknown *capcli.UnknownError
	if _, err := NewForecaster("snaiv", nil, 1); !errors.As(err, &unknown) {
		t.Errorf("an unknown model: %v", err)
	}
	var request *capcli.RequestError
	if _, err := NewForecaster("ets", []int{24, 7}, 1); !errors.As(err, &request) {
		t.Errorf("seasons in the wrong order: %v", err)
	}
	f, err := NewForecaster("drift", nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Foresee([]float64{9, 5, 1}, 3); err != nil || slices.Min(got) < 0 {
		t.Errorf("a falling load: %v, %v", got, err)
	}
}

// A year that is looked at every 15 minutes costs seconds, whatever the model.
func TestForecasterOfAYearIsQuick(t *testing.T) {
	if golden.Short() {
		t.Skip("long")
	}
	y := wave(35_040/8, 3)
	f, err := NewForecaster("auto", []int{96}, 1)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	for n := 96; n < len(y); n++ {
		if _, err := f.Foresee(y[:n], 4); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("an eighth of a year in %v", time.Since(at))
}

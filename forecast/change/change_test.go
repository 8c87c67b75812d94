package change

import (
	"math"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/model"
)

// moved is a daily and weekly course with lingering noise, moves of its level and spikes.
func moved(n int, seed capcli.Seed, levels map[int]float64, spikes ...int) capcli.Series {
	rng := seed.Stream("moved")
	y := make([]float64, n)
	level, e := 100.0, 0.0
	for i := range y {
		if l, ok := levels[i]; ok {
			level = l
		}
		e = 0.5*e + 3*rng.NormFloat64()
		y[i] = level + e + 12*math.Sin(2*math.Pi*float64(i)/24)
		if i/24%7 > 4 {
			y[i] -= 20
		}
		if slices.Contains(spikes, i) {
			y[i] += 90
		}
	}
	return capcli.Series{Name: "moved", Step: 3600, Values: y}
}

func TestChangesAreTold(t *testing.T) {
	y := moved(24*7*8, 1, map[int]float64{700: 160}, 100, 900)
	moves, odd, err := Find(y, []int{24, 168})
	if err != nil {
		t.Fatal(err)
	}
	if len(moves) != 1 || moves[0].Index < 690 || moves[0].Index > 710 || math.Abs(moves[0].After-moves[0].Before-60) > 6 {
		t.Errorf("moves %+v, want one at 700, by 60", moves)
	}
	var at []int
	for _, a := range odd {
		at = append(at, a.Index)
		if a.Index == 100 || a.Index == 900 {
			if a.Value != y.Values[a.Index] || math.Abs(a.Value-90-a.Expected) > 15 || a.Lo > a.Expected || a.Hi < a.Expected || a.Value <= a.Hi {
				t.Errorf("%+v, want 90 over what was to be expected", a)
			}
		}
	}
	if !slices.Contains(at, 100) || !slices.Contains(at, 900) || len(at) > 4 {
		t.Errorf("odd values at %v, want 100 and 900", at)
	}
}

// TestFewChangesWhereThereAreNone: over many quiet series next to nothing is told,
// though two seasons are asked for of which the history has few.
func TestFewChangesWhereThereAreNone(t *testing.T) {
	moves, odd, values := 0, 0, 0
	for seed := range 20 {
		for _, n := range []int{60, 400, 700, 1000} {
			y := moved(n, capcli.Seed(seed), nil)
			m, a, err := Find(y, []int{24, 168})
			if err != nil {
				t.Fatal(err)
			}
			moves, odd, values = moves+len(m), odd+len(a), values+n
		}
	}
	if moves > 4 || float64(odd) > 0.002*float64(values) {
		t.Errorf("%d moves and %d odd values in %d quiet ones", moves, odd, values)
	}
}

// TestManyOddValuesAreNone: what is far off one time in ten is the way of the series.
func TestManyOddValuesAreNone(t *testing.T) {
	y := capcli.Series{Values: make([]float64, 300)}
	for i := range y.Values {
		y.Values[i] = 64 + 0.01*float64(i%3)
		if i%10 == 3 {
			y.Values[i] = 20
		}
	}
	if _, odd, err := Find(y, nil); err != nil || len(odd) > 0 {
		t.Errorf("%d odd values, %v", len(odd), err)
	}
}

// TestSinceChange: after a move models that have a long memory are nearer what
// comes when they forget what was before; without one nothing changes.
func TestSinceChange(t *testing.T) {
	for _, name := range []string{"mean", "mstl-ets"} {
		made, err := forecast.Models.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		with, without := 0.0, 0.0
		for seed := range 10 {
			const h = 48
			y := moved(24*7*6+h, capcli.Seed(seed), map[int]float64{400: 170})
			came := y.Values[len(y.Values)-h:]
			y.Values = y.Values[:len(y.Values)-h]
			inner := made(forecast.Options{Seasons: []int{24, 168}, Seed: 1})
			for _, row := range []struct {
				m   model.Model
				sum *float64
			}{{inner, &without}, {SinceChange{inner, []int{24, 168}}, &with}} {
				fit, err := row.m.Fit(y)
				if err != nil {
					t.Fatal(err)
				}
				fc, err := fit.Forecast(h, 80)
				if err != nil {
					t.Fatal(err)
				}
				*row.sum += forecast.MAE(came, fc.Mean)
				if len(fit.Info().Fitted) != len(y.Values) && fit.Info().Fitted != nil {
					t.Errorf("%s: %d fitted values of %d", name, len(fit.Info().Fitted), len(y.Values))
				}
			}
		}
		if with > 1.02*without || name == "mean" && with > 0.6*without {
			t.Errorf("%s: off by %.2f with the values since the move, %.2f with all", name, with/10, without/10)
		}
		quiet := moved(1000, 3, nil)
		a, err := made(forecast.Options{Seasons: []int{24}}).Fit(quiet)
		if err != nil {
			t.Fatal(err)
		}
		b, err := SinceChange{made(forecast.Options{Seasons: []int{24}}), []int{24}}.Fit(quiet)
		if err != nil {
			t.Fatal(err)
		}
		x, _ := a.Forecast(3)
		z, _ := b.Forecast(3)
		if !slices.Equal(x.Mean, z.Mean) || FirstLearnt(b) != 0 {
			t.Errorf("%s: %v without a move, want %v", name, z.Mean, x.Mean)
		}
	}
	// A move at the very end is too fresh to learn from.
	fresh := moved(700, 5, map[int]float64{670: 250})
	naive, err := forecast.Models.Get("naive")
	if err != nil {
		t.Fatal(err)
	}
	if fit, err := (SinceChange{naive(forecast.Options{}), []int{24}}).Fit(fresh); err != nil || FirstLearnt(fit) != 0 {
		t.Errorf("learnt from %d on, %v", FirstLearnt(fit), err)
	}
}

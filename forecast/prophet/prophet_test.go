package prophet

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// TestPiecewiseFindsWhatWasPut builds a bent trend with two seasons and asks for their future.
func TestPiecewiseFindsWhatWasPut(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const n, h = 24 * 7 * 8, 168
	truth := make([]float64, n+h)
	for i := range truth {
		x := float64(i)
		truth[i] = 200 + 0.05*x + 20*math.Sin(2*math.Pi*x/24) + 8*math.Cos(2*math.Pi*x/168)
		if i > 600 {
			truth[i] += 0.1 * (x - 600)
		}
	}
	y := slices.Clone(truth[:n])
	for i := range y {
		y[i] += 3 * rng.NormFloat64()
	}
	y[50], y[700] = math.NaN(), math.NaN()
	f, err := Piecewise{Seasons: []int{24, 168}}.Fit(capcli.Series{Values: y})
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Forecast(h, 95)
	if err != nil {
		t.Fatal(err)
	}
	worst, in := 0.0, 0
	for i, v := range got.Mean {
		worst = math.Max(worst, math.Abs(v-truth[n+i]))
		if e := truth[n+i] + 3*rng.NormFloat64(); e > got.Intervals[0].Lo[i] && e < got.Intervals[0].Hi[i] {
			in++
		}
	}
	if worst > 6 || in < h*88/100 {
		t.Errorf("worst miss %.2f, want under 6 with noise of 3; %d of %d in the 95 %% interval", worst, in, h)
	}
	// Paths have the mean and the spread of the forecast.
	sum, square := 0.0, 0.0
	for range 2000 {
		v := f.Path(h, rng)[h-1]
		sum += v / 2000
		square += v * v / 2000
	}
	sd := math.Sqrt(square - sum*sum)
	want := (got.Intervals[0].Hi[h-1] - got.Mean[h-1]) / model.ZScore(95)
	if math.Abs(sum-got.Mean[h-1]) > 4*want/math.Sqrt(2000) || math.Abs(sd/want-1) > 0.1 {
		t.Errorf("paths end at %v (%v), want %v (%v)", sum, sd, got.Mean[h-1], want)
	}
}

// TestPiecewiseShrinksChanges holds a straight line to a straight forecast.
func TestPiecewiseShrinksChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	y := make([]float64, 300)
	for i := range y {
		y[i] = 50 + 0.2*float64(i) + 5*rng.NormFloat64()
	}
	f := newPieces(Piecewise{}, y)
	if err := f.climb(); err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, d := range f.coef[2:] {
		total += math.Abs(d)
	}
	if total > 0.15 {
		t.Errorf("slopes change by %.3f in all, want next to nothing against %.3f", total, f.coef[1])
	}
}

func TestPiecewiseTakesAnything(t *testing.T) {
	nan := math.NaN()
	for name, y := range map[string][]float64{
		"constant": slices.Repeat([]float64{7}, 30), "nought": make([]float64, 30), "three": {1, 2, 4},
		"gaps": {nan, 1, nan, nan, 2, 3, nan}, "huge": {1e300, 2e300, -1e300, 1e299}, "tiny": {1e-300, 3e-300, 2e-300, 1e-300},
		"spike": {0, 0, 0, 0, 1e12, 0, 0, 0, 0, 0, 0, 0},
	} {
		f, err := Piecewise{Seasons: []int{1, 2, 7}}.Fit(capcli.Series{Values: y})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := f.Forecast(50, 80, 95)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range got.Mean {
			if lo, hi := got.Intervals[1].Lo[i], got.Intervals[1].Hi[i]; !model.IsFinite(v) || !model.IsFinite(lo) || !model.IsFinite(hi) || lo > hi {
				t.Errorf("%s: step %d is %v (%v to %v)", name, i, v, lo, hi)
				break
			}
		}
	}
	if _, err := (Piecewise{}).Fit(capcli.Series{Values: []float64{1, nan, 2}}); !errors.Is(err, model.ErrTooShort) {
		t.Errorf("two values: %v, want ErrTooShort", err)
	}
}

// TestPiecewiseIsAtThePosteriorsMaximum writes the posterior of Taylor and
// Letham (2018) out, term by term, and looks for a higher one around the fit.
func TestPiecewiseIsAtThePosteriorsMaximum(t *testing.T) {
	_, facts := golden.ReadFacts(t)
	for _, name := range []string{"co2", "UKDriverDeaths", "austres"} {
		s := facts.Series[name]
		f := newPieces(Piecewise{Seasons: []int{s.M}}, s.Y)
		if err := f.climb(); err != nil {
			t.Fatal(err)
		}
		row := make([]float64, f.width)
		minus := func(coef []float64, variance float64) float64 {
			sum := 0.0
			for i, y := range s.Y {
				f.row(i, row)
				e := y/f.unit - model.Dot(row, coef)
				sum += e*e/(2*variance) + math.Log(variance)/2
			}
			for j, c := range coef {
				switch {
				case j < 2:
					sum += c * c / (2 * 5 * 5)
				case j < 2+len(f.places):
					sum += math.Abs(c) / 0.05
				default:
					sum += c * c / (2 * 10 * 10)
				}
			}
			return sum
		}
		best := minus(f.coef, f.variance)
		rng := rand.New(rand.NewPCG(8, 8))
		for range 3000 {
			coef := append([]float64(nil), f.coef...)
			size := math.Pow(10, -1-4*rng.Float64())
			if rng.IntN(2) == 0 {
				coef[rng.IntN(len(coef))] += size * rng.NormFloat64()
			} else {
				for j := range coef {
					coef[j] += size * rng.NormFloat64()
				}
			}
			if v := minus(coef, f.variance*(1+0.1*size*rng.NormFloat64())); v < best-0.01 {
				t.Errorf("%s: minus the log posterior is %.4f, and %.4f nearby", name, best, v)
				break
			}
		}
	}
}

package unconstrain

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

// TestUnconstrainTakesAnything holds latent demand finite and never under usage.
func TestUnconstrainTakesAnything(t *testing.T) {
	nan := math.NaN()
	for name, y := range map[string][]float64{
		"one":          {8},
		"all at limit": {8, 8, 8, 8, 8, 8, 8, 8},
		"all nought":   {0, 0, 0, 0, 0, 0},
		"one below":    {8, 8, 8, 8, 3, 8, 8, 8, 8, 8},
		"constant":     {5, 5, 5, 5, 5, 5, 8, 8, 5, 5},
		"gaps":         {1, nan, 3, 8, 8, nan, 8, 2, 1, 4, 8, 3, 2, nan, 5},
		"tiny":         {1e-9, 2e-9, 8, 1e-9, 3e-9, 8, 1e-9},
		"spike":        {1, 2, 1, 2, 1, 2, 1, 1e9, 1, 2, 1, 2, 1, 2, 1},
	} {
		for _, limit := range [][]float64{{8}, {nan}, nil, {0}} {
			before := slices.Clone(y)
			got, info, err := Demand(capcli.Series{Values: y}, Censoring{Limit: limit, Seasons: []int{2, 3, 24}})
			if err != nil {
				t.Errorf("%s, limit %v: %v", name, limit, err)
				continue
			}
			for i, v := range got.Values {
				if math.IsNaN(y[i]) != math.IsNaN(v) || v < y[i] || math.IsInf(v, 0) {
					t.Errorf("%s, limit %v: value %d is %v of usage %v (sigma %v)", name, limit, i, v, y[i], info.Sigma)
				}
				if !math.IsNaN(y[i]) && math.Float64bits(before[i]) != math.Float64bits(y[i]) {
					t.Errorf("%s: usage was changed", name)
				}
			}
		}
	}
}

func TestQueueSaysWhatWasMissing(t *testing.T) {
	nan := math.NaN()
	usage := capcli.Series{Values: []float64{4, 8, 8, 8, 8, 8, 5, 4, 3, 8}}
	pending := []float64{0, 0, 2, 4, 2, 0, 0, 0, 0, nan}
	got, info, err := Demand(usage, Censoring{Pending: pending, Limit: []float64{8}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{4, 8, 10, 12, 10, 8, 5, 4, 3}; !slices.Equal(got.Values[:9], want) {
		t.Errorf("demand = %v, want %v", got.Values[:9], want)
	}
	if info.Queue != 3 || info.Guessed != 1 || got.Values[9] <= 8 {
		t.Errorf("by queue %d, guessed %d, last %v, want 3, 1 and more than 8", info.Queue, info.Guessed, got.Values[9])
	}
}

func TestUnconstrainRefuses(t *testing.T) {
	y := capcli.Series{Values: []float64{1, 2, 3}}
	for name, row := range map[string]struct {
		y    []float64
		c    Censoring
		want error
	}{
		"limits":    {y.Values, Censoring{Limit: []float64{1, 2}}, model.ErrUnfit},
		"pending":   {y.Values, Censoring{Pending: []float64{1}}, model.ErrUnfit},
		"negative":  {y.Values, Censoring{Pending: []float64{1, -1, 0}}, model.ErrUnfit},
		"usage":     {[]float64{-1, 2}, Censoring{}, model.ErrUnfit},
		"infinite":  {[]float64{math.Inf(1), 2}, Censoring{}, model.ErrUnfit},
		"all away":  {[]float64{math.NaN()}, Censoring{}, model.ErrTooShort},
		"no values": {nil, Censoring{}, model.ErrTooShort},
	} {
		if _, _, err := Demand(capcli.Series{Values: row.y}, row.c); !errors.Is(err, row.want) {
			t.Errorf("%s: error %v, want %v", name, err, row.want)
		}
	}
}

// TestNormalAbove holds the draws against the mean and the variance of a normal
// distribution above a bound, 1/sqrt(2 pi) exp(-b^2/2) / Q(b) and 1 + b m - m^2.
func TestNormalAbove(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, bound := range []float64{-8, -1, 0, 0.39, 0.41, 2, 6, 30} {
		const n = 200_000
		sum, square := 0.0, 0.0
		for range n {
			z := normalAbove(bound, rng)
			if !(z >= bound) {
				t.Fatalf("above %g: drew %g", bound, z)
			}
			sum, square = sum+z-bound, square+(z-bound)*(z-bound)
		}
		m := mills(bound)
		mean, variance := m-bound, 1+bound*m-m*m
		if bound > 20 { // the difference above cancels
			mean, variance = 1/bound-2/(bound*bound*bound), 1/(bound*bound)
		}
		got := sum / n
		if math.Abs(got-mean) > 5*math.Sqrt(variance/n)+1e-3*mean {
			t.Errorf("above %g: mean %g over the bound, want %g", bound, got, mean)
		}
		if v := square/n - got*got; math.Abs(v/variance-1) > 0.03 {
			t.Errorf("above %g: variance %g, want %g", bound, v, variance)
		}
	}
}

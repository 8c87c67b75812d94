package plan_test

import (
	"math"
	"slices"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan"
)

func TestWobble(t *testing.T) {
	demand := slices.Repeat([]float64{50}, 400)
	grid := capcli.Step{Days: 1}.Grid(1_798_761_600, nil)
	w := plan.Wobble{Error: 0.1, HalfLife: 30 * capcli.Day}
	f, err := w.Futures(grid, demand, 400, 1)
	if err != nil {
		t.Fatal(err)
	}
	var sum, square, lag, pairs float64
	for _, p := range f.Paths {
		for i, v := range p {
			sum += v
			square += (v - 50) * (v - 50)
			if i >= 30 {
				lag += (v - 50) * (p[i-30] - 50)
				pairs++
			}
		}
	}
	n := float64(400 * 400)
	if mean := sum / n; math.Abs(mean-50) > 0.5 {
		t.Errorf("mean %g, want 50", mean)
	}
	if sd := math.Sqrt(square / n); math.Abs(sd-5) > 0.4 {
		t.Errorf("standard deviation %g, want 5", sd)
	}
	if c := lag / pairs / (square / n); math.Abs(c-0.5) > 0.06 {
		t.Errorf("correlation after the half-life %g, want 0.5", c)
	}
	more, err := w.Futures(grid, demand, 500, 1)
	if err != nil || !slices.EqualFunc(f.Paths, more.Paths[:400], slices.Equal) {
		t.Error("more futures change the first")
	}
	none, err := plan.Wobble{HalfLife: 1}.Futures(grid, demand, 1, 1)
	if err != nil || !slices.Equal(none.Paths[0], demand) {
		t.Error("an error of 0 is not the demand itself")
	}
}

package plan_test

import (
	"slices"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// TestLess takes held GPUs off a curve, within steps and beyond its ends.
func TestLess(t *testing.T) {
	c := curve(t, capcli.Step{Seconds: hour}, 4, 2, 0, 5)
	left, served, err := c.Serve([]plan.Held{
		{From: -10 * hour, To: 3 * hour / 2, Milli: 3000}, // to the middle of the second hour
		{From: 3 * hour, To: 99 * hour, Milli: 1500},
		{From: 200 * hour, To: 300 * hour, Milli: 9000},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1, 1, 0, 3.5}
	var got []float64
	for i := range left.Work {
		got = append(got, left.GPUs(i))
	}
	if !slices.Equal(got, want) || served.Hours() != 3+1+1.5 {
		t.Errorf("left %v, %v GPU-hours served; want %v and 5.5", got, served.Hours(), want)
	}
	for _, h := range []plan.Held{{From: 5, To: 5, Milli: 1}, {From: 0, To: 1, Milli: -1}, {From: 0, To: 1, Milli: 1 << 60}} {
		if _, _, err := c.Serve([]plan.Held{h}); err == nil {
			t.Errorf("%+v is taken", h)
		}
	}
}

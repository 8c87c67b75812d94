package holidays

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"capcli"
)

// timesEvery are the bounds of n equal steps.
func timesEvery(start capcli.Time, step capcli.Seconds, n int) []capcli.Time {
	out := make([]capcli.Time, n+1)
	for i := range out {
		out[i] = start + capcli.Time(int64(step)*int64(i))
	}
	return out
}

func TestHolidaysInTheirZone(t *testing.T) {
	zone := time.FixedZone("east", 2*3600)
	c := Calendar{Zone: zone, Holidays: []Holiday{{Name: "new year", Dates: []Date{{2026, 1, 1}, {2027, 1, 1}}, Before: 1}}}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	start := capcli.Time(time.Date(2025, 12, 31, 12, 0, 0, 0, time.UTC).Unix())
	names, columns := c.Regressors(timesEvery(start, 6*3600, 8))
	if want := []string{"new year-1", "new year"}; !slices.Equal(names, want) {
		t.Fatalf("names %v, want %v", names, want)
	}
	third := 1.0 / 3
	for k, want := range [][]float64{
		{1, 1 - third, 0, 0, 0, 0, 0, 0},
		{0, third, 1, 1, 1, 1 - third, 0, 0},
	} {
		for i := range want {
			if d := columns[k][i] - want[i]; d > 1e-12 || d < -1e-12 {
				t.Errorf("%s: %v, want %v", names[k], columns[k], want)
				break
			}
		}
	}
	// A day of 23 hours where clocks go forward is one day of a daily series.
	if berlin, err := time.LoadLocation("Europe/Berlin"); err == nil {
		c := Calendar{Zone: berlin, Holidays: []Holiday{{Name: "x", Dates: []Date{{2026, 3, 29}}}}}
		_, columns := c.Regressors(timesEvery(capcli.Time(time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC).Unix()), 3600, 26))
		sum := 0.0
		for _, v := range columns[0] {
			sum += v
		}
		if sum != 23 {
			t.Errorf("%v hours, want 23", sum)
		}
	}
	for _, h := range []Holiday{{Name: "none"}, {Name: "no day", Dates: []Date{{2026, 2, 30}}}, {Name: "wide", Dates: []Date{{2026, 2, 3}}, After: -1}} {
		var in *capcli.InputError
		if err := (&Calendar{Holidays: []Holiday{h}}).Check(); !errors.As(err, &in) {
			t.Errorf("%s: error %v", h.Name, err)
		}
	}
}

// TestHolidaysOfUnequalSteps: a day is one of 23 hours, a seventh of a week, a
// 31st or a 28th of a month.
func TestHolidaysOfUnequalSteps(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	for _, row := range []struct {
		step string
		day  Date
		want float64
	}{
		{"1d", Date{2026, 3, 29}, 1},
		{"1h", Date{2026, 3, 29}, 23},
		{"1w", Date{2026, 3, 24}, 24.0 / 167},
		{"1w", Date{2026, 3, 29}, 23.0 / 167},
		{"1w", Date{2026, 3, 17}, 1.0 / 7},
		{"1mo", Date{2026, 2, 3}, 1.0 / 28},
		{"1mo", Date{2026, 1, 3}, 1.0 / 31},
	} {
		step, err := capcli.ParseStep(row.step)
		if err != nil {
			t.Fatal(err)
		}
		grid := step.Grid(capcli.TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, berlin)), berlin)
		var bounds []capcli.Time
		for i := range 24 * 100 {
			bounds = append(bounds, grid.At(i))
		}
		c := Calendar{Zone: berlin, Holidays: []Holiday{{Name: "x", Dates: []Date{row.day}}}}
		_, columns := c.Regressors(bounds)
		sum := 0.0
		for _, v := range columns[0] {
			sum += v
		}
		if math.Abs(sum-row.want) > 1e-12 {
			t.Errorf("%s, %v: %v steps, want %v", row.step, row.day, sum, row.want)
		}
	}
}

package forecast

import (
	"errors"
	"slices"
	"testing"
	"time"

	"capcli"
)

func TestHolidaysInTheirZone(t *testing.T) {
	zone := time.FixedZone("east", 2*3600)
	c := Calendar{Zone: zone, Holidays: []Holiday{{Name: "new year", Dates: []Date{{2026, 1, 1}, {2027, 1, 1}}, Before: 1}}}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	start := capcli.Time(time.Date(2025, 12, 31, 12, 0, 0, 0, time.UTC).Unix())
	names, columns := c.Regressors(start, 6*3600, 8)
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
		_, columns := c.Regressors(capcli.Time(time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC).Unix()), 3600, 26)
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

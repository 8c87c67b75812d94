package forecast

import (
	"testing"

	"capcli"
	"capcli/forecast/change"
	"capcli/forecast/holidays"
	"capcli/forecast/model"
)

// TestWrappersConform holds the wrappers to the promises of every model, with
// holidays in the history and ahead of it.
func TestWrappersConform(t *testing.T) {
	at := func(i int) capcli.Time { return capcli.Time(i * 3600) }
	var days []holidays.Date
	for i := range 40 {
		days = append(days, holidays.Date{Year: 1970, Month: 1, Day: 3 + 2*i - i%2})
	}
	series := awkward()
	for _, name := range []string{"naive", "snaive", "ets", "mean"} {
		made, err := Models.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, seasons := range [][]int{nil, {24}} {
			inner := made(Options{Seasons: seasons, Seed: 1})
			for _, m := range []model.Model{
				holidays.Model{Model: inner, At: at, Days: []holidays.SpecialDays{{Holiday: holidays.Holiday{Name: "x", Dates: days, After: 1}}}},
				holidays.Model{Model: change.SinceChange{Model: inner, Seasons: seasons}, At: at, Days: []holidays.SpecialDays{{Holiday: holidays.Holiday{Name: "x", Dates: days}, Declared: true, Size: -0.5, SD: 0.1, Relative: true}}},
				change.SinceChange{Model: inner, Seasons: seasons},
			} {
				for id, y := range series {
					if got := promise(t, m, y); got != "" {
						t.Errorf("%T of %s on %s: %s", m, name, id, got)
					}
				}
			}
		}
	}
}

package holidays

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/model"
)

// town is a made-up demand with a week, a day for short steps, a slow trend and
// noise that hangs together, and holidays that take a share of it by the clock.
func town(t *testing.T, step string, years int, takes func(clock float64) float64, seed capcli.Seed) (y capcli.Series, at func(int) capcli.Time, dates []Date, truth []float64) {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	s, err := capcli.ParseStep(step)
	if err != nil {
		t.Fatal(err)
	}
	grid := s.Grid(capcli.TimeOf(time.Date(2023, 1, 1, 0, 0, 0, 0, zone)), zone)
	for year := 2023; year < 2023+years+2; year++ {
		dates = append(dates, Date{year, 1, 1}, Date{year, 3, 31}, Date{year, 5, 1}, Date{year, 6, 9}, Date{year, 8, 15}, Date{year, 10, 3}, Date{year, 11, 1}, Date{year, 12, 25})
	}
	rng := seed.Stream("town")
	n := grid.Index(capcli.TimeOf(time.Date(2023+years, 1, 1, 0, 0, 0, 0, zone)))
	y = capcli.Series{Name: "town", Start: grid.Origin, Step: s.Length()}
	ar := 0.0
	const fine = 3600
	for i := range n + 60*int(max(1, 86400/s.Length())) {
		sum, lost, count := 0.0, 0.0, 0.0
		for u := grid.At(i); u < grid.At(i+1); u += fine {
			local := time.Unix(int64(u), 0).In(zone)
			clock := float64(local.Hour()) / 24
			v := 200 + 0.05*float64(u-grid.Origin)/86400
			v *= 1 + 0.3*math.Sin(2*math.Pi*(clock-0.3))
			day := local.Weekday()
			if day == 0 || day == 6 {
				v *= 0.6
			} else if slices.Contains(dates, Date{local.Year(), local.Month(), local.Day()}) {
				lost += v * takes(clock)
			}
			sum, count = sum+v, count+1
		}
		ar = 0.7*ar + 6*rng.NormFloat64()
		truth = append(truth, (sum-lost)/count)
		if i < n {
			y.Values = append(y.Values, (sum-lost)/count+ar)
		}
	}
	return y, grid.At, dates, truth
}

func third(float64) float64 { return 0.35 }

// TestHolidaysAreLearnt: the effect comes out, by day and by hour, and the
// forecast of a holiday is far nearer than without; around it nothing changes.
func TestHolidaysAreLearnt(t *testing.T) {
	zone, _ := time.LoadLocation("Europe/Berlin")
	for _, row := range []struct {
		step    string
		years   int
		seasons []int
		takes   func(float64) float64
	}{
		{"1d", 2, []int{7}, third},
		{"6h", 2, []int{4, 28}, third},
		{"1h", 2, []int{24, 168}, func(clock float64) float64 { return 0.3 - 0.25*math.Cos(2*math.Pi*clock) }},
	} {
		y, at, dates, truth := town(t, row.step, row.years, row.takes, 5)
		m := Model{Model: modelCalled("mstl-ets", row.seasons...), Zone: zone, At: at, Days: []SpecialDays{{Holiday: Holiday{Name: "day off", Dates: dates}}}}
		fit, err := m.Fit(y)
		if err != nil {
			t.Fatal(err)
		}
		plainFit, err := m.Model.Fit(y)
		if err != nil {
			t.Fatal(err)
		}
		perDay := int(86400 / y.Step)
		h := 2 * perDay // 1 January, which is a Wednesday, and the day after
		seen, _, err := Effects(fit, h)
		if err != nil {
			t.Fatal(err)
		}
		if e := seen[0]; e.Days < 12 || !e.Relative {
			t.Errorf("%s: learnt %+v", row.step, e)
		}
		a, err := fit.Forecast(h, 95)
		if err != nil {
			t.Fatal(err)
		}
		b, err := plainFit.Forecast(h, 95)
		if err != nil {
			t.Fatal(err)
		}
		n := len(y.Values)
		with, without := forecast.MAE(truth[n:n+perDay], a.Mean[:perDay]), forecast.MAE(truth[n:n+perDay], b.Mean[:perDay])
		if with > 0.35*without {
			t.Errorf("%s: off by %.1f on the holiday, and %.1f when it is not known", row.step, with, without)
		}
		for i := perDay; i < h; i++ {
			if math.Abs(a.Mean[i]-b.Mean[i]) > 12 {
				t.Errorf("%s: the day after changed from %v to %v", row.step, b.Mean[i], a.Mean[i])
				break
			}
		}
		if got := ordered(a, h); got != "" {
			t.Errorf("%s: %s", row.step, got)
		}
	}
}

// modelCalled is the model of the catalogue called name.
func modelCalled(name string, seasons ...int) model.Model {
	made, err := forecast.Models.Get(name)
	if err != nil {
		panic(err)
	}
	return made(forecast.Options{Seasons: seasons, Seed: 1})
}

// TestHolidaysInABacktest: from origins before each holiday, which see only the
// past, knowing the calendar helps on the holidays of the second year.
func TestHolidaysInABacktest(t *testing.T) {
	zone, _ := time.LoadLocation("Europe/Berlin")
	y, at, dates, _ := town(t, "1d", 3, third, 11)
	m := Model{Model: modelCalled("mstl-ets", 7), Zone: zone, At: at, Days: []SpecialDays{{Holiday: Holiday{Name: "day off", Dates: dates}}}}
	o := forecast.BacktestOptions{Horizon: 28, Origins: 24, Every: 28, Least: 300, Levels: []float64{95}}
	with, err := forecast.Backtest(m, y, 7, o)
	if err != nil {
		t.Fatal(err)
	}
	without, err := forecast.Backtest(m.Model, y, 7, o)
	if err != nil {
		t.Fatal(err)
	}
	a, b := forecast.Summarise(with, []float64{95}), forecast.Summarise(without, []float64{95})
	if !(a.MASE < 0.93*b.MASE) {
		t.Errorf("MASE %.3f with the calendar, %.3f without", a.MASE, b.MASE)
	}
}

// TestHolidaysOfWeeksAndMonths: a step that holds the day has its share.
func TestHolidaysOfWeeksAndMonths(t *testing.T) {
	zone, _ := time.LoadLocation("Europe/Berlin")
	y, at, dates, _ := town(t, "1w", 3, third, 3)
	m := Model{Model: modelCalled("naive"), Zone: zone, At: at, Days: []SpecialDays{{Holiday: Holiday{Name: "day off", Dates: dates}}}}
	fit, err := m.Fit(y)
	if err != nil {
		t.Fatal(err)
	}
	seen, add, err := Effects(fit, 2)
	if err != nil || len(add) != 1 {
		t.Fatal(add, err)
	}
	// 35 % of a working day, which is 7/6.2 of the mean one (weekends are 0.6 of
	// it), of those that are no weekends.
	working := 0.0
	for _, d := range dates[:24] {
		if day := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC).Weekday(); day != 0 && day != 6 {
			working++
		}
	}
	if e, want := seen[0], -0.35*7/6.2*working/24; e.Days != 24 || math.Abs(e.Size-want) > 0.08 {
		t.Errorf("learnt %+v, want %.2f of a day", e, want)
	}
	if first := add[0][0]; first > -5 || first < -20 {
		t.Errorf("the first week, with 1 January, has %v", add[0])
	}
	// A holiday that every December has is in the season, and no other December
	// can tell: nothing is made up.
	y, at, dates, _ = town(t, "1mo", 5, third, 3)
	m = Model{Model: modelCalled("naive"), Zone: zone, At: at, Days: []SpecialDays{{Holiday: Holiday{Name: "day off", Dates: dates}}}}
	if fit, err = m.Fit(y); err != nil {
		t.Fatal(err)
	}
	if seen, add, err = Effects(fit, 12); err != nil || seen[0].Days != 0 || slices.Max(add[0]) != 0 || slices.Min(add[0]) != 0 {
		t.Errorf("months: %v %v, learnt %+v", add, err, seen[0])
	}
}

// TestHolidaysOfNothing: days that differ by nothing get next to none, and those
// that the history does not have none at all.
func TestHolidaysOfNothing(t *testing.T) {
	zone, _ := time.LoadLocation("Europe/Berlin")
	worst, sum := 0.0, 0.0
	const runs = 20
	for seed := range runs {
		y, at, dates, _ := town(t, "1d", 2, func(float64) float64 { return 0 }, capcli.Seed(seed))
		m := Model{Model: modelCalled("naive"), Zone: zone, At: at, Days: []SpecialDays{
			{Holiday: Holiday{Name: "any day", Dates: dates}}, {Holiday: Holiday{Name: "to come", Dates: []Date{{2025, 1, 2}}}},
		}}
		fit, err := m.Fit(y)
		if err != nil {
			t.Fatal(err)
		}
		seen, add, err := Effects(fit, 3)
		if err != nil {
			t.Fatal(err)
		}
		worst, sum = math.Max(worst, math.Abs(seen[0].Size)), sum+math.Abs(seen[0].Size)/runs
		if seen[1].Days != 0 || add[1][1] != 0 {
			t.Errorf("a day that never was: %+v, %v", seen[1], add[1])
		}
	}
	if sum > 0.01 || worst > 0.05 {
		t.Errorf("found effects of %.3f on average, %.3f at most, where there is none", sum, worst)
	}
}

// TestDeclaredHolidays: what the file says holds; intervals and paths have its spread.
func TestDeclaredHolidays(t *testing.T) {
	y := capcli.Series{Start: 0, Step: 86400, Values: slices.Repeat([]float64{100, 104, 96, 101, 99, 103, 97}, 8)}
	at := func(i int) capcli.Time { return capcli.Time(i * 86400) }

	m := Model{Model: modelCalled("naive"), At: at, Days: []SpecialDays{
		{Holiday: Holiday{Name: "a", Dates: []Date{{1970, 2, 27}}}, Declared: true, Size: -0.4, SD: 0.1, Relative: true},
		{Holiday: Holiday{Name: "b", Dates: []Date{{1970, 2, 28}}}, Declared: true, Size: 30},
	}}

	fit, err := m.Fit(y) // 56 days: the next is 26 February
	if err != nil {
		t.Fatal(err)
	}
	fc, err := fit.Forecast(3, 80)
	if err != nil {
		t.Fatal(err)
	}
	base, err := m.Model.Fit(y)
	if err != nil {
		t.Fatal(err)
	}
	was, err := base.Forecast(3, 80)
	if err != nil {
		t.Fatal(err)
	}
	if fc.Mean[0] != 97 || math.Abs(fc.Mean[1]-(97-0.4*97)) > 1.5 || fc.Mean[2] != 127 {
		t.Errorf("means %v", fc.Mean)
	}
	if w, want := fc.Intervals[0].Hi[1]-fc.Mean[1], math.Hypot(was.Intervals[0].Hi[1]-97, model.ZScore(80)*9.7); math.Abs(w-want) > 0.2 {
		t.Errorf("half a range of %v, want %v", w, want)
	}
	sum, square := 0.0, 0.0
	const draws = 4000
	for k := range draws {
		rng := capcli.Seed(k).Stream("x")
		p := fit.Path(3, rng)
		q := base.Path(3, rand.New(rand.NewPCG(uint64(k), 1)))
		sum, square = sum+(p[1]-q[1])/draws, square+p[0]/draws
	}
	if math.Abs(sum+38.8) > 1.5 || math.Abs(square-97) > 1 {
		t.Errorf("paths differ by %v on the holiday, want -38.8", sum)
	}
}

// ordered returns what is wrong with the ranges of a forecast.
func ordered(f model.Forecast, h int) string {
	if len(f.Mean) != h {
		return "wrong number of means"
	}
	for i, m := range f.Mean {
		lo, hi := m, m
		for _, iv := range f.Intervals { // from the narrowest on
			if !(iv.Lo[i] <= lo) || !(iv.Hi[i] >= hi) {
				return "a mean outside of its range, or a wider level inside a narrower one"
			}
			lo, hi = iv.Lo[i], iv.Hi[i]
		}
		if !model.IsFinite(hi - lo) {
			return "an end that is not finite"
		}
	}
	return ""
}

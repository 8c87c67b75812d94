package outlook_test

import (
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/demand"
	"capcli/forecast/outlook"
	"capcli/profile/logs/series"
	"capcli/testdata/golden"
)

// daysOf are series of days that begin on one day.
func daysOf(list ...[]float64) *demand.Histories {
	hs := historiesOf(list...)
	hs.Clock, hs.Step = true, capcli.Step{Days: 1}
	hs.FormatStamp = func(stamp int64) string { return capcli.Time(stamp).Std().UTC().Format("2006-01-02") }
	start, _ := capcli.ParseTime("2026-01-01", nil, true)
	for _, h := range hs.List {
		h.Regular = series.Regular{Series: capcli.Series{Name: "pool " + h.Name, Start: start, Step: capcli.Day, Values: h.Values}, Grid: capcli.Grid{Origin: start, Step: hs.Step}}
	}
	return hs
}

// TestEndedSeries: a pool whose last value is months old is named and left out beside live ones, with
// missing values at its end too. Where ends are scattered, or a pause is usual, all are forecast.
func TestEndedSeries(t *testing.T) {
	golden.SkipLong(t)
	long := func(k uint64) []float64 { return pool(240, 7, k) }
	r := outlook.Request{Horizon: "14", Model: "ets"}
	holed := long(4)
	for i := 150; i < 240; i++ {
		holed[i] = math.NaN()
	}
	got, notes := ask(t, daysOf(long(1), pool(120, 7, 2), long(3), holed, long(5)), r)
	if len(got.Series) != 3 || len(got.Ended) != 2 || got.Ended[0] != (outlook.Ended{ID: "pool 1", Last: "2026-04-30"}) || got.Ended[1].ID != "pool 3" || len(got.NotForecast) != 0 {
		t.Errorf("%d series, ended %+v, not forecast %v", len(got.Series), got.Ended, got.NotForecast)
	}
	if !strings.Contains(notes, "2 of 5 series ended, and are left out: pool 1 (2026-04-30), pool 3 (2026-05-30)") {
		t.Errorf("not named:\n%s", notes)
	}
	if got, _ = ask(t, daysOf(long(1), pool(120, 7, 2)), outlook.Request{Horizon: "14", Model: "ets", Outliers: outlook.KeepOutliers}); len(got.Series) != 2 || got.Ended != nil {
		t.Errorf("kept: %d series", len(got.Series))
	}
	if got, _ = ask(t, daysOf(pool(90, 7, 1), pool(150, 7, 2), pool(200, 7, 3), long(4)), r); len(got.Series) != 4 {
		t.Errorf("scattered ends: %d series, ended %+v", len(got.Series), got.Ended)
	}
	pausing := long(6)
	for i := 20; i < 80; i++ {
		pausing[i] = math.NaN()
	}
	if got, _ = ask(t, daysOf(long(1), pausing[:200]), r); len(got.Series) != 2 {
		t.Errorf("a pause like an earlier one: ended %+v", got.Ended)
	}
}

// TestFlatTop: usage that stands exactly at its top in many steps is said to be as at a capacity, and
// the answer for that case is nearer to the demand behind it.
func TestFlatTop(t *testing.T) {
	golden.SkipLong(t)
	truth, cut := pool(1440, 24, 3), pool(1440, 24, 3)
	const top = 110
	steps := 0
	for i, v := range truth {
		if cut[i] = min(v, top); v >= top {
			steps++
		}
	}
	got, notes := ask(t, historiesOf(cut), outlook.Request{Horizon: "24", Seasons: []int{24}})
	f := got.Series[0].FlatTop
	if f == nil || f.Value != top || f.Steps != steps {
		t.Fatalf("not found: %+v", f)
	}
	if want := meanOf(truth); math.Abs(float64(f.Uncapped)-want) > math.Abs(float64(f.Mean)-want) || !strings.Contains(notes, "--past-capacity 110 estimates it: a mean of 10") {
		t.Errorf("%+v, the demand is %.1f:\n%s", f, want, notes)
	}
	few := make([]float64, 400) // whole numbers of GPUs come again without a capacity
	for i := range few {
		few[i] = float64(3 + i*i%5)
	}
	for name, y := range map[string][]float64{"free": truth, "few GPUs": few, "stands still": append(make([]float64, 20), lifted(200, 64)...)} {
		if got, _ := ask(t, historiesOf(y), outlook.Request{Horizon: "24", Seasons: []int{24}}); got.Series[0].FlatTop != nil {
			t.Errorf("%s: %+v", name, got.Series[0].FlatTop)
		}
	}
}

func lifted(n int, v float64) []float64 {
	out := make([]float64, n)
	lift(out, v)
	return out
}

// TestTooFewValues: a history of fewer values than the model needs says what was seen.
func TestTooFewValues(t *testing.T) {
	if _, notes := ask(t, historiesOf([]float64{31, 24, 40, 28}), outlook.Request{Horizon: "3"}); !strings.Contains(notes, "4 values are too few to say what comes: what was seen lies between 24 and 40") {
		t.Error(notes)
	}
	_, err := outlook.Forecast(t.Context(), historiesOf([]float64{31, 24}), outlook.Request{Model: "arima"}, nil)
	if err == nil || !strings.Contains(err.Error(), "what was seen lies between 24 and 31") {
		t.Error(err)
	}
	_, err = outlook.Forecast(t.Context(), historiesOf([]float64{31}), outlook.Request{}, nil)
	if err == nil || !strings.Contains(err.Error(), "what was seen is 31") {
		t.Error(err)
	}
}

// TestStandsStill: a pool that hardly ever changes is forecast to stay, and that is said.
func TestStandsStill(t *testing.T) {
	y := append(append(lifted(150, 64), lifted(100, 96)...), lifted(150, 104)...)
	y[30], y[200] = 63, 95
	got, notes := ask(t, historiesOf(y), outlook.Request{Horizon: "24", Seasons: []int{24}})
	for i, v := range got.Series[0].Mean {
		if v != 104 {
			t.Fatalf("step %d: %g", i+1, v)
		}
	}
	if !strings.Contains(notes, "it stands still in 98% of the steps: the last value is repeated") {
		t.Error(notes)
	}
}

// TestSmallMoves: moves of the level below the error of a forecast are not told, and are in the document.
func TestSmallMoves(t *testing.T) {
	y := pool(600, 24, 8)
	for i := range y {
		y[i] += 1.5 * float64(i/100%2)
	}
	got, notes := ask(t, historiesOf(y), outlook.Request{Horizon: "48", Seasons: []int{24}})
	if s := got.Series[0]; len(s.Moves) == 0 || strings.Contains(notes, "shifted") {
		t.Errorf("%d moves:\n%s", len(s.Moves), notes)
	}
	if strings.Contains(notes, "weights and intervals") {
		t.Error(notes)
	}
}

// TestPeaksOfWeeks: of a table, 4w with peaks is about each of four weeks, as in a list.
func TestPeaksOfWeeks(t *testing.T) {
	hs := daysOf(pool(120, 7, 1))
	got, _ := ask(t, hs, outlook.Request{Horizon: "4w", Peak: true, Model: "snaive"})
	list, _ := ask(t, hs, outlook.Request{Horizon: "4w,4w", Peak: true, Model: "snaive"})
	if n := len(got.Series[0].Periods); n != 4 || got.Series[0].Periods[3].Peak == nil || len(list.Series[0].Periods) != 8 {
		t.Errorf("%d periods", n)
	}
	if _, err := outlook.Backtest(t.Context(), hs, outlook.Request{Horizon: "4w", Peak: true}, nil); err == nil {
		t.Error("a backtest of periods was not refused")
	}
}

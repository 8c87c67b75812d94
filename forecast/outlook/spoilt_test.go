package outlook_test

import (
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/demand"
	"capcli/forecast/outlook"
)

// pool draws hourly or daily levels about 108 with a daily or weekly season.
func pool(n, season int, seed uint64) []float64 {
	rng := capcli.Seed(seed).Stream("pool")
	out := make([]float64, n)
	for i := range out {
		out[i] = 108 + 8*math.Sin(2*math.Pi*float64(i)/float64(season)) + 3*rng.NormFloat64()
	}
	return out
}

// ask forecasts histories on whole-number stamps and returns the result with its notes as one text.
func ask(t *testing.T, hs *demand.Histories, r outlook.Request) (*outlook.Result, string) {
	t.Helper()
	r.Seed = 1
	got, err := outlook.Forecast(t.Context(), hs, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got, strings.Join(got.Notes(), "\n")
}

// TestSpoiltValues spoils a series whose future is known: the forecast must come within a tenth of
// the forecast of the clean series, its ranges within a third, and a note must name what was set
// aside. With the choice keep the forecast is that of the values as they are.
func TestSpoiltValues(t *testing.T) {
	const n, h = 1440, 48
	at := func(i int, v float64) func([]float64) { return func(y []float64) { y[i] = v } }
	zeros := func(from, to int) func([]float64) {
		return func(y []float64) { clear(y[from:to]) }
	}
	for name, c := range map[string]struct {
		spoil func([]float64)
		note  string
	}{
		"a million, sixty days back":     {at(10, 1e6), "on 10 (1000000, expected 1"},
		"a million in the middle":        {at(n/2, 1e6), "on 720 (1000000, expected 1"},
		"a million in the last step":     {at(n-1, 1e6), "on 1439 (1000000, expected 1"},
		"a thousand, two days back":      {at(n-48, 1000), "on 1392 (1000, expected 1"},
		"a thousand in the last step":    {at(n-1, 1000), "on 1439 (1000, expected 1"},
		"a thousand, a month back":       {at(n/2, 1000), "on 720 (1000, expected 1"},
		"a thousand and a million":       {func(y []float64) { y[300], y[1300] = 1000, 1e6 }, "2 values set aside"},
		"minus a million":                {at(n/3, -1e6), "nothing was recorded"},
		"the last three hours":           {zeros(n-3, n), "up to now"},
		"the last day":                   {zeros(n-24, n), "up to now"},
		"a day, three weeks back":        {zeros(n-528, n-504), "from 912 to 935"},
		"an hour and a half, in between": {func(y []float64) { y[1000], y[1001] = 0, 52 }, "from 1000 to 1001"},
	} {
		clean, dirty := pool(n, 24, 1), pool(n, 24, 1)
		c.spoil(dirty)
		want, _ := ask(t, historiesOf(clean), outlook.Request{Horizon: "48", Seasons: []int{24, 168}})
		got, notes := ask(t, historiesOf(dirty), outlook.Request{Horizon: "48", Seasons: []int{24, 168}})
		a, b := want.Series[0], got.Series[0]
		for i := range h {
			width, wide := a.Intervals[0].Hi[i]-a.Intervals[0].Lo[i], b.Intervals[0].Hi[i]-b.Intervals[0].Lo[i]
			if math.Abs(b.Mean[i]-a.Mean[i]) > a.Mean[i]/10 || wide > width*4/3 || wide < width*2/3 {
				t.Errorf("%s: step %d: %.1f, 80%% range of %.1f; clean %.1f, %.1f", name, i+1, b.Mean[i], wide, a.Mean[i], width)
				break
			}
		}
		if !strings.Contains(notes, c.note) || !strings.Contains(notes, "--fit outliers=keep") {
			t.Errorf("%s: not named:\n%s", name, notes)
		}
		if len(b.Anomalies) == 0 || !b.Anomalies[len(b.Anomalies)-1].SetAside {
			t.Errorf("%s: the document does not have it: %+v", name, b.Anomalies)
		}
		kept, notes := ask(t, historiesOf(dirty), outlook.Request{Horizon: "48", Seasons: []int{24, 168}, Outliers: outlook.KeepOutliers, Model: "mean"})
		if mean := meanOf(dirty); math.Abs(kept.Series[0].Mean[0]-mean) > 1e-9*math.Abs(mean) || strings.Contains(notes, "outliers=keep") {
			t.Errorf("%s: kept: mean %g, want %g:\n%s", name, kept.Series[0].Mean[0], mean, notes)
		}
	}
}

func meanOf(y []float64) (sum float64) {
	for _, v := range y {
		sum += v / float64(len(y))
	}
	return sum
}

// TestCommonOutage: where all series are zero at once, and never so otherwise, nothing was
// recorded, though each of them is zero at times.
func TestCommonOutage(t *testing.T) {
	const n = 600
	var list [][]float64
	for k := range 6 {
		y := pool(n, 24, uint64(k+2))
		for i := range y {
			if i%48/8 == k { // each pauses for eight hours, one after the other
				y[i] = 0
			}
		}
		clear(y[n-4:])
		list = append(list, y)
	}
	got, notes := ask(t, historiesOf(list...), outlook.Request{Horizon: "24", Seasons: []int{24}})
	if !strings.Contains(notes, "nothing was recorded, up to now: bridged, not forecast in 6 of 6 series") {
		t.Errorf("not named:\n%s", notes)
	}
	sum := 0.0
	for _, s := range got.Series {
		sum += s.Mean[2]
	}
	if truth := 108.0 * 5; math.Abs(sum-truth) > truth/5 {
		t.Errorf("all together %.0f, want about %.0f", sum, truth)
	}
}

// TestTrueValuesStay: growth, a new level, spikes that recur and a pool that is often free are no
// spoilt values.
func TestTrueValuesStay(t *testing.T) {
	const n = 400
	for name, change := range map[string]func(y []float64){
		"new level":     func(y []float64) { lift(y[n-2:], 900) },
		"month's ends":  func(y []float64) { y[100], y[100+24*5], y[100+24*10] = 800, 800, 800 },
		"week of a run": func(y []float64) { lift(y[200:210], 900) },
		"twice as much": func(y []float64) { y[200] = 216 },
		"often free": func(y []float64) {
			for i := 0; i < n; i += 9 {
				y[i] = 0
			}
		},
		"ended": func(y []float64) { clear(y[n-100:]) },
	} {
		y := pool(n, 24, 9)
		change(y)
		if _, notes := ask(t, historiesOf(y), outlook.Request{Horizon: "24", Seasons: []int{24}, Model: "naive"}); strings.Contains(notes, "outliers=keep") {
			t.Errorf("%s:\n%s", name, notes)
		}
	}
}

func lift(y []float64, by float64) {
	for i := range y {
		y[i] += by
	}
}

// TestRecordingGaps: a day in which nothing was recorded of GPUs is bridged with its season, in the
// parts and in their sum, and said. In a table it stays a gap.
func TestRecordingGaps(t *testing.T) {
	const n = 600
	a, b := pool(n, 24, 21), pool(n, 24, 22)
	for i := n - 60; i < n-36; i++ {
		a[i], b[i] = math.NaN(), math.NaN()
	}
	hs := historiesOf(a, b)
	hs.Measure = "usage"
	got, notes := ask(t, hs, outlook.Request{Horizon: "24", Seasons: []int{24}})
	if !strings.Contains(notes, "nothing was recorded: bridged in 2 of 2 series: 0 from 540 to 563 (as 10") {
		t.Error(notes)
	}
	for i, v := range got.Series[0].Demand[n-60 : n-36] {
		if want := 108 + 8*math.Sin(2*math.Pi*float64(n-60+i)/24); math.Abs(v-want) > 8 {
			t.Errorf("hour %d: bridged by %.1f, want about %.1f", i, v, want)
		}
	}
	if got, notes = ask(t, historiesOf(a, b), outlook.Request{Horizon: "24", Seasons: []int{24}}); strings.Contains(notes, "bridged") || !math.IsNaN(got.Series[0].Demand[n-50]) {
		t.Error(notes)
	}
}

// TestSumsOfMended: the sum of parts is made of what they were mended to.
func TestSumsOfMended(t *testing.T) {
	a, b := pool(400, 24, 31), pool(400, 24, 32)
	total := make([]float64, 400)
	a[200] = 1e6
	clear(b[300:310])
	b[100] = math.NaN()
	for i := range total {
		total[i] = a[i] + b[i]
	}
	hs := historiesOf(total, a, b)
	hs.Measure = "usage"
	hs.Tree = &demand.Hierarchy{Sums: hs.List[:1], Parts: hs.List[1:], PartsOf: [][]int{{0, 1}}}
	got, _ := ask(t, hs, outlook.Request{Horizon: "24", Seasons: []int{24}, Model: "naive"})
	for i, v := range got.Series[0].Demand {
		if want := got.Series[1].Demand[i] + got.Series[2].Demand[i]; math.Abs(v-want) > 1e-9*want || v < 150 || v > 280 {
			t.Fatalf("step %d: the sum is %g, its parts give %g", i, v, want)
		}
	}
	if a[200] != 1e6 || total[200] < 1e6 || b[305] != 0 {
		t.Error("the histories of the call were changed")
	}
}

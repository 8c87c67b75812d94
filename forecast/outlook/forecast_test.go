package outlook_test

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/demand"
	"capcli/forecast/outlook"
	"capcli/profile/logs/series"
)

// historiesOf are series of values at the stamps 0, 1, 2 and so on.
func historiesOf(list ...[]float64) *demand.Histories {
	hs := &demand.Histories{Inputs: []string{"values"}, FormatStamp: func(stamp int64) string { return strconv.FormatInt(stamp, 10) }}
	for i, y := range list {
		h := &demand.History{Regular: series.Regular{Series: capcli.Series{Name: strconv.Itoa(i), Step: 1, Values: y}, Stride: 1}, Set: hs}
		hs.List = append(hs.List, h)
	}
	return hs
}

// TestForecastIsTheShippedModel: of every model and of series that fall, repeat, stand
// still and come rarely the result has the figures of forecast.Shipped, which the
// accuracy tests score, to the last digit, and none below zero.
func TestForecastIsTheShippedModel(t *testing.T) {
	made := map[string]func(i int) float64{
		"falls":   func(i int) float64 { return max(0, math.Round(120-2*float64(i)+float64(i*i%7))) },
		"repeats": func(i int) float64 { return 20 + 10*math.Sin(float64(i)*math.Pi/12) + float64(i*i%5) },
		"stands":  func(int) float64 { return 7 },
		"rare":    func(i int) float64 { return float64(i % 11 / 10 * 8) },
	}
	const n, h = 72, 24
	for _, name := range forecast.Models.Names() {
		for kind, at := range made {
			y := make([]float64, n)
			for i := range y {
				y[i] = at(i)
			}
			opts := forecast.Options{Seed: 1, Seasons: []int{24}}
			in := capcli.Series{Name: "0", Step: 1, Values: y}
			shipped, err := forecast.Shipped(name, in, h, opts)
			if err != nil {
				t.Fatal(err)
			}
			fit, failed := shipped.Fit(in)
			got, err := outlook.Forecast(t.Context(), historiesOf(y), outlook.Request{Model: name, Horizon: "24", Seasons: []int{24}, Seed: 1, Origins: 1, Changes: outlook.NoChanges}, nil)
			if failed != nil {
				if input := (*capcli.InputError)(nil); !errors.As(err, &input) {
					t.Errorf("%s, %s: the model says %v, the outlook %v", name, kind, failed, err)
				}
				continue
			}
			want, err2 := fit.Forecast(h, 80, 95)
			if err != nil || err2 != nil {
				t.Errorf("%s, %s: %v, %v", name, kind, err, err2)
				continue
			}
			s := got.Series[0]
			if !slices.Equal(s.Mean, want.Mean) || !slices.Equal(s.Intervals[0].Lo, want.Intervals[0].Lo) || !slices.Equal(s.Intervals[1].Hi, want.Intervals[1].Hi) {
				t.Errorf("%s, %s: the figures are not those of the shipped model", name, kind)
			}
			if least := min(slices.Min(s.Mean), slices.Min(s.Intervals[1].Lo), slices.Min(s.Lines.Median)); least < 0 {
				t.Errorf("%s, %s: %g is below zero", name, kind, least)
			}
		}
	}
}

// TestDefaultModelFallsBack: what auto cannot take is forecast by its last value, and a
// note says so; a model that somebody chose is an error.
func TestDefaultModelFallsBack(t *testing.T) {
	hs := historiesOf([]float64{3, 5})
	got, err := outlook.Forecast(t.Context(), hs, outlook.Request{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Series[0]; s.Mean[0] != 5 || len(s.Mean) != outlook.UsualHorizon(capcli.Step{}) || s.Backtest != nil || len(s.Warnings) == 0 {
		t.Errorf("got %s, %v, %v", s.Model, s.Mean, s.Warnings)
	}
	_, err = outlook.Forecast(t.Context(), hs, outlook.Request{Model: "arima"}, nil)
	if input := (*capcli.InputError)(nil); !errors.As(err, &input) {
		t.Errorf("arima of two values: %v", err)
	}
}

func TestRequestsAreChecked(t *testing.T) {
	for field, r := range map[string]outlook.Request{
		"level":   {Levels: []float64{80, 100}},
		"season":  {Seasons: []int{-1}},
		"horizon": {Horizon: "4w,3x"},
		"paths":   {Paths: -1},
		"origins": {Origins: 1000 + 1},
		"peak":    {PeakBy: "century"},
	} {
		if wrong := (*capcli.RequestError)(nil); !errors.As(r.Check(), &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, r.Check())
		}
	}
	for _, r := range []outlook.Request{{}, {Horizon: "2w"}, {Horizon: "4w,3mo", Peak: true, PeakBy: "week", Reconcile: "none", Changes: outlook.UseChanges}} {
		if err := r.Check(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, r := range []outlook.Request{{Model: "etss"}, {Models: []string{""}}, {Changes: "hide"}, {Reconcile: "guess"}} {
		if unknown := (*capcli.UnknownError)(nil); !errors.As(r.Check(), &unknown) {
			t.Errorf("%+v is not refused", r)
		}
	}
}

// TestMemoryOfManySeries: the result of many short series keeps some KiB of each, not the futures from which its
// figures were computed.
func TestMemoryOfManySeries(t *testing.T) {
	const n = 300
	list := make([][]float64, n)
	for i := range list {
		list[i] = make([]float64, 50)
		for k := range list[i] {
			list[i][k] = float64(100 + (i+7*k*k)%23)
		}
	}
	hs := historiesOf(list...)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	result, err := outlook.Forecast(t.Context(), hs, outlook.Request{Model: "naive", Horizon: "12"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / n
	t.Logf("%d bytes a series", each)
	if each > 10_000 {
		t.Errorf("the result keeps %d bytes of each series, want at most 10,000", each)
	}
	runtime.KeepAlive(result)
	runtime.KeepAlive(hs)
}

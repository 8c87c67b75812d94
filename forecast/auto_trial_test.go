package forecast

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/forecast/simple"
	"capcli/testdata/golden"
)

// TestCandidatesBySeason: the season decides which members are tried, not how many
// values there are.
func TestCandidatesBySeason(t *testing.T) {
	rng := capcli.Seed(3).Stream("days")
	y := make([]float64, 1500)
	for i := range y {
		y[i] = 100 + 20*math.Sin(float64(i)*2*math.Pi/7) + rng.NormFloat64()
	}
	short := Auto{Options: Options{Seasons: []int{7}}}.candidates(y[:100])
	for _, n := range []int{141, 400, 1500} {
		if got := (Auto{Options: Options{Seasons: []int{7}}}).candidates(y[:n]); !slices.Equal(got, short) {
			t.Errorf("%d days: members %v, want %v as of 100 days", n, got, short)
		}
	}
	for h, want := range map[int]bool{1: true, 7: true, 8: false, 0: false} {
		if got := (Auto{Options: Options{Seasons: []int{7}}, Horizon: h}).candidates(y[:100]); slices.Contains(got, "naive") != want {
			t.Errorf("%d days ahead: members %v; naive among them: want %v", h, got, want)
		}
	}
	if hours := (Auto{Options: Options{Seasons: []int{24, 168}}}).candidates(y); slices.Contains(hours, "ces") {
		t.Errorf("hours: members %v, want none that searches over a long season", hours)
	}
}

// counted counts its fits.
type counted struct {
	model.Model
	fits *atomic.Int64
}

func (c counted) Fit(y capcli.Series) (model.Fitted, error) {
	c.fits.Add(1)
	return c.Model.Fit(y)
}

// TestMemory: with a memory nothing is fitted twice to the same values, other values
// of the same number are, and a backtest of auto gives the same figures.
func TestMemory(t *testing.T) {
	rng := capcli.Seed(5).Stream("memory")
	y := capcli.Series{Step: 3600, Values: make([]float64, 400)}
	for i := range y.Values {
		y.Values[i] = 100 + 20*math.Sin(float64(i)*math.Pi/12) + 3*rng.NormFloat64()
	}
	run := func(m *Memory) []Origin {
		auto := Auto{Options: Options{Seasons: []int{24}, Seed: 1, Memory: m}, Horizon: 48}
		if _, err := auto.Fit(y); err != nil {
			t.Fatal(err)
		}
		out, err := Backtest(auto, y, 24, BacktestOptions{Horizon: 48, Origins: 2, Every: 48, Levels: []float64{80}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	with, without := run(NewMemory()), run(nil)
	for i := range with {
		if !slices.Equal(with[i].Forecast.Mean, without[i].Forecast.Mean) || !slices.Equal(with[i].Forecast.Intervals[0].Hi, without[i].Forecast.Intervals[0].Hi) {
			t.Errorf("start %d: a memory changes the forecast", with[i].At)
		}
	}
	var fits atomic.Int64
	m := NewMemory().member("naive", nil, counted{simple.Walk{Name: "naive", Lag: 1}, &fits})
	other := y
	other.Values = slices.Clone(y.Values)
	other.Values[17]++
	for _, s := range []capcli.Series{y, y, other} {
		if _, err := m.Fit(s); err != nil {
			t.Fatal(err)
		}
	}
	if got := fits.Load(); got != 2 {
		t.Errorf("two series, one of them twice: %d fits, want 2", got)
	}
}

// TestNearStepsAreJudgedByNearErrors: a member that is exact for the first steps and
// far off later has more of the weight at the first step than at the last one.
func TestNearStepsAreJudgedByNearErrors(t *testing.T) {
	const h, origins = 48, 8
	of := func(err func(i int) float64) []Origin {
		out := make([]Origin, origins)
		for k := range out {
			out[k].Actual, out[k].Forecast.Mean = make([]float64, h), make([]float64, h)
			for i := range h {
				out[k].Forecast.Mean[i] = err(i)
			}
		}
		return out
	}
	early := of(func(i int) float64 { return 0.2 + float64(i)/8 })
	late := of(func(int) float64 { return 3 })
	trial := trial{weights: [][]float64{{1, 1}}}
	trial.weigh([]member{{name: "early", prior: 1}, {name: "late", prior: 1}}, [][]Origin{early, late})
	first, last := trial.weights[0], trial.weights[h-1]
	if !(first[0] > 0.55 && last[0] < 0.5) {
		t.Errorf("weights of the member that is right early: %.2f at the first step, %.2f at the last", first[0], last[0])
	}
}

// TestShortStepsOfDemand: at the ends of the training parts of GPU demand, forecast
// from earlier hours, auto is no worse than the last value over the first hours, and
// better over two days.
func TestShortStepsOfDemand(t *testing.T) {
	golden.SkipLong(t)
	train := table(t, "gpu-demand/bench-train")
	const h = 48
	var auto, naive [h]float64
	for _, cut := range []int{0, 13, 29} {
		for _, y := range train {
			y = y[:len(y)-cut]
			past, came := y[:len(y)-h], y[len(y)-h:]
			fit, err := Auto{Options: Options{Seasons: []int{24, 168}, Seed: 1}, Horizon: h}.Fit(capcli.Series{Name: "y", Step: 3600, Values: past})
			if err != nil {
				t.Fatal(err)
			}
			f, err := fit.Forecast(h)
			if err != nil {
				t.Fatal(err)
			}
			scale := scale(past, 24)
			for i, v := range came {
				auto[i] += math.Abs(v-f.Mean[i]) / scale
				naive[i] += math.Abs(v-past[len(past)-1]) / scale
			}
		}
	}
	for _, tt := range []struct {
		steps int
		most  float64
	}{{1, 1}, {3, 1}, {6, 1}, {24, 0.95}, {48, 0.92}} {
		got := model.Mean(auto[:tt.steps]) / model.Mean(naive[:tt.steps])
		t.Logf("%d hours ahead: %.3f of the error of the last value", tt.steps, got)
		if got > tt.most {
			t.Errorf("%d hours ahead: %.3f of the error of the last value, want at most %.2f", tt.steps, got, tt.most)
		}
	}
}

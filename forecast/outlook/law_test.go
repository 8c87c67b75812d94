package outlook

import (
	"math"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

// What suffices moves as the highest steps of the past were off, and is no lower than what any step
// alone needs. Futures whose highest steps are 1 to 101 have the middle 51 and the half width 40.
func TestSufficesIsCalibrated(t *testing.T) {
	paths := make([][]float64, 101)
	for k := range paths {
		paths[k] = []float64{0, float64(k + 1), 1}
	}
	f := futures{settled: true, law: law{highest: spreadOf(paths, paths, nil, func(p []float64) float64 { return max(p[0], p[1], p[2]) })}}
	ends := func(v float64) model.Interval { return model.Interval{Lo: []float64{v}, Hi: []float64{v}} }
	for _, c := range []struct {
		name  string
		trial PeriodTrial
		steps [3]float64 // the lines of a single step
		want  [3]float64
	}{
		{"never tried", PeriodTrial{PeakScale: 1}, [3]float64{}, [3]float64{51, 81, 96}},
		{"highest steps were lower", PeriodTrial{PeakShift: -0.5, PeakScale: 1}, [3]float64{}, [3]float64{31, 61, 76}},
		{"and spread less", PeriodTrial{PeakShift: -0.5, PeakScale: 0.5}, [3]float64{}, [3]float64{31, 46, 53.5}},
		{"a step alone needs more", PeriodTrial{PeakShift: -0.5, PeakScale: 0.5}, [3]float64{20, 50, 60}, [3]float64{31, 50, 60}},
	} {
		s := &seriesForecast{fc: &model.Forecast{Intervals: []model.Interval{ends(c.steps[0]), ends(c.steps[1]), ends(c.steps[2])}}}
		got := f.sufficesOf(s, c.trial)
		for k, v := range []capcli.Figure{got.Median, got.P80, got.P95} {
			if math.Abs(float64(v)-c.want[k]) > 1e-9 {
				t.Errorf("%s: %g of demand suffices with %g, want %g", c.name, float64(v), lines[k].quantile, c.want[k])
			}
		}
	}
}

// The errors of the whole horizon calibrate what suffices and are no kind of period.
func TestWholeHorizonIsNoPeriod(t *testing.T) {
	week := triedPeriods{window: window{"1w", 7}, means: []float64{0, 0, 0, 0}, peaks: []float64{0, 0, 0, 0}, starts: 4}
	whole := triedPeriods{window: window{wholeHorizon, 28}, means: []float64{0}, peaks: []float64{-1, -1, -1, -1}, starts: 4}
	list := []*seriesForecast{{test: &trial{tried: []triedPeriods{week, whole}}}, {}, {test: &trial{tried: []triedPeriods{week, whole}}}}
	periods, got := poolTrials(list)
	if len(periods) != 1 || periods[0].Horizon != "1w" || periods[0].PeakShift != 0 || periods[0].Tried != 8 {
		t.Errorf("periods %+v, want those of a week alone", periods)
	}
	if want := -8.0 / (8 + startsTrusted); got.PeakShift != want || got.Starts != 8 {
		t.Errorf("whole horizon %+v, want a shift of %g from 8 starts", got, want)
	}
	if _, none := poolTrials(nil); none.PeakShift != 0 || none.PeakScale != 1 {
		t.Errorf("no trials move what suffices: %+v", none)
	}
}

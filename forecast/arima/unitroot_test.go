package arima

import (
	"math"
	"testing"

	"capcli/forecast/model"
	"capcli/testdata/golden"
)

func TestUnitRootsAsR(t *testing.T) {
	for _, name := range arimaGoldSeries {
		var want struct {
			Ndiffs struct {
				Kpss  int
				Trend int `json:"kpss_trend"`
			}
			Level struct {
				Lags int
				Stat float64
			} `json:"kpss_mu"`
			Trend   struct{ Stat float64 } `json:"kpss_tau"`
			Nsdiffs struct{ Seas int }
		}
		golden.Read(t, name+"-tests", &want)
		y, period := golden.Series(t, name), golden.Frequency[name]
		x := unbroken(y) // what the golden statistics are of
		if got := kpssLags(len(x)); got != want.Level.Lags {
			t.Errorf("%s: %d lags, R %d", name, got, want.Level.Lags)
		}
		if got := kpss(x, false, want.Level.Lags); relativeError(got, want.Level.Stat) > 1e-9 {
			t.Errorf("%s: kpss %.12g, R %.12g", name, got, want.Level.Stat)
		}
		if got := kpss(x, true, want.Level.Lags); relativeError(got, want.Trend.Stat) > 1e-9 {
			t.Errorf("%s: kpss with trend %.12g, R %.12g", name, got, want.Trend.Stat)
		}
		if got := ndiffs(y, false); got != want.Ndiffs.Kpss {
			t.Errorf("%s: ndiffs %d, R %d", name, got, want.Ndiffs.Kpss)
		}
		if got := ndiffs(y, true); got != want.Ndiffs.Trend {
			t.Errorf("%s: ndiffs with trend %d, R %d", name, got, want.Ndiffs.Trend)
		}
		if period > 1 {
			if got := nsdiffs(y, period); got != want.Nsdiffs.Seas {
				t.Errorf("%s: nsdiffs %d, R %d", name, got, want.Nsdiffs.Seas)
			}
		}
	}
}

// unbroken is the longest stretch without missing values.
func unbroken(y []float64) []float64 {
	var best []float64
	from := 0
	for t := 0; t <= len(y); t++ {
		if t < len(y) && !math.IsNaN(y[t]) {
			continue
		}
		if t-from > len(best) {
			best = y[from:t]
		}
		from = t + 1
	}
	return best
}

func TestSpannedIsALine(t *testing.T) {
	gap := math.NaN()
	got := model.SpanGaps([]float64{gap, 2, gap, gap, 8, gap})
	want := []float64{2, 2, 4, 6, 8, 8}
	if worstApart(got, want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTestsOfTextbookSeriesAsR(t *testing.T) {
	names, facts := golden.ReadFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		if level, trend := ndiffs(s.Y, false), ndiffs(s.Y, true); level != s.NDiffs.Level || trend != s.NDiffs.Trend {
			t.Errorf("%s: %d differences about a level and %d about a trend, R's %d and %d", name, level, trend, s.NDiffs.Level, s.NDiffs.Trend)
		}
		if s.NSDiffs != nil && nsdiffs(s.Y, s.M) != *s.NSDiffs {
			t.Errorf("%s: %d seasonal differences, R's %d", name, nsdiffs(s.Y, s.M), *s.NSDiffs)
		}
		if lags := kpssLags(len(s.Y)); s.KPSS != nil {
			golden.CheckWithin(t, name+" KPSS", []float64{kpss(s.Y, false, lags), kpss(s.Y, true, lags)}, s.KPSS, 1e-7)
		}
	}
}

package forecast

import (
	"fmt"
	"math"
	"testing"

	"capcli/forecast/decompose"
	"capcli/forecast/internal/golden"
)

func TestDecompositionsOfTextbookSeriesAsR(t *testing.T) {
	names, facts := golden.ReadFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		for _, r := range s.STL {
			trend, season, rest, err := decompose.STL(s.Y, s.M, decompose.Options{Window: r.Window, Robust: r.Robust})
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s, window %d, robust %v: ", name, r.Window, r.Robust)
			s.CheckNear(t, what+"trend", golden.Sampled(trend), r.Trend, 1e-8)
			s.CheckNear(t, what+"season", golden.Sampled(season), r.Season, 1e-8)
			s.CheckNear(t, what+"rest", golden.Sampled(rest), r.Rest, 1e-8)
		}
		if s.MSTL != nil {
			d := checkSplits(t, s, name+" mstl", s.Y, *s.MSTL, s.Floor())
			if got := d.SeasonalStrength(0); s.Strength != nil && math.Abs(got-*s.Strength) > 1e-8 {
				t.Errorf("%s: seasonal strength %.10g, R's %.10g", name, got, *s.Strength)
			}
		}
		if s.MSTLLog != nil {
			y, err := boxCox(s.Y, 0)
			if err != nil {
				t.Fatal(err)
			}
			checkSplits(t, s, name+" mstl of logs", y, *s.MSTLLog, 1)
		}
	}
}

// checkSplits holds MSTL of y against R's.
func checkSplits(t *testing.T, s golden.RSeries, what string, y []float64, r golden.RSplit, floor float64) decompose.Parts {
	t.Helper()
	d, err := decompose.MSTL(y, s.Periods())
	if err != nil {
		t.Fatal(err)
	}
	golden.CheckWithin(t, what+" trend", golden.Sampled(d.Trend), r.Trend, 1e-8, floor)
	golden.CheckWithin(t, what+" rest", golden.Sampled(d.Remainder), r.Rest, 1e-8, floor)
	for k, want := range r.Seasons {
		golden.CheckWithin(t, fmt.Sprintf("%s season %d", what, k), golden.Sampled(d.Seasons[k]), want, 1e-8, floor)
	}
	return d
}

func TestTestsOfTextbookSeriesAsR(t *testing.T) {
	names, facts := golden.ReadFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		if s.Lambda != nil {
			got, err := LikelihoodLambda(s.Y, s.M)
			if err != nil || math.Abs(got-s.Lambda.LogLik) > 1e-9 {
				t.Errorf("%s: lambda by likelihood %.4f (%v), R's %.4f", name, got, err, s.Lambda.LogLik)
			}
			if got := guerrero(s.Y, s.M, -1, 2); math.Abs(got-s.Lambda.Guerrero) > 1e-4 {
				t.Errorf("%s: lambda by Guerrero %.6f, R's %.6f", name, got, s.Lambda.Guerrero)
			}
		}
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

package forecast

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"capcli/forecast/decompose"
)

func TestDecompositionsOfTextbookSeriesAsR(t *testing.T) {
	names, facts := rFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		for _, r := range s.STL {
			trend, season, rest, err := decompose.STL(s.Y, s.M, decompose.Options{Window: r.Window, Robust: r.Robust})
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s, window %d, robust %v: ", name, r.Window, r.Robust)
			s.checkNear(t, what+"trend", sampled(trend), r.Trend, 1e-8)
			s.checkNear(t, what+"season", sampled(season), r.Season, 1e-8)
			s.checkNear(t, what+"rest", sampled(rest), r.Rest, 1e-8)
		}
		if s.MSTL != nil {
			d := s.splits(t, name+" mstl", s.Y, *s.MSTL, s.floor())
			if got := d.SeasonalStrength(0); s.Strength != nil && math.Abs(got-*s.Strength) > 1e-8 {
				t.Errorf("%s: seasonal strength %.10g, R's %.10g", name, got, *s.Strength)
			}
		}
		if s.MSTLLog != nil {
			y, err := boxCox(s.Y, 0)
			if err != nil {
				t.Fatal(err)
			}
			s.splits(t, name+" mstl of logs", y, *s.MSTLLog, 1)
		}
	}
}

// splits holds MSTL of y against R's.
func (s rSeries) splits(t *testing.T, what string, y []float64, r rSplit, floor float64) decompose.Parts {
	t.Helper()
	d, err := decompose.MSTL(y, s.seasons())
	if err != nil {
		t.Fatal(err)
	}
	etsNear(t, what+" trend", sampled(d.Trend), r.Trend, 1e-8, floor)
	etsNear(t, what+" rest", sampled(d.Remainder), r.Rest, 1e-8, floor)
	for k, want := range r.Seasons {
		etsNear(t, fmt.Sprintf("%s season %d", what, k), sampled(d.Seasons[k]), want, 1e-8, floor)
	}
	return d
}

// The same values stand out as for R's tsoutliers, and are replaced by the same.
func TestAnomaliesOfTextbookSeriesAsR(t *testing.T) {
	names, facts := rFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		found, err := Anomalies(s.series(), s.seasons())
		if err != nil {
			t.Fatal(err)
		}
		at, instead := make([]int, len(found)), make([]float64, len(found))
		for i, a := range found {
			at[i], instead[i] = a.Index+1, a.Expected
		}
		if !slices.Equal(at, s.Outliers.Index) {
			t.Errorf("%s: anomalies at %v, R's at %v", name, at, s.Outliers.Index)
			continue
		}
		s.checkNear(t, name+" replacements", instead, s.Outliers.Replacements, 1e-6)
	}
}

func TestTestsOfTextbookSeriesAsR(t *testing.T) {
	names, facts := rFacts(t)
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
			etsNear(t, name+" KPSS", []float64{kpss(s.Y, false, lags), kpss(s.Y, true, lags)}, s.KPSS, 1e-7)
		}
	}
}

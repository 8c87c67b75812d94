package decompose

import (
	"fmt"
	"math"
	"testing"

	"capcli/testdata/golden"
)

func TestDecompositionsOfTextbookSeriesAsR(t *testing.T) {
	names, facts := golden.ReadFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		for _, r := range s.STL {
			trend, season, rest, err := STL(s.Y, s.M, Options{Window: r.Window, Robust: r.Robust})
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
			y := make([]float64, len(s.Y))
			for i, v := range s.Y {
				y[i] = math.Log(v)
			}
			checkSplits(t, s, name+" mstl of logs", y, *s.MSTLLog, 1)
		}
	}
}

// checkSplits holds MSTL of y against R's.
func checkSplits(t *testing.T, s golden.RSeries, what string, y []float64, r golden.RSplit, floor float64) Parts {
	t.Helper()
	d, err := MSTL(y, s.Periods())
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

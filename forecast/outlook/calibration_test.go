package outlook

import (
	"math"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

// TestPeriodCalibration: errors of the size that ranges say leave them as they are,
// errors of twice that size widen them by most of it, calm ones narrow peaks alone,
// and without any error nothing moves.
func TestPeriodCalibration(t *testing.T) {
	rng := capcli.Seed(9).Stream("periods")
	draw := func(size, shift float64) []float64 {
		out := make([]float64, 4000)
		for i := range out {
			out[i] = shift + size*rng.NormFloat64()/model.ZScore(80) // half a range of 80 % is one
		}
		return out
	}
	for _, tt := range []struct {
		name                string
		p                   triedPeriods
		means, shift, peaks float64
	}{
		{"none", triedPeriods{}, 1, 0, 1},
		{"right", triedPeriods{window{}, draw(1, 0), draw(1, 0), 1000}, 1, 0, 1},
		{"too narrow, and low peaks", triedPeriods{window{}, draw(2, 0), draw(2, 1), 1000}, 2, 1, 2},
		{"too wide", triedPeriods{window{}, draw(0.5, 0), draw(0.5, -1), 1000}, 1, -1, math.Pow(0.5, calmTrust)},
	} {
		c := tt.p.calibrate()
		for name, got := range map[string][2]float64{"means": {c.MeanScale, tt.means}, "shift": {c.PeakShift, tt.shift}, "peaks": {c.PeakScale, tt.peaks}} {
			if math.Abs(got[0]-got[1]) > 0.06 {
				t.Errorf("%s: %s %.3f, want %.3f", tt.name, name, got[0], got[1])
			}
		}
	}
	if _, ok := periodError(3, []float64{2, 2, 2}); ok {
		t.Error("futures that do not differ give an error in units of their width")
	}
}

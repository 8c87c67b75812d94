package reliability_test

import (
	"math"
	"testing"

	"capcli/simulate/reliability"
)

// TestExactIntervalIsBest: around the exact interval no other has less overhead, from checkpoints
// of a microsecond to checkpoints longer than the time between failures.
func TestExactIntervalIsBest(t *testing.T) {
	const mtbf = 1e5
	for _, c := range []float64{1e-6, 1, 60, 3600, 1e5, 1e6} {
		i := reliability.BestInterval(c, mtbf)
		if i.Exact <= 0 || i.Exact >= mtbf || i.Exact > math.Sqrt(2*c*mtbf) {
			t.Errorf("checkpoints of %g s: exact interval %g s", c, i.Exact)
		}
		for _, other := range []float64{0.9, 1.1} {
			if o := reliability.Overhead(other*i.Exact, c, mtbf); o <= i.OverheadExact && c > 1e-3 {
				t.Errorf("checkpoints of %g s: %g times the interval has overhead %g, the best has %g", c, other, o, i.OverheadExact)
			}
		}
	}
}

// TestRepairmanOfOne: one node is up for up/(up + down) of the time and first fails after up.
func TestRepairmanOfOne(t *testing.T) {
	r := reliability.Repair{Nodes: 1, Needed: 1, MeanUp: 900, MeanDown: 100}.Availability()
	if math.Abs(r.Enough-0.9) > 1e-12 || r.ToShortage != 900 || math.Abs(r.MeanUp-0.9) > 1e-12 {
		t.Errorf("got %+v", r)
	}
}

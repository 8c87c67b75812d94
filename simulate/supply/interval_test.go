package supply_test

import (
	"math"
	"testing"

	"capcli/simulate/reliability"
)

// Interval is how much work to do between two checkpoints, by four formulas. All times are seconds
// of work, without the checkpoint itself.
//
//	young        sqrt(2 C M)                               (Young, CACM 17:9, 1974)
//	daly, first  sqrt(2 C M) - C
//	daly         sqrt(2 C M) (1 + sqrt(C/2M)/3 + C/18M) - C for C < 2M, else M
//	exact        the tau > 0 with exp((tau + C)/M) (1 - tau/M) = 1,
//	             which is M (1 + W(-exp(-1 - C/M))) with Lambert's W
//
// C is the time that a checkpoint takes and M the mean time between failures of the whole job. The
// last three are of Daly, "A higher order estimate of the optimum checkpoint interval for restart
// dumps", FGCS 22:3, 2006.
type Interval struct {
	Young     float64 `json:"young_s"`
	DalyFirst float64 `json:"daly_first_s"`
	Daly      float64 `json:"daly_s"`
	Exact     float64 `json:"exact_s"`
	// Overhead at the exact interval and at Young's: see Overhead.
	OverheadExact float64 `json:"overhead_exact"`
	OverheadYoung float64 `json:"overhead_young"`
}

// intervals returns the best intervals for checkpoints of cost seconds and a mean time between
// failures of mtbf seconds. Both must be positive.
func intervals(cost, mtbf float64) Interval {
	young := math.Sqrt(2 * cost * mtbf)
	i := Interval{Young: young, DalyFirst: young - cost, Daly: mtbf, Exact: reliability.BestInterval(cost, mtbf)}
	if cost < 2*mtbf {
		half := cost / (2 * mtbf)
		i.Daly = young*(1+math.Sqrt(half)/3+half/9) - cost
	}
	i.OverheadExact = Overhead(i.Exact, cost, mtbf)
	i.OverheadYoung = Overhead(i.Young, cost, mtbf)
	return i
}

// Overhead returns the expected extra time per unit of work when a checkpoint of cost seconds
// follows each interval of work and a restart costs nothing: M (exp((tau + C)/M) - 1)/tau - 1.
func Overhead(interval, cost, mtbf float64) float64 {
	return mtbf*math.Expm1((interval+cost)/mtbf)/interval - 1
}

// TestExactIntervalIsBest: around the exact interval no other has less overhead, from checkpoints
// of a microsecond to checkpoints longer than the time between failures.
func TestExactIntervalIsBest(t *testing.T) {
	const mtbf = 1e5
	for _, c := range []float64{1e-6, 1, 60, 3600, 1e5, 1e6} {
		i := intervals(c, mtbf)
		if i.Exact <= 0 || i.Exact >= mtbf || i.Exact > math.Sqrt(2*c*mtbf) {
			t.Errorf("checkpoints of %g s: exact interval %g s", c, i.Exact)
		}
		for _, other := range []float64{0.9, 1.1} {
			if o := Overhead(other*i.Exact, c, mtbf); o <= i.OverheadExact && c > 1e-3 {
				t.Errorf("checkpoints of %g s: %g times the interval has overhead %g, the best has %g", c, other, o, i.OverheadExact)
			}
		}
	}
}

// TestRepairmanOfOne: one node is up for up/(up + down) of the time and first fails after up.
func TestRepairmanOfOne(t *testing.T) {
	r := Repair{Nodes: 1, Needed: 1, MeanUp: 900, MeanDown: 100}.Availability()
	if math.Abs(r.Enough-0.9) > 1e-12 || r.ToShortage != 900 || math.Abs(r.MeanUp-0.9) > 1e-12 {
		t.Errorf("got %+v", r)
	}
}

package mix

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/play"
)

// t975 is the 0.975 quantile of Student's t, from tables, by degrees of freedom.
var t975 = map[int]float64{1: 12.7062, 3: 3.18245, 7: 2.36462, 19: 2.09302}

// TestStandingByBruteForce holds what a plan is tied with against plain arithmetic over drawn tables of costs by size and run:
// paired differences, their range of 95 % from tables, and the run of tied sizes on either side of the plan.
func TestStandingByBruteForce(t *testing.T) {
	ties, wrong, fell := 0, 0, 0
	for seed := range uint64(200) {
		rng := capcli.Seed(seed).Stream("standing")
		runs := []int{1, 2, 4, 8, 20}[seed%5]
		sizes, noise := 5+rng.IntN(8), []float64{0, 1, 30}[rng.IntN(3)]
		by := map[int64]*Entry{}
		limits := []Limit{{Metric: "wait_p95", Op: "<=", Value: 60}}
		weather := make([]float64, runs)
		for k := range weather {
			weather[k] = 200 * rng.NormFloat64()
		}
		var best *Entry
		var bestAt int64
		for i := range sizes {
			e := &Entry{Candidate: &Candidate{Index: i}}
			often := []float64{0, 0, 0, 0.3}[rng.IntN(4)]
			for k := range runs {
				o := Outcome{Priced: true, Length: 3600, Cost: capcli.USDOf(2000 + weather[k] + 4*math.Pow(float64(i-sizes/2), 2) + noise*rng.NormFloat64()), WaitJobs: 10, WaitStarted: 10}
				o.WaitCost = capcli.USDOf(10 * rng.Float64())
				if rng.Float64() < often {
					o.WaitP95 = 300
				}
				e.note(o, limits)
			}
			if by[int64(i)] = e; e.holds(0.95) && (best == nil || byChoice(e, best) < 0) {
				best, bestAt = e, int64(i)
			}
		}
		if best == nil {
			continue
		}
		p := &Planner{req: &Request{Case: &play.Case{Scenario: &scenarios.Scenario{}}, Runs: runs}, problem: &Problem{Runs: runs}, Search: &Search{Hold: 0.95}}
		got := (&study{Planner: p, best: best}).standing(by)

		total := func(e *Entry, k int) float64 { return (e.Outcomes[k].Cost + e.Outcomes[k].WaitCost).Float() }
		diff := func(e *Entry) (mean, half float64) {
			var d []float64
			for k := range runs {
				d = append(d, total(e, k)-total(best, k))
				mean += d[k] / float64(runs)
			}
			if runs == 1 {
				return mean, 0
			}
			for _, x := range d {
				half += (x - mean) * (x - mean) / float64(runs-1)
			}
			return mean, t975[runs-1] * math.Sqrt(half/float64(runs))
		}
		from, to, stake := bestAt, bestAt, 0.0
		for _, by1 := range []int64{-1, 1} {
			for at := bestAt + by1; by[at] != nil; at += by1 {
				mean, half := diff(by[at])
				if !by[at].holds(0.95) || mean > half {
					break
				}
				from, to, stake = min(from, at), max(to, at), max(stake, half-mean)
			}
		}
		what := fmt.Sprintf("seed %d, %d runs, best %d of %d", seed, runs, bestAt, sizes)
		if got.From != from || got.To != to || math.Abs(got.Stake.Float()-stake) > 0.01+1e-4*stake {
			t.Errorf("%s: tied from %d to %d at %s, want %d to %d at %.2f", what, got.From, got.To, got.Stake, from, to, stake)
		}
		if stands := to-from <= 1 || stake <= 0.01*best.Cost().Float(); got.Stands != stands && math.Abs(stake-0.01*best.Cost().Float()) > 0.01 {
			t.Errorf("%s: stands %t, want %t", what, got.Stands, stands)
		} else if !stands {
			fell++
		}
		if to > from {
			ties++
		}
		// The nearest sizes outside the tie, and what they cost more without waits.
		var want []int64
		for _, at := range []int64{from - 1, to + 1} {
			if by[at] != nil {
				want = append(want, at)
			}
		}
		var named []int64
		for _, w := range got.Wrong {
			named = append(named, w.GPUs)
			if more := by[w.GPUs].Cost() - best.Cost(); more-w.More > 1 || w.More-more > 1 || w.Holds != by[w.GPUs].holds(0.95) {
				t.Errorf("%s: %d costs %s more and holds %t, want %s and %t", what, w.GPUs, w.More.Decimal(), w.Holds, more.Decimal(), by[w.GPUs].holds(0.95))
			}
			wrong++
		}
		if !slices.Equal(named, want) {
			t.Errorf("%s: names %v outside the tie, want %v", what, named, want)
		}
	}
	t.Logf("%d ties, %d wrong choices, %d that do not stand", ties, wrong, fell)
	if ties < 20 || wrong < 100 || fell == 0 {
		t.Error("the tables show too little")
	}
}

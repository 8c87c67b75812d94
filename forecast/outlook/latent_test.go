package outlook

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/demand"
	"capcli/forecast/unconstrain"
	"capcli/profile/logs/series"
)

// TestABacktestTellsDemandFromThePastAlone changes what comes after the first
// origins: what was told before them stays.
func TestABacktestTellsDemandFromThePastAlone(t *testing.T) {
	const capacity = 320
	rng := rand.New(rand.NewPCG(5, 7))
	var usage []float64
	for i := range 400 {
		usage = append(usage, math.Min(capacity, 280+60*math.Sin(2*math.Pi*float64(i)/24)+10*rng.NormFloat64()))
	}
	p := func(values []float64) *unconstrainer {
		fine := series.Regular{Series: capcli.Series{Values: values}}
		limit := make([]float64, len(values))
		for i := range limit {
			limit[i] = capacity
		}
		return &unconstrainer{Censoring: &demand.Censoring{Fine: fine, Limit: limit}}
	}
	other := append([]float64(nil), usage...)
	for i := 300; i < 400; i++ {
		other[i] = math.Min(capacity, other[i]/3+capacity/2)
	}
	opts := forecast.Options{Seasons: []int{24}, Seed: 1}
	a, b := p(usage), p(other)
	whole, changed := a.latent(usage, opts), b.latent(other, opts)
	if fmt.Sprint(whole.demand[:300]) == fmt.Sprint(changed.demand[:300]) {
		t.Error("the demand told from all of both is the same, so nothing was tested")
	}
	before, after := a.latent(usage[:300], opts), b.latent(other[:300], opts)
	if fmt.Sprint(before.demand) != fmt.Sprint(after.demand) {
		t.Error("the demand before an origin hangs on what came after it")
	}
	for i, v := range whole.actual() {
		if cut := usage[i] >= unconstrain.NearLimit*capacity; cut != math.IsNaN(v) || !cut && v != usage[i] {
			t.Fatalf("step %d: usage %v, held against %v", i, usage[i], v)
		}
	}
}

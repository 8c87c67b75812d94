package backtest_test

import (
	"testing"

	"capcli"
	"capcli/simulate/plan"
	"capcli/simulate/plan/backtest"
)

// TestChooseIsTheOptimum: for one purchase, the lots of least mean cost over futures are those that
// plan.Field finds, and hindsight on drawn demands is the cheapest of all sizes.
func TestChooseIsTheOptimum(t *testing.T) {
	rng := capcli.Seed(1).Stream("futures")
	hour := capcli.Step{Seconds: capcli.Hour}
	for range 40 {
		n, paid := 24+rng.IntN(200), capcli.Rate(1+rng.IntN(1_000_000))
		paths := make([][]float64, 1+rng.IntN(6))
		for k := range paths {
			for range n {
				paths[k] = append(paths[k], float64(rng.IntN(9000))/1000)
			}
		}
		c, err := plan.NewCurve(capcli.NoTime, hour, paths[0])
		if err != nil {
			t.Fatal(err)
		}
		length := capcli.Step{Seconds: capcli.Seconds(n) * capcli.Hour}
		m := &plan.Market{OnDemand: plan.Flat(1_000_000), Terms: []plan.Term{{Name: "t", Length: length, Rate: plan.Flat(paid)}}, Every: length}
		p := &backtest.Past{Curve: c, Steps: n, Term: &m.Terms[0], Paid: paid, Open: 1_000_000, Lot: 1000}
		d, err := p.Choose(paths)
		if err != nil {
			t.Fatal(err)
		}
		f, err := plan.NewField(&plan.Futures{Grid: capcli.Grid{Step: hour}, Paths: paths}, m)
		if err != nil {
			t.Fatal(err)
		}
		choice, err := f.Choose(t.Context(), plan.Risk{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Assess("", "", choice)
		if err != nil {
			t.Fatal(err)
		}
		var lots int64
		for _, b := range a.Purchases {
			lots += b.Milli / 1000
		}
		if lots != d.Lots {
			t.Errorf("%d lots, and plan.Field buys %d", d.Lots, lots)
		}
		if d.Promise[0] > d.Promise[1] || d.Promise[0] < a.Outcomes[0].Cost/10 {
			t.Errorf("promises %v", *d.Promise)
		}
	}
}

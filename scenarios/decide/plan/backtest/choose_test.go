package backtest_test

import (
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/backtest"
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
		if p := d.Promise; p.Low > p.Mean || p.Mean > p.High || p.Low < a.Outcomes[0].Cost/10 {
			t.Errorf("promises %v", *d.Promise)
		}
	}
}

// TestRolledRange: the range of four equal decisions is as wide as one whose errors have a
// correlation of a quarter, sqrt(4 + 12/4) times one of them.
func TestRolledRange(t *testing.T) {
	hour := capcli.Step{Seconds: capcli.Hour}
	c, err := plan.NewCurve(capcli.NoTime, hour, make([]float64, 8))
	if err != nil {
		t.Fatal(err)
	}
	m := &plan.Market{OnDemand: plan.Flat(1_000_000), Terms: []plan.Term{{Name: "t", Length: hour, Rate: plan.Flat(600_000)}}}
	q := &backtest.Question{Curve: c, Market: m, Rolled: capcli.Step{Seconds: 4 * capcli.Hour}, Flat: true, Origins: []capcli.Seconds{0}, Rules: []backtest.Rule{
		{Name: "one", Decide: func(*backtest.Past) (backtest.Decision, error) {
			return backtest.Decision{Promise: &backtest.Range{Low: 1_000_000, Mean: 2_000_000, High: 4_000_000}}, nil
		}},
	}}
	trials, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := *trials[0].Rule[0].Promise; got != [2]capcli.USD{5_354_249, 13_291_503} {
		t.Errorf("four decisions promise %d, want 8 less sqrt(7) to 8 and twice sqrt(7)", got)
	}
}

package joint

import (
	"math"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/testdata/golden"
)

// yearOfThree is a year by three hours of three models that swing by the day, the
// week and the season, with reservations of each, a block, owned machines and two
// plans that all share.
func yearOfThree(t interface{ Fatal(...any) }) (*scenarios.Market, []*plan.Curve) {
	j := &scenarios.Market{}
	var curves []*plan.Curve
	prices := []capcli.Rate{6_880_000, 3_670_000, 1_210_000}
	for m := range 3 {
		var gpus []float64
		for h := range 8760 / 3 {
			x := float64(3 * h)
			v := 60 + 30*math.Sin(2*math.Pi*(x/24+float64(m)/3)) + 10*math.Sin(2*math.Pi*x/168) + 20*math.Sin(2*math.Pi*x/8760+float64(m))
			gpus = append(gpus, math.Round(v*float64(m+1)/2))
		}
		c, err := plan.NewCurve(day0, capcli.Step{Seconds: 3 * capcli.Hour}, gpus)
		if err != nil {
			t.Fatal(err)
		}
		curves = append(curves, c)
		j.GPUs = append(j.GPUs, scenarios.MarketGPU{Model: string(rune('a' + m)), OnDemand: scenarios.Price{Rate: prices[m]}})
		j.Offers = append(j.Offers,
			scenarios.MarketOffer{Name: "ri-6mo", Model: m, Length: capcli.Step{Months: 6}, Rate: prices[m] * 66 / 100},
			scenarios.MarketOffer{Name: "ri-1y", Model: m, Length: capcli.Step{Months: 12}, Rate: prices[m] * 58 / 100},
			scenarios.MarketOffer{Name: "month", Model: m, Length: capcli.Step{Months: 1}, Rate: prices[m] * 80 / 100})
	}
	j.GPUs[0].Lot = 8000
	j.Offers = append(j.Offers,
		scenarios.MarketOffer{Name: "own", Model: 1, Length: capcli.Step{Months: 12}, Rate: 1_900_000, Max: 40_000},
		scenarios.MarketOffer{Name: "block", Model: 0, Fixed: true, From: day0 + 40*capcli.Time(capcli.Day), Length: capcli.Step{Seconds: 14 * capcli.Day}, Rate: 4_900_000, Max: 64_000},
		scenarios.MarketOffer{Name: "plan-1y", Model: -1, Length: capcli.Step{Months: 12}, Rate: 1e6, Rates: []capcli.Rate{prices[0] * 62 / 100, prices[1] * 64 / 100, prices[2] * 70 / 100}},
		scenarios.MarketOffer{Name: "plan-3mo", Model: -1, Length: capcli.Step{Months: 3}, Rate: 1e6, Rates: []capcli.Rate{prices[0] * 75 / 100, prices[1] * 74 / 100, prices[2] * 80 / 100}})
	return j, curves
}

func TestJointPlanOfAYear(t *testing.T) {
	if golden.Short() {
		t.Skip("a year by three hours")
	}
	m, curves := yearOfThree(t)
	_, s := solved(t, m, curves)
	if s.gap() > 0.005 {
		t.Errorf("cost %s, bound %s: a gap of %.3f%%", s.cost, s.bound, 100*s.gap())
	}
	t.Logf("cost %s, on demand %s, bound %s, gap %.4f%%, %d purchases", s.cost, s.allOnDemand, s.bound, 100*s.gap(), len(s.purchases))
}

// Four months of that year, with work that may move: each way between the first two models, and
// from the third to the first.
func TestJointPlanOfMonthsWithMoves(t *testing.T) {
	if golden.Short() {
		t.Skip("four months by three hours")
	}
	m, curves := yearOfThree(t)
	for _, c := range curves {
		c.Work = c.Work[:8*120]
	}
	m.Moves = []scenarios.MarketMove{{From: 1, To: 0, Speed: 2000, Share: 300_000}, {From: 0, To: 1, Speed: 500, Share: 200_000}, {From: 2, To: 0, Speed: 6000, Share: 500_000}}
	_, s := solved(t, m, curves)
	if s.gap() > 0.005 || s.cost >= s.without.cost {
		t.Errorf("cost %s (%s without moves), bound %s: a gap of %.3f%%", s.cost, s.without.cost, s.bound, 100*s.gap())
	}
	t.Logf("cost %s, without moves %s, bound %s, gap %.4f%%, %d purchases", s.cost, s.without.cost, s.bound, 100*s.gap(), len(s.purchases))
}

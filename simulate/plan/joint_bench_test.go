package plan

import (
	"context"
	"math"
	"testing"

	"capcli"
)

// yearOfThree is a year by the hour of three models that swing by the day, the
// week and the season, with reservations of each, a block, owned machines and two
// plans that all share.
func yearOfThree(t interface{ Fatal(...any) }, hours int) *Joint {
	j := &Joint{}
	prices := []capcli.Rate{6_880_000, 3_670_000, 1_210_000}
	for m := range 3 {
		var gpus []float64
		for h := range hours {
			x := float64(h)
			v := 60 + 30*math.Sin(2*math.Pi*(x/24+float64(m)/3)) + 10*math.Sin(2*math.Pi*x/168) + 20*math.Sin(2*math.Pi*x/8760+float64(m))
			gpus = append(gpus, math.Round(v*float64(m+1)/2))
		}
		c, err := NewCurve(1798761600, capcli.Step{Seconds: capcli.Hour}, gpus)
		if err != nil {
			t.Fatal(err)
		}
		j.Models = append(j.Models, JointModel{Name: string(rune('a' + m)), Curve: c, OnDemand: Flat(prices[m])})
		j.Offers = append(j.Offers,
			JointOffer{Name: "ri-6mo", Model: m, Length: capcli.Step{Months: 6}, Rate: prices[m] * 66 / 100},
			JointOffer{Name: "ri-1y", Model: m, Length: capcli.Step{Months: 12}, Rate: prices[m] * 58 / 100},
			JointOffer{Name: "month", Model: m, Length: capcli.Step{Months: 1}, Rate: prices[m] * 80 / 100})
	}
	j.Models[0].Lot = 8000
	j.Offers = append(j.Offers,
		JointOffer{Name: "own", Model: 1, Length: capcli.Step{Months: 12}, Rate: 1_900_000, Max: 40_000},
		JointOffer{Name: "block", Model: 0, Fixed: true, At: 40 * capcli.Day, Length: capcli.Step{Seconds: 14 * capcli.Day}, Rate: 4_900_000, Max: 64_000},
		JointOffer{Name: "plan-1y", Model: -1, Length: capcli.Step{Months: 12}, Rate: 1e6, Rates: []capcli.Rate{prices[0] * 62 / 100, prices[1] * 64 / 100, prices[2] * 70 / 100}},
		JointOffer{Name: "plan-3mo", Model: -1, Length: capcli.Step{Months: 3}, Rate: 1e6, Rates: []capcli.Rate{prices[0] * 75 / 100, prices[1] * 74 / 100, prices[2] * 80 / 100}})
	return j
}

func TestJointPlanOfAYear(t *testing.T) {
	if testing.Short() {
		t.Skip("a year by the hour")
	}
	p, err := yearOfThree(t, 8760).Solve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if p.Gap() > 0.005 {
		t.Errorf("cost %s, bound %s: a gap of %.3f%%", p.Cost, p.Bound, 100*p.Gap())
	}
	t.Logf("cost %s, on demand %s, bound %s, gap %.4f%%, %d rounds, %d purchases", p.Cost, p.AllOnDemand, p.Bound, 100*p.Gap(), p.Rounds, len(p.Purchases))
}

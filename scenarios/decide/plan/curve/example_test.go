package curve_test

import (
	"context"
	"fmt"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
)

// A year's demand by month and two terms: what to buy, and what that saves.
func Example() {
	start, _ := capcli.ParseTime("2027-01-01", nil, false)
	demand, _ := plan.NewCurve(start, capcli.Step{Months: 1}, []float64{40, 44, 48, 52, 48, 44, 56, 60, 72, 64, 56, 48})
	ask := curve.Request{Market: market.Request{OnDemand: "3.90", Terms: []string{"3mo=3.20", "1y=2.20,upfront=all"}}}
	question, _ := ask.Parse()
	best, err := question.Plan(context.Background(), &curve.Demand{Curve: demand})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range best.Optimum.Purchases {
		fmt.Println(p.Start.Time.Date(), p.GPUs, "GPUs for", p.Term, p.Cost)
	}
	fmt.Println(best.Optimum.Cost, "instead of", best.Optimum.AllOnDemand)
	// Output:
	// 2027-01-01 40 GPUs for 1y $770,880.00
	// 2027-02-01 4 GPUs for 1y $70,540.80
	// 2027-03-01 4 GPUs for 1y $64,627.20
	// 2027-07-01 8 GPUs for 1y $77,721.60
	// 2027-08-01 4 GPUs for 3mo $28,262.40
	// $1,068,566.40 instead of $1,800,489.60
}

package review_test

import (
	"context"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/review"
)

// TestReview is half of a commitment in use, by hand: ten GPUs at half the price on
// demand, of which five were used for thirty days.
func TestReview(t *testing.T) {
	used := make([]float64, 30)
	for i := range used {
		used[i] = 5
	}
	c, err := plan.NewCurve(0, capcli.Step{Days: 1}, used)
	if err != nil {
		t.Fatal(err)
	}
	d := &curve.Demand{Input: "used", Curve: c}
	r := review.Request{Market: market.Request{OnDemand: "1", Terms: []string{"1y=0.5"}, Held: []string{"10@..1970-03-01=0.50"}}, Last: "30d"}
	question, err := r.Parse()
	if err != nil {
		t.Fatal(err)
	}
	contracts, err := question.Contracts(d)
	if err != nil {
		t.Fatal(err)
	}
	got, err := question.Review(context.Background(), d, contracts)
	if err != nil {
		t.Fatal(err)
	}
	if *got.Utilisation != 0.5 || *got.Coverage != 1 || got.Unused != 1800*capcli.Dollar || got.OnDemand != 0 {
		t.Errorf("used %v of what is committed, covered %v, unused %s, on demand %s", *got.Utilisation, *got.Coverage, got.Unused, got.OnDemand)
	}
	k := got.Commitments[0]
	if *k.Idle != 5 || *k.DaysLeft != 29 {
		t.Errorf("%v GPUs are not worth their price, %v days left", *k.Idle, *k.DaysLeft)
	}
	if a := got.Advice[0]; a.Do != "renew" || a.GPUs != 5 || *a.Term != "1y" {
		t.Errorf("advice %+v, want to renew five", a)
	}
}

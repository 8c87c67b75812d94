package futures_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/market"
)

// request is a question with two terms about futures around a demand.
func request() *futures.Request {
	r := &futures.Request{
		Source: futures.Source{DemandError: "20%", HalfLife: "30d", Paths: 10, Seed: 1},
		Market: market.Request{OnDemand: "1", Terms: []string{"1mo=0.8", "6mo=0.6"}}, Risk: "cvar95", SizedFor: []float64{0.5, 0.8, 0.95},
		Wait: "2mo", Most: []string{"cost=1M"}, Least: []string{"coverage=50%"},
	}
	r.Demand.Inputs = []string{"demand"}
	return r
}

// TestPlan holds what a plan for futures says against itself: the first plan has the
// least of what was asked for, and the bound is under it.
func TestPlan(t *testing.T) {
	r := request()
	question, err := r.Parse()
	if err != nil {
		t.Fatal(err)
	}
	set, err := r.Draw("demand", capcli.Grid{Origin: 0, Step: capcli.Step{Months: 1}}, []float64{10, 12, 14, 16, 14, 12})
	if err != nil {
		t.Fatal(err)
	}
	got, err := question.Plan(context.Background(), set)
	if err != nil {
		t.Fatal(err)
	}
	if got.Futures.Count != 10 || got.RiskWords != "mean of the worst 5%" || got.Waiting == nil || got.Optimum.Bound > got.Optimum.Cost {
		t.Errorf("%d futures, %s, waiting %v, bound %s of %s", got.Futures.Count, got.RiskWords, got.Waiting, got.Optimum.Bound, got.Optimum.Cost)
	}
	for _, p := range got.Plans {
		if *p.CVaR95 < *got.Plans[0].CVaR95 || len(p.Costs) != 10 || len(p.Held) != 2 {
			t.Errorf("%s: %s in the worst futures, the plan has %s; %d costs, %d limits", p.Name, *p.CVaR95, *got.Plans[0].CVaR95, len(p.Costs), len(p.Held))
		}
		for i, regret := range p.Regrets {
			if regret < 0 || p.Costs[i]-regret != got.Best[i] {
				t.Errorf("%s: future %d costs %s, the best %s, regret %s", p.Name, i, p.Costs[i], got.Best[i], regret)
			}
		}
	}
}

// TestRequestNamesTheField says which field of a request is wrong.
func TestRequestNamesTheField(t *testing.T) {
	for _, tt := range []struct {
		change func(r *futures.Request)
		field  string
		text   string
	}{
		{func(r *futures.Request) { r.Risk = "x" }, "risk", "not a risk"},
		{func(r *futures.Request) { r.File = "x" }, "", "both say what may come"},
		{func(r *futures.Request) { r.Demand.Inputs = nil }, "", "--demand is missing"},
		{func(r *futures.Request) { r.HalfLife = "0" }, "half-life", "wants a length of time"},
		{func(r *futures.Request) { r.Paths = -1 }, "paths", "wants 1 to"},
		{func(r *futures.Request) { r.SizedFor = []float64{1} }, "sized-for", "three quantiles"},
		{func(r *futures.Request) { r.SizedFor[0] = 1 }, "sized-for", "between 0 and 1"},
		{func(r *futures.Request) { r.Wait = "x" }, "wait", "x"},
		{func(r *futures.Request) { r.Most = []string{"x=1"} }, "max", "unknown metric"},
		{func(r *futures.Request) { r.Least = []string{"coverage"} }, "min", "wants METRIC=VALUE"},
		{func(r *futures.Request) { r.Least = []string{"coverage=x"} }, "min", "coverage: "},
	} {
		r := request()
		tt.change(r)
		_, err := r.Parse()
		var wrong *capcli.RequestError
		if !errors.As(err, &wrong) || wrong.Field != tt.field || !strings.Contains(wrong.Text, tt.text) {
			t.Errorf("%v: want field %q and text with %q", err, tt.field, tt.text)
		}
	}
}

// TestLimitsBind draws limits on the cost: the plan holds them in the share of the futures that was
// asked for, or the result says that none does. A limit that the plan of the least mean holds
// changes nothing, and one below every future's own optimum cannot be held.
func TestLimitsBind(t *testing.T) {
	plan := func(most string) *futures.Result {
		r := request()
		r.Risk, r.Wait, r.Least, r.Most, r.Paths = "mean", "", nil, nil, 20
		if most != "" {
			r.Most = []string{"cost=$" + most}
		}
		question, err := r.Parse()
		if err != nil {
			t.Fatal(err)
		}
		set, err := r.Draw("demand", capcli.Grid{Origin: 0, Step: capcli.Step{Months: 1}}, []float64{10, 12, 14, 16, 14, 12})
		if err != nil {
			t.Fatal(err)
		}
		got, err := question.Plan(context.Background(), set)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	free := plan("")
	p95 := *free.Plans[0].P95
	if same := plan(p95.Decimal()); same.Plans[0].Name != "mean" || same.Unheld != "" {
		t.Errorf("a limit that holds changes the plan to %s: %s", same.Plans[0].Name, same.Unheld)
	}
	held := 0
	for by := capcli.USD(1); by <= 10; by++ {
		got := plan((p95 - by*p95/100).Decimal())
		first := got.Plans[0]
		err := got.NoPlan()
		if holds := *first.AllHeld >= 0.95; holds != (err == nil) || (err != nil) != errors.Is(err, capcli.NoPlan) && err != nil {
			t.Errorf("%d%% under: held in %v, error %v", by, *first.AllHeld, err)
		}
		if err == nil {
			held++
		}
		if *first.Mean < *free.Plans[0].Mean || got.Optimum.Bound > got.Optimum.Cost {
			t.Errorf("%d%% under: the mean is %s, %s without the limit; bound %s of %s", by, first.Mean, free.Plans[0].Mean, got.Optimum.Bound, got.Optimum.Cost)
		}
	}
	if held == 0 || held == 10 {
		t.Errorf("%d of 10 limits were held: the drawn ones tell nothing apart", held)
	}
}

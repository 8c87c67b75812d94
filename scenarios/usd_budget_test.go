package scenarios

import (
	"context"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

const usdScenario = `capcli: scenario/v1
name: money
period: 2027-01-01 to 2027-01-03
capacity:
  - {name: base, kind: reserved, gpus: 4, price: 2 USD/gpu-h}
tenants: [{name: lab, usd_budget: {usd: 10, every: daily, then: approval, approval_takes: 8h}}]
`

// A budget in dollars counts the prices of the pools: four GPUs at $2 spend $10 in 75 minutes. The job
// that comes then waits for the approval.
func TestUSDBudget(t *testing.T) {
	s, err := Parse("money.yaml", []byte(usdScenario))
	if err != nil {
		t.Fatal(err)
	}
	jobs := []capcli.Job{
		{ID: "1", GPUs: 4, Run: 75 * 60, Submit: s.Period.Start, Tenant: "lab", Deadline: capcli.NoTime},
		{ID: "2", GPUs: 1, Run: 60, Submit: s.Period.Start + 75*60, Tenant: "lab", Deadline: capcli.NoTime},
	}
	cfg, err := s.Config(func(yield func(capcli.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Budgets[0]
	if want := s.Period.Start + 75*60 + 8*3600; p.Approved == nil || *p.Approved != want || p.Money.Spent != 10_033_333 {
		t.Errorf("got %+v, %+v", p, p.Money)
	}
	if !s.pricesDecide() {
		t.Error("another price gives another schedule, and the scenario says no")
	}
}

func TestUSDBudgetRefusals(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{", price: 2 USD/gpu-h", "", "pool \"base\" has no price, and a usd_budget counts it"},
		{", approval_takes: 8h", "", "approval_takes is missing"},
		{"then: approval", "then: queue", "approval_takes goes with then: approval"},
		{"usd: 10, ", "", "usd"},
		{"usd: 10", "usd: 0", "a budget of 0 allows nothing"},
		{"usd_budget:", "gpu_budget: {gpu_hours: 4}, usd_budget:", "a tenant has one budget"},
	} {
		_, err := Parse("money.yaml", []byte(strings.Replace(usdScenario, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.to, err, c.want)
		}
	}
}

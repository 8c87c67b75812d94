package simulate_test

import (
	"context"
	"fmt"
	"testing"

	"capcli"
	"capcli/simulate"
)

// Budgets of money, by hand. A GPU of model A costs $2 an hour, one of B $4. At 0 the jobs a (4 A) and b (1 B)
// start and run for two hours: $12 an hour. Job c (1 B, ten minutes) comes after 50 minutes, when exactly $10 of the
// day are spent. The same machine has a job of another tenant, which no budget holds.
func TestBudgetOfMoney(t *testing.T) {
	const minute, usd = 60, capcli.Dollar
	for _, c := range []struct {
		name   string
		budget simulate.Budget
		dearer bool // B costs $40 from the 40th minute on
		want   string
	}{
		// a and b go on to their ends: $24. The next day c costs a sixth of $4, cut to millionths.
		{"queue", simulate.Budget{Money: 10 * usd}, false, "c@86400 else@3000: 24.00 0.666666"},
		{"a millionth more", simulate.Budget{Money: 10*usd + 1}, false, "c@3000 else@3000: 24.666666"},
		{"approval", simulate.Budget{Money: 10 * usd, Then: simulate.AskApproval, Approval: 30 * minute}, false, "c@4800 else@3000: 24.666666 approved@4800"},
		{"approval the next day", simulate.Budget{Money: 10 * usd, Then: simulate.AskApproval, Approval: 25 * 60 * minute}, false, "c@86400 else@3000: 24.00 0.666666"},
		// a and b need $16 and $8 by their limits: c does not fit until the next day, whose budget is new.
		{"reserve", simulate.Budget{Money: 24 * usd, Reserve: true}, false, "c@86400 else@3000: 24.00 0.666666"},
		// At 50 minutes $10 are spent, and $9.333334, $4.666667 and $0.666667 are needed, each rounded up.
		{"reserve, and room", simulate.Budget{Money: 24*usd + 666_668, Reserve: true}, false, "c@3000 else@3000: 24.666666"},
		// What has started keeps its price; c starts at the new one.
		{"a price that rises", simulate.Budget{Money: 20 * usd}, true, "c@3000 else@3000: 30.666666"},
	} {
		c.budget.Every = simulate.Daily
		got := &stays{start: map[string]capcli.Seconds{}, end: map[string]capcli.Seconds{}}
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, List: []capcli.Job{
				{ID: "a", GPUs: 4, GPUModel: "A", Run: 120 * minute, Limit: 120 * minute, Tenant: "lab", Deadline: capcli.NoTime},
				{ID: "b", GPUs: 1, GPUModel: "B", Run: 120 * minute, Limit: 120 * minute, Tenant: "lab", Deadline: capcli.NoTime},
				{ID: "c", GPUs: 1, GPUModel: "B", Run: 10 * minute, Limit: 10 * minute, Submit: 50 * minute, Tenant: "lab/mei", Deadline: capcli.NoTime},
				{ID: "else", GPUs: 1, GPUModel: "B", Run: 10 * minute, Limit: 10 * minute, Submit: 50 * minute, Tenant: "other", Deadline: capcli.NoTime},
			},
			Pools:  []simulate.Pool{{Name: "a", GPUModel: "A", Nodes: 1, GPUsPerNode: 4}, {Name: "b", GPUModel: "B", Nodes: 1, GPUsPerNode: 4}},
			Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
			Tenants: []simulate.Tenant{{Name: "lab", Budget: &c.budget}},
			Charges: func(pool int, at capcli.Time) capcli.Rate {
				if c.dearer && pool == 1 && at >= 40*minute {
					return 40 * usd
				}
				return []capcli.Rate{2 * usd, 4 * usd}[pool]
			},
			Observers: []simulate.Observer{got},
		})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("c@%d else@%d:", got.start["c"], got.start["else"])
		for _, p := range r.Budgets {
			if text += " " + p.Money.Spent.Decimal(); p.Approved != nil {
				text += fmt.Sprintf(" approved@%d", *p.Approved)
			}
			if p.Money.Budget != c.budget.Money || p.Spent != 0 {
				t.Errorf("%s: got %+v", c.name, p)
			}
		}
		if text != c.want {
			t.Errorf("%s: got %s, want %s", c.name, text, c.want)
		}
	}
}

// A budget of money that stops jobs is spent on the second: $10 at $12 an hour last 3000 s, and the
// jobs are preempted then.
func TestMoneyStopsJobs(t *testing.T) {
	got := &stays{start: map[string]capcli.Seconds{}, end: map[string]capcli.Seconds{}}
	r, err := simulate.Run(context.Background(), simulate.Config{
		Start: 0, Until: 7200, List: []capcli.Job{{ID: "1", GPUs: 3, Run: 9000, Tenant: "lab", Deadline: capcli.NoTime}},
		Pools:  []simulate.Pool{{Name: "a", Nodes: 1, GPUsPerNode: 4}},
		Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Restarts: simulate.Restarts{Mode: simulate.Suspend},
		Tenants: []simulate.Tenant{{Name: "lab", Budget: &simulate.Budget{Money: 10 * capcli.Dollar, Then: simulate.StopJobs, Every: simulate.Yearly}}},
		Charges: func(int, capcli.Time) capcli.Rate { return 4 * capcli.Dollar }, Observers: []simulate.Observer{got},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.killed) != 1 || got.killed[0][1] != 3000 || len(r.Budgets) != 1 || r.Budgets[0].Money.Spent != 10*capcli.Dollar || r.Budgets[0].Stops != 1 {
		t.Errorf("stopped %v, spent %+v", got.killed, r.Budgets)
	}
}

package billing_test

import (
	"context"
	"fmt"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// twoTenants runs some hours of two tenants on 4 owned GPUs, 8 on demand that
// are kept as a reservation, and any number on demand beside them.
func twoTenants(t *testing.T) (*simulate.Record, capcli.Time) {
	t.Helper()
	policy, err := policy.Catalog.Get("fifo")
	if err != nil {
		t.Fatal(err)
	}
	placement, err := placement.Catalog.Get("count")
	if err != nil {
		t.Fatal(err)
	}
	start := day0 + 1234
	jobs := func(yield func(capcli.Job, error) bool) {
		for i := range 300 {
			j := capcli.Job{
				ID: fmt.Sprint(i), Tenant: []string{"", "a", "b"}[i%3], Submit: start + capcli.Time(i*977), GPUs: 1 + i%4,
				Run: capcli.Seconds(500 + (i*7919)%9000), Deadline: capcli.NoTime,
			}
			if !yield(j, nil) {
				return
			}
		}
	}
	res, err := simulate.Run(context.Background(), simulate.Config{
		Start: start, Jobs: jobs, Policy: policy, Placement: placement(), Hourly: true,
		Overflow: simulate.Overflow{Patience: []simulate.Patience{{Wait: 60}}},
		Pools: []simulate.Pool{
			{Name: "own", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 4},
			{Name: "kept", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: 2, From: 3600},
			{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 64, MinBilling: 3000, Rank: 1},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res.Record, start + capcli.Time(res.Ended)
}

func TestPriceUnder(t *testing.T) {
	rec, end := twoTenants(t)
	rates := []billing.Rate{{Price: 1_300_001, OnDemand: 4_000_003}, {Price: 4_000_003}, {Price: 4_000_003}}
	plain, err := billing.Price(rec, rates)
	if err != nil {
		t.Fatal(err)
	}
	deal := func(commits ...billing.Commitment) *billing.Deal {
		return &billing.Deal{
			Portfolio: billing.Portfolio{Commitments: commits}, To: end,
			Pools: []billing.RunPool{
				{Skip: true},
				{Price: 4_000_003, Capacity: "kept", Reserved: 2000, From: rec.Start + 3600, Until: end},
				{Price: 4_000_003, Capacity: "od"},
			},
		}
	}
	sp := billing.Commitment{
		ID: "sp", Start: rec.Start - 10, End: end + 10*hours, Fees: billing.Fees{Hourly: usd(t, "7.77")},
		Product: billing.SavingsPlan{Commit: usd(t, "7.77"), Rates: []billing.PlanRate{{Discount: 280_000}}},
	}
	free := sp
	free.Fees = billing.Fees{}
	huge := sp
	huge.Fees, huge.Product = billing.Fees{}, billing.SavingsPlan{Commit: usd(t, "100000"), Rates: []billing.PlanRate{{Discount: 280_000}}}
	var costs []capcli.USD
	for _, d := range []*billing.Deal{deal(), deal(sp), deal(free), deal(huge)} {
		inv, err := billing.PriceUnder(rec, rates, d)
		if err != nil {
			t.Fatal(err)
		}
		var tenants, months, tiers, pools, terms capcli.USD
		for _, b := range inv.ByTenant {
			tenants += b.Total
			if b.ByTier[0]+b.ByTier[1]+b.ByTier[2] != b.Total {
				t.Errorf("%s: tiers %v do not sum to %d", b.Name, b.ByTier, b.Total)
			}
		}
		for _, m := range inv.ByMonth {
			months += m.ByTier[0] + m.ByTier[1] + m.ByTier[2]
		}
		for i := range inv.ByTier {
			tiers += inv.ByTier[i].Cost
		}
		for i := range inv.ByPool {
			pools += inv.ByPool[i].Cost
			if l := &inv.ByPool[i]; l.Cost != l.Direct+l.Stranded() {
				t.Errorf("a pool's line does not add up: %+v", l)
			}
		}
		for i := range inv.ByTerms {
			terms += inv.ByTerms[i].Cost
		}
		if all := inv.Total.Cost; tenants+inv.Unallocated != all || months != all || tiers != all || pools != all || terms != all {
			t.Errorf("total %d, tenants %d, months %d, tiers %d, pools %d, terms %d", all, tenants, months, tiers, pools, terms)
		}
		if inv.Total.Equivalent != plain.Total.Equivalent || inv.Total.Time != plain.Total.Time {
			t.Errorf("use changed: %+v, want %+v", inv.Total, plain.Total)
		}
		costs = append(costs, inv.Total.Cost)
	}
	if diff := costs[0] - plain.Total.Cost; diff < -20 || diff > 20 {
		t.Errorf("without commitments it costs %d, by rates %d", costs[0], plain.Total.Cost)
	}
	fee, err := sp.UsedUp(rec.Start, end)
	if err != nil || costs[1] != costs[2]+fee {
		t.Errorf("with the plan's fee of %d it costs %d, without %d", fee, costs[1], costs[2])
	}
	if own := plain.ByPool[0].Cost; costs[3] != own {
		t.Errorf("with all use covered for nothing it costs %d, want that of the owned pool, %d", costs[3], own)
	}
	if costs[1] >= costs[0] {
		t.Errorf("a plan that is used costs %d, more than %d without", costs[1], costs[0])
	}
}

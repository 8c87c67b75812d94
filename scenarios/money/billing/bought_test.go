package billing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/focus"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// boughtRun plays jobs of two tenants over the end of a month on a bought node of 8 GPUs on demand, and on
// spot once three are there.
func boughtRun(t *testing.T, jobs []capcli.Job, buy *simulate.Buying) (*simulate.Record, capcli.Time) {
	t.Helper()
	first, err := policy.Catalog.Get("fifo")
	if err != nil {
		t.Fatal(err)
	}
	place, err := placement.Catalog.Get("consolidate")
	if err != nil {
		t.Fatal(err)
	}
	start := day0 + 1234
	for i := range jobs {
		jobs[i].Submit += start
		jobs[i].ID, jobs[i].Deadline = fmt.Sprint(i), capcli.NoTime
	}
	res, err := simulate.Run(context.Background(), simulate.Config{
		Start: start, List: jobs, Policy: first, Placement: place(), Hourly: true, Timeline: true,
		Pools: []simulate.Pool{
			{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 8, Buy: buy},
			{Name: "spot", Terms: simulate.Spot, Nodes: 9, GPUsPerNode: 8, Rank: 1, Buy: &simulate.Buying{Idle: 600, Unit: 60}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res.Record, start + capcli.Time(res.Ended)
}

// A node is billed whole: what tenants held at the price, the rest is unused. Every table, the rows of
// FOCUS and the bill under commitments sum to it, and a plan that covers on-demand use covers whole nodes.
func TestBoughtNodesAreBilledWhole(t *testing.T) {
	var jobs []capcli.Job
	for i := range 200 {
		jobs = append(jobs, capcli.Job{Tenant: []string{"", "a", "b"}[i%3], Submit: capcli.Time(i * 9770), GPUs: 1 + i%11, Run: capcli.Seconds(500 + (i*7919)%29000)})
	}
	rec, end := boughtRun(t, jobs, &simulate.Buying{Lead: func(n int64) capcli.Seconds { return capcli.Seconds(100 + n%7) }, Idle: 900, Unit: 3600, FromOrder: true, Warm: 1})
	rates := []billing.Rate{{Price: 4_000_003}, {Price: 1_000_007, OnDemand: 4_000_003}}
	plain, err := billing.Price(rec, rates)
	if err != nil {
		t.Fatal(err)
	}
	for p := range rec.Pools {
		var node capcli.Seconds
		for _, n := range rec.Nodes {
			if n.Pool == p {
				node += n.To - n.From + n.Beyond
			}
		}
		want := capcli.Cost(rates[p].Price, capcli.GPUTime(node)*8000)
		if got := plain.ByPool[p].Cost; got < want-5 || got > want+5 || node == 0 { // rounded by month
			t.Errorf("%s costs %d, its nodes %d", rec.Pools[p].Name, got, want)
		}
	}
	sp := billing.Commitment{
		ID: "sp", Start: rec.Start - 10, End: end + 10*hours, Fees: billing.Fees{},
		Product: billing.SavingsPlan{Commit: usd(t, "100000"), Rates: []billing.PlanRate{{Discount: 250_000}}},
	}
	small := sp
	small.Product = billing.SavingsPlan{Commit: usd(t, "20"), Rates: []billing.PlanRate{{Discount: 250_000}}}
	pools := []billing.RunPool{{Price: 4_000_003, Capacity: "od"}, {Skip: true}}
	var costs []capcli.USD
	for _, commits := range [][]billing.Commitment{nil, {small}, {sp}} {
		inv, err := billing.PriceUnder(rec, rates, &billing.Deal{Portfolio: billing.Portfolio{Commitments: commits}, To: end, Pools: pools})
		if err != nil {
			t.Fatal(err)
		}
		for _, inv := range []*billing.Invoice{plain, inv} {
			var tenants, months, lines capcli.USD
			for _, b := range inv.ByTenant {
				tenants += b.Total
			}
			for _, m := range inv.ByMonth {
				months += m.Line.Cost
			}
			for i := range inv.ByPool {
				if l := &inv.ByPool[i]; l.Cost != l.Direct+l.Stranded() {
					t.Errorf("a pool's line does not add up: %+v", l)
				}
				lines += inv.ByPool[i].Cost
			}
			rows := focusSum(t, inv, rec, end)
			if all := inv.Total.Cost; tenants+inv.Unallocated != all || months != all || lines != all || rows != focus.AmountOf(all) {
				t.Errorf("total %d, tenants %d, months %d, pools %d, rows %v", all, tenants, months, lines, rows)
			}
		}
		costs = append(costs, inv.Total.Cost)
	}
	if d := costs[0] - plain.Total.Cost; d < -20 || d > 20 {
		t.Errorf("without commitments it costs %d, by rates %d", costs[0], plain.Total.Cost)
	}
	if spot := plain.ByPool[1].Cost; costs[2] != spot || costs[1] <= spot || costs[1] >= costs[0] { // the plan without fees takes all of od
		t.Errorf("costs %v; the spot pool costs %d", costs, spot)
	}
}

// focusSum returns the effective cost of an invoice's rows of FOCUS, which must conform.
func focusSum(t *testing.T, inv *billing.Invoice, rec *simulate.Record, end capcli.Time) focus.Amount {
	t.Helper()
	var text strings.Builder
	w := focus.NewWriter(&text, nil)
	inv.FocusRows(rec, end, "acc", nil, w.Write)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := focus.NewReader("bill.csv", strings.NewReader(text.String()), focus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := focus.NewCheck()
	c.Columns(r.Columns())
	for row, err := range r.Rows() {
		if err == nil {
			err = c.Add(row)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Conclude("", &focus.Report{}); err != nil {
		t.Fatal(err)
	}
	if !c.Conforms() {
		t.Errorf("the rows do not conform: %+v", c.Odd)
	}
	return c.Total.Effective
}

// One GPU of an 8-GPU node for two hours: a plan of one node's hourly price covers all 8 GPUs.
func TestAPlanCoversWholeNodes(t *testing.T) {
	rec, end := boughtRun(t, []capcli.Job{{Tenant: "a", GPUs: 1, Run: 7200 - 1234}}, &simulate.Buying{})
	if end != day0+7200 {
		t.Fatalf("the run ends at %s", end)
	}
	rates := []billing.Rate{{Price: 4_000_000}, {Price: 1_000_000}}
	plan := billing.Commitment{
		ID: "sp", Start: day0, End: end, Fees: billing.Fees{Hourly: usd(t, "24")},
		Product: billing.SavingsPlan{Commit: usd(t, "24"), Rates: []billing.PlanRate{{Discount: 250_000}}},
	}
	inv, err := billing.PriceUnder(rec, rates, &billing.Deal{Portfolio: billing.Portfolio{Commitments: []billing.Commitment{plan}}, To: end, Pools: []billing.RunPool{{Price: 4_000_000, Capacity: "od"}, {Skip: true}}})
	if err != nil {
		t.Fatal(err)
	}
	c := inv.Commitments[0]
	used := capcli.Cost(3_000_000, 8000*(7200-1234))
	if c.Used != used {
		t.Errorf("of the plan %s are used, want %s", c.Used.Decimal(), used.Decimal())
	}
	if direct := capcli.Cost(3_000_000, 1000*(7200-1234)); inv.ByTenant[0].Direct < direct-1 || inv.ByTenant[0].Direct > direct+1 {
		t.Errorf("the tenant pays %s for what it held, want %s", inv.ByTenant[0].Direct.Decimal(), direct.Decimal())
	}
}

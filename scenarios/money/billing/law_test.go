package billing_test

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// drawRecord is a record that balances, of any size that a run could give.
func drawRecord(t *rapid.T) *simulate.Record {
	most := rapid.SampledFrom([]int64{1, 1000, 3_600_000, 1 << 45}).Draw(t, "most")
	amount := rapid.Custom(func(t *rapid.T) capcli.GPUTime { return capcli.GPUTime(rapid.Int64Range(0, most).Draw(t, "time")) })
	rec := &simulate.Record{}
	for p := range rapid.IntRange(1, 4).Draw(t, "pools") {
		rec.Pools = append(rec.Pools, simulate.Pool{Name: fmt.Sprint("pool", p), Terms: simulate.Terms(rapid.IntRange(0, 3).Draw(t, "terms"))})
	}
	for n := range rapid.IntRange(0, 5).Draw(t, "tenants") {
		rec.Tenants = append(rec.Tenants, fmt.Sprint("tenant", n))
	}
	for range rapid.IntRange(0, 4).Draw(t, "months") {
		var m simulate.Month
		for p := range rec.Pools {
			var s simulate.Span
			var use []simulate.Use
			for range rapid.IntRange(0, len(rec.Tenants)).Draw(t, "users") {
				u := simulate.Use{Used: amount.Draw(t, "used")}
				if u.Billed = u.Used; !rec.Pools[p].Terms.Committed() {
					rest := amount.Draw(t, "minimum")
					u.Billed += rest
					s.Idle += rest
				}
				s.Used += u.Used
				use = append(use, u)
			}
			if rec.Pools[p].Terms.Committed() {
				s.Idle, s.Blocked, s.Down = amount.Draw(t, "idle"), amount.Draw(t, "blocked"), amount.Draw(t, "down")
			}
			s.Offered = s.Used + s.Idle + s.Blocked + s.Down
			m.Pools, m.Use = append(m.Pools, s), append(m.Use, use)
		}
		rec.Months = append(rec.Months, m)
	}
	return rec
}

// drawMoves adds moved data and copies to a record, and returns what they cost, in unbounded integers.
func drawMoves(t *rapid.T, rec *simulate.Record, rates []billing.Rate) *big.Int {
	total := new(big.Int)
	if len(rec.Months) == 0 || len(rec.Tenants) == 0 || rapid.Bool().Draw(t, "no moves") {
		return total
	}
	prices := &billing.Transfers{
		Links:   []billing.TransferPrice{{From: "a/x", To: "b", GiB: 90_000}, {From: "a", GiB: 20_001}},
		Storage: capcli.Rate(rapid.Int64Range(0, 50_000).Draw(t, "storage")),
	}
	for p := range rates {
		rates[p].Transfers = prices
	}
	add := func(amount, price, per int64) {
		n := new(big.Int).Mul(big.NewInt(amount), big.NewInt(price))
		n.Add(n.Mul(n, big.NewInt(2)), big.NewInt(per))
		total.Add(total, n.Quo(n, big.NewInt(2*per)))
	}
	at := func() (m, p, tenant int) {
		return rapid.IntRange(0, len(rec.Months)-1).Draw(t, "month"), rapid.IntRange(0, len(rec.Pools)-1).Draw(t, "pool"), rapid.IntRange(0, len(rec.Tenants)-1).Draw(t, "tenant")
	}
	for range rapid.IntRange(1, 5).Draw(t, "moves") {
		x := simulate.Move{From: rapid.SampledFrom([]string{"a/x", "a/y", "b/x"}).Draw(t, "from"), To: "b/x", MiB: rapid.Int64Range(1, 1<<40).Draw(t, "MiB")}
		x.Month, x.Pool, x.Tenant = at()
		rec.Moves = append(rec.Moves, x)
		add(x.MiB, map[string]int64{"a/x": 90_000, "a/y": 20_001, "b/x": 0}[x.From], 1024)
	}
	for range rapid.IntRange(0, 3).Draw(t, "copies") {
		x := simulate.Stored{Place: "b/x", MiBSeconds: rapid.Int64Range(1, 1<<50).Draw(t, "MiB-seconds")}
		x.Month, x.Pool, x.Tenant = at()
		rec.Stored = append(rec.Stored, x)
		add(x.MiBSeconds, int64(prices.Storage), 1024*730*3600)
	}
	return total
}

// exact is rate x time to the nearest millionth, half up, in unbounded integers.
func exact(r capcli.Rate, t capcli.GPUTime) *big.Int {
	n := new(big.Int).Mul(big.NewInt(int64(r)), big.NewInt(int64(t)))
	n.Add(n.Mul(n, big.NewInt(2)), big.NewInt(3_600_000))
	return n.Quo(n, big.NewInt(7_200_000))
}

func sum(parts ...capcli.USD) *big.Int {
	s := new(big.Int)
	for _, p := range parts {
		s.Add(s, big.NewInt(int64(p)))
	}
	return s
}

func checkSame(t *rapid.T, what string, got, want *big.Int) {
	t.Helper()
	if got.Cmp(want) != 0 {
		t.Errorf("%s: got %s, want %s millionths", what, got, want)
	}
}

func TestEveryTableSumsToTheInvoice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := drawRecord(t)
		rates := make([]billing.Rate, len(rec.Pools))
		for p := range rates {
			rates[p].Price = capcli.Rate(rapid.Int64Range(0, 9_000_000).Draw(t, "price"))
			rates[p].OnDemand = capcli.Rate(rapid.Int64Range(0, 9_000_000).Draw(t, "on demand"))
		}
		moved := drawMoves(t, rec, rates)
		inv, err := billing.Price(rec, rates)
		if err != nil {
			t.Fatal(err)
		}
		total := new(big.Int).Set(moved)
		for m := range rec.Months {
			for p, pool := range rec.Pools {
				paid := rec.Months[m].Pools[p].Offered // of elastic pools offered is billed
				total.Add(total, exact(rates[p].Price, paid))
				checkSame(t, fmt.Sprintf("month %d, %s", m, pool.Name), sum(inv.ByMonth[m].ByPool[p].Cost), exact(rates[p].Price, paid))
			}
		}
		checkSame(t, "total", sum(inv.Total.Cost), total)
		checkSame(t, "parts", sum(inv.Total.Direct, inv.Total.Idle, inv.Total.Blocked, inv.Total.Down), total)
		var tiers, terms, pools, months, monthTiers, tenants, tenantTiers []capcli.USD
		for _, l := range inv.ByTier {
			tiers = append(tiers, l.Cost)
		}
		for _, l := range inv.ByTerms {
			terms = append(terms, l.Cost)
		}
		for _, l := range inv.ByPool {
			pools = append(pools, l.Cost)
		}
		for _, m := range inv.ByMonth {
			months, monthTiers = append(months, m.Line.Cost), append(monthTiers, m.ByTier[:]...)
		}
		direct := new(big.Int)
		for _, b := range inv.ByTenant {
			tenants, tenantTiers = append(tenants, b.Direct, b.Share), append(tenantTiers, b.ByTier[:]...)
			checkSame(t, b.Name, sum(b.Direct, b.Share), sum(b.Total))
			direct.Add(direct, sum(b.Direct))
			if b.Direct < 0 || b.Share < 0 {
				t.Errorf("%s pays %s and %s", b.Name, b.Direct, b.Share)
			}
		}
		checkSame(t, "tiers", sum(tiers...), total)
		checkSame(t, "terms", sum(terms...), total)
		checkSame(t, "moved", sum(inv.Total.Moved), moved)
		checkSame(t, "pools", sum(append(pools, inv.Total.Moved)...), total)
		checkSame(t, "months", sum(months...), total)
		checkSame(t, "tiers of months", sum(monthTiers...), total)
		checkSame(t, "tenants", sum(append(tenants, inv.Unallocated)...), total)
		checkSame(t, "tiers of tenants", sum(append(tenantTiers, inv.Unallocated)...), total)
		checkSame(t, "direct", direct, sum(inv.Total.Direct))
		if inv.Unallocated > 0 && inv.Total.Time.Used > 0 {
			t.Errorf("%s is borne by nobody, though somebody used something", inv.Unallocated)
		}
		if inv.Total.Stranded() != inv.ByTier[billing.Committed].Stranded() {
			t.Error("capacity paid by use is said to be stranded")
		}
	})
}

// A run on three terms: the jobs' costs are what the tenants pay directly.
func TestJobsCostWhatTenantsPay(t *testing.T) {
	policy, err := policy.Catalog.Get("fifo")
	if err != nil {
		t.Fatal(err)
	}
	place, err := placement.Catalog.Get("count")
	if err != nil {
		t.Fatal(err)
	}
	rng := capcli.Seed(7).Stream("jobs")
	jobs := func(yield func(capcli.Job, error) bool) {
		at := capcli.Time(1_700_000_000)
		for i := range 2000 {
			at += capcli.Time(rng.IntN(7200))
			j := capcli.Job{
				ID: fmt.Sprint(i), Tenant: fmt.Sprint("team", i%7), Submit: at, Deadline: capcli.NoTime,
				GPUs: 1 + rng.IntN(8), Run: capcli.Seconds(1 + rng.IntN(40_000)),
			}
			if !yield(j, nil) {
				return
			}
		}
	}
	rates := []billing.Rate{{Price: 1_234_567}, {Price: 3_900_001}, {Price: 1_600_003}}
	var costs costs
	costs.rates = rates
	res, err := simulate.Run(context.Background(), simulate.Config{
		Start: capcli.NoTime, Jobs: jobs, Policy: policy, Placement: place(), Observers: []simulate.Observer{&costs},
		Pools: []simulate.Pool{
			{Name: "base", Terms: simulate.Reserved, Nodes: 2, GPUsPerNode: 8},
			{Name: "flex", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 8, MinBilling: 3600},
			{Name: "spot", Terms: simulate.Spot, Nodes: 1, GPUsPerNode: 1000, Rank: 1, Lead: 120},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	inv, err := billing.Price(res.Record, rates)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Record.Months) < 3 || inv.ByPool[0].Cost == 0 || inv.ByPool[1].Cost == 0 || inv.ByPool[2].Cost == 0 {
		t.Fatalf("the run is no test: %d months, pools %+v", len(res.Record.Months), inv.ByPool)
	}
	// Half a millionth for each hold of a job and for each cell.
	slack := capcli.USD(costs.holds + len(res.Record.Months)*3)
	if d := costs.sum - inv.Total.Direct; d > slack || -d > slack || costs.sum == 0 {
		t.Errorf("jobs cost %s, tenants pay %s directly", costs.sum.Decimal(), inv.Total.Direct.Decimal())
	}
}

type costs struct {
	rates []billing.Rate
	sum   capcli.USD
	holds int
}

func (c *costs) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind != simulate.Finish {
		return
	}
	cost, err := billing.JobCost(e.Job.Holds(), c.rates)
	if err != nil {
		panic(err)
	}
	c.sum += cost
	c.holds += len(e.Job.Holds())
}

func BenchmarkPrice(b *testing.B) {
	rec := &simulate.Record{Pools: make([]simulate.Pool, 4)}
	for n := range 2000 {
		rec.Tenants = append(rec.Tenants, fmt.Sprint(n))
	}
	rates := make([]billing.Rate, 4)
	for range 12 {
		var m simulate.Month
		for p := range rec.Pools {
			rec.Pools[p].Terms = simulate.Terms(p)
			rates[p].Price = capcli.Rate(1_000_003 * (p + 1))
			use := make([]simulate.Use, len(rec.Tenants))
			var s simulate.Span
			for n := range use {
				use[n].Used = capcli.GPUTime(1_000_003 * (n + p + 7))
				use[n].Billed = use[n].Used
				s.Used += use[n].Used
			}
			s.Idle = s.Used / 3
			if !rec.Pools[p].Terms.Committed() {
				s.Idle = 0
			}
			s.Offered = s.Used + s.Idle
			m.Pools, m.Use = append(m.Pools, s), append(m.Use, use)
		}
		rec.Months = append(rec.Months, m)
	}
	for b.Loop() {
		if _, err := billing.Price(rec, rates); err != nil {
			b.Fatal(err)
		}
	}
}

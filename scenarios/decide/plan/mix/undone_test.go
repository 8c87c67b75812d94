package mix

import (
	"context"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/simulate/supply"
)

// drawnConfig is a run over a period with partitions, models, dates and nodes that are
// lost.
func drawnConfig(t *rapid.T) (func() simulate.Config, []billing.Rate, []capcli.Job) {
	parts := rapid.SampledFrom([][]string{{""}, {"a", "b"}, {"", "a"}}).Draw(t, "partitions")
	models := rapid.SampledFrom([][]string{{""}, {"X", "Y"}}).Draw(t, "models")
	until := capcli.Seconds(rapid.IntRange(1, 48).Draw(t, "hours")) * capcli.Hour
	var pools []simulate.Pool
	var rates []billing.Rate
	for i := range rapid.IntRange(1, 4).Draw(t, "pools") {
		p := simulate.Pool{
			Name: strconv.Itoa(i), Nodes: rapid.IntRange(1, 3).Draw(t, "nodes"), GPUsPerNode: rapid.IntRange(1, 8).Draw(t, "gpus"),
			Partition: rapid.SampledFrom(parts).Draw(t, "of"), GPUModel: rapid.SampledFrom(models).Draw(t, "is"), Rank: i,
			Terms: rapid.SampledFrom([]simulate.Terms{simulate.Reserved, simulate.OnDemand, simulate.Spot}).Draw(t, "terms"),
		}
		if rapid.Bool().Draw(t, "dated") {
			p.From = capcli.Seconds(rapid.IntRange(0, 10).Draw(t, "from")) * capcli.Hour
			p.Until = p.From + capcli.Seconds(rapid.IntRange(1, 20).Draw(t, "until"))*capcli.Hour
		}
		pools, rates = append(pools, p), append(rates, billing.Rate{
			Price: capcli.Rate(rapid.IntRange(1, 5).Draw(t, "price")) * 600_000, OnDemand: capcli.Rate(rapid.IntRange(1, 3).Draw(t, "list")) * 1_000_000,
		})
	}
	var jobs []capcli.Job
	at := capcli.Time(0)
	for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
		if at += capcli.Time(rapid.IntRange(0, 7200).Draw(t, "gap")); i == 0 {
			at = 0
		}
		if capcli.Seconds(at) >= until {
			break
		}
		jobs = append(jobs, capcli.Job{
			ID: strconv.Itoa(i), Tenant: "t", GPUs: rapid.IntRange(1, 8).Draw(t, "wants"), Submit: at, Deadline: capcli.NoTime,
			Run: capcli.Seconds(rapid.IntRange(1, 20_000).Draw(t, "run")), Partition: rapid.SampledFrom(parts).Draw(t, "in"), GPUModel: rapid.SampledFrom(models).Draw(t, "on"),
		})
	}
	var restarts simulate.Restarts
	if rapid.Bool().Draw(t, "checkpoints") {
		restarts.Mode = simulate.Checkpoint
		restarts.Classes = []simulate.RestartClass{{
			MaxGPUs: rapid.IntRange(0, 4).Draw(t, "up to"), Interval: capcli.Seconds(rapid.IntRange(60, 7200).Draw(t, "interval")), Cost: capcli.Seconds(rapid.IntRange(0, 900).Draw(t, "cost")),
		}}
	}
	lost := rapid.Bool().Draw(t, "lost")
	wait := capcli.Seconds(rapid.SampledFrom([]int{0, 600, 7200, -1}).Draw(t, "patience"))
	name := rapid.SampledFrom([]string{"fifo", "easy", "sjf", "las"}).Draw(t, "policy")
	return func() simulate.Config {
		own := append([]simulate.Pool(nil), pools...)
		for i := range own {
			if lost && own[i].Terms == simulate.Spot {
				own[i].Supply = supply.NewHazard(own[i].Nodes, 4*capcli.Hour, capcli.Hour, 0, capcli.Seed(1).Stream("x"))
			}
		}
		pol, err := policy.Catalog.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		place, err := placement.Catalog.Get("consolidate")
		if err != nil {
			t.Fatal(err)
		}
		return simulate.Config{
			Start: 0, Until: until, Pools: own, Policy: pol, Placement: place(), Restarts: restarts, Overflow: simulate.Overflow{Patience: []simulate.Patience{{Wait: wait}}},
		}
	}, rates, jobs
}

// TestNoRunLeavesLessUndoneThanItsBound holds the bound on undone work against runs,
// and with a price on it the bound on their cost.
func TestNoRunLeavesLessUndoneThanItsBound(t *testing.T) {
	above := 0
	rapid.Check(t, func(t *rapid.T) {
		config, rates, jobs := drawnConfig(t)
		p := &Problem{Runs: 1, PriceUnserved: rapid.Bool().Draw(t, "priced"), Jobs: func(int) ([]capcli.Job, error) { return jobs, nil }}
		c := &Candidate{Key: "x", Rates: rates, Config: func(int) (simulate.Config, error) { return config(), nil }}
		b := newBounds(p)
		b.allowed = rapid.SampledFrom([]float64{0, 0.005, 0.1, 0.5, 2}).Draw(t, "allowed")
		floor, err := b.floorOf(c, 0)
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.run(context.Background(), c, 0, loss{})
		if err != nil {
			t.Fatal(err)
		}
		o, err := p.price(t.Context(), c, 0, simulatedOf(res, p.Within))
		if err != nil {
			t.Fatal(err)
		}
		if o.UnservedShare() < floor.Undone-1e-12 {
			t.Fatalf("a run leaves %v undone, its bound is %v", o.UnservedShare(), floor.Undone)
		}
		if o.Fault == "" && o.Cost < floor.Cost && (p.PriceUnserved || o.UnservedShare() <= b.allowed) {
			t.Fatalf("a run costs %s, its bound is %s", o.Cost.Decimal(), floor.Cost.Decimal())
		}
		if floor.Undone > 0 {
			above++
		}
	})
	if above == 0 {
		t.Error("no bound was above 0: it showed nothing")
	}
}

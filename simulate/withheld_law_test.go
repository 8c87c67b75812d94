package simulate_test

import (
	"context"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// leavesWithheld checks at each start that the pool holds no more than what is not
// withheld, and that no running job loses its GPUs.
type leavesWithheld struct {
	t     *rapid.T
	steps []simulate.Withheld
	total int64
	free  int // first jobs that start whatever is withheld
}

func (w *leavesWithheld) Observe(e simulate.Event, c *simulate.Cluster) {
	if e.Kind != simulate.Start {
		return
	}
	if w.free > 0 {
		w.free--
		return
	}
	withheld := int64(0)
	for _, s := range w.steps {
		if s.At <= e.At {
			withheld = s.Milli
		}
	}
	if c.HeldMilli(0) > w.total-withheld {
		w.t.Fatalf("job %s starts at %d: %d held of %d with %d withheld", e.Job.ID, e.At, c.HeldMilli(0), w.total, withheld)
	}
	if c.WithheldMilli(0) != withheld {
		w.t.Fatalf("the cluster withholds %d at %d, want %d", c.WithheldMilli(0), e.At, withheld)
	}
}

// Capacity is withheld for some time under every policy and placement, and some jobs run
// when the run begins. Each job finishes once all capacity is back, nothing starts on
// what is withheld, and what is free of it is down and not idle (Run balances the ledger).
func TestWithheldCapacityKeepsTheBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := capcli.Seed(rapid.Uint64().Draw(t, "seed")).Stream("jobs")
		var jobs []capcli.Job
		at := capcli.Time(0)
		const seeded = 3
		for i := range 60 {
			if i >= seeded {
				at += capcli.Time(rng.IntN(1500))
			}
			jobs = append(jobs, capcli.Job{
				ID: strconv.Itoa(i), Tenant: strconv.Itoa(i % 3), Submit: at, Deadline: capcli.NoTime,
				GPUs: 1 + rng.IntN(8), Run: capcli.Seconds(1 + rng.IntN(20_000)), Limit: capcli.Seconds(rng.IntN(30_000)),
			})
		}
		pool := simulate.Pool{Name: "p", Nodes: 4, GPUsPerNode: 8}
		when := capcli.Seconds(0)
		for range 1 + rng.IntN(12) {
			pool.Withheld = append(pool.Withheld, simulate.Withheld{At: when, Milli: 1000 * int64(rng.IntN(33))})
			when += capcli.Seconds(1 + rng.IntN(9000))
		}
		pool.Withheld = append(pool.Withheld, simulate.Withheld{At: when, Milli: 0})
		name := rapid.SampledFrom(policy.Catalog.Names()).Draw(t, "policy")
		p, err := policy.Catalog.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		place, err := placement.Catalog.Get(rapid.SampledFrom(placement.Catalog.Names()).Draw(t, "placement"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, List: jobs, Policy: p, Placement: place(), Pools: []simulate.Pool{pool}, Seeded: seeded,
			Observers: []simulate.Observer{&leavesWithheld{t: t, steps: pool.Withheld, total: 32_000, free: seeded}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if int(res.Jobs.Finished) != len(jobs) {
			t.Fatalf("%s: %d of %d jobs finished", name, res.Jobs.Finished, len(jobs))
		}
		var down, want capcli.GPUTime
		for _, m := range res.Record.Months {
			for _, s := range m.Pools {
				if s.Idle < 0 || s.Blocked < 0 || s.Down < 0 {
					t.Fatalf("%s: a part below 0: %+v", name, s)
				}
				down += s.Down
			}
		}
		for i, s := range pool.Withheld[:len(pool.Withheld)-1] {
			want += capcli.GPUTime(s.Milli * int64(min(res.Ended, pool.Withheld[i+1].At)-min(res.Ended, s.At)))
		}
		if down > want {
			t.Fatalf("%s: %d down, but only %d was withheld", name, down, want)
		}
	})
}

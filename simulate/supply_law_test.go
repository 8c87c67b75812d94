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
	"capcli/simulate/supply"
)

// holdings checks at each event that no gang has a part on a node that is gone,
// and that each has all its GPUs or none.
type holdings struct {
	t    *rapid.T
	gone map[int]bool // nodes by index in the cluster
}

func (h *holdings) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Lose:
		h.gone[e.Node] = true
	case simulate.Gain:
		delete(h.gone, e.Node)
	case simulate.Start, simulate.Finish:
		gpus := 0
		for _, s := range e.Job.Slices() {
			if gpus += int(s.GPUs); h.gone[int(s.Node)] {
				h.t.Fatalf("%s of job %s at %d on node %d, which is gone", e.Kind, e.Job.ID, e.At, s.Node)
			}
		}
		if gpus != e.Job.GPUs {
			h.t.Fatalf("job %s wants %d GPUs and has %d", e.Job.ID, e.Job.GPUs, gpus)
		}
	default:
	}
}

// Nodes come and go by chance and by a history, with and without notice, under
// every policy, placement and
// mode of restart. All jobs finish all the same, no gang outlives a part
// of it, the ledger balances (Run checks that itself), and of the time held
// every second was work that counted or is told as lost.
func TestLossesKeepTheBooks(t *testing.T) {
	losses := int64(0)
	rapid.Check(t, func(t *rapid.T) {
		seed := capcli.Seed(rapid.Uint64().Draw(t, "seed"))
		rng := seed.Stream("jobs")
		var jobs []capcli.Job
		at := capcli.Time(0)
		for i := range 60 {
			at += capcli.Time(rng.IntN(2000))
			jobs = append(jobs, capcli.Job{
				ID: strconv.Itoa(i), Tenant: strconv.Itoa(i % 3), Submit: at, Deadline: capcli.NoTime,
				GPUs: 1 + rng.IntN(16), Run: capcli.Seconds(1 + rng.IntN(20_000)),
			})
		}
		notice := rapid.SampledFrom([]capcli.Seconds{0, 120, 1800}).Draw(t, "notice")
		history := supply.Availability{Gap: 600}
		for range 50 {
			history.Counts = append(history.Counts, rng.IntN(5))
		}
		class := simulate.RestartClass{Interval: rapid.SampledFrom([]capcli.Seconds{0, 600}).Draw(t, "interval"), Cost: 20, Restart: 45}
		mode := rapid.SampledFrom([]simulate.Mode{simulate.Suspend, simulate.Checkpoint, simulate.Scratch}).Draw(t, "mode")
		policy, err := policy.Catalog.Get(rapid.SampledFrom(policy.Catalog.Names()).Draw(t, "policy"))
		if err != nil {
			t.Fatal(err)
		}
		placement, err := placement.Catalog.Get(rapid.SampledFrom(placement.Catalog.Names()).Draw(t, "placement"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, Jobs: stream(jobs), Policy: policy, Placement: placement(),
			Observers: []simulate.Observer{&holdings{t: t, gone: map[int]bool{}}},
			Pools: []simulate.Pool{
				{Name: "base", Terms: simulate.Reserved, Nodes: 2, GPUsPerNode: 8, Supply: supply.NewHazard(2, 40_000, 3000, notice, seed.Stream("base"))},
				{Name: "spot", Terms: simulate.Spot, Nodes: 4, GPUsPerNode: 8, MinBilling: 60, Lead: 30, Supply: supply.NewAvailability(history, 4, supply.Following{Notice: notice, Repeat: true})},
				{Name: "flex", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 16, Rank: 1},
			},
			Overflow: simulate.Overflow{Patience: []simulate.Patience{{Wait: 4000}}},
			Restarts: simulate.Restarts{Mode: mode, Classes: []simulate.RestartClass{class}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var used capcli.GPUTime
		for _, m := range res.Record.Months {
			for _, p := range m.Pools {
				used += p.Used
			}
		}
		if res.Jobs.Finished != 60 || used != res.Goodput+res.Redone {
			t.Fatalf("%d of 60 jobs finished; held %d, of which %d counted and %d was lost", res.Jobs.Finished, used, res.Goodput, res.Redone)
		}
		losses += res.Jobs.Losses
	})
	if losses < 100 {
		t.Errorf("%d losses in all the runs, too few to say anything", losses)
	}
}

package simulate_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/testdata/golden"
)

// patientSeen is what a replication says of jobs that wait for committed GPUs
// and then go on: the share that went on, the waits of those that stayed, and
// the load that the committed GPUs carried.
type patientSeen struct {
	skip, jobs, burst, waited int
	waits, carried            float64
}

func (w *patientSeen) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind != simulate.Start {
		return
	}
	if w.skip--; w.skip >= 0 {
		return
	}
	w.jobs++
	if e.Job.Slices()[0].Pool > 0 {
		w.burst++
		return
	}
	wait := float64(e.At - e.Job.Submitted)
	w.waits += wait
	if wait > 0 {
		w.waited++
	}
	w.carried += float64(e.Job.Run)
}

// patientRuns plays M/M/k with patience many times: k reserved GPUs, jobs on one
// GPU at a load of a, and on-demand capacity without end for those that waited
// patience, in units of the mean run time.
func patientRuns(t *testing.T, jobs, k int, a, patience float64) []patientSeen {
	t.Helper()
	out := make([]patientSeen, replications)
	for r := range out {
		out[r].skip = jobs / 10
		// One stream for all k and patience: the same jobs for each.
		rng := capcli.Seed(2028).Child(r).Stream("patience")
		_, err := simulate.Run(context.Background(), simulate.Config{
			Jobs: oneGPUJobs(jobs, service/a, rng, exponentialRun), Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
			Pools: []simulate.Pool{
				{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: k},
				{Name: "flex", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 1_000_000},
			},
			Overflow:  simulate.Overflow{Patience: []simulate.Patience{{Wait: capcli.Seconds(patience * service)}}},
			Observers: []simulate.Observer{&out[r]},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// M/M/k+D: jobs that wait for one of k GPUs, first come, first served, and go on
// demand when their patience T ends. The chance of it, the wait of the others
// and how busy the k are follow from the density of the virtual wait (see
// Patient); at T = 0 it is Erlang's loss system, and so is the first row.
func TestBurstUnderPatience(t *testing.T) {
	if golden.Short() {
		t.Skip("closed forms want long runs")
	}
	const a = 10
	for i, c := range []struct {
		k        int
		patience float64
		burst    float64 // to the digits that the derivation was worked out to
		jobs     int
	}{
		{10, 0, 0.214582, 30_000}, {8, 1, 0.211714, 30_000}, {10, 0.25, 0.139661, 30_000}, {10, 1, 0.068212, 40_000}, {12, 1, 0.010678, 80_000}, {9, 4, 0, 40_000},
	} {
		if i%2 != 0 && !golden.Full() {
			continue
		}
		name := fmt.Sprintf("M/M/%d, patience %g:", c.k, c.patience)
		want := Patient{K: c.k, Load: a, Patience: c.patience}.Wait()
		if c.burst > 0 && math.Abs(want.Burst-c.burst) > 5e-7 {
			t.Errorf("%s the formula gives %.6f, want %.6f", name, want.Burst, c.burst)
		}
		var burst, wait, util []float64
		for _, r := range patientRuns(t, c.jobs, c.k, a, c.patience) {
			burst = append(burst, float64(r.burst)/float64(r.jobs))
			wait = append(wait, r.waits/float64(r.jobs-r.burst)/service)
			// The load carried is that of the jobs that stayed: a lambda's worth
			// of time holds as many arrivals.
			util = append(util, r.carried/service*a/float64(r.jobs)/float64(c.k))
		}
		insideInterval(t, name+" burst", burst, want.Burst, 0)
		insideInterval(t, name+" utilisation", util, want.Utilisation, 0)
		if c.patience > 0 {
			insideInterval(t, name+" wait of the served", wait, want.MeanServed, 1/service)
		}
	}
}

// The number of GPUs to commit to, by the same formulas, is what costs least in
// the simulator too: on the same jobs, one GPU more or less costs more.
func TestBestCountUnderPatience(t *testing.T) {
	if golden.Short() {
		t.Skip("closed forms want long runs")
	}
	const a, jobs = 10, 15_000
	for i, c := range []struct {
		share, patience, cost float64 // share: a committed GPU-hour's price over one on demand
		k                     int
	}{
		{0.45, 0, 6.582323, 11},
		{0.6, 0, 8.132079, 9},
		{0.8, 0, 9.639522, 5},
		{0.6, 0.25, 7.375281, 9},
		{0.6, 1, 6.682118, 10},
		{0.6, 4, 6.223913, 10},
	} {
		if i%3 != 2 && !golden.Full() {
			continue
		}
		costs := func(k int) []float64 {
			var out []float64
			for _, r := range patientRuns(t, jobs, k, a, c.patience) {
				out = append(out, c.share*float64(k)+a*float64(r.burst)/float64(r.jobs))
			}
			return out
		}
		best := costs(c.k)
		insideInterval(t, fmt.Sprintf("cost at %g, patience %g", c.share, c.patience), best, c.cost, 0)
		for _, other := range []int{c.k - 1, c.k + 1} {
			var more []float64
			for r, v := range costs(other) {
				more = append(more, v-best[r])
			}
			mean, half := interval(more)
			t.Logf("at %g, patience %g: %d GPUs cost %.4f ± %.4f more than %d", c.share, c.patience, other, mean, half, c.k)
			if mean+half < 0 {
				t.Errorf("at %g, patience %g: %d GPUs cost %.4f ± %.4f less than %d", c.share, c.patience, other, -mean, half, c.k)
			}
		}
	}
}

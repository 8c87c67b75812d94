package scenarios

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/simulate"
	"capcli/testdata/golden"
)

// storySeeds are the seeds over which the claims of the stories are made.
const storySeeds = 8

// ruleSeeds are the first seeds, over which the rules of queue-collapse are compared.
const ruleSeeds = 4

// turnaround adds up the turnaround of finished jobs by the month of their submission, and the waits of small
// ones: at most 4 GPUs, under an hour.
type turnaround struct {
	sum, jobs        [12]float64
	waits, smallJobs float64
}

// Observe implements simulate.Observer.
func (m *turnaround) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Finish {
		k := int(e.Job.Submitted / (30 * capcli.Day))
		m.sum[k] += float64(e.Job.Ended - e.Job.Submitted)
		m.jobs[k]++
		if e.Job.GPUs <= 4 && e.Job.Run < capcli.Hour {
			m.waits += float64(e.Job.FirstStart - e.Job.Submitted)
			m.smallJobs++
		}
	}
}

// smallWait returns the mean wait of small jobs.
func (m *turnaround) smallWait() float64 { return m.waits / m.smallJobs }

// meanOf returns the mean turnaround of jobs submitted in months from to to, in hours.
func (m *turnaround) meanOf(from, to int) float64 {
	var sum, n float64
	for k := from; k <= to; k++ {
		sum, n = sum+m.sum[k], n+m.jobs[k]
	}
	return sum / n / 3600
}

// playWatched plays a scenario of the library with an observer.
func playWatched(t *testing.T, o simulate.Observer, name string, overrides ...string) *simulate.Result {
	t.Helper()
	b, _ := Library(name)
	s, err := Parse(name+".yaml", b, overrides...)
	if err != nil {
		t.Fatal(err)
	}
	jobs, _ := s.Generated(Options{Seed: s.Seed})
	c, err := s.Config(jobs, Options{Seed: s.Seed})
	if err != nil {
		t.Fatal(err)
	}
	c.Observers = append(c.Observers, o)
	r, err := simulate.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// slowdownIndex returns Jain's index of the tenants' mean bounded slowdowns.
func slowdownIndex(r *simulate.Result) float64 {
	return *outcome.FairnessOf(r.Tenants, make([]capcli.GPUTime, len(r.Tenants))).Slowdown
}

func seedSet(seed int) string { return fmt.Sprintf("seed=%d", seed+1) }

// Half a year at the same load: first come, first served works until jobs grow and teams hoard.
// Nobody's capacity changes, only the rules.
func TestQueueCollapse(t *testing.T) {
	golden.SkipLong(t)
	var growth, before []float64
	after := map[string]float64{} // mean turnaround of May and June, by rule, over the seeds
	rules := []struct {
		name string
		sets []string
	}{
		{"backfill", []string{"policy=easy"}},
		{"limit", []string{"each_tenant={gpus: 24}"}},
		{"hoard", []string{"each_tenant={hoard: {gpus: 12, for: 12h}}"}},
		{"fair", []string{"policy=fair"}},
		{"both", []string{"policy=slurm"}},
		{"all", []string{"policy=slurm", "each_tenant={gpus: 24}"}},
		{"sla-fair", []string{"policy=sla-fair"}},
	}
	less := map[string][]float64{} // by how much small jobs wait less than under fifo
	var fairer []float64           // sla-fair against fifo
	for seed := range storySeeds {
		var m turnaround
		r := playWatched(t, &m, "queue-collapse", seedSet(seed))
		checkNear(t, "load", r.Loads[0].Offered(), 0.855, 0.04)
		growth, before = append(growth, m.meanOf(4, 6)/m.meanOf(0, 2)), append(before, m.meanOf(0, 2))
		if seed >= ruleSeeds {
			continue
		}
		after["fifo"] += m.meanOf(4, 6)
		for _, rule := range rules {
			var x turnaround
			ruled := playWatched(t, &x, "queue-collapse", append([]string{seedSet(seed)}, rule.sets...)...)
			after[rule.name] += x.meanOf(4, 6)
			less[rule.name] = append(less[rule.name], 1-x.smallWait()/m.smallWait())
			if rule.name == "sla-fair" {
				fairer = append(fairer, slowdownIndex(ruled)/slowdownIndex(r)-1)
			}
		}
	}
	slices.Sort(growth)
	slices.Sort(before)
	t.Logf("growth %.1f, before %.1f h, after %v", growth, before, after)
	if before[storySeeds-1] > 2.5 {
		t.Errorf("first come, first served does not work at first: turnaround %.1f h", before)
	}
	checkNear(t, "smallest growth", growth[0], 2.4, 0.1)
	checkNear(t, "largest growth", growth[storySeeds-1], 19.6, 0.2)
	checkNear(t, "median growth: +400 %", (growth[3]+growth[4])/2, 5.4, 0.2)
	for name, want := range map[string]float64{"backfill": 0.46, "limit": 0.42, "hoard": 0.8, "fair": 0.13, "both": 0.14, "all": 0.17, "sla-fair": 0.14} {
		checkNear(t, name+", turnaround over that of fifo", after[name]/after["fifo"], want, 0.02)
	}
	checkSpread(t, "small jobs wait less with backfill", less["backfill"], 0.494, 0.59, 0.641, 0.02)
	checkSpread(t, "with fair share", less["fair"], 0.924, 0.944, 0.956, 0.01)
	checkSpread(t, "with both", less["both"], 0.946, 0.951, 0.964, 0.01)
	checkSpread(t, "fairness of slowdowns, sla-fair over fifo", fairer, 0.853, 0.956, 1.005, 0.02)
	checkSpread(t, "with sla-fair", less["sla-fair"], 0.945, 0.951, 0.953, 0.01)
}

// The mix against each "before". Shares are in per cent of the cost before.
func TestThreeTierBefore(t *testing.T) {
	for seed := range storySeeds {
		set := seedSet(seed)
		mix, before, reserved := play(t, "three-tier", set), play(t, "three-tier-before", set), play(t, "three-tier-reserved", set)
		change := func(o played) float64 { return mix.inv.Total.Cost.Float()/o.inv.Total.Cost.Float() - 1 }
		checkNear(t, "against rented and never given back", change(before), -0.563, 0.015)
		if c := change(before); c > -0.52 {
			t.Errorf("seed %d: the mix saves %.1f %%, the published 52 %% are not reached", seed+1, -100*c)
		}
		checkNear(t, "against reserved for a year", change(reserved), -0.305, 0.02)
		checkNear(t, "against the same hours on demand", mix.savings(t), 0.38, 0.015)
		long := play(t, "three-tier-reserved", set, "capacity.shared.price=1.285709 USD/gpu-h", "capacity.shared.term=3y")
		checkNear(t, "against reserved for three years", change(long), 0.25, 0.03)
		if idle := before.inv.Total.Stranded().Float() / before.inv.Total.Cost.Float(); idle < 0.27 || idle > 0.32 {
			t.Errorf("before, %.3f of the cost is for idle GPUs", idle)
		}
		if was, now := before.r.Services[0].Missing.Hours(), mix.r.Services[0].Missing; was < 14 || was > 37 || now > 0 {
			t.Errorf("seed %d: replicas of inference lacked %.1f GPU-hours before and %.1f now", seed+1, was, now.Hours())
		}
		if a, b := tenantOf(t, before, "research").Wait.Mean, tenantOf(t, mix, "research").Wait.Mean; b < 2*a {
			t.Errorf("seed %d: research waited %.0f s before and %.0f s now", seed+1, a, b)
		}
	}
}

// Reserving a half of the peak of inference too saves more than 52 % against the same hours on demand.
func TestThreeTierServing(t *testing.T) {
	b, _ := Library("three-tier")
	const from = "  - {name: inference, kind: on_demand"
	text := strings.Replace(string(b), from, "  - {name: serving, kind: reserved, partition: inference, gpu_model: A100, gpus: 80, term: 3y, price: 1.285709, on_demand_price: 3.673385}\n"+from, 1)
	x := playText(t, "three-tier", []byte(text))
	checkNear(t, "savings rate", x.savings(t), 0.53, 0.01)
}

func tenantOf(t *testing.T, o played, name string) *simulate.TenantResult {
	t.Helper()
	i := slices.IndexFunc(o.r.Tenants, func(x simulate.TenantResult) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("no tenant %s", name)
	}
	return &o.r.Tenants[i]
}

// The board's own answer beside the alternatives.
func TestBoardDecisionMix(t *testing.T) {
	for seed := range storySeeds {
		x := play(t, "board-decision-mix", seedSet(seed))
		cost := x.inv.Total.Cost.Float() / 1e6
		checkNear(t, "cost, in millions", cost, 20.1, 0.05)
		checkNear(t, "against all on demand", 1-cost/27.7056, 0.274, 0.005)
		checkNear(t, "reserved is used", x.inv.ByPool[0].Time.Used.Hours(), 140*1096*24, 0)
		spot := x.inv.ByPool[2].Cost.Float() / 1e6
		checkNear(t, "saved on the run, in millions", 1800*92*24*3/1e6-spot, 5.4, 0.1)
		checkNear(t, "redone", x.r.Redone.Hours()/(1800*92*24), 0.05, 0.01)
		late := x.r.Tenants[slices.IndexFunc(x.r.Tenants, func(r simulate.TenantResult) bool { return r.Name == "burst" })].Wait.Max
		if late < 7*capcli.Day || late > 16*capcli.Day {
			t.Errorf("the last job of the run starts %s late", late)
		}
	}
	all := play(t, "board-decision-mix", "capacity.reserved.gpus=200")
	base := play(t, "board-decision-mix")
	checkNear(t, "all of the baseline reserved saves, in millions", (base.inv.Total.Cost-all.inv.Total.Cost).Float()/1e6, 60*1096*24*0.6/1e6, 0.001)
}

// A year in which the need is 3 to 5 times the commitment: what it cost, what waited, what an option
// would have been worth.
func TestFailedReservation(t *testing.T) {
	golden.SkipLong(t)
	for seed := range 2 {
		set := seedSet(seed)
		failed, demand, option := play(t, "failed-reservation", set), play(t, "failed-reservation-ondemand", set), play(t, "failed-reservation-option", set)
		peak := demand.inv.Total.Time.Used.Hours() // of the year; 225 GPUs on average from April on
		checkNear(t, "GPUs used after March over those committed", (peak-52*90*24)/(275*24)/64, 3.5, 0.25)
		checkNear(t, "cost, in millions", failed.inv.Total.Cost.Float()/1e6, 2.86, 0.03)
		checkNear(t, "undone", failed.r.Served.UnservedShare(), 0.40, 0.03)
		checkNear(t, "never started", float64(failed.r.Wait.NeverStarted())/float64(failed.r.Wait.Jobs), 0.34, 0.05)
		use, _ := failed.inv.Utilisation()
		checkNear(t, "the commitment is used", use, 0.92, 0.02)
		checkNear(t, "all on demand, in millions", demand.inv.Total.Cost.Float()/1e6, 5.2, 0.3)
		checkNear(t, "of it at the full price", demand.inv.ByTier[billing.OnDemand].Cost.Float()/demand.inv.Total.Cost.Float(), 0.75, 0.02)
		worth := (demand.inv.Total.Cost - option.inv.Total.Cost).Float()
		checkNear(t, "worth of the option for each hour of its GPUs", worth/(128*275*24), 0.95, 0.06)
		for _, o := range []played{demand, option} {
			if o.r.Served.UnservedShare() > 0.001 {
				t.Errorf("%s leaves %.4f undone", o.s.Name, o.r.Served.UnservedShare())
			}
		}
	}
}

package simulate_test

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/testdata/golden"

	"pgregory.net/rapid"
)

// auditor replays every Start, Finish and Preempt on books of its own: no GPU,
// CPU or MiB is held twice, and no job runs where it may not.
type auditor struct {
	t     testing.TB
	pools []simulate.Pool
	gpus  map[[2]int32]int64           // thousandths in use by pool and node
	whole map[[2]int32]map[int32]int64 // shares in use by device
	cpu   map[[2]int32]int64
	mem   map[[2]int32]int64
	used  map[string]int // GPUs by tenant
	quota map[string]int
	log   strings.Builder
	fault string
	ends  map[string]int
	kill  bool
}

func (a *auditor) failf(format string, args ...any) {
	if a.fault == "" {
		a.fault = fmt.Sprintf(format, args...)
	}
}

func (a *auditor) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil {
		fmt.Fprintln(&a.log, e.At, e.Kind, e.Pool, e.Node)
		return
	}
	fmt.Fprintln(&a.log, e.At, e.Kind, e.Job.ID, e.Job.Slices())
	sign := int64(0)
	switch e.Kind {
	case simulate.Start:
		sign = 1
		a.used[e.Job.Tenant] += e.Job.GPUs
		if q := a.quota[e.Job.Tenant]; q > 0 && a.used[e.Job.Tenant] > q {
			a.failf("%s holds %d GPUs over a quota of %d", e.Job.Tenant, a.used[e.Job.Tenant], q)
		}
	case simulate.Finish, simulate.Preempt:
		sign = -1
		a.used[e.Job.Tenant] -= e.Job.GPUs
		if e.Kind == simulate.Finish {
			a.ends[e.Job.ID]++
			if held := e.At - e.Job.Since; a.kill && e.Job.Limit > 0 && held > e.Job.Limit {
				a.failf("%s held its GPUs for %d s, its limit is %d s", e.Job.ID, held, e.Job.Limit)
			}
		}
	default:
		return
	}
	var milli int64
	for _, s := range e.Job.Slices() {
		a.book(e.At, e.Job.ID, e.Job.Partition, s, sign)
		milli += int64(s.GPUs)*1000 + int64(s.Milli)
		if s.Pool != e.Job.Slices()[0].Pool {
			a.failf("%s is split over two pools", e.Job.ID)
		}
	}
	if milli != e.Job.Milli() {
		a.failf("%s holds %d thousandths, wants %d", e.Job.ID, milli, e.Job.Milli())
	}
}

// book books what a holder gets (sign 1) or gives back (-1).
func (a *auditor) book(now capcli.Seconds, id, partition string, s simulate.Slice, sign int64) {
	at := [2]int32{s.Pool, s.Node}
	p := &a.pools[s.Pool]
	if p.Partition != "" && p.Partition != partition {
		a.failf("%s of partition %q runs in that of %q", id, partition, p.Partition)
	}
	a.gpus[at] += sign * (int64(s.GPUs)*1000 + int64(s.Milli))
	a.cpu[at] += sign * s.CPUMilli
	a.mem[at] += sign * s.MemMiB
	if s.Milli > 0 && p.GPUsPerNode <= 64 {
		if a.whole[at] == nil {
			a.whole[at] = map[int32]int64{}
		}
		a.whole[at][s.Device] += sign * int64(s.Milli)
		if a.whole[at][s.Device] > 1000 {
			a.failf("GPU %d of node %d is shared beyond itself", s.Device, s.Node)
		}
	}
	shared := int64(0) // GPUs that shares make unusable as wholes
	for _, m := range a.whole[at] {
		if m > 0 {
			shared += 1000 - m
		}
	}
	if a.gpus[at]+shared > int64(p.GPUsPerNode)*1000 || a.gpus[at] < 0 {
		a.failf("node %d of %s has %d GPUs, %d thousandths are held at %d", s.Node, p.Name, p.GPUsPerNode, a.gpus[at], now)
	}
	if (p.CPUMilli > 0 && a.cpu[at] > p.CPUMilli) || (p.MemMiB > 0 && a.mem[at] > p.MemMiB) {
		a.failf("node %d of %s has its CPUs or memory held twice", s.Node, p.Name)
	}
}

// comings is a supply of its own, drawn before the run.
type comings struct {
	changes []simulate.Change
}

func (c *comings) Next() (simulate.Change, bool) {
	if len(c.changes) == 0 {
		return simulate.Change{}, false
	}
	next := c.changes[0]
	c.changes = c.changes[1:]
	return next, true
}

// world is one drawn run, which can be played again.
type world struct {
	pools   []simulate.Pool
	supply  map[int][]simulate.Change
	jobs    []capcli.Job
	tenants []simulate.Tenant
	set     simulate.Settings
	over    simulate.Overflow
	restart simulate.Restarts
	each    simulate.Caps
	guard   capcli.Seconds
	classes []simulate.PriorityClass
	base    capcli.Time // time 0
	cpuJobs bool
	kill    bool                   // at the limit
	change  func(*simulate.Config) // further settings of a run; nil is none
}

func drawWorld(t *rapid.T) world {
	w := world{supply: map[int][]simulate.Change{}}
	partitions := rapid.SampledFrom([][]string{{""}, {"", "x"}, {"x", "y"}}).Draw(t, "partitions")
	models := rapid.SampledFrom([][]string{{""}, {"A", "B"}}).Draw(t, "models")
	withHost := rapid.Bool().Draw(t, "cpus and memory")
	for i := range rapid.IntRange(1, 4).Draw(t, "pools") {
		p := simulate.Pool{
			Name: fmt.Sprint("p", i), Terms: rapid.SampledFrom([]simulate.Terms{simulate.Owned, simulate.Reserved, simulate.OnDemand, simulate.Spot}).Draw(t, "terms"),
			Partition: rapid.SampledFrom(partitions).Draw(t, "partition"), GPUModel: rapid.SampledFrom(models).Draw(t, "model"),
			Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"), GPUsPerNode: rapid.SampledFrom([]int{1, 2, 4, 8, 100}).Draw(t, "gpus"),
			Rank: rapid.IntRange(0, 2).Draw(t, "rank"),
		}
		if withHost && rapid.Bool().Draw(t, "limits") {
			p.CPUMilli, p.MemMiB = int64(p.GPUsPerNode)*4000, int64(p.GPUsPerNode)*1024
		}
		p.From = capcli.Seconds(rapid.SampledFrom([]int{0, 0, 0, 25}).Draw(t, "from"))
		if !p.Terms.Committed() {
			p.Lead = capcli.Seconds(rapid.SampledFrom([]int{0, 0, 7}).Draw(t, "lead"))
			p.MinBilling = capcli.Seconds(rapid.SampledFrom([]int{0, 60}).Draw(t, "minimum"))
			p.PaidLead = rapid.Bool().Draw(t, "paid lead")
		}
		if rapid.IntRange(0, 2).Draw(t, "fails") == 0 {
			w.supply[i] = drawChanges(t, p.Nodes)
		}
		w.pools = append(w.pools, p)
	}
	w.cpuJobs, w.kill = rapid.Bool().Draw(t, "cpu jobs"), rapid.Bool().Draw(t, "kill at limit")
	w.base = rapid.SampledFrom([]capcli.Time{0, 86400 - 60}).Draw(t, "base")
	w.jobs = drawJobs(t, partitions, models, withHost, w.base)
	w.tenants = []simulate.Tenant{{Name: "a", Weight: 2, Quota: rapid.SampledFrom([]int{0, 4, 9}).Draw(t, "quota")}}
	w.set = simulate.Settings{
		Perfect: rapid.Bool().Draw(t, "perfect"), Skip: rapid.Bool().Draw(t, "skip"), ByGPUs: rapid.Bool().Draw(t, "by gpus"),
		BySubmit: rapid.Bool().Draw(t, "by submit"), Round: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 10}).Draw(t, "round")),
		Choices: map[string]string{
			"late": rapid.SampledFrom([]string{"keep", "last", "drop"}).Draw(t, "late"), "preempt": strconv.FormatBool(rapid.Bool().Draw(t, "preempt")),
			"strict": strconv.FormatBool(rapid.Bool().Draw(t, "strict")),
		},
		Limits: []capcli.GPUTime{20 * capcli.GPUSecond, 100 * capcli.GPUSecond},
	}
	w.over = simulate.Overflow{
		Patience: []simulate.Patience{
			{MaxRun: 20, PerHour: rapid.SampledFrom([]float64{0, 0.5, 10}).Draw(t, "per hour")},
			{Wait: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 20, -1}).Draw(t, "patience"))},
		},
		QueueMax: rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "queue"),
	}
	w.restart = simulate.Restarts{
		Mode: rapid.SampledFrom([]simulate.Mode{simulate.Suspend, simulate.Checkpoint, simulate.Scratch}).Draw(t, "mode"),
		Classes: []simulate.RestartClass{{
			Interval: capcli.Seconds(rapid.SampledFrom([]int{0, 10}).Draw(t, "interval")), Cost: capcli.Seconds(rapid.SampledFrom([]int{0, 1}).Draw(t, "cost")),
			Restart: capcli.Seconds(rapid.SampledFrom([]int{0, 3}).Draw(t, "restart")),
		}},
	}
	drawRules(t, &w)
	return w
}

func drawJobs(t *rapid.T, partitions, models []string, withHost bool, at capcli.Time) (jobs []capcli.Job) {
	shares := rapid.Bool().Draw(t, "shares")
	for i := range rapid.IntRange(1, 25).Draw(t, "jobs") {
		at += capcli.Time(rapid.SampledFrom([]int{0, 0, 1, 5, 30}).Draw(t, "gap"))
		j := capcli.Job{
			ID: fmt.Sprint("j", i), Submit: at, Run: capcli.Seconds(rapid.IntRange(0, 60).Draw(t, "run")), GPUs: rapid.IntRange(0, 20).Draw(t, "gpus"),
			Tenant: rapid.SampledFrom([]string{"a", "b", "b/c"}).Draw(t, "tenant"), Partition: rapid.SampledFrom(partitions).Draw(t, "partition"),
			GPUModel: rapid.SampledFrom(append(slices.Clone(models), "A|B")).Draw(t, "model"), Priority: rapid.IntRange(0, 3).Draw(t, "priority"), Deadline: capcli.NoTime,
		}
		if rapid.Bool().Draw(t, "limited") {
			j.Limit = capcli.Seconds(rapid.IntRange(1, 90).Draw(t, "limit"))
		}
		if rapid.Bool().Draw(t, "due") {
			j.Deadline = at + capcli.Time(rapid.IntRange(1, 200).Draw(t, "deadline"))
		}
		if shares && rapid.Bool().Draw(t, "share") {
			j.GPUs, j.GPUMilli = 1, rapid.IntRange(1, 1000).Draw(t, "milli")
		}
		if withHost {
			j.CPUMilli, j.MemMiB = int64(rapid.IntRange(0, 5000).Draw(t, "cpu")), int64(rapid.IntRange(0, 1500).Draw(t, "mem"))
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// drawChanges has each loss repaired, so that every job can end.
func drawChanges(t *rapid.T, nodes int) (out []simulate.Change) {
	at := capcli.Seconds(0)
	for range rapid.IntRange(0, 6).Draw(t, "losses") {
		n := rapid.IntRange(0, nodes-1).Draw(t, "node")
		at += capcli.Seconds(rapid.IntRange(1, 40).Draw(t, "after"))
		if rapid.Bool().Draw(t, "notice") {
			out = append(out, simulate.Change{At: at, Kind: simulate.Drain, Node: n})
			at += capcli.Seconds(rapid.IntRange(0, 5).Draw(t, "warning"))
		}
		out = append(out, simulate.Change{At: at, Kind: simulate.Lose, Node: n})
		at += capcli.Seconds(rapid.IntRange(0, 20).Draw(t, "repair"))
		out = append(out, simulate.Change{At: at, Kind: simulate.Gain, Node: n})
	}
	return out
}

func (w *world) play(t testing.TB, newPolicy simulate.NewPolicy, place simulate.Placement, jobs []capcli.Job) (*simulate.Result, *auditor) {
	a := &auditor{
		t: t, pools: w.pools, gpus: map[[2]int32]int64{}, whole: map[[2]int32]map[int32]int64{}, cpu: map[[2]int32]int64{}, mem: map[[2]int32]int64{},
		used: map[string]int{}, quota: map[string]int{}, ends: map[string]int{}, kill: w.kill,
	}
	for _, tn := range w.tenants {
		a.quota[tn.Name] = tn.Quota
	}
	pools := slices.Clone(w.pools)
	for i, changes := range w.supply {
		pools[i].Supply = &comings{slices.Clone(changes)}
	}
	if _, counts := place.(simulate.Counting); counts { // it declares that it does not look at CPUs and memory
		a.pools = slices.Clone(w.pools)
		for i := range a.pools {
			a.pools[i].CPUMilli, a.pools[i].MemMiB = 0, 0
		}
	}
	rules := newRuleBook(a, w)
	cfg := simulate.Config{
		Start: w.base, Pools: pools, EachTenant: w.each, Guard: w.guard, Priorities: w.classes, Jobs: stream(jobs), Policy: newPolicy, Settings: w.set, Placement: place,
		Overflow: w.over, Restarts: w.restart, Tenants: w.tenants, CPUJobs: w.cpuJobs, KillAtLimit: w.kill, Observers: []simulate.Observer{a, rules}, Hourly: true, Timeline: true,
		Charges: evenCharges,
	}
	if w.change != nil {
		w.change(&cfg)
	}
	r, err := simulate.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r, a
}

// checkEnd holds the laws of a run in which every job ends: the auditor found no fault, no job is lost, each
// ended once, and what was used was progress or not.
func (w *world) checkEnd(t *rapid.T, r *simulate.Result, a *auditor) {
	if a.fault != "" {
		t.Fatal(a.fault)
	}
	if c := r.Jobs; c.Waiting != 0 || c.Running != 0 || c.Read != int64(len(w.jobs)) || c.Finished+c.Unplaceable+c.CPUOnly+c.Dropped != c.Read {
		t.Fatalf("jobs are lost: %+v", c)
	}
	if used := usedIn(r.Record); used != r.Goodput+r.Redone {
		t.Fatalf("all jobs ended, and of %d that was used %d was progress and %d was not", used, r.Goodput, r.Redone)
	}
	for id, n := range a.ends {
		if n != 1 {
			t.Fatalf("%s ended %d times", id, n)
		}
	}
}

// checkAgain plays the world once more and compares the events and the record with those of a run.
func (w *world) checkAgain(rt *rapid.T, t *testing.T, pol simulate.NewPolicy, pl simulate.Placement, r *simulate.Result, a *auditor) {
	r2, b := w.play(t, pol, pl, w.jobs)
	if a.log.String() != b.log.String() || fmt.Sprintf("%+v", r.Record.Months) != fmt.Sprintf("%+v", r2.Record.Months) {
		rt.Fatal("the same config gave two different runs")
	}
}

// TestConform holds every policy with every placement to the same laws, on
// drawn worlds: a new file is tested by being there.
func TestConform(t *testing.T) {
	limitDraws(t, 24) // for each of over a hundred pairs
	for _, pol := range policy.Catalog.All() {
		for _, pl := range placement.Catalog.All() {
			t.Run(pol.Name+"/"+pl.Name, rapid.MakeCheck(func(rt *rapid.T) {
				w := drawWorld(rt)
				r, a := w.play(t, pol.Value, pl.Value(), w.jobs)
				w.checkEnd(rt, r, a)
				if c := r.Jobs; c.Preemptions > c.Losses+c.Stops && !pol.Value.Preempts(w.set) {
					rt.Fatalf("%s took GPUs away %d times and does not declare it: see Preemptor", pol.Name, c.Preemptions-c.Losses-c.Stops)
				}
				w.checkAgain(rt, t, pol.Value, pl.Value(), r, a)
				alike(rt, t, &w, pol.Value, pl.Value(), a)
			}))
		}
	}
}

// limitDraws makes property tests draw only golden.Draws(n) cases, unless CAPCLI_LONG=1 or a flag asks
// for another number.
func limitDraws(t *testing.T, n int) {
	checks := flag.Lookup("rapid.checks")
	if os.Getenv("CAPCLI_LONG") == "1" || checks.Value.String() != checks.DefValue {
		return
	}
	set := func(text string) {
		if err := checks.Value.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	set(strconv.Itoa(golden.Draws(n)))
	t.Cleanup(func() { set(checks.DefValue) })
}

// TestOnlyBelieversBelieve plays worlds with and without the limits of their jobs:
// a policy that does not declare that it believes them does the same in both.
func TestOnlyBelieversBelieve(t *testing.T) {
	for _, pol := range policy.Catalog.All() {
		if pol.Value.Believes(simulate.Settings{}) {
			continue
		}
		t.Run(pol.Name, rapid.MakeCheck(func(rt *rapid.T) {
			w := drawWorld(rt)
			w.each = simulate.Caps{}
			for i := range w.classes {
				w.classes[i].Caps, w.classes[i].EachTenant = simulate.Caps{}, simulate.Caps{}
			}
			for i := range w.tenants { // these rules use estimates, whatever the policy
				w.tenants[i].Caps.GPUTime, w.tenants[i].Budget = 0, nil
			}
			w.kill, w.over.Patience = false, w.over.Patience[1:] // these are no policy's, and look at limits
			bare := slices.Clone(w.jobs)
			for i := range bare {
				bare[i].Limit = 0
			}
			_, a := w.play(t, pol.Value, mustPlacement(t, "consolidate"), w.jobs)
			_, b := w.play(t, pol.Value, mustPlacement(t, "consolidate"), bare)
			if a.log.String() != b.log.String() {
				rt.Fatalf("%s looks at the limits of jobs and does not declare it: see Believer", pol.Name)
			}
		}))
	}
}

// usedIn is all the GPU time that was held.
func usedIn(r *simulate.Record) (sum capcli.GPUTime) {
	for _, m := range r.Months {
		for _, p := range m.Pools {
			sum += p.Used
		}
	}
	return sum
}

// alike renames jobs that are equal but for their ids: nothing else changes.
func alike(rt *rapid.T, t testing.TB, w *world, newPolicy simulate.NewPolicy, place simulate.Placement, a *auditor) {
	jobs := slices.Clone(w.jobs)
	name := map[string]string{}
	for i := 0; i+1 < len(jobs); i++ {
		x, y := jobs[i], jobs[i+1]
		x.ID = y.ID
		if x == y {
			name[w.jobs[i].ID], name[w.jobs[i+1].ID] = w.jobs[i+1].ID, w.jobs[i].ID
			jobs[i], jobs[i+1] = jobs[i+1], jobs[i]
			i++
		}
	}
	if len(name) == 0 {
		return
	}
	_, b := w.play(t, newPolicy, place, jobs)
	if unnamed(a.log.String()) != unnamed(b.log.String()) {
		rt.Fatalf("the order of equal lines changed the run (%v)", name)
	}
}

// unnamed is a log without the names of jobs.
func unnamed(log string) uint64 {
	h := fnv.New64a()
	for line := range strings.Lines(log) {
		f := strings.Fields(line)
		if len(f) > 2 && strings.HasPrefix(f[len(f)-1], "j") {
			f = f[:len(f)-1]
		}
		for i := range f {
			if strings.HasPrefix(f[i], "j") {
				f[i] = "j"
			}
		}
		_, _ = h.Write([]byte(strings.Join(f, " ")))
	}
	return h.Sum64()
}

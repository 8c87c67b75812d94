package simulate_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/cause"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// clerk replays what a run did second by second, on books of its own, and says
// for each second of each wait what the causes are by their definition.
type clerk struct {
	world     *world
	placement string
	nodes     []clerkNode
	used      map[string]int
	jobs      map[string]*clerkJob
	order     []*clerkJob
	now       capcli.Seconds
	all       map[cause.Cause]capcli.Seconds // first waits, all jobs that started
	again     map[cause.Cause]capcli.Seconds
}

type clerkNode struct {
	pool                      int
	gpus                      int
	cpu, mem                  int64
	delivered, lost, draining bool
}

type clerkJob struct {
	capcli.Job
	believed  capcli.Seconds
	submitted capcli.Seconds
	waits     bool
	holds     []simulate.Slice
	begins    capcli.Seconds
	begun     bool // its first stay was a stay
	first     map[cause.Cause]capcli.Seconds
	later     map[cause.Cause]capcli.Seconds
	gone      bool // dropped
}

func newClerk(w *world, placement string) *clerk {
	k := &clerk{
		world: w, placement: placement, used: map[string]int{}, jobs: map[string]*clerkJob{},
		all: map[cause.Cause]capcli.Seconds{}, again: map[cause.Cause]capcli.Seconds{},
	}
	for p := range w.pools {
		pool := &w.pools[p]
		for range pool.Nodes {
			k.nodes = append(k.nodes, clerkNode{pool: p, gpus: pool.GPUsPerNode, cpu: pool.CPUMilli, mem: pool.MemMiB, delivered: pool.From == 0})
		}
	}
	return k
}

// Observe lets the seconds pass up to the event and then notes it.
func (k *clerk) Observe(e simulate.Event, _ *simulate.Cluster) {
	k.advanceTo(e.At)
	if e.Job == nil {
		k.node(e)
		return
	}
	j := k.jobs[e.Job.ID]
	switch e.Kind {
	case simulate.Arrive:
		if e.Job.Refused() {
			return
		}
		j = &clerkJob{
			Job: e.Job.Job, believed: e.Job.Believed, submitted: e.At, waits: true,
			first: map[cause.Cause]capcli.Seconds{}, later: map[cause.Cause]capcli.Seconds{},
		}
		k.jobs[j.ID] = j
		k.order = append(k.order, j)
	case simulate.Start:
		j.waits, j.holds = false, slices.Clone(e.Job.Slices())
		j.begins = e.At
		if p := k.world.pools[j.holds[0].Pool]; !p.Terms.Committed() {
			j.begins += p.Lead
		}
		k.hold(j, -1)
	case simulate.Preempt, simulate.Finish:
		k.hold(j, 1)
		j.waits = e.Kind == simulate.Preempt
		j.begun = j.begun || e.At >= j.begins
		j.holds = nil
	case simulate.Drop:
		j.waits, j.gone = false, true
	default:
	}
}

func (k *clerk) hold(j *clerkJob, sign int) {
	k.used[j.Tenant] -= sign * j.GPUs
	for _, s := range j.holds {
		n := &k.nodes[s.Node]
		n.gpus += sign * int(s.GPUs)
		n.cpu += int64(sign) * s.CPUMilli
		n.mem += int64(sign) * s.MemMiB
	}
}

func (k *clerk) node(e simulate.Event) {
	for i := range k.nodes {
		n := &k.nodes[i]
		if e.Kind == simulate.Wake || (e.Node >= 0 && e.Node != i) || (e.Node < 0 && n.pool != e.Pool) {
			continue
		}
		switch {
		case e.Node < 0:
			n.delivered = e.Kind == simulate.Gain
		case e.Kind == simulate.Drain:
			n.draining = true
		case e.Kind == simulate.Lose:
			n.lost, n.draining = true, false
		default:
			n.lost, n.draining = false, false
		}
	}
}

// advanceTo gives each second up to at to its causes.
func (k *clerk) advanceTo(at capcli.Seconds) {
	for ; k.now < at; k.now++ {
		for _, j := range k.order {
			to := j.first
			if j.begun {
				to = j.later
			}
			switch {
			case j.waits:
				to[k.causeOf(j)]++
			case j.holds != nil && k.now < j.begins:
				to[cause.Lead]++
			case j.holds != nil:
				j.begun = true
			}
		}
	}
}

// sums are the waits of jobs that began, and of those that never did.
func (k *clerk) sums(over capcli.Seconds) (told, again, still map[cause.Cause]capcli.Seconds) {
	told, again, still = map[cause.Cause]capcli.Seconds{}, map[cause.Cause]capcli.Seconds{}, map[cause.Cause]capcli.Seconds{}
	for _, j := range k.order {
		var sum capcli.Seconds
		for _, s := range j.first {
			sum += s
		}
		began := j.begun || (j.holds != nil && k.now >= j.begins)
		for c, s := range j.first {
			switch {
			case !began && (j.waits || j.gone):
				still[c] += s
			case began && sum >= over:
				told[c] += s
			}
		}
		for c, s := range j.later {
			again[c] += s
		}
	}
	return told, again, still
}

// patience is how long j waits for committed capacity, negative for ever.
func (k *clerk) patience(j *clerkJob) capcli.Seconds {
	for _, p := range k.world.over.Patience {
		if p.MaxRun == 0 || j.believed <= p.MaxRun {
			return p.Wait + capcli.Seconds(p.PerHour*float64(j.believed)*float64(j.GPUs))
		}
	}
	return 0
}

// causeOf is the definition: each single change that alone would let j start.
func (k *clerk) causeOf(j *clerkJob) cause.Cause {
	tenant := cause.Cause(0)
	for _, t := range k.world.tenants {
		if t.Name == j.Tenant && t.Quota > 0 && k.used[j.Tenant]+j.GPUs > t.Quota {
			tenant = cause.Quota
		}
	}
	reach, later := k.reach(j)
	here := func(n *clerkNode) bool { return n.delivered && !n.lost && !n.draining }
	if k.fits(j, reach, here, true) {
		if tenant != 0 {
			return tenant
		}
		return cause.Order
	}
	var why cause.Cause
	free := 0
	for i := range k.nodes {
		if n := &k.nodes[i]; here(n) && slices.Contains(reach, n.pool) {
			free += n.gpus
		}
	}
	switch {
	case free < j.GPUs:
	case (j.CPUMilli > 0 || j.MemMiB > 0) && k.fits(j, reach, here, false):
		why |= cause.Host
	default:
		why |= cause.Together
	}
	if w := k.patience(j); w >= 0 && k.fits(j, later, here, true) {
		why |= cause.Patience
	}
	why |= k.missing(j, reach)
	for p := range k.world.pools {
		pool := &k.world.pools[p]
		model, part := j.GPUModel == "" || pool.GPUModel == "" || j.GPUModel == "A|B" || j.GPUModel == pool.GPUModel, pool.Partition == "" || pool.Partition == j.Partition
		if pool.Terms.Committed() && model != part && k.fits(j, []int{p}, here, true) {
			why |= map[bool]cause.Cause{true: cause.OtherShare, false: cause.OtherModel}[model]
		}
	}
	if why != 0 {
		return why | tenant
	}
	return k.causeOfHold(reach) | tenant
}

// held names what has no GPU left.
func (k *clerk) causeOfHold(reach []int) cause.Cause {
	terms := map[simulate.Terms]bool{}
	for _, p := range reach {
		terms[k.world.pools[p].Terms] = true
	}
	switch {
	case terms[simulate.OnDemand]:
		return cause.Ceiling
	case terms[simulate.Spot]:
		return cause.SpotShort
	}
	return cause.Capacity
}

func (k *clerk) missing(j *clerkJob, reach []int) cause.Cause {
	var why cause.Cause
	for _, p := range reach {
		back := func(n *clerkNode) bool {
			return n.delivered
		}
		down := cause.Down
		if k.world.pools[p].Terms == simulate.Spot {
			down = cause.SpotGone
		}
		if k.fits(j, []int{p}, back, true) {
			why |= down
		}
		come := func(n *clerkNode) bool { return !n.lost && !n.draining }
		if k.fits(j, []int{p}, come, true) {
			why |= cause.Outside
		}
	}
	return why
}

// reach are the pools that j may use now, and those that it may not use yet.
func (k *clerk) reach(j *clerkJob) (now, later []int) {
	ranks := map[int][]int{}
	for p := range k.world.pools {
		pool := &k.world.pools[p]
		if pool.Partition != "" && pool.Partition != j.Partition {
			continue
		}
		if j.GPUModel != "" && pool.GPUModel != "" && j.GPUModel != "A|B" && j.GPUModel != pool.GPUModel {
			continue
		}
		r := pool.Rank
		if pool.Terms.Committed() {
			r = -1
		}
		ranks[r] = append(ranks[r], p)
	}
	keys := slices.Sorted(maps.Keys(ranks))
	w := k.patience(j)
	for i, r := range keys {
		if i == 0 || w == 0 || (w > 0 && k.now-j.submitted >= w) {
			now = append(now, ranks[r]...)
		} else {
			later = append(later, ranks[r]...)
		}
	}
	return now, later
}

// fits tries the pools one by one, on nodes that ok says are there.
func (k *clerk) fits(j *clerkJob, pools []int, ok func(*clerkNode) bool, host bool) bool {
	for _, p := range pools {
		pool := &k.world.pools[p]
		total, whole, some := 0, 0, 0
		size := pool.GPUsPerNode
		rest := j.GPUs % size
		for i := range k.nodes {
			n := &k.nodes[i]
			if n.pool != p || !ok(n) {
				continue
			}
			total += n.gpus
			one := func(g int) bool {
				cpu := (j.CPUMilli*int64(g) + int64(j.GPUs) - 1) / int64(j.GPUs)
				mem := (j.MemMiB*int64(g) + int64(j.GPUs) - 1) / int64(j.GPUs)
				return n.gpus >= g && (!host || (pool.CPUMilli == 0 || n.cpu >= cpu) && (pool.MemMiB == 0 || n.mem >= mem))
			}
			if j.GPUs <= size && k.placement != "count" && one(j.GPUs) {
				return true
			}
			if one(size) {
				whole++
			}
			if rest > 0 && one(rest) {
				some++
			}
		}
		switch {
		case k.placement == "count":
			if total >= j.GPUs {
				return true
			}
		case j.GPUs > size && whole >= j.GPUs/size && (rest == 0 || some > j.GPUs/size):
			return true
		}
	}
	return false
}

func timesOf(rows []cause.Time) map[cause.Cause]capcli.Seconds {
	out := map[cause.Cause]capcli.Seconds{}
	for _, r := range rows {
		out[r.Cause] = r.Time
	}
	return out
}

// TestWaitsByDefinition holds the recorder against the clerk, and the run
// against itself without a recorder.
func TestWaitsByDefinition(t *testing.T) {
	policies := policy.Catalog.Names()
	met := map[cause.Cause]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		w.withoutRules()
		w.cpuJobs = false
		for i := range w.jobs { // the clerk knows whole GPUs
			w.jobs[i].GPUs, w.jobs[i].GPUMilli = max(w.jobs[i].GPUs, 1), 0
		}
		policy := rapid.SampledFrom(policies).Draw(rt, "policy")
		placement := rapid.SampledFrom([]string{"count", "consolidate", "random", "best"}).Draw(rt, "placement")
		until := capcli.Seconds(rapid.SampledFrom([]int{0, 0, 90}).Draw(rt, "until"))
		over := capcli.Seconds(rapid.SampledFrom([]int{0, 0, 15}).Draw(rt, "over"))
		play := func(o ...simulate.Observer) (*simulate.Result, error) {
			pools := slices.Clone(w.pools)
			for i, changes := range w.supply {
				pools[i].Supply = &comings{slices.Clone(changes)}
			}
			return simulate.Run(context.Background(), simulate.Config{
				Start: 0, Until: until, Pools: pools, Jobs: stream(w.jobs), Policy: mustPolicy(t, policy), Settings: w.set, Placement: mustPlacement(t, placement),
				Overflow: w.over, Restarts: w.restart, Tenants: w.tenants, Observers: o,
			})
		}
		k := newClerk(&w, placement)
		waits := &cause.Waits{Over: over}
		r, err := play(waits, k)
		if err != nil {
			rt.Fatal(err)
		}
		plain, err := play()
		if err != nil {
			rt.Fatal(err)
		}
		if a, b := fmt.Sprintf("%+v %+v", r.Record.Months, r.Jobs), fmt.Sprintf("%+v %+v", plain.Record.Months, plain.Jobs); a != b {
			rt.Fatalf("the recorder changed the run:\n%s\n%s", a, b)
		}
		k.advanceTo(r.Ended)
		told, again, still := k.sums(over)
		var sum, rows capcli.Seconds
		got := map[cause.Cause]capcli.Seconds{}
		for _, row := range waits.Rows() {
			got[row.Cause] = row.Time
			rows += row.Time
			met[row.Cause]++
			checkParts(rt, &row)
		}
		_, _, sum = waits.Jobs()
		if rows != sum {
			rt.Fatalf("rows sum to %d, waits to %d", rows, sum)
		}
		if started, _, _ := waits.Jobs(); over == 0 && (started != r.Wait.Started || started > 0 && float64(sum)/float64(started) != r.Wait.MeanStarted) {
			rt.Fatalf("%d jobs waited %d in all, the result says %d with a mean of %g", started, sum, r.Wait.Started, r.Wait.MeanStarted)
		}
		if !maps.Equal(got, told) {
			rt.Fatalf("first waits (policy %s, placement %s): %v, by definition %v", policy, placement, got, told)
		}
		if got := timesOf(waits.LaterWaits()); !maps.Equal(got, again) {
			rt.Fatalf("later waits (policy %s, placement %s): %v, by definition %v", policy, placement, got, again)
		}
		if _, rows := waits.Unfinished(); !maps.Equal(timesOf(rows), still) {
			rt.Fatalf("waits without end (policy %s, placement %s): %v, by definition %v", policy, placement, timesOf(rows), still)
		}
	})
	if n := flag.Lookup("rapid.checks").Value.(flag.Getter).Get(); n.(int) < 2000 {
		return // too few draws to meet every cause
	}
	for _, c := range (cause.Cause(1)<<14 - 1).Split() {
		n := 0
		for set, times := range met {
			if set&c != 0 {
				n += times
			}
		}
		if n == 0 {
			t.Errorf("no drawn run has met %s", c)
		}
	}
}

// checkParts holds the parts of a row against its time.
func checkParts(t *rapid.T, r *cause.Row) {
	var tenants, models, sizes, days, months capcli.Seconds
	for _, s := range r.Tenants {
		tenants += s
	}
	for _, m := range r.Models {
		models += m.Time
	}
	for _, m := range r.Sizes {
		sizes += m.Time
	}
	for _, s := range r.Weekdays {
		days += s
	}
	for _, m := range r.Months {
		months += m.Time
	}
	if tenants != r.Time || models != r.Time || sizes != r.Time || days != r.Time || months != r.Time {
		t.Fatalf("%s is %d: tenants %d, models %d, sizes %d, days %d, months %d", r.Cause, r.Time, tenants, models, sizes, days, months)
	}
}

// TestWaitsOfAnyJob holds, for shares of GPUs and jobs without any too, that
// the recorder's sums are the run's and that it changes nothing.
func TestWaitsOfAnyJob(t *testing.T) {
	policies, placements := policy.Catalog.Names(), placement.Catalog.Names()
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		w.withoutRules()
		policy := rapid.SampledFrom(policies).Draw(rt, "policy")
		placement := rapid.SampledFrom(placements).Draw(rt, "placement")
		play := func(o ...simulate.Observer) (*simulate.Result, string) {
			pools := slices.Clone(w.pools)
			for i, changes := range w.supply {
				pools[i].Supply = &comings{slices.Clone(changes)}
			}
			var log eventLog
			r, err := simulate.Run(context.Background(), simulate.Config{
				Start: 0, Pools: pools, Jobs: stream(w.jobs), Policy: mustPolicy(t, policy), Settings: w.set, Placement: mustPlacement(t, placement),
				Overflow: w.over, Restarts: w.restart, Tenants: w.tenants, CPUJobs: w.cpuJobs, Observers: append(o, &log),
			})
			if err != nil {
				rt.Fatal(err)
			}
			return r, log.text.String()
		}
		waits := &cause.Waits{}
		r, log := play(waits)
		if _, plain := play(); plain != log {
			rt.Fatal("the recorder changed the run")
		}
		started, told, sum := waits.Jobs()
		var rows capcli.Seconds
		for _, row := range waits.Rows() {
			rows += row.Time
			checkParts(rt, &row)
		}
		if started != r.Wait.Started || told != started || rows != sum || started > 0 && float64(sum)/float64(started) != r.Wait.MeanStarted {
			rt.Fatalf("%d of %d jobs waited %d, rows %d; the run says %d jobs with a mean of %g", told, started, sum, rows, r.Wait.Started, r.Wait.MeanStarted)
		}
	})
}

// eventLog writes down every event.
type eventLog struct{ text strings.Builder }

func (l *eventLog) Observe(e simulate.Event, _ *simulate.Cluster) {
	id, slices := "", []simulate.Slice(nil)
	if e.Job != nil {
		id, slices = e.Job.ID, e.Job.Slices()
	}
	fmt.Fprintln(&l.text, e.At, e.Kind, id, e.Pool, e.Node, slices)
}

package play_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// everything draws scenarios with all that hardware and jobs can be, as YAML: shapes and who chooses, memory,
// instances and sharing of GPUs, racks, failures, spot, bought nodes, workflows and sweeps, services, quotas, caps,
// preemption, checkpoints. Each part is in about half of them.
func everything(rng *rand.Rand) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	some := func(text string) string {
		if rng.IntN(2) == 0 {
			return ""
		}
		return text
	}
	one := func(list ...string) string { return list[rng.IntN(len(list))] }
	racks := some(", domains: [{level: rack, nodes: 2}]")
	line("capcli: scenario/v1\nname: everything\nseed: %d\nperiod: 2027-01-04 to 2027-01-0%d", rng.IntN(1000), 5+rng.IntN(3))
	line("capacity:")
	line("  - {name: h, kind: owned, nodes: 4, gpus_per_node: 8, gpu_model: H100, price: 2.10%s%s%s}", racks,
		some(", failures: {mtbf: 4d, repair: 3h}"), some(", store_gib_per_s: 40"))
	line("  - {name: a, kind: reserved, nodes: 3, gpus_per_node: 8, gpu_model: A100, gpu_mem_gb: 80, price: 1.10%s%s}", racks,
		one("", ", mig: {gpu: A100-80GB, reslice: 30s}", ", sharing: {most: 4, slowdown: [1, 1.2, 1.5]}"))
	line("  - {name: od, kind: on_demand, gpu_model: %s, price: 3.90%s%s}", one("H100", "A100"), some(", lead_time: 5m"), some(", min_billing: 10m")+some(", max_gpus: 24"))
	if rng.IntN(2) == 0 {
		line("  - {name: sp, kind: spot, nodes: 3, gpus_per_node: 8, gpu_model: A100, price: 0.60, hazard: {mean_up: 1d, mean_down: 2h%s}}", some(", notice: 2m"))
	}
	if rng.IntN(2) == 0 {
		line("  - {name: vm, kind: on_demand, nodes: 4, gpus_per_node: 8, gpu_model: H100, price: 4.20, buy: {lead_time: 4m, idle: 10m%s}}", some(", warm: 1"))
	}
	if rng.IntN(2) == 0 { // floats where od or vm is of its model, else a place
		line("  - {name: bill, %s, gpu_model: %s, gpus: %d, price: 2.00%s%s}", one("kind: cud", "kind: reserved, fenced: false, upfront: 40%, term: 1y", "kind: reserved, fenced: false"),
			one("H100", "A100"), 1+rng.IntN(40), some(", from: 7h"), some(", until: 1d5h"))
	}
	line("jobs:\n  generate:\n    classes:")
	line("      - {name: training, jobs_per_day: 40, sizes: [{gpus: 8, weight: 2}, {gpus: 16, weight: 1}], run_median: 1h, run_p95: 5h, gpu_model: %s, tenants: [{name: x}, {name: y}], shape: llm%s%s}",
		one("H100", "A100"), some(", slack: 3"), some(", limit_over: 3"))
	line("      - {name: small, jobs_per_day: 60, sizes: [{gpus: 1, weight: 1}, {gpus: 2, weight: 1}], run_median: 30m, run_p95: 2h, tenants: [{name: y}]%s}", some(", priority: 5"))
	mig := strings.Contains(b.String(), "mig:")
	if mig {
		line("      - {name: notebook, jobs_per_day: 50, sizes: [{gpus: 1, weight: 1}], run_median: 40m, run_p95: 3h, gpu_model: A100, tenants: [{name: y}], shape: nb}")
	}
	line("shapes:")
	if mig {
		line("  - {name: nb, classes: [notebook], profile: %s}", one("1g.10gb", "2g.20gb", "3g.40gb"))
	}
	line("  - {name: llm, gpus: %s, models: {H100: 1, A100: 0.42}, scaling: %s%s}", one("4..16", "x1/2..x2", "[8, 16]"),
		one("{amdahl: 0.05}", "{comm_share: 0.2, at: 8}"), one("", ", needs: {gpu_mem_gb: 40}", ", near: {mode: preferred, level: node, slowdown: {node: 1, cluster: 1.5}}"))
	line("widths: %s", one("asked", "cheapest", "narrowest", "widest", "soonest", "{rule: cheapest, wait: 1h}"))
	line("policy: %s", one("fifo", "easy", "sjf", "las", "priority-preempt", "edf", "fair", "gavel", "goodput", "elastic"))
	line("overflow: {patience: %s}", one("0", "30m", "never"))
	line("preemption: {mode: %s}", one("suspend", "checkpoint, classes: [{checkpoint_every: 30m, checkpoint_cost: 20s, restart: 2m}]", "restart"))
	if rng.IntN(2) == 0 {
		line("tenants: [{name: x, %s}, {name: y}]", one("quota: 32", "caps: {running_jobs: 5, gpus: 40}", "caps: {gpu_hours_ahead: 200}"))
	}
	if rng.IntN(4) == 0 {
		line("priority_classes: [{name: prod, value: 1000, classes: [small], caps: {gpus: 16}}, {name: rest, value: 0}]")
	}
	if rng.IntN(3) == 0 {
		line("services: [{name: chat, tenant: y, step: 1m, mu: 600, load: [300, 900, 600], initial: 1, cold_start: 3m, scaler: {kind: hpa, min: 1, max: 4, target: 480}%s}]", some(", displaces: true"))
	}
	if rng.IntN(2) == 0 {
		line("stages: [{name: flow, tenants: [{name: x}], every: 12h, stages: [{name: pre, gpus: 8, gpu_model: H100, run: 4h%s}, {name: data, gpus: 1, run: 1h, after: []}, {name: tune, gpus: 4, run: 1h, after: [pre, data]%s}, {name: align, gpus: 2, run: 30m}]}]",
			some(", fails: 0.4, retries: 1"), some(", sweep: {trials: 6, max_parallel: 2}"))
	}
	if rng.IntN(3) == 0 {
		line("sweeps: [{name: search, tenants: [{name: y}], gpus: 1, run: 2h, trials: 8, max_parallel: 3%s}]", some(", stop: halving, keep: 2, rungs: [0.25, 0.5]"))
	}
	if rng.IntN(2) == 0 {
		line("defragment: {every: 2h, most_moves: 2}")
	}
	return b.String()
}

// bystander keeps books of its own from the events of a run: who holds what, and who waits for whom.
type bystander struct {
	pools  []simulate.Pool
	jobs   map[string]*capcli.Job // by ID, as read
	now    capcli.Seconds
	held   map[[2]int32]int64        // thousandths by pool and node
	share  map[[3]int32]int64        // thousandths by shared GPU
	mem    map[[3]int32]int64        // MiB by shared GPU
	lost   map[[2]int32]bool         // nodes that are lost
	stays  map[string]stay           // current stays
	ended  map[string]capcli.Seconds // by ID
	began  map[string]capcli.Seconds // first start
	used   map[int]capcli.GPUTime    // GPU time by pool
	work   map[string]capcli.GPUTime // GPU time by job
	events int
	kinds  map[simulate.Kind]int
	seen   map[string]int // what the checks met
	fault  string
	digest strings.Builder
}

// stay is since when a job runs, and on what.
type stay struct {
	at capcli.Seconds
	on []simulate.Slice
}

func newBystander(pools []simulate.Pool) *bystander {
	return &bystander{
		pools: pools, jobs: map[string]*capcli.Job{}, held: map[[2]int32]int64{}, share: map[[3]int32]int64{}, mem: map[[3]int32]int64{}, lost: map[[2]int32]bool{},
		stays: map[string]stay{}, ended: map[string]capcli.Seconds{}, began: map[string]capcli.Seconds{}, used: map[int]capcli.GPUTime{},
		work: map[string]capcli.GPUTime{}, kinds: map[simulate.Kind]int{}, seen: map[string]int{},
	}
}

func (b *bystander) failf(format string, args ...any) {
	if b.fault == "" {
		b.fault = fmt.Sprintf("at %d: ", b.now) + fmt.Sprintf(format, args...)
	}
}

// Observe books an event.
func (b *bystander) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.At < b.now {
		b.failf("an event of %d comes after", e.At)
	}
	b.now = e.At
	b.events++
	b.kinds[e.Kind]++
	if e.Job == nil {
		fmt.Fprintln(&b.digest, e.At, e.Kind, e.Pool, e.Node)
		return
	}
	fmt.Fprintln(&b.digest, e.At, e.Kind, e.Job.ID, e.Job.GPUs, e.Job.Way(), e.Job.Slices())
	switch e.Kind {
	case simulate.Arrive:
		j := e.Job.Job
		b.jobs[j.ID] = &j
	case simulate.Start:
		b.starts(e.Job)
	case simulate.Finish, simulate.Preempt:
		b.stops(e.Job, e.Kind == simulate.Finish)
	default:
	}
}

func (b *bystander) starts(l *simulate.Live) {
	if _, runs := b.stays[l.ID]; runs {
		b.failf("%s starts while it runs", l.ID)
	}
	if _, over := b.ended[l.ID]; over {
		b.failf("%s starts after its end", l.ID)
	}
	b.stays[l.ID] = stay{max(b.now, l.Since), slices.Clone(l.Slices())} // ordered capacity comes later
	if _, again := b.began[l.ID]; !again {
		b.began[l.ID] = b.now
		b.checkOrder(l)
	}
	b.take(l, 1)
}

// checkOrder fails where a job starts before what it waits for.
func (b *bystander) checkOrder(l *simulate.Live) {
	if l.Stage == nil {
		return
	}
	for _, a := range l.Stage.After {
		b.seen["dependencies"]++
		_, ended := b.ended[a.ID]
		if _, started := b.began[a.ID]; a.When == capcli.AfterStart && started {
			continue
		}
		if !ended {
			b.failf("%s starts before %s, which it waits for, has ended", l.ID, a.ID)
		}
	}
}

func (b *bystander) stops(l *simulate.Live, ends bool) {
	from, runs := b.stays[l.ID]
	if !runs {
		if ends && l.GPUs > 0 {
			b.failf("%s ends and did not run", l.ID)
		}
		b.ended[l.ID] = b.now
		return
	}
	delete(b.stays, l.ID)
	b.take(l, -1)
	b.bookUse(l.ID, from)
	if ends {
		b.ended[l.ID] = b.now
	}
}

// bookUse books the GPU time of a stay that ends now.
func (b *bystander) bookUse(id string, from stay) {
	for _, s := range from.on {
		time := capcli.GPUTime((int64(s.GPUs)*1000 + int64(s.Milli)) * int64(max(0, b.now-from.at)))
		b.used[int(s.Pool)] += time
		b.work[id] += time
	}
}

// take books what a job gets (1) or gives back (-1). No node has more GPUs held than it has, no GPU more than
// itself or its memory, and no job a GPU of a model, or of less memory, than it may have.
func (b *bystander) take(l *simulate.Live, sign int64) {
	var milli int64
	for _, s := range l.Slices() {
		p, at := &b.pools[s.Pool], [2]int32{s.Pool, s.Node}
		milli += int64(s.GPUs)*1000 + int64(s.Milli)
		b.held[at] += sign * (int64(s.GPUs)*1000 + int64(s.Milli))
		if most := int64(p.GPUsPerNode) * 1000; b.held[at] > most || b.held[at] < 0 {
			b.failf("node %d of %s holds %d thousandths of %d", s.Node, p.Name, b.held[at], most)
		}
		if s.Milli > 0 && p.Nodes > 1 {
			b.seen["shares of GPUs"]++
			gpu := [3]int32{s.Pool, s.Node, s.Device}
			b.share[gpu] += sign * int64(s.Milli)
			b.mem[gpu] += sign * l.GPUMemMiB
			if b.share[gpu] > 1000 || b.share[gpu] < 0 || p.GPUMemMiB > 0 && p.MIG == nil && b.mem[gpu] > p.GPUMemMiB {
				b.failf("GPU %d of node %d of %s holds %d thousandths and %d MiB", s.Device, s.Node, p.Name, b.share[gpu], b.mem[gpu])
			}
		}
		if l.Shape != nil {
			if l.Shape.Needs.GPUMemMiB > 0 {
				b.seen["needs"]++
			}
			if need := l.Shape.Needs.GPUMemMiB; p.GPUMemMiB > 0 && need > p.GPUMemMiB {
				b.failf("%s needs %d MiB and runs on %s with %d", l.ID, need, p.Name, p.GPUMemMiB)
			}
			if w := l.Way(); w >= 0 && sign > 0 {
				b.seen["ways"]++
				if m := l.Shape.Ways[w].Model; m != "" && p.GPUModel != "" && !strings.EqualFold(m, p.GPUModel) {
					b.failf("%s runs its way on %s on %s", l.ID, m, p.GPUModel)
				}
				if g := l.Shape.Ways[w].GPUs; g != l.GPUs {
					b.failf("%s holds %d GPUs in its way of %d", l.ID, l.GPUs, g)
				}
			}
		}
	}
	if milli != l.Milli() && (l.Shape == nil || l.Shape.Needs.Profile == "") {
		b.failf("%s holds %d thousandths, it has %d", l.ID, milli, l.Milli())
	}
}

// close books the stays that the end of the run cuts, and compares the books with the record.
func (b *bystander) close(r *play.Run) {
	b.now = r.Result.Ended
	for id, from := range b.stays { // sums: the order does not matter
		b.bookUse(id, from)
	}
	recorded := map[int]capcli.GPUTime{}
	for i := range r.Result.Record.Months {
		for k := range r.Result.Record.Months[i].Pools {
			recorded[k] += r.Result.Record.Months[i].Pools[k].Used
		}
	}
	for k := range b.pools {
		if used := b.used[k]; used > recorded[k] || used != recorded[k] && len(r.Result.Services) == 0 { // replicas hold GPUs too
			b.failf("the events hold %d thousandths of GPU-seconds of %s, the record %d", b.used[k], b.pools[k].Name, recorded[k])
		}
	}
	if n := int64(len(b.stays)); n != r.Result.Jobs.Running+r.Result.Jobs.Starting {
		b.failf("%d jobs run at the end, the result says %d and %d", n, r.Result.Jobs.Running, r.Result.Jobs.Starting)
	}
}

// checkMoney fails where the lines of the invoice do not sum to its total, or to their parts.
func (b *bystander) checkMoney(r *play.Run) {
	if r.Invoice == nil {
		b.failf("no invoice")
		return
	}
	var pools, terms, tenants capcli.USD
	for _, l := range r.Invoice.ByPool {
		pools += l.Cost
		if l.Cost != l.Direct+l.Idle+l.Blocked+l.Down {
			b.failf("a pool costs %s, its parts are others", l.Cost.Decimal())
		}
	}
	for _, l := range r.Invoice.ByTerms {
		terms += l.Cost
	}
	for i := range r.Invoice.ByTenant {
		tenants += r.Invoice.ByTenant[i].Total
	}
	if t := r.Invoice.Total.Cost; pools != t || terms != t || tenants+r.Invoice.Unallocated != t {
		b.failf("the total is %s; pools %s, terms %s, tenants %s and %s of none", t.Decimal(), pools.Decimal(), terms.Decimal(), tenants.Decimal(), r.Invoice.Unallocated.Decimal())
	}
}

// checkLines fails where the lines by pool do not sum to the invoice, have a negative part, or where a
// pool that floats does not cost what its contract used up.
func (b *bystander) checkLines(r *play.Run) {
	var sum capcli.USD
	for _, l := range r.PoolLines() {
		sum += l.Cost
		t := l.Time
		if l.Cost != l.Direct+l.Idle+l.Blocked+l.Down || t.Offered != t.Used+t.Idle+t.Blocked+t.Down {
			b.failf("the line of %s does not add up: %+v", l.Name, l)
		}
		if min(l.Direct, l.Idle, l.Blocked, l.Down) < 0 || min(t.Used, t.Idle, t.Blocked, t.Down) < 0 {
			b.failf("the line of %s is negative: %+v", l.Name, l)
		}
		if l.Name != "bill" || !r.Case.Scenario.Capacity[slices.IndexFunc(r.Case.Scenario.Capacity, func(c scenarios.Capacity) bool { return c.Name == "bill" })].Floats {
			continue
		}
		b.seen["pools that float"]++
		if k := slices.IndexFunc(r.Contracts, func(c outcome.Contract) bool { return c.Name == "bill" }); k < 0 || r.Contracts[k].UsedUp != l.Cost {
			b.failf("the line of bill costs %s, its contract says otherwise: %+v", l.Cost.Decimal(), r.Contracts)
		}
	}
	if total := r.Invoice.Total.Cost - r.Invoice.Total.Moved; sum != total {
		b.failf("the lines by pool sum to %s, the invoice is %s", sum.Decimal(), total.Decimal())
	}
}

// TestEverything plays drawn scenarios with all parts at once. An observer with books of its own sees no GPU, memory
// or instance held twice, no job before what it waits for, none on a model or a memory that it may not have, and the
// GPU time of the record. Money adds up, and the same scenario gives the same events and figures on any number of
// cores and again.
func TestEverything(t *testing.T) {
	draws := 40
	if os.Getenv("CAPCLI_LONG") != "" {
		draws = 600
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	kinds := map[simulate.Kind]int{}
	refused, seen := map[string]int{}, map[string]int{}
	played, starts := 0, 0
	for seed := range draws {
		text := everything(rand.New(rand.NewPCG(uint64(seed), 7)))
		var first []byte
		var ran []string
		for turn := range 2 {
			runtime.GOMAXPROCS(1 + turn)
			doc, b, err := playEverything(text)
			if err != nil {
				if _, bug := errors.AsType[*capcli.AccountingError](err); bug {
					t.Fatalf("seed %d: %v\n%s", seed, err, text)
				}
				refused[err.Error()]++
				break
			}
			if b.fault != "" {
				t.Errorf("seed %d: %s\n%s", seed, b.fault, text)
			}
			if ran = append(ran, b.digest.String()); turn == 0 {
				first, played, starts = doc, played+1, starts+b.kinds[simulate.Start]
				for k, n := range b.kinds {
					kinds[k] += n
				}
				for k, n := range b.seen {
					seen[k] += n
				}
			} else if !bytes.Equal(first, doc) || ran[0] != ran[1] {
				t.Errorf("seed %d: played again on another number of cores, the run is another\n%s", seed, text)
			}
		}
	}
	if played < draws*9/10 || starts < 50*played {
		t.Errorf("%d of %d scenarios played, %d starts; refused: %v", played, draws, starts, refused)
	}
	for _, k := range []string{"dependencies", "shares of GPUs", "needs", "ways", "pools that float"} {
		if seen[k] == 0 {
			t.Errorf("no check met %s", k)
		}
	}
	for _, k := range []simulate.Kind{simulate.Finish, simulate.Preempt, simulate.Lose, simulate.Gain, simulate.Start, simulate.Arrive} {
		if kinds[k] == 0 {
			t.Errorf("no event of kind %s", k)
		}
	}
}

// playEverything plays a scenario once, with a bystander.
func playEverything(text string) ([]byte, *bystander, error) {
	s, err := scenarios.Parse("everything.yaml", []byte(text))
	if err != nil {
		return nil, nil, err
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		return nil, nil, err
	}
	var b *bystander
	c.Prepare = func(_ int, cfg *simulate.Config) error {
		b = newBystander(slices.Clone(cfg.Pools))
		cfg.Observers = append(cfg.Observers, b)
		return nil
	}
	runs, err := c.Play(context.Background(), 1)
	if err != nil {
		return nil, nil, err
	}
	b.close(runs[0])
	b.checkMoney(runs[0])
	b.checkLines(runs[0])
	doc, err := json.Marshal(runs[0].Outcome)
	return doc, b, err
}

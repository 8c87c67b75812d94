package simulate_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// interrupted draws the settings of interruption of a world, all of which may be on at once.
func interrupted(t *rapid.T, w *world) {
	windows := make([][]simulate.Window, len(w.pools))
	for i := range w.pools {
		windows[i] = drawWindows(t, &w.pools[i])
	}
	auto, shards := rapid.Bool().Draw(t, "auto"), rapid.Bool().Draw(t, "shards")
	rules := simulate.PreemptRules{
		Grace: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 2, 15}).Draw(t, "grace")), Spare: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 10}).Draw(t, "spare")),
		PerJob: rapid.IntRange(0, 2).Draw(t, "per job"), PerTenant: rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "per tenant"), PerHour: rapid.SampledFrom([]int{0, 0, 4}).Draw(t, "per hour"),
	}
	victims := rapid.SampledFrom(policy.VictimRules).Draw(t, "victims")
	retries := simulate.Retries{
		Most: rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "retries"), Backoff: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "backoff")),
		MaxBackoff: capcli.Seconds(rapid.SampledFrom([]int{0, 12}).Draw(t, "longest backoff")),
	}
	defragment := simulate.Defragment{Every: capcli.Seconds(rapid.SampledFrom([]int{0, 7, 20}).Draw(t, "defragment")), MostMoves: rapid.IntRange(0, 3).Draw(t, "moves")}
	broken := make([][]simulate.Change, len(w.pools))
	for i := range w.pools {
		if rapid.IntRange(0, 2).Draw(t, "GPUs fail") == 0 {
			broken[i] = drawBroken(t, &w.pools[i])
		}
	}
	w.change = func(c *simulate.Config) {
		c.Retries, c.Defragment = retries, defragment
		for i, list := range broken {
			if s, ok := c.Pools[i].Supply.(*comings); ok {
				list = append(slices.Clone(list), s.changes...)
			}
			if len(list) > 0 {
				slices.SortStableFunc(list, func(a, b simulate.Change) int { return int(a.At - b.At) })
				c.Pools[i].Supply = &comings{slices.Clone(list)}
			}
		}
		c.Preempts = rules
		choices := maps.Clone(c.Settings.Choices)
		if choices == nil {
			choices = map[string]string{}
		}
		choices["victims"] = victims
		c.Settings.Choices = choices
		c.Observers = append(c.Observers, &yieldAuditor{t: t, rules: rules, yielded: map[string]int{}, tenants: map[string][]capcli.Seconds{}})
		for i := range c.Pools {
			c.Pools[i].Windows = windows[i]
			c.Pools[i].MTBF = 100
		}
		c.Restarts.Classes = slices.Clone(c.Restarts.Classes)
		c.Restarts.Classes[0].Auto = auto
		if shards {
			c.Restarts.Classes[0].Shards = simulate.Shards{GB: 2, GPURate: 1, StoreRate: 4, Background: 0.5, Keep: 2}
		}
		c.Observers = append(c.Observers, &windowAuditor{t: t, pools: c.Pools, running: map[string]stay{}})
	}
}

func drawWindows(t *rapid.T, p *simulate.Pool) (out []simulate.Window) {
	at := capcli.Seconds(0)
	for k := range rapid.IntRange(0, 3).Draw(t, "windows") {
		at += capcli.Seconds(rapid.IntRange(0, 60).Draw(t, "from"))
		w := simulate.Window{
			Start: at, End: at + capcli.Seconds(rapid.IntRange(1, 50).Draw(t, "length")),
			Lead: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 5, 40}).Draw(t, "lead")), Kill: rapid.IntRange(0, 2).Draw(t, "kill") == 0,
		}
		switch rapid.IntRange(0, 2).Draw(t, "of") {
		case 0:
			w.FirstNode = rapid.IntRange(0, p.Nodes-1).Draw(t, "first")
			w.Nodes = rapid.IntRange(1, p.Nodes-w.FirstNode).Draw(t, "nodes")
		case 1:
			w.Milli = 1000 * int64(rapid.IntRange(1, p.Capacity()).Draw(t, "gpus"))
		default:
			w.Milli = 1000 * int64(rapid.IntRange(1, p.Capacity()).Draw(t, "gpus"))
			w.For = []string{[]string{"a", "b", "b/c"}[k%3]}
		}
		out = append(out, w)
	}
	return out
}

// drawBroken draws single GPUs that fail and are repaired.
func drawBroken(t *rapid.T, p *simulate.Pool) (out []simulate.Change) {
	at := capcli.Seconds(0)
	for range rapid.IntRange(1, 5).Draw(t, "broken GPUs") {
		c := simulate.Change{Kind: simulate.Lose, Node: rapid.IntRange(0, p.Nodes-1).Draw(t, "of node"), GPU: rapid.IntRange(1, p.GPUsPerNode).Draw(t, "GPU")}
		at += capcli.Seconds(rapid.IntRange(1, 30).Draw(t, "after"))
		c.At = at
		out = append(out, c)
		at += capcli.Seconds(rapid.IntRange(0, 20).Draw(t, "repair"))
		c.At, c.Kind = at, simulate.Gain
		out = append(out, c)
	}
	return out
}

// stay is a job that runs, as the auditor of windows sees it.
type stay struct {
	pool   int
	milli  int64
	ends   capcli.Seconds // believed
	tenant string
}

// windowAuditor holds books of its own on what windows take: at each start it adds up what is
// believed to run at the start of each window that is known.
type windowAuditor struct {
	t       *rapid.T
	pools   []simulate.Pool
	running map[string]stay
}

func (a *windowAuditor) Observe(e simulate.Event, c *simulate.Cluster) {
	if e.Job == nil {
		return
	}
	if e.Kind == simulate.Finish || e.Kind == simulate.Preempt {
		delete(a.running, e.Job.ID)
	}
	if e.Kind != simulate.Start {
		return
	}
	l := e.Job
	a.running[l.ID] = stay{l.Pool(), l.Milli(), l.EndBelieved(), l.Tenant}
	pool := &a.pools[l.Pool()]
	for i := range pool.Windows {
		w := &pool.Windows[i]
		open := w.Start <= e.At && e.At < w.End
		coming := !w.Kill && e.At < w.Start && w.Start < l.EndBelieved() && (w.Lead == 0 || e.At >= w.Start-w.Lead)
		if !open && !coming {
			continue
		}
		if w.Nodes > 0 {
			for _, s := range l.Slices() {
				if n := c.NodeNumber(int(s.Node)); n >= w.FirstNode && n < w.FirstNode+w.Nodes {
					a.t.Fatalf("%s starts at %d on node %d until %d, which is in the window from %d", l.ID, e.At, n, l.EndBelieved(), w.Start)
				}
			}
			continue
		}
		// What runs over may already hold more than is there; then only what is kept for itself may start.
		at := max(e.At, w.Start)
		delete(a.running, l.ID)
		before := a.leftAt(l.Pool(), at, e.At, open)
		a.running[l.ID] = stay{l.Pool(), l.Milli(), l.EndBelieved(), l.Tenant}
		if left := a.leftAt(l.Pool(), at, e.At, open); left < min(0, before) {
			a.t.Fatalf("%s starts at %d: pool %s lacks %d thousandths in the window from %d", l.ID, e.At, pool.Name, -left, w.Start)
		}
	}
}

// leftAt returns what is left of a pool at a time, of what jobs hold beyond it (or now) and windows
// of GPUs take. Windows of nodes are left out: jobs that ran over may still be on them.
func (a *windowAuditor) leftAt(p int, at, now capcli.Seconds, open bool) int64 {
	pool := &a.pools[p]
	left := int64(pool.Capacity()) * 1000
	held := map[string]int64{}
	for _, s := range a.running {
		if s.pool == p && (open || s.ends > at) {
			left -= s.milli
			held[s.tenant] += s.milli
		}
	}
	for i := range pool.Windows {
		w := &pool.Windows[i]
		known := !w.Kill && (w.Lead == 0 || now >= w.Start-w.Lead) || w.Start <= now
		if w.Nodes == 0 && known && w.Start <= at && at < w.End {
			own := int64(0)
			for _, t := range w.For {
				own += held[t]
			}
			left -= max(0, w.Milli-own)
		}
	}
	return left
}

// yieldAuditor counts what policies take away.
type yieldAuditor struct {
	t       *rapid.T
	rules   simulate.PreemptRules
	yielded map[string]int
	all     []capcli.Seconds
	tenants map[string][]capcli.Seconds
}

func (a *yieldAuditor) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind != simulate.Preempt || e.Job.Yielded == a.yielded[e.Job.ID] {
		return
	}
	l := e.Job
	a.yielded[l.ID] = l.Yielded
	if a.rules.PerJob > 0 && l.Yielded > a.rules.PerJob {
		a.t.Fatalf("%s was preempted %d times, at most %d are allowed", l.ID, l.Yielded, a.rules.PerJob)
	}
	within := func(list []capcli.Seconds, most int, whose string) []capcli.Seconds {
		list = append(slices.DeleteFunc(list, func(at capcli.Seconds) bool { return at <= e.At-capcli.Hour }), e.At)
		if most > 0 && len(list) > most {
			a.t.Fatalf("%s: %d preemptions in an hour, at most %d are allowed", whose, len(list), most)
		}
		return list
	}
	if a.rules.Grace == 0 { // else the decision was earlier, by a part of the grace or all of it
		a.all = within(a.all, a.rules.PerHour, "all")
		a.tenants[l.Tenant] = within(a.tenants[l.Tenant], a.rules.PerTenant, l.Tenant)
	}
}

// TestConformInterrupted holds every policy with every placement to the laws with interruptions of
// all kinds switched on at once.
func TestConformInterrupted(t *testing.T) {
	limitDraws(t, 8)
	for _, pol := range policy.Catalog.All() {
		for _, pl := range placement.Catalog.All() {
			t.Run(pol.Name+"/"+pl.Name, rapid.MakeCheck(func(rt *rapid.T) {
				w := drawWorld(rt)
				interrupted(rt, &w)
				r, a := w.play(t, pol.Value, pl.Value(), w.jobs)
				w.checkEnd(rt, r, a)
				w.checkAgain(rt, t, pol.Value, pl.Value(), r, a)
			}))
		}
	}
}

package simulate_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"

	"pgregory.net/rapid"
)

// drawBought makes the nodes of elastic pools of a drawn world bought ones.
func drawBought(t *rapid.T, w *world) {
	for i := range w.pools {
		p := &w.pools[i]
		if p.Terms.Committed() || rapid.IntRange(0, 3).Draw(t, "by the GPU") == 0 {
			continue
		}
		leads := rapid.SampledFrom([][]capcli.Seconds{{0}, {7}, {3, 40, 0, 11}}).Draw(t, "leads")
		b := &simulate.Buying{
			Lead:      func(n int64) capcli.Seconds { return leads[n%int64(len(leads))] },
			FromOrder: rapid.Bool().Draw(t, "from the order"),
			Least:     rapid.SampledFrom([]capcli.Seconds{0, 60}).Draw(t, "least"),
			Unit:      rapid.SampledFrom([]capcli.Seconds{0, 60, 3600}).Draw(t, "unit"),
			Idle:      rapid.SampledFrom([]capcli.Seconds{0, 5, 50}).Draw(t, "idle"),
			Warm:      rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "warm"),
			Step:      rapid.SampledFrom([]capcli.Seconds{5, 60}).Draw(t, "step"),
			Retry:     rapid.SampledFrom([]capcli.Seconds{0, 7}).Draw(t, "retry"),
		}
		b.Consolidate = rapid.SampledFrom([]capcli.Seconds{0, 6, 30}).Draw(t, "consolidate")
		if rapid.IntRange(0, 2).Draw(t, "scaled") == 0 {
			b.Scaler = func() simulate.Scaler { return demandScaler{} }
		}
		if rapid.IntRange(0, 2).Draw(t, "short") == 0 {
			b.Shortage = everyOther(rapid.SampledFrom([]capcli.Seconds{11, 43, 1000}).Draw(t, "turns"))
		}
		p.Buy = b
	}
}

// demandScaler wants what is held and what waits, and a node more.
type demandScaler struct{}

func (demandScaler) Desired(s *simulate.ScaleState) int { return int(s.Demand/s.PerUnit) + 1 }

// everyOther is a shortage in every other stretch of time.
type everyOther capcli.Seconds

func (e everyOther) Available(at capcli.Seconds, _, n int) (int, capcli.Seconds) {
	turn := at / capcli.Seconds(e)
	if turn%2 == 0 {
		n = 0
	}
	return n, (turn + 1) * capcli.Seconds(e)
}

// guest is a stay of a job on a node of the cluster.
type guest struct {
	job      string
	from, to capcli.Seconds
}

// register keeps who was on which bought node, from events alone.
type register struct {
	stays map[[2]int][]guest // by pool and number of the node in it
}

func (g *register) Observe(e simulate.Event, c *simulate.Cluster) {
	switch e.Kind {
	case simulate.Start:
		for _, s := range e.Job.Slices() {
			key := [2]int{int(s.Pool), c.NodeNumber(int(s.Node))}
			g.stays[key] = append(g.stays[key], guest{e.Job.ID + fmt.Sprint(e.Job.Stay()), e.At, -1})
		}
	case simulate.Finish, simulate.Preempt:
		for _, s := range e.Job.Slices() {
			key := [2]int{int(s.Pool), c.NodeNumber(int(s.Node))}
			for i := range g.stays[key] {
				if x := &g.stays[key][i]; x.to < 0 && x.job[:len(e.Job.ID)] == e.Job.ID {
					x.to = e.At
				}
			}
		}
	default:
	}
}

// audit checks the lives of bought nodes against the stays on them, and what was billed against the rules.
func (g *register) audit(t *rapid.T, r *simulate.Result) {
	offered := make([]capcli.GPUTime, len(r.Record.Pools))
	on := map[[2]int][]*simulate.BoughtNode{}
	for i := range r.Record.Nodes {
		n := &r.Record.Nodes[i]
		p := &r.Record.Pools[n.Pool]
		key := [2]int{n.Pool, n.Node}
		if n.Node < 0 || n.Node >= p.Nodes {
			t.Fatalf("node %d of a pool of %d", n.Node, p.Nodes)
		}
		for _, o := range on[key] {
			if o.Ended > n.Ordered {
				t.Fatalf("place %d of %s has two nodes: %+v and %+v", n.Node, p.Name, o, n)
			}
		}
		on[key] = append(on[key], n)
		from := n.Came
		if p.Buy.FromOrder {
			from = n.Ordered
		}
		var want capcli.Seconds
		if from >= 0 && n.Ended > from {
			if want = n.Ended - from; !n.Lost {
				want = max(want, p.Buy.Least)
				unit := max(1, p.Buy.Unit)
				want = (want + unit - 1) / unit * unit
			}
		}
		if got := n.To - n.From + n.Beyond; got != want || n.From != from || n.To > r.Ended {
			t.Fatalf("%s: node %+v is billed %d s, want %d s", p.Name, n, got, want)
		}
		offered[n.Pool] += capcli.GPUTime(int64(want) * int64(p.GPUsPerNode) * 1000)
	}
	for p := range r.Record.Pools {
		if r.Record.Pools[p].Buy == nil {
			continue
		}
		var sum simulate.Span
		for m := range r.Record.Months {
			sum.Add(r.Record.Months[m].Pools[p])
		}
		if sum.Offered != offered[p] || sum.Balance() != nil {
			t.Fatalf("pool %d offered %d, its nodes %d", p, sum.Offered, offered[p])
		}
	}
	for key, stays := range g.stays {
		if r.Record.Pools[key[0]].Buy == nil {
			continue
		}
		for _, x := range stays {
			if x.to < 0 {
				x.to = r.Ended
			}
			if !slices.ContainsFunc(on[key], func(n *simulate.BoughtNode) bool { return n.Came >= 0 && n.Came <= x.from && n.Ended >= x.to }) {
				t.Fatalf("%s was on node %v from %d to %d, when it was not there", x.job, key, x.from, x.to)
			}
		}
	}
}

// Every policy with every placement keeps the laws with bought nodes too: nothing is held on a node that is
// not there, each node is billed by its rules, all jobs end, and a run is the same twice and on any number
// of cores.
func TestBoughtConform(t *testing.T) {
	limitDraws(t, 25)
	for _, pol := range policy.Catalog.All() {
		for _, pl := range placement.Catalog.All() {
			t.Run(pol.Name+"/"+pl.Name, rapid.MakeCheck(func(rt *rapid.T) {
				w := drawWorld(rt)
				drawBought(rt, &w)
				var book *register
				w.change = func(c *simulate.Config) {
					book = &register{stays: map[[2]int][]guest{}}
					c.Observers = append(c.Observers, book)
				}
				r, a := w.play(t, pol.Value, pl.Value(), w.jobs)
				if a.fault != "" {
					rt.Fatal(a.fault)
				}
				if c := r.Jobs; c.Waiting != 0 || c.Running != 0 || c.Finished+c.Unplaceable+c.Dropped+c.CPUOnly != int64(len(w.jobs)) {
					rt.Fatalf("jobs are lost: %+v", c)
				}
				if used := usedIn(r.Record); used != r.Goodput+r.Redone {
					rt.Fatalf("of %d that was used %d was progress and %d was not", used, r.Goodput, r.Redone)
				}
				book.audit(rt, r)
				before := runtime.GOMAXPROCS(1)
				r2, b := w.play(t, pol.Value, pl.Value(), w.jobs)
				runtime.GOMAXPROCS(before)
				if a.log.String() != b.log.String() || fmt.Sprintf("%+v", r.Record.Months) != fmt.Sprintf("%+v", r2.Record.Months) ||
					fmt.Sprintf("%+v", r.Record.Nodes) != fmt.Sprintf("%+v", r2.Record.Nodes) {
					rt.Fatal("the same config gave two different runs")
				}
				alike(rt, t, &w, pol.Value, pl.Value(), a)
			}))
		}
	}
}

package simulate_test

import (
	"fmt"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/policy"

	"pgregory.net/rapid"
)

// nearAuditor checks each start against what the job's shape asks, on books of its own.
type nearAuditor struct {
	pools   []simulate.Pool
	first   []int32 // node of the cluster at which each pool begins
	running map[string]nearStay
	stays   int64
	spread  map[string]int64 // stays by level
	fault   string
}

// nearStay is a running job as the auditor knows it.
type nearStay struct {
	shape  *capcli.Shape
	slices []simulate.Slice
}

func newNearAuditor(pools []simulate.Pool) *nearAuditor {
	a := &nearAuditor{pools: pools, running: map[string]nearStay{}, spread: map[string]int64{}}
	n := int32(0)
	for i := range pools {
		a.first = append(a.first, n)
		n += int32(pools[i].Nodes)
	}
	return a
}

func (a *nearAuditor) failf(format string, args ...any) {
	if a.fault == "" {
		a.fault = fmt.Sprintf(format, args...)
	}
}

// domain returns the domain of a level that a slice is in; false if the pool has no such level.
func (a *nearAuditor) domain(s simulate.Slice, level string) (string, bool) {
	n := int(s.Node - a.first[s.Pool])
	if level == "node" {
		return fmt.Sprint(s.Pool, "/", n), true
	}
	for _, d := range a.pools[s.Pool].Domains {
		if d.Level == level {
			return fmt.Sprint(s.Pool, "/", n/d.Nodes), true
		}
	}
	return fmt.Sprint(s.Pool), false
}

// domains returns the GPUs of a job by domain of a level.
func (a *nearAuditor) domains(s []simulate.Slice, level string) (map[string]int, bool) {
	out, known := map[string]int{}, true
	for _, x := range s {
		d, ok := a.domain(x, level)
		known = known && ok
		out[d] += int(x.GPUs)
	}
	return out, known
}

func (a *nearAuditor) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Finish, simulate.Preempt:
		delete(a.running, e.Job.ID)
	case simulate.Start:
		if e.Job.GPUs > 0 {
			a.stays++
			a.spread[a.level(e.Job.Slices())]++
		}
		if e.Job.Shape != nil {
			a.check(e.Job)
		}
		a.running[e.Job.ID] = nearStay{e.Job.Shape, slices.Clone(e.Job.Slices())}
	default:
	}
}

// level returns the narrowest level that holds all slices.
func (a *nearAuditor) level(s []simulate.Slice) string {
	names := []string{"node"}
	for _, d := range slices.Backward(a.pools[s[0].Pool].Domains) {
		names = append(names, d.Level)
	}
	for _, name := range names {
		if d, _ := a.domains(s, name); len(d) == 1 {
			return name
		}
	}
	return "cluster"
}

// check checks a job that starts.
func (a *nearAuditor) check(l *simulate.Live) {
	n := &l.Shape.Near
	whole := l.GPUs > 0 && l.GPUMilli == 0
	if d, known := a.domains(l.Slices(), n.Level); whole && n.Mode == capcli.Required && (!known || len(d) != 1) {
		a.failf("%s must be within one %s and has %v", l.ID, n.Level, d)
	}
	if n.SliceGPUs > 0 && whole {
		d, known := a.domains(l.Slices(), n.SliceLevel)
		for _, gpus := range d {
			if seg := min(n.SliceGPUs, l.GPUs); !known || gpus%seg != 0 {
				a.failf("%s of %d GPUs in segments of %d within one %s has %v", l.ID, l.GPUs, seg, n.SliceLevel, d)
			}
		}
	}
	any := map[string]bool{}
	for id, o := range a.running {
		if o.shape == nil || id == l.ID {
			continue
		}
		any[o.shape.Name] = true
		if n.Apart == "" || o.shape.Name != l.Shape.Name {
			continue
		}
		mine, _ := a.domains(l.Slices(), n.Apart)
		theirs, _ := a.domains(o.slices, n.Apart)
		for d := range theirs {
			if _, both := mine[d]; both {
				a.failf("%s and %s are both in %s %s", l.ID, id, n.Apart, d)
			}
		}
	}
	if n.Beside != "" && (n.Beside != l.Shape.Name || any[n.Beside]) {
		a.checkBeside(l)
	}
}

// checkBeside checks that every part of a job is in a domain with a job of the shape that it is beside.
func (a *nearAuditor) checkBeside(l *simulate.Live) {
	n := &l.Shape.Near
	level := n.Level
	if level == "" {
		level = "node"
	}
	has := map[string]bool{}
	for _, o := range a.running {
		if o.shape != nil && o.shape.Name == n.Beside {
			d, _ := a.domains(o.slices, level)
			for x := range d {
				has[x] = true
			}
		}
	}
	d, _ := a.domains(l.Slices(), level)
	for x := range d {
		if !has[x] {
			a.failf("%s is in %s %s, where no job of %s runs", l.ID, level, x, n.Beside)
		}
	}
}

// drawNear adds domains and shapes to a world.
func drawNear(t *rapid.T, w *world) {
	for i := range w.pools {
		p := &w.pools[i]
		p.Nodes = rapid.IntRange(1, 9).Draw(t, "nodes")
		delete(w.supply, i)
		if rapid.IntRange(0, 2).Draw(t, "fails") == 0 {
			w.supply[i] = drawChanges(t, p.Nodes)
		}
		rack := rapid.IntRange(1, 3).Draw(t, "rack")
		switch rapid.IntRange(0, 3).Draw(t, "domains") {
		case 0:
			p.Domains = []simulate.Domain{{Level: "rack", Nodes: rack}}
		case 1, 2:
			p.Domains = []simulate.Domain{{Level: "block", Nodes: rack * rapid.IntRange(1, 3).Draw(t, "block")}, {Level: "rack", Nodes: rack}}
		default:
		}
	}
	levels := []string{"block", "rack", "node"}
	var shapes []*capcli.Shape
	for i := range rapid.IntRange(1, 4).Draw(t, "shapes") {
		s := &capcli.Shape{Name: fmt.Sprint("s", i)}
		n := &s.Near
		if n.Mode = rapid.SampledFrom([]capcli.NearMode{capcli.Anywhere, capcli.Required, capcli.Required, capcli.Preferred, capcli.Unconstrained}).Draw(t, "mode"); n.Mode == capcli.Required || n.Mode == capcli.Preferred {
			n.Level = rapid.SampledFrom(levels).Draw(t, "level")
		}
		if n.Mode != capcli.Anywhere && rapid.Bool().Draw(t, "segments") {
			n.SliceGPUs, n.SliceLevel = rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "segment"), rapid.SampledFrom(levels).Draw(t, "segment level")
		}
		n.WorkerGPUs = rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "worker")
		if rapid.Bool().Draw(t, "slowdown") {
			n.Slowdown = []capcli.Slowdown{{Level: "node", Num: 1, Den: 1}, {Level: "rack", Num: 21, Den: 20}, {Level: "cluster", Num: 8, Den: 5}}
		}
		if rapid.IntRange(0, 3).Draw(t, "apart") == 0 {
			n.Apart = rapid.SampledFrom(levels).Draw(t, "apart level")
		}
		if rapid.IntRange(0, 4).Draw(t, "beside") == 0 {
			n.Beside = fmt.Sprint("s", rapid.IntRange(0, 3).Draw(t, "beside shape"))
		}
		shapes = append(shapes, s)
	}
	for i := range w.jobs {
		if k := rapid.IntRange(0, len(shapes)).Draw(t, "shape"); k < len(shapes) {
			w.jobs[i].Shape = shapes[k]
		}
	}
}

// TestNearLaws holds every policy to the laws of places, on drawn clusters: a required domain is never left,
// segments are whole, jobs are apart or beside each other as they ask, no storage is taken twice, nothing
// is lost, and the same config gives the same bytes.
func TestNearLaws(t *testing.T) {
	limitDraws(t, 12)
	for _, pol := range policy.Catalog.All() {
		for _, pl := range []string{"consolidate", "pack", "count"} {
			t.Run(pol.Name+"/"+pl, rapid.MakeCheck(func(rt *rapid.T) {
				w := drawWorld(rt)
				drawNear(rt, &w)
				w.withoutAhead()
				var near *nearAuditor
				w.change = func(cfg *simulate.Config) {
					near = newNearAuditor(w.pools)
					cfg.Observers = append(cfg.Observers, near)
				}
				r, a := w.play(t, pol.Value, mustPlacement(t, pl), w.jobs)
				if near.fault != "" {
					rt.Fatal(near.fault)
				}
				if a.fault != "" {
					rt.Fatal(a.fault)
				}
				c := r.Jobs
				if c.Running != 0 || c.Read != int64(len(w.jobs)) || c.Finished+c.Waiting+c.Unplaceable+c.Dropped+c.CPUOnly != c.Read {
					rt.Fatalf("jobs are lost: %+v", c)
				}
				if beside := slices.ContainsFunc(w.jobs, func(j capcli.Job) bool { return j.Shape != nil && j.Shape.Near.Beside != "" }); c.Waiting > 0 && !beside {
					rt.Fatalf("%d jobs wait for ever, and none must be beside another", c.Waiting)
				}
				checkSpread(rt, r, near)
				r2, b := w.play(t, pol.Value, mustPlacement(t, pl), w.jobs)
				if a.log.String() != b.log.String() || fmt.Sprintf("%+v %+v", r.Near, r.Rooms) != fmt.Sprintf("%+v %+v", r2.Near, r2.Rooms) {
					rt.Fatal("the same config gave two different runs")
				}
			}))
		}
	}
}

// checkSpread compares the spreads of a run with those of the auditor, as far as both count them.
func checkSpread(t *rapid.T, r *simulate.Result, a *nearAuditor) {
	got := map[string]int64{}
	for _, n := range r.Near {
		for _, s := range n.Rows {
			got[s.Level] += s.Stays
		}
	}
	for level, n := range got {
		if n > a.spread[level] {
			t.Fatalf("%d stays are spread over one %s, of %d there are", n, level, a.spread[level])
		}
	}
	for i := range r.Rooms {
		d := &r.Rooms[i]
		if d.Free < d.Largest-1e-6 || d.Free < d.Stranded-1e-6 || d.RoomShare(0) < 1-1e-9 {
			t.Fatalf("the room of domains is impossible: %+v", d)
		}
	}
}

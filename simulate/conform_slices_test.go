package simulate_test

import (
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/mig"
	"capcli/simulate/placement"
	"capcli/simulate/policy"

	"pgregory.net/rapid"
)

// gpuKey is one GPU of a run.
type gpuKey struct{ pool, node, device int32 }

// sliceAuditor keeps books of single GPUs, apart from the engine's: their memory, the memory slices of
// their instances, and how many jobs share them.
type sliceAuditor struct {
	pools []simulate.Pool
	mem   map[gpuKey]int64
	taken map[gpuKey]uint8 // memory slices
	cores map[gpuKey]int   // compute slices
	jobs  map[gpuKey]int
	fault string
	seen  int // instances
}

func newSliceAuditor(pools []simulate.Pool) *sliceAuditor {
	return &sliceAuditor{pools: pools, mem: map[gpuKey]int64{}, taken: map[gpuKey]uint8{}, cores: map[gpuKey]int{}, jobs: map[gpuKey]int{}}
}

func (a *sliceAuditor) Observe(e simulate.Event, _ *simulate.Cluster) {
	sign := 0
	switch e.Kind {
	case simulate.Start:
		sign = 1
	case simulate.Finish, simulate.Preempt:
		sign = -1
	default:
		return
	}
	for _, s := range e.Job.Slices() {
		a.book(e.Job, s, sign)
	}
}

func (a *sliceAuditor) failf(format string, args ...any) {
	if a.fault == "" {
		a.fault = fmt.Sprintf(format, args...)
	}
}

func (a *sliceAuditor) book(l *simulate.Live, s simulate.Slice, sign int) {
	p := &a.pools[s.Pool]
	k := gpuKey{s.Pool, s.Node, s.Device}
	if s.Milli == 0 {
		if p.GPUMemMiB > 0 && l.GPUMemMiB > p.GPUMemMiB {
			a.failf("%s takes %d MiB on a GPU of %d", l.ID, l.GPUMemMiB, p.GPUMemMiB)
		}
		return
	}
	if p.Fluid() {
		k.device = -1
	}
	if p.MIG != nil {
		a.bookInstance(l, s, k, sign)
		return
	}
	a.mem[k] += int64(sign) * l.GPUMemMiB
	most := p.GPUMemMiB
	if p.Fluid() {
		most *= int64(p.GPUsPerNode)
	}
	if p.GPUMemMiB > 0 && (a.mem[k] > most || a.mem[k] < 0) {
		a.failf("GPU %v of %d MiB has %d MiB held", k, p.GPUMemMiB, a.mem[k])
	}
	a.jobs[k] += sign
	if v := p.Sharing; v != nil && v.Most > 0 && !p.Fluid() && a.jobs[k] > v.Most {
		a.failf("GPU %v has %d jobs, %d may share it", k, a.jobs[k], v.Most)
	}
}

// bookInstance books an instance: no memory slice is held twice, and it starts where the table allows.
func (a *sliceAuditor) bookInstance(l *simulate.Live, s simulate.Slice, k gpuKey, sign int) {
	m := a.pools[s.Pool].MIG
	g, err := mig.Find(m.Table)
	if err != nil || l.Shape == nil || l.Shape.Needs.Profile == "" {
		a.failf("%s has no profile and is on divided GPU %v", l.ID, k)
		return
	}
	p := &g.Profiles[g.Index(l.Shape.Needs.Profile)]
	allowed := false
	for _, at := range p.Starts {
		allowed = allowed || at == s.Instance()
	}
	if !allowed {
		a.failf("%s starts at %d, %s may at %v", l.ID, s.Instance(), p.Name, p.Starts)
		return
	}
	if int(s.Milli) != p.Compute*1000/g.Compute {
		a.failf("%s holds %d thousandths with %s", l.ID, s.Milli, p.Name)
	}
	span := uint8(1<<p.Memory-1) << s.Instance()
	switch {
	case sign > 0 && a.taken[k]&span != 0:
		a.failf("%s takes memory slices %b of GPU %v, of which %b are held", l.ID, span, k, a.taken[k])
	case sign < 0 && a.taken[k]&span != span:
		a.failf("%s gives back memory slices %b of GPU %v, of which it holds %b", l.ID, span, k, a.taken[k])
	}
	a.taken[k] ^= span
	if a.cores[k] += sign * p.Compute; a.cores[k] > g.Compute {
		a.failf("GPU %v has %d compute slices held", k, a.cores[k])
	}
	a.seen++
}

// drawSlices gives pools memory, instances or sharing, and jobs memory and profiles.
func drawSlices(t *rapid.T, w *world) {
	profiles := []string{"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb", "1g.10gb+me"}
	shapes := []*capcli.Shape{nil}
	for _, p := range profiles {
		shapes = append(shapes, &capcli.Shape{Name: p, Needs: capcli.Needs{Profile: p}})
	}
	shapes = append(shapes, &capcli.Shape{Name: "big", Needs: capcli.Needs{GPUMemMiB: 60 << 10}}, &capcli.Shape{Name: "new", Needs: capcli.Needs{Capability: 90, Interconnect: "nvlink"}})
	layouts := [][]string{nil, nil, {"3g.40gb", "3g.40gb"}, {"1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"}, {"4g.40gb", "2g.20gb", "1g.10gb"}}
	for i := range w.pools {
		p := &w.pools[i]
		switch rapid.IntRange(0, 3).Draw(t, "kind of GPUs") {
		case 0:
			p.GPUMemMiB = rapid.SampledFrom([]int64{40 << 10, 80 << 10}).Draw(t, "gpu memory")
			p.Capability, p.Interconnect = 90, "NVLink"
		case 1:
			p.GPUsPerNode = min(p.GPUsPerNode, 8)
			p.MIG = &simulate.MIG{
				Table: "A100-80GB", Layout: rapid.SampledFrom(layouts).Draw(t, "layout"),
				Reslice: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "reslice")),
			}
			if p.MIG.Layout == nil {
				p.MIG.Driver = rapid.Bool().Draw(t, "driver's order")
			}
		case 2:
			p.Sharing = &simulate.Sharing{Most: rapid.IntRange(0, 3).Draw(t, "most"), Num: []int64{1, 3, 2}, Den: []int64{1, 2, 1}}
			p.GPUMemMiB = 40 << 10
		}
	}
	together := rapid.IntRange(0, 3).Draw(t, "together") > 0 // all jobs may use all pools
	for i := range w.pools {
		if together {
			w.pools[i].Partition, w.pools[i].GPUModel = "", ""
		}
	}
	for i := range w.jobs {
		j := &w.jobs[i]
		if together {
			j.Partition, j.GPUModel = "", ""
		}
		switch rapid.IntRange(0, 4).Draw(t, "wants") {
		case 0:
			j.GPUMemMiB = int64(rapid.IntRange(1, 90).Draw(t, "memory")) << 10
		case 1, 2:
			j.GPUs, j.GPUMilli = 1, rapid.IntRange(1, 500).Draw(t, "share")
			j.GPUMemMiB = int64(rapid.IntRange(1, 45).Draw(t, "shared memory")) << 10
		case 3:
			if j.Shape = rapid.SampledFrom(shapes).Draw(t, "shape"); j.Shape != nil && j.Shape.Needs.Profile != "" {
				j.GPUs, j.GPUMilli = 1, 0
			}
		}
	}
}

// TestConformSlices holds every policy with every placement to the laws of TestConform where GPUs are
// packed by memory, divided and shared: no memory and no slice is held twice.
func TestConformSlices(t *testing.T) {
	limitDraws(t, 8)
	for _, pol := range policy.Catalog.All() {
		for _, pl := range placement.Catalog.All() {
			t.Run(pol.Name+"/"+pl.Name, rapid.MakeCheck(func(rt *rapid.T) {
				w := drawWorld(rt)
				drawSlices(rt, &w)
				var logs [2]strings.Builder
				for i := range logs {
					audit := newSliceAuditor(w.pools)
					w.change = func(c *simulate.Config) { c.Observers = append(c.Observers, audit) }
					r, a := w.play(t, pol.Value, pl.Value(), w.jobs)
					if a.fault != "" || audit.fault != "" {
						rt.Fatal(a.fault + audit.fault)
					}
					for k, mem := range audit.mem {
						if mem != 0 || audit.taken[k] != 0 || audit.jobs[k] != 0 {
							rt.Fatalf("GPU %v is still held at the end", k)
						}
					}
					if c := r.Jobs; c.Waiting != 0 || c.Running != 0 || c.Finished+c.Unplaceable+c.Dropped+c.CPUOnly != c.Read {
						rt.Fatalf("jobs are lost: %+v", c)
					}
					if used := usedIn(r.Record); used != r.Goodput+r.Redone {
						rt.Fatalf("all jobs ended, and of %d that was used %d was progress and %d was not", used, r.Goodput, r.Redone)
					}
					held := int64(0)
					for _, u := range r.MIG {
						for _, p := range u.Profiles {
							held += p.Starts
						}
					}
					if 2*held != int64(audit.seen) {
						rt.Fatalf("%d instances were counted, %d seen", held, audit.seen/2)
					}
					fmt.Fprintf(&logs[i], "%s%+v%+v", a.log.String(), r.Record.Months, r.MIG)
				}
				if logs[0].String() != logs[1].String() {
					rt.Fatal("the same config gave two different runs")
				}
			}))
		}
	}
}

package placement

import (
	"cmp"
	"slices"

	"capcli/simulate"

	"capcli"
)

// Mix is the kinds of jobs that a cluster can expect, with their frequencies. It
// measures fragmentation as Weng et al. do ("Beware of Fragmentation: Scheduling
// GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023): the
// idle GPUs of a node that a job drawn from the mix could not use. A job that fits on
// the node cannot use GPUs with less free than it wants of each. A job that does not
// fit, by GPUs, CPUs or model, can use none. Memory does not count.
type Mix struct {
	kinds map[kind]int64 // by count
	jobs  int64
	built int64 // jobs when groups was last worked out

	popular int64 // percent of the jobs that the commonest kinds must make up; the rest are left out

	groups []demand
	plain  bool // no kind states CPUs or shares a GPU
}

// kind is what the measure reads of a job.
type kind struct {
	gpus, milli      int
	cpu              int64
	model, partition string
}

// demand is the kinds with the same demand for GPUs, by CPUs.
type demand struct {
	kind
	cpus  []int64   // in order
	share []float64 // of all jobs, of those that want at most so many CPUs
}

// NewMix returns a mix of jobs, each with the same weight.
func NewMix(jobs ...capcli.Job) *Mix {
	m := &Mix{kinds: map[kind]int64{}, plain: true, popular: 100}
	for i := range jobs {
		m.Add(&jobs[i])
	}
	return m
}

// Add adds a job to the mix.
func (m *Mix) Add(j *capcli.Job) {
	m.jobs++
	m.kinds[kind{j.GPUs, j.GPUMilli, j.CPUMilli, j.GPUModel, j.Partition}]++
	if j.GPUs > 0 && (j.CPUMilli > 0 || j.GPUMilli > 0) {
		m.plain = false
	}
}

// refresh computes the demands again when the mix has grown by a tenth. It reports
// whether it did.
func (m *Mix) refresh() bool {
	if m.jobs == 0 || (m.built > 0 && m.jobs < m.built+max(1, m.built/10)) {
		return false
	}
	m.built = m.jobs
	kinds, jobs := m.commonest()
	kinds = slices.DeleteFunc(kinds, func(k kind) bool { return k.gpus == 0 }) // to a job without GPUs every idle GPU is lost
	slices.SortFunc(kinds, compareKinds)
	m.groups = m.groups[:0]
	for _, k := range kinds {
		share := float64(m.kinds[k]) / float64(jobs)
		cpu := k.cpu
		k.cpu = 0
		if n := len(m.groups); n == 0 || m.groups[n-1].kind != k {
			m.groups = append(m.groups, demand{kind: k})
		}
		g := &m.groups[len(m.groups)-1]
		if n := len(g.share); n > 0 {
			share += g.share[n-1]
		}
		g.cpus, g.share = append(g.cpus, cpu), append(g.share, share)
	}
	return true
}

// knownAfter is the number of jobs from which on rare kinds are known to be rare.
const knownAfter = 2000

// commonest returns the commonest kinds, which make up the popular percentage of the
// jobs, and the number of their jobs.
func (m *Mix) commonest() (kinds []kind, jobs int64) {
	for k := range m.kinds {
		kinds = append(kinds, k)
	}
	if m.popular == 100 || m.jobs < knownAfter {
		return kinds, m.jobs
	}
	slices.SortFunc(kinds, func(a, b kind) int { return cmp.Or(cmp.Compare(m.kinds[b], m.kinds[a]), compareKinds(a, b)) })
	for i, k := range kinds {
		if jobs += m.kinds[k]; 100*jobs >= m.popular*m.jobs {
			return kinds[:i+1], jobs
		}
	}
	return kinds, jobs
}

func compareKinds(a, b kind) int {
	return cmp.Or(cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.milli, b.milli), cmp.Compare(a.model, b.model),
		cmp.Compare(a.partition, b.partition), cmp.Compare(a.cpu, b.cpu))
}

// shareWithin returns the share of all jobs that have this demand and want at most cpu.
func (g *demand) shareWithin(cpu int64) float64 {
	i, found := slices.BinarySearch(g.cpus, cpu)
	if found {
		i++
	}
	if i == 0 {
		return 0
	}
	return g.share[i-1]
}

// serves reports whether pool p may run jobs of this demand.
func (g *demand) serves(p *simulate.Pool) bool { return p.Serves(g.partition, g.model) }

// serving returns the demands that pool p may serve.
func (m *Mix) serving(p *simulate.Pool) []*demand {
	var out []*demand
	for i := range m.groups {
		if m.groups[i].serves(p) {
			out = append(out, &m.groups[i])
		}
	}
	return out
}

// holes is what a node has free: whole GPUs, parts of GPUs and CPUs in thousandths.
type holes struct {
	whole int
	parts []int16
	cpu   int64
}

// holesOf reads node n into h and uses its slice again.
func holesOf(c *simulate.Cluster, n int, h *holes) {
	h.whole, h.parts, h.cpu = c.NodeFree(n), h.parts[:0], c.NodeCPU(n)
	if c.Pool(c.NodePool(n)).CPUMilli == 0 {
		h.cpu = 1 << 62
	}
	if !c.SharesGPUs() || c.Pool(c.NodePool(n)).Fluid() {
		return
	}
	for d := range c.Pool(c.NodePool(n)).GPUsPerNode {
		if f := c.DeviceFree(n, d); f > 0 && f < 1000 {
			h.parts = append(h.parts, f)
		}
	}
}

// usable returns the idle capacity of a node that a job drawn from the mix can use on
// average, in thousandths of GPUs.
func (h *holes) usable(groups []*demand) float64 {
	var sum, idle float64
	for _, p := range h.parts {
		idle += float64(p)
	}
	partly := idle
	idle += 1000 * float64(h.whole)
	for _, g := range groups {
		if g.milli == 0 {
			if h.whole >= g.gpus {
				sum += g.shareWithin(h.cpu) * (idle - partly)
			}
			continue
		}
		fits, small := h.whole > 0, 0.0
		for _, p := range h.parts {
			if int(p) >= g.milli {
				fits = true
			} else {
				small += float64(p)
			}
		}
		if fits {
			sum += g.shareWithin(h.cpu) * (idle - small)
		}
	}
	return sum
}

// Fragmented returns the number of idle GPUs, on nodes that take work, that a job drawn
// from the mix cannot use on average.
func (m *Mix) Fragmented(c *simulate.Cluster) float64 {
	m.built = 0
	m.refresh()
	var sum float64
	var h holes
	for p := range c.Pools() {
		groups := m.serving(c.Pool(p))
		for n := range c.Nodes(p) {
			holesOf(c, n, &h)
			sum += float64(c.FreeMilli(n)) - h.usable(groups)
		}
	}
	return sum / 1000
}

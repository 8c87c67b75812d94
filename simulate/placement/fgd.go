package placement

import (
	"math"
	"slices"

	"capcli/simulate"
)

func init() {
	Catalog.Add("fgd", "fragmentation gradient descent: where idle GPUs stay most usable to the jobs seen so far", func() simulate.Placement {
		mix := NewMix()
		mix.popular = popularKinds
		return &fgd{mix: mix, learns: true}
	})
}

// fgd is fragmentation gradient descent (Weng et al., "Beware of Fragmentation", USENIX
// ATC 2023): a job goes to the node, and a share to the GPU, where the expected
// fragmentation for the mix of jobs grows least. Equal places go by best fit: fewest
// free GPUs, then CPUs, then the lowest number. The mix is the jobs so far, or is
// given. A gang larger than a node takes wholly free nodes, and its remainder goes to
// the tightest other.
type fgd struct {
	mix    *Mix
	learns bool
	real   *simulate.Cluster // of the run; others are asked only whether a job fits at all
	groups [][]*demand
	table  [][]float64 // by pool and wholly free GPUs of a node: what is usable, for plain mixes
	before []usability // by node
	epoch  uint32      // counts what makes before stale as a whole
	now    holes
	after  holes
}

// popularKinds is the percentage of the jobs whose kinds count, commonest first: the
// typical pods of the paper's experiments.
const popularKinds = 95

// usability is the usable capacity of a node, valid during one epoch.
type usability struct {
	epoch uint32
	value float64
}

// FGD returns fragmentation gradient descent for a mix that is known beforehand.
func FGD(mix *Mix) simulate.Placement { return &fgd{mix: mix} }

// Observe adds arrivals to the mix and records which nodes changed.
func (f *fgd) Observe(e simulate.Event, c *simulate.Cluster) {
	f.real = c
	switch {
	case e.Kind == simulate.Arrive && f.learns && !e.Job.Refused():
		f.mix.Add(&e.Job.Job)
	case e.Job != nil && len(f.before) > 0:
		for i := range e.Job.Slices() {
			f.before[e.Job.Slices()[i].Node].epoch = 0
		}
	}
}

func (f *fgd) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	if c != f.real || f.mix.jobs == 0 {
		return gang(c, l, pools, tightest, tightest, dst)
	}
	if f.mix.refresh() || f.groups == nil {
		f.prepare(c)
	}
	spot := spot{node: -1}
	for _, p := range pools {
		switch {
		case l.GPUs > c.Pool(p).GPUsPerNode:
		case c.Pool(p).Fluid():
			if n := pick(c, l, p, l.GPUs, tightest, nil); n >= 0 && spot.node < 0 {
				spot.node = n
			}
		case l.GPUs > 0 && f.mix.plain && !c.SharesGPUs() && c.Levelled(p) && l.CPUMilli == 0 && l.MemMiB == 0:
			f.byLevel(c, l, p, &spot)
		default:
			f.byNode(c, l, p, &spot)
		}
	}
	if spot.node < 0 {
		return gang(c, l, pools, tightest, tightest, dst)
	}
	s := c.WholeSlice(l, spot.node)
	if l.GPUMilli > 0 && spot.known {
		s.Device = int32(spot.device)
	}
	return append(dst, s)
}

// spot is the best place so far.
type spot struct {
	node, device int
	known        bool // device was chosen
	loss         float64
	free, cpu    int64
}

// lossStep is the loss, in thousandths of a GPU, up to which two places count as equal,
// so that the tighter one wins. A mix known only from the past is no more exact than
// that. The authors' scheduler rounds to about twice as much.
const lossStep = 25

// offer takes a place if it loses less usable capacity.
func (s *spot) offer(node, device int, loss float64, free, cpu int64) {
	loss = math.Round(loss / lossStep)
	better := s.node < 0 || loss < s.loss
	if !better && loss == s.loss {
		better = free < s.free || (free == s.free && cpu < s.cpu)
	}
	if better {
		*s = spot{node, device, true, loss, free, cpu}
	}
}

// prepare computes for each pool which demands of the mix it serves and what is usable.
func (f *fgd) prepare(c *simulate.Cluster) {
	f.epoch++
	f.groups, f.table = make([][]*demand, c.Pools()), make([][]float64, c.Pools())
	if f.before == nil {
		f.before = make([]usability, c.NodeCount())
	}
	for p := range c.Pools() {
		f.groups[p] = f.mix.serving(c.Pool(p))
		if !c.Levelled(p) {
			continue
		}
		for whole := range c.Pool(p).GPUsPerNode + 1 {
			h := holes{whole: whole, cpu: 1 << 62}
			f.table[p] = append(f.table[p], h.usable(f.groups[p]))
		}
	}
}

// byLevel tries one node for each number of free GPUs. That is enough when jobs only
// want whole GPUs.
func (f *fgd) byLevel(c *simulate.Cluster, l *simulate.Live, p int, s *spot) {
	for free := l.GPUs; free <= c.Pool(p).GPUsPerNode; free++ {
		if n := c.FirstAtLevel(p, free, -1); n >= 0 {
			s.offer(n, 0, f.table[p][free]-f.table[p][free-l.GPUs], int64(free)*1000, 0)
		}
	}
}

// byNode tries every node with room, but only the first of those that are wholly free.
func (f *fgd) byNode(c *simulate.Cluster, l *simulate.Live, p int, s *spot) {
	untouched := false
	for n := c.Candidate(l, p, -1); n >= 0; n = c.Candidate(l, p, n) {
		if !c.Fits(l, n) {
			continue
		}
		if whole := c.NodeFree(n) == c.Pool(p).GPUsPerNode && c.NodeCPU(n) == c.Pool(p).CPUMilli; whole {
			if untouched {
				continue
			}
			untouched = true
		}
		f.onNode(c, l, n, s)
	}
}

// onNode tries node n, and for a share each of its different GPUs with room.
func (f *fgd) onNode(c *simulate.Cluster, l *simulate.Live, n int, s *spot) {
	p := c.NodePool(n)
	holesOf(c, n, &f.now)
	was := &f.before[n]
	if was.epoch != f.epoch {
		*was = usability{f.epoch, f.now.usable(f.groups[p])}
	}
	f.after.cpu = f.now.cpu
	if c.Pool(p).CPUMilli > 0 {
		f.after.cpu -= l.CPUMilli
	}
	free := c.FreeMilli(n)
	if l.GPUMilli == 0 {
		f.after.whole, f.after.parts = f.now.whole-l.GPUs, append(f.after.parts[:0], f.now.parts...)
		s.offer(n, 0, was.value-f.after.usable(f.groups[p]), free, f.now.cpu)
		return
	}
	want, seen := int16(l.GPUMilli), [8]int16{}
	tried := 0
	for d := range c.Pool(p).GPUsPerNode {
		has := c.DeviceFree(n, d)
		if has < want || slices.Contains(seen[:tried], has) || !c.DeviceFits(l, n, d) {
			continue
		}
		if tried < len(seen) {
			seen[tried] = has
			tried++
		}
		f.after.take(&f.now, has, want)
		s.offer(n, d, was.value-f.after.usable(f.groups[p]), free, f.now.cpu)
	}
}

// take sets h to what is left of from when a job takes want of a GPU with has free.
func (h *holes) take(from *holes, has, want int16) {
	h.whole, h.parts = from.whole, h.parts[:0]
	if has == 1000 {
		h.whole--
	}
	for i, p := range from.parts {
		if p == has {
			h.parts = append(h.parts, from.parts[i+1:]...)
			break
		}
		h.parts = append(h.parts, p)
	}
	if has > want {
		h.parts = append(h.parts, has-want)
	}
}

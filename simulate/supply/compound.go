package supply

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"

	"capcli"
	"capcli/simulate"
)

// Part is a kind of part that fails: exponential times between failures and to repair, of one part.
type Part struct {
	MTBF, Repair capcli.Seconds // 0 is a part that never fails
}

// Failures are failures of the nodes of a pool, their racks and their GPUs, all independent.
//
// A node serves if it and its rack work, and, with GPUTakesNode, all its GPUs. Repairs are done by
// crews, in the order of failure, each on one part at a time.
type Failures struct {
	Nodes, GPUsPerNode int
	Node, Rack, GPU    Part
	RackNodes          int     // nodes of a rack; the last rack may have fewer
	RackStarts         []int32 // first nodes of the racks where they differ in size; nil is each RackNodes
	GPUTakesNode       bool    // a failed GPU takes its node; else only itself, with the job that holds it
	Crews              int     // parts repaired at once; 0 is all
}

// NewFailures returns a supply of nodes that fail in these ways. All parts work at the start. The
// history of a part depends only on rng's seed, its kind and its number, but for the wait for a crew.
func NewFailures(f Failures, rng *rand.Rand) simulate.Supply {
	s := &compound{f: f, downs: make([]int32, f.Nodes), crews: f.Crews}
	s.rng = rand.New(&s.source)
	base := rng.Uint64()
	add := func(kind partKind, number, of int, p Part) {
		if p.MTBF > 0 {
			s.parts = append(s.parts, part{kind: kind, number: int32(number), of: int32(of), Part: p, random: base ^ uint64(kind+1)<<60 + uint64(number)*0xd1342543de82ef95})
		}
	}
	for n := range f.Nodes {
		add(aNode, n, n, f.Node)
	}
	for r := range f.racks() {
		add(aRack, r, r, f.Rack)
	}
	for g := range f.Nodes * f.GPUsPerNode {
		add(aGPU, g, g/f.GPUsPerNode, f.GPU)
	}
	for i := range s.parts {
		p := &s.parts[i]
		p.next = s.draw(p, p.MTBF)
		s.heap = append(s.heap, int32(i))
	}
	heap.Init(s)
	return s
}

func (f *Failures) racks() int {
	switch {
	case f.RackStarts != nil:
		return len(f.RackStarts)
	case f.RackNodes > 0:
		return (f.Nodes + f.RackNodes - 1) / f.RackNodes
	}
	return 0
}

// rack returns the nodes of a rack: from up to, but not including, to.
func (f *Failures) rack(r int) (from, to int) {
	if f.RackStarts == nil {
		return r * f.RackNodes, min((r+1)*f.RackNodes, f.Nodes)
	}
	if to = f.Nodes; r+1 < len(f.RackStarts) {
		to = int(f.RackStarts[r+1])
	}
	return int(f.RackStarts[r]), to
}

// partKind says what a part is.
type partKind uint8

const (
	aNode partKind = iota
	aRack
	aGPU
)

// part is a part with its next event: its failure, or the end of its repair.
type part struct {
	Part
	kind       partKind
	down       bool
	number, of int32 // of: its node, or the rack itself
	next       capcli.Seconds
	random     uint64 // state of its own generator
}

// compound is a heap of parts by their next event, ties by position.
type compound struct {
	f       Failures
	parts   []part
	heap    []int32
	queue   []int32 // parts that wait for a crew
	crews   int     // free crews, if f.Crews > 0
	downs   []int32 // by node: parts that keep it from serving
	pending []simulate.Change
	rng     *rand.Rand
	source  splitMix
}

// draw returns an exponential time for p, at least a second.
func (s *compound) draw(p *part, mean capcli.Seconds) capcli.Seconds {
	s.source.state = p.random
	t := math.Round(float64(mean) * s.rng.ExpFloat64())
	p.random = s.source.state
	return capcli.Seconds(min(max(1, t), float64(beyond)))
}

// Next returns the changes in order of time.
func (s *compound) Next() (simulate.Change, bool) {
	for len(s.pending) == 0 {
		if len(s.heap) == 0 || s.parts[s.heap[0]].next >= beyond {
			return simulate.Change{}, false
		}
		s.step()
	}
	c := s.pending[0]
	s.pending = s.pending[1:]
	return c, true
}

// step handles the next event of a part.
func (s *compound) step() {
	i := s.heap[0]
	p := &s.parts[i]
	at := p.next
	s.pending = s.pending[:0]
	if p.down {
		p.down = false
		s.change(p, at, -1)
		p.next = at + s.draw(p, p.MTBF)
		heap.Fix(s, 0)
		if s.f.Crews > 0 {
			s.crews++
			if len(s.queue) > 0 {
				next := s.queue[0]
				s.queue = s.queue[1:]
				s.repair(next, at)
			}
		}
		return
	}
	p.down = true
	s.change(p, at, 1)
	heap.Pop(s)
	if s.f.Crews > 0 && s.crews == 0 {
		s.queue = append(s.queue, i)
		return
	}
	s.repair(i, at)
}

// repair sends a crew to part i.
func (s *compound) repair(i int32, at capcli.Seconds) {
	s.crews--
	p := &s.parts[i]
	p.next = at + s.draw(p, max(1, p.Repair))
	heap.Push(s, i)
}

// change tells what the failure (sign 1) or the repair (-1) of a part does to nodes.
func (s *compound) change(p *part, at capcli.Seconds, sign int32) {
	from, to := int(p.of), int(p.of)+1
	switch {
	case p.kind == aRack:
		from, to = s.f.rack(int(p.of))
	case p.kind == aGPU && !s.f.GPUTakesNode:
		kind := simulate.Gain
		if sign > 0 {
			kind = simulate.Lose
		}
		s.pending = append(s.pending, simulate.Change{At: at, Kind: kind, Node: from, GPU: int(p.number)%s.f.GPUsPerNode + 1})
		return
	}
	for n := from; n < to; n++ {
		was := s.downs[n]
		s.downs[n] += sign
		switch {
		case was == 0:
			s.pending = append(s.pending, simulate.Change{At: at, Kind: simulate.Lose, Node: n})
		case s.downs[n] == 0:
			s.pending = append(s.pending, simulate.Change{At: at, Kind: simulate.Gain, Node: n})
		}
	}
}

// Len, Less, Swap, Push and Pop make compound a heap of its parts.
func (s *compound) Len() int { return len(s.heap) }

func (s *compound) Less(i, j int) bool {
	a, b := s.heap[i], s.heap[j]
	return cmp.Or(cmp.Compare(s.parts[a].next, s.parts[b].next), cmp.Compare(a, b)) < 0
}

func (s *compound) Swap(i, j int) { s.heap[i], s.heap[j] = s.heap[j], s.heap[i] }

// Push adds a part whose repair begins.
func (s *compound) Push(x any) { s.heap = append(s.heap, x.(int32)) }

// Pop removes a part that waits for a crew.
func (s *compound) Pop() any {
	last := s.heap[len(s.heap)-1]
	s.heap = s.heap[:len(s.heap)-1]
	return last
}

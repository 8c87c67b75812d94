// Package supply has the ways in which the nodes of a pool come and go: at random with
// a constant hazard, and by a recorded history of a spot market.
package supply

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"

	"capcli"
	"capcli/simulate"
)

// NewHazard returns a supply of nodes that fail and are repaired, or of spot nodes that
// are reclaimed and come back, at a constant hazard. Each node is up for an exponential
// time of mean meanUp, then down for an exponential time of mean meanDown, and so on.
// All nodes are up at the start. In the long run a node is up meanUp / (meanUp +
// meanDown) of the time.
//
// With notice, a node drains for that long before it goes, or from when it came if that
// is later. Without notice it fails unannounced. Times are whole seconds, at least one,
// so means should be minutes or more. A mean under a second counts as one.
//
// The history of a node depends only on rng's seed and the node's number: a larger pool
// has the same failures of its first nodes.
func NewHazard(nodes int, meanUp, meanDown, notice capcli.Seconds, rng *rand.Rand) simulate.Supply {
	h := &hazard{
		up: float64(max(1, meanUp)), down: float64(max(1, meanDown)), notice: max(0, notice),
		nodes: make([]hazardNode, nodes), heap: make([]int32, nodes),
	}
	h.rng = rand.New(&h.source)
	base := rng.Uint64()
	for n := range h.nodes {
		h.nodes[n].random = base + uint64(n)*0xd1342543de82ef95
		h.come(n, 0)
		h.heap[n] = int32(n)
	}
	heap.Init(h)
	return h
}

// hazard is a heap of nodes by their next change, ties by number.
type hazard struct {
	up, down float64
	notice   capcli.Seconds
	nodes    []hazardNode
	heap     []int32
	rng      *rand.Rand
	source   splitMix
}

type hazardNode struct {
	next, lose capcli.Seconds
	random     uint64        // state of the node's own generator
	kind       simulate.Kind // of the next change
}

// splitMix is the generator of Steele, Lea and Flood (2014). Its state is eight bytes,
// so that each of many nodes has its own.
type splitMix struct{ state uint64 }

func (s *splitMix) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// beyond is a time after any run's end, to which a length of time can still be added.
const beyond = 300 * 366 * capcli.Day

// draw returns an exponential time for node n.
func (h *hazard) draw(n int, mean float64) capcli.Seconds {
	h.source.state = h.nodes[n].random
	t := math.Round(mean * h.rng.ExpFloat64())
	h.nodes[n].random = h.source.state
	return capcli.Seconds(min(max(1, t), float64(beyond)))
}

// come plans the next change of node n, which comes up at a time.
func (h *hazard) come(n int, at capcli.Seconds) {
	d := &h.nodes[n]
	d.lose = at + h.draw(n, h.up)
	d.next, d.kind = d.lose, simulate.Lose
	if h.notice > 0 {
		d.next, d.kind = max(at, d.lose-h.notice), simulate.Drain
	}
}

// Next returns the changes in order of time, those of one time by node.
func (h *hazard) Next() (simulate.Change, bool) {
	if len(h.heap) == 0 {
		return simulate.Change{}, false
	}
	n := int(h.heap[0])
	d := &h.nodes[n]
	c := simulate.Change{At: d.next, Kind: d.kind, Node: n}
	if c.At >= beyond {
		return simulate.Change{}, false
	}
	switch c.Kind {
	case simulate.Drain:
		d.next, d.kind = d.lose, simulate.Lose
	case simulate.Lose:
		d.next, d.kind = c.At+h.draw(n, h.down), simulate.Gain
	default:
		h.come(n, c.At)
	}
	heap.Fix(h, 0)
	return c, true
}

// Len, Less, Swap, Push and Pop make hazard a heap of its nodes.
func (h *hazard) Len() int { return len(h.heap) }

func (h *hazard) Less(i, j int) bool {
	a, b := h.heap[i], h.heap[j]
	return cmp.Or(cmp.Compare(h.nodes[a].next, h.nodes[b].next), cmp.Compare(a, b)) < 0
}

func (h *hazard) Swap(i, j int) { h.heap[i], h.heap[j] = h.heap[j], h.heap[i] }
func (*hazard) Push(any)        {} // no node is ever added
func (*hazard) Pop() any        { return nil }

package simulate

import "capcli"

// Terms say on what terms capacity is had.
type Terms uint8

// The terms. Owned and reserved capacity is committed: it is paid whether held
// or not. On-demand and spot capacity is paid while held; spot may be lost.
const (
	Owned Terms = iota
	Reserved
	OnDemand
	Spot
)

var termNames = [...]string{"owned", "reserved", "on_demand", "spot"}

// String gives the terms as scenarios write them.
func (t Terms) String() string { return termNames[t] }

// Committed tells whether the capacity is paid for when nobody holds it.
func (t Terms) Committed() bool { return t <= Reserved }

// Pool is capacity of one kind: equal nodes of one GPU model on the same terms.
type Pool struct {
	Name        string
	Terms       Terms
	GPUModel    string // "" serves any
	Partition   string // "" serves all; else the virtual cluster that owns it
	Nodes       int    // 1 for counted capacity
	GPUsPerNode int
	CPUMilli    int64 // per node; 0 is without limit
	MemMiB      int64 // per node; 0 is without limit

	From       capcli.Seconds // delivered then
	Until      capcli.Seconds // gone then; 0 is never
	Lead       capcli.Seconds // on-demand and spot: from asking to having
	MinBilling capcli.Seconds // on-demand and spot: least time billed for a stay
	Supply     Supply         // comings and goings of nodes; nil: all stay
	Rank       int            // order of overflow; committed capacity is always first
}

// Capacity is all the pool's GPUs.
func (p *Pool) Capacity() int { return p.Nodes * p.GPUsPerNode }

// Fluid reports whether the pool's GPUs have no identity, since a node has over
// 64: shares of them are poured from one measure.
func (p *Pool) Fluid() bool { return p.GPUsPerNode > maxLevel }

// Counted tells whether the pool is a number of GPUs that have no nodes: one
// node, of which nothing but its GPUs is known.
func (p *Pool) Counted() bool { return p.Nodes == 1 && p.CPUMilli == 0 && p.MemMiB == 0 }

// Offered is how long the pool is there between two instants, by its dates:
// nodes that fail or are reclaimed in that time count as there.
func (p *Pool) Offered(from, to capcli.Seconds) capcli.Seconds {
	if p.Until > 0 {
		to = min(to, p.Until)
	}
	return max(0, to-max(from, p.From))
}

// Serves tells whether p may run jobs that were sent to a partition and want a
// GPU model: "" is any model, "A|B" is either.
func (p *Pool) Serves(partition, model string) bool {
	return (p.Partition == "" || p.Partition == partition) && modelFits(model, p.GPUModel)
}

// Supply is the comings and goings of a pool's nodes: failures and repairs,
// spot reclaims, an availability trace. Next gives them in order of time, each
// once; ok is false when no more will come. All nodes are there at the start.
type Supply interface {
	Next() (c Change, ok bool)
}

// Change is a node of a pool that gets notice (Drain), goes (Lose) or comes
// (Gain).
type Change struct {
	At   capcli.Seconds
	Kind Kind
	Node int // within the pool
}

package simulate

import "capcli"

// Terms are the terms of capacity.
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

// String returns the terms as scenarios write them.
func (t Terms) String() string { return termNames[t] }

// Committed reports whether the capacity is paid for also when nobody holds it.
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

// Capacity returns the number of GPUs of the pool.
func (p *Pool) Capacity() int { return p.Nodes * p.GPUsPerNode }

// Fluid reports whether single GPUs of the pool are not told apart, because a node has
// more than 64. Shares of GPUs then come from one sum.
func (p *Pool) Fluid() bool { return p.GPUsPerNode > maxLevel }

// Counted reports whether the pool is only a number of GPUs: one node without limits on
// CPUs and memory.
func (p *Pool) Counted() bool { return p.Nodes == 1 && p.CPUMilli == 0 && p.MemMiB == 0 }

// Offered returns how long the pool is there between two times, by its dates. Nodes
// that fail or are reclaimed count as there.
func (p *Pool) Offered(from, to capcli.Seconds) capcli.Seconds {
	if p.Until > 0 {
		to = min(to, p.Until)
	}
	return max(0, to-max(from, p.From))
}

// Serves reports whether p may run jobs of a partition that want a GPU model. A model
// of "" is any, "A|B" is either.
func (p *Pool) Serves(partition, model string) bool {
	return (p.Partition == "" || p.Partition == partition) && modelFits(model, p.GPUModel)
}

// Supply is how nodes of a pool come and go: failures and repairs, spot reclaims, a
// recorded history. Next returns the changes in order of time and false when there are
// no more. All nodes are there at the start.
type Supply interface {
	Next() (c Change, ok bool)
}

// Change is a node that gets notice (Drain), goes (Lose) or comes (Gain).
type Change struct {
	At   capcli.Seconds
	Kind Kind
	Node int // within the pool
}

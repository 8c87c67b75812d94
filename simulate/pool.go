package simulate

import "capcli"

// Terms are the terms of capacity.
type Terms uint8

// The terms. Owned and reserved capacity is committed: it is paid whether held or not. On-demand
// and spot capacity is paid while held; spot nodes may be reclaimed.
const (
	Owned Terms = iota
	Reserved
	OnDemand
	Spot
)

var termNames = [...]string{"owned", "reserved", "on_demand", "spot"}

// String returns the terms as scenarios write them.
func (t Terms) String() string { return termNames[t] }

// Committed reports whether the capacity is paid even when nobody holds it.
func (t Terms) Committed() bool { return t <= Reserved }

// Pool is capacity of one kind: equal nodes of one GPU model on the same terms.
type Pool struct {
	Name        string
	Terms       Terms
	GPUModel    string // "" serves any model
	Partition   string // virtual cluster that owns it; "" serves all
	Nodes       int    // 1 for counted capacity
	GPUsPerNode int
	CPUMilli    int64 // thousandths of CPUs a node; 0 is without limit
	MemMiB      int64 // per node; 0 is without limit
	MachineGPUs int   // on-demand and spot: GPUs of the machines in which it is sold; a stay is billed for whole machines. 0 or 1 is by the GPU

	From       capcli.Seconds // delivered at this time
	Until      capcli.Seconds // ended at this time; 0 is never
	Lead       capcli.Seconds // on-demand and spot: time from order to delivery
	MinBilling capcli.Seconds // on-demand and spot: shortest time billed for a stay
	PaidLead   bool           // on-demand and spot: Lead is billed too, as serverless GPUs bill a cold start
	Supply     Supply         // changes of nodes; nil if all stay up
	MTBF       capcli.Seconds // mean time until one node is lost, as is known beforehand; 0 is not known
	Notice     capcli.Seconds // how long before those losses the nodes drain, as is known beforehand; 0 is no notice
	RackMTBF   capcli.Seconds // the same of one rack without notice, which takes RackNodes nodes; 0 is no racks
	RackNodes  int
	Rank       int        // order of overflow; committed capacity is always first
	Buy        *Buying    `json:"-"` // on-demand and spot: nodes are bought; nil is capacity by the GPU, paid while held
	Withheld   []Withheld // capacity that jobs may not have for some time, in order of time; nil if none
	Windows    []Window   // maintenance and advance reservations; nil if none

	GPUMemMiB    int64    // memory of one GPU; 0 is not stated, and then no limit
	Capability   int      // compute capability in tenths: see capcli.Needs; 0 is not stated
	Interconnect string   // link between the GPUs of a node; "" is not stated
	MIG          *MIG     // its GPUs are divided into instances; nil if they are not
	Sharing      *Sharing // how jobs that share a GPU get on; nil is without loss
	Domains      []Domain // levels above the node, from wide to narrow; nil is one domain
	Place        Place
	Shared       []Shared // what running jobs share beside GPUs; nil is nothing that is short
	Scattered    bool     // counted capacity of which nobody knows how near its GPUs are: as far from each other as can be
}

// Withheld is the capacity of a pool that no job may start on from a time on. No running job loses
// its GPUs: while jobs hold more than is left, nothing starts. Withheld capacity that is free counts
// as down. The last step holds until the end of the run.
type Withheld struct {
	At    capcli.Seconds
	Milli int64 // thousandths of GPUs; 0 ends it
}

// Capacity returns the number of GPUs of the pool.
func (p *Pool) Capacity() int { return p.Nodes * p.GPUsPerNode }

// unheld returns the time that is billed for a stay of some length beside it: the lead, if that is billed, and
// what is missing to the shortest time. Of capacity that is paid whole it is 0.
func (p *Pool) unheld(stay capcli.Seconds) capcli.Seconds {
	if p.PaidWhole() || stay <= 0 {
		return 0
	}
	lead := capcli.Seconds(0)
	if p.PaidLead {
		lead = p.Lead
	}
	return lead + max(0, p.MinBilling-stay-lead)
}

// spare returns what a stay of milli thousandths of GPUs leaves of its last machine, and is billed too. Of
// capacity that is sold by the GPU, and of what is paid whole, it is 0.
func (p *Pool) spare(milli int64) int64 {
	machine := 1000 * int64(p.MachineGPUs)
	if machine <= 1000 || p.PaidWhole() {
		return 0
	}
	return (machine - milli%machine) % machine
}

// Fluid reports whether single GPUs of the pool are not tracked, because a node has more than 64.
// Shares of GPUs are then taken from one sum.
func (p *Pool) Fluid() bool { return p.GPUsPerNode > maxLevel }

// Counted reports whether the pool is only a number of GPUs: one node without limits on
// CPUs and memory, and not a bought one.
func (p *Pool) Counted() bool {
	return p.Nodes == 1 && p.CPUMilli == 0 && p.MemMiB == 0 && p.Buy == nil
}

// Offered returns how long the pool exists, by its dates, between two times. Time in which nodes
// are failed or reclaimed counts.
func (p *Pool) Offered(from, to capcli.Seconds) capcli.Seconds {
	if p.Until > 0 {
		to = min(to, p.Until)
	}
	return max(0, to-max(from, p.From))
}

// Serves reports whether p may run jobs of a partition that want a GPU model. A wanted model of ""
// is any; "A|B" is either.
func (p *Pool) Serves(partition, model string) bool {
	return (p.Partition == "" || p.Partition == partition) && modelFits(model, p.GPUModel)
}

// Supply is the source of changes of a pool's nodes: failures and repairs, spot reclaims, or a
// recorded history. Next returns the changes in order of time, and false after the last. All nodes
// are up at the start.
type Supply interface {
	Next() (c Change, ok bool)
}

// Change is a node that gets notice (Drain), is lost (Lose) or comes back (Gain).
type Change struct {
	At   capcli.Seconds
	Kind Kind
	Node int // index within the pool
	GPU  int // the GPU that is lost or repaired, from 1; 0 is the whole node. Only on nodes that share no GPUs
}

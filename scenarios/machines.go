package scenarios

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"

	"capcli/scenarios/strict"
)

// choiceOfUnit reads what a pool is billed by: gpu or machine.
func choiceOfUnit(byMachine *bool) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var s string
		strict.Choice(&s, "billed_by", "gpu", "machine")(d, n)
		*byMachine = s == "machine"
	}
}

// checkUnit checks what the pool is billed by against its other fields.
func (c *Capacity) checkUnit(o *strict.Object) {
	byMachine := o.Has("billed_by") && c.ByMachine
	switch {
	case o.Has("machine_gpus") && !byMachine && o.IsClean("billed_by"):
		o.FaultName("machine_gpus", "machine_gpus is the machine that a job pays for; write billed_by: machine with it")
	case !byMachine:
	case c.Kind.Committed():
		o.FaultName("billed_by", "%s capacity is paid for whole; billed_by is for on_demand and spot", c.KindName())
	case c.Product == perUse:
		o.FaultName("billed_by", "per_use capacity is billed by the second of a GPU; leave billed_by out")
	case c.Buy != nil:
		o.FaultName("billed_by", "bought nodes are billed whole; leave billed_by out")
	case o.Has("nodes_file"):
		if c.MachineGPUs == 0 {
			o.FaultMissing("machine_gpus", "billed_by: machine with a file of nodes needs the GPUs of the machine: machine_gpus: 8")
		}
	case o.IsClean("machine_gpus", "gpus_per_node", "price") && !c.Price.pending && c.billingUnit() == 0:
		o.FaultMissing("machine_gpus", "billed_by: machine needs the GPUs of the machine: machine_gpus: 8, or the key of a price (capcli prices list)")
	}
}

// billingUnit returns the GPUs of the machine by which use is billed: as stated, else those of a
// node, else those of the machine whose price it has. It is 0 where use is billed by the GPU.
func (c *Capacity) billingUnit() int {
	if !c.ByMachine {
		return 0
	}
	gpus := cmp.Or(c.MachineGPUs, c.GPUsPerNode)
	if q := c.Price.Quote; gpus == 0 && q != nil {
		gpus = max(1, q.GPUs)
	}
	return gpus
}

// BilledByMachine reports whether use of some pool is billed by whole machines of more than one GPU.
func (s *Scenario) BilledByMachine() bool {
	return slices.ContainsFunc(s.Capacity, func(c Capacity) bool { return c.billingUnit() > 1 })
}

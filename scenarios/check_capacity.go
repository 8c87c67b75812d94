package scenarios

import (
	"slices"

	"capcli/simulate"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
)

// check checks the fields of one pool together.
func (c *Capacity) check(o *strict.Object) {
	if !o.Has("kind") {
		o.FaultMissing("kind", "kind is missing: owned, reserved, on_demand, spot or per_use")
		return
	}
	c.checkPrice(o)
	if !o.IsClean("kind") {
		return
	}
	c.checkSize(o)
	c.checkSupply(o)
	c.checkDomains(o)
	c.checkShared(o)
	c.checkProduct(o)
	c.checkBuy(o)
	c.checkKind(o)
	c.checkUnit(o)
	c.checkFenced(o)
	if c.Kind.Committed() {
		o.FaultEach([]string{"lead_time", "min_billing"}, "%s is for on_demand and spot; %s capacity comes at from: and is paid until until:", c.Kind)
	} else if o.Has("term") {
		o.FaultName("term", "term is for owned and reserved capacity; %s is paid while held", c.Kind)
	}
	if c.From.Given && c.Until.Given && c.From.Date.IsKnown() == c.Until.Date.IsKnown() {
		if (c.From.Date.IsKnown() && c.Until.Date <= c.From.Date) || (!c.From.Date.IsKnown() && c.Until.After <= c.From.After) {
			o.Fault("until", "until is not after from")
		}
	}
	if c.Until.Given && !c.Until.Date.IsKnown() && c.Until.After == 0 {
		o.Fault("until", "until is at the start, so the pool is never there")
	}
}

// checkPrice checks the prices of the pool. It refuses a price of 0 without free: true.
func (c *Capacity) checkPrice(o *strict.Object) {
	switch {
	case c.Free && c.Price.Rate > 0:
		o.Fault("free", "free: true, but price is %s; leave one out", c.Price.Rate.Decimal())
	case c.Free:
		c.Price = Price{Known: true}
	case o.Has("price") && c.Price.Known && c.Price.Rate == 0 && !c.Price.isFree():
		o.Fault("price", "price is 0; if this capacity is free to you, write free: true")
	}
	c.checkPath(o)
	if o.Has("list_price") && o.Has("on_demand_price") {
		o.FaultName("list_price", "list_price and on_demand_price are the same; leave one out")
	}
	for _, name := range []string{"list_price", "on_demand_price"} {
		if o.Has(name) && c.OnDemand.Known && c.OnDemand.Rate == 0 && !c.OnDemand.pending {
			o.Fault(name, "%s is 0; leave it out where it is not known", name)
		}
	}
}

// checkSize checks that the size is given once, in one of three ways.
func (c *Capacity) checkSize(o *strict.Object) {
	count := "gpus"
	if o.Has("max_gpus") {
		count = "max_gpus"
	}
	switch {
	case o.Has("max_gpus") && c.Kind.Committed():
		o.FaultName("max_gpus", "max_gpus is for on_demand and spot; %s capacity has gpus or nodes", c.Kind)
		return
	case o.Has("gpus") && o.Has("max_gpus"):
		o.FaultName("max_gpus", "gpus and max_gpus both give the size; leave one out")
		return
	case o.Has("nodes_file"):
		o.FaultEach([]string{"gpus", "max_gpus", "nodes", "gpus_per_node", "cpus_per_node", "mem_gb_per_node", "gpu_model"}, "%s comes from nodes_file; leave one out")
		return
	case o.Has("nodes") && o.Has(count):
		o.FaultName(count, "%s and nodes both give the size; leave one out", count)
		return
	case o.Has("nodes"):
		c.checkNodes(o)
		return
	}
	if !o.Has(count) && c.Kind.Committed() {
		o.FaultMissing("gpus", "the size is missing: gpus: 64, or nodes: 8 with gpus_per_node: 8")
	}
	if !o.Has("gpus_per_node") {
		o.FaultEach([]string{"cpus_per_node", "mem_gb_per_node"}, "%s needs nodes and gpus_per_node")
		return
	}
	switch {
	case !o.IsClean(count, "gpus_per_node"):
	case !o.Has(count) && !c.Kind.Committed():
		o.FaultName("gpus_per_node", "gpus_per_node needs nodes or max_gpus")
	case !o.Has(count):
	case c.GPUsPerNode == 0 || c.GPUs%c.GPUsPerNode != 0:
		o.Fault(count, "%d GPUs are no whole number of nodes of %d", c.GPUs, c.GPUsPerNode)
	default:
		c.Nodes, c.GPUs = c.GPUs/c.GPUsPerNode, 0
	}
}

func (c *Capacity) checkNodes(o *strict.Object) {
	switch {
	case !o.Has("gpus_per_node"):
		o.FaultMissing("gpus_per_node", "nodes needs gpus_per_node: 8, say")
	case !o.IsClean("nodes", "gpus_per_node"):
	case c.GPUsPerNode == 0 && c.CPUMilli == 0:
		o.Fault("gpus_per_node", "nodes without GPUs need cpus_per_node")
	case c.Nodes*c.GPUsPerNode > maxGPUs:
		o.Fault("nodes", "%d GPUs in one pool; at most %d are allowed", c.Nodes*c.GPUsPerNode, maxGPUs)
	}
}

// checkSupply allows failures, a hazard or an availability trace only for pools with nodes, and
// only one of them.
func (c *Capacity) checkSupply(o *strict.Object) {
	have := slices.DeleteFunc([]string{"failures", "hazard", "availability"}, func(name string) bool { return !o.Has(name) })
	if len(have) == 0 {
		return
	}
	if len(have) > 1 {
		o.FaultName(have[1], "%s and %s both say when nodes go; leave one out", have[0], have[1])
	}
	if c.Nodes == 0 && c.NodesFile == "" && o.IsClean("nodes", "gpus", "max_gpus", "gpus_per_node") {
		o.FaultName(have[0], "%s is of nodes: give nodes and gpus_per_node", have[0])
	}
}

// checkCapacity checks the pools against the rest of the scenario.
func (s *Scenario) checkCapacity(o *strict.Object) {
	pools := o.Value("capacity")
	if pools == nil || pools.Kind != yaml.SequenceNode {
		return
	}
	total := 0
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if c.Kind.Committed() {
			total += c.GPUs + c.Nodes*c.GPUsPerNode
		}
		s.checkDates(o.Decoder, c, pools.Content[i])
		s.checkWindows(o.Decoder, c, pools.Content[i])
		if s.spendsMoney() && c.Kind != simulate.Spot && !c.Price.Known && !c.Price.pending {
			o.Fault("capacity", "pool %s has no price, and a usd_budget counts it; state its price, or free: true", capcli.Quoted(c.Name))
		}
	}
	if total > maxCommitted && o.IsClean("capacity") {
		o.FaultName("capacity", "%d committed GPUs in all; at most %d are allowed", total, maxCommitted)
	}
}

// checkDates checks that a pool with dates has a period, and overlaps it.
func (s *Scenario) checkDates(d *strict.Decoder, c *Capacity, n *yaml.Node) {
	for _, name := range []string{"from", "until"} {
		w, at := c.From, strict.Child(n, name)
		if name == "until" {
			w = c.Until
		}
		switch {
		case at == nil || !w.Given || !w.Date.IsKnown():
		case !s.Period.IsKnown():
			d.Fault(at, "%s is a date, but there is no period that says when the run starts; give period, or write a time since the start such as 30d", name)
		case name == "from" && w.Date >= s.Period.End, name == "until" && w.Date <= s.Period.Start:
			d.Fault(at, "the pool is not there in the period, %s to %s", s.Period.Start, s.Period.End)
		}
	}
}

// offset returns w in seconds since the start; 0 for dates before it.
func (w When) offset(start capcli.Time) capcli.Seconds {
	if w.Date.IsKnown() && w.Given {
		return max(0, capcli.Seconds(w.Date-start))
	}
	return w.After
}

// Committed returns the number of GPUs that are paid for whether used or not.
func (s *Scenario) Committed() int {
	total := 0
	for i := range s.Capacity {
		if c := &s.Capacity[i]; c.Kind.Committed() {
			total += c.GPUs + c.Nodes*c.GPUsPerNode
		}
	}
	return total
}

// Counted reports whether all places are counted GPUs, without nodes.
func (s *Scenario) Counted() bool {
	return !slices.ContainsFunc(s.Capacity, func(c Capacity) bool { return !c.Floats && (c.Nodes > 0 || c.NodesFile != "") })
}

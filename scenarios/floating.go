package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// A commitment is a bill, and capacity is a place. A pool that floats is no place in the cluster:
// no job runs in it. It is settled on the machines in which jobs run, hour by hour, as the
// scenario's commitments are, under the pool's name.
//
// A pool of kind cud floats, and so does one of kind reserved whose price by key is of a term that
// floats (prices.Row.Properties) or that says fenced: false. A pool that says fenced: true is a
// place, and so is one that describes machines of its own, such as failures or maintenance. Owned
// capacity, capacity blocks and capacity reservations are places always. For a pool to float, an
// on_demand pool must be able to run its jobs: one of its GPU model, or else one without a model,
// for all partitions or for the same one. Where there is none, the pool stays the place that limits
// the jobs; it is paid for, used or not, either way.
//
// If the pool guarantees its capacity, its GPUs add to max_gpus of that on_demand pool from the
// start of the term to its end.

// FloatingPool is a pool that floats: its terms, for plans that solve its size on the use that was
// played. Its size changes no schedule, unless its GPUs add to the limit of an on_demand pool.
type FloatingPool struct {
	Pool   int      // index into Scenario.Capacity
	Name   string   // of the pool, and the ID of its commitment
	GPUs   int      // its size now
	Lot    int      // GPUs of a node, which are bought together; 1 for a number of GPUs
	Term   string   // as the pool states it: 1y; "" is none
	Limits bool     // whether its GPUs add to max_gpus of an on_demand pool
	Covers []string // the pools whose use it covers
	// Unit is the commitment of one GPU in the run: its product, its price by the hour and at the
	// start, and from when to when. Without until it Renews: a term that ends in the run goes on.
	Unit   billing.Commitment
	Renews bool
}

// Rate returns the whole payment for a GPU divided by the hours of the commitment.
func (f *FloatingPool) Rate() capcli.Rate {
	fees, length := &f.Unit.Fees, int64(f.Unit.End-f.Unit.Start)
	ahead := (2*int64(fees.Upfront)*int64(capcli.Hour) + length) / (2 * length)
	return fees.Hourly + capcli.Rate(ahead)
}

// FloatingPools returns the pools that float, in the order of the pools, for a run from start to
// end. It fails with capcli.ErrOverflow.
func (s *Scenario) FloatingPools(start, end capcli.Time) ([]FloatingPool, error) {
	var out []FloatingPool
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if !c.Floats {
			continue
		}
		unit, err := s.floating(c, 1, start, end)
		if err != nil {
			return nil, err
		}
		limits := slices.ContainsFunc(s.Capacity, func(p Capacity) bool { return slices.Contains(s.guarantees(&p), c) })
		out = append(out, FloatingPool{Pool: i, Name: c.Name, GPUs: c.size(), Lot: max(1, min(c.Nodes, 1)*c.GPUsPerNode), Renews: !c.Until.Given, Term: c.Term, Limits: limits, Covers: s.covers(c), Unit: *unit})
	}
	return out, nil
}

// covers returns the names of the pools whose use a pool that floats covers: on_demand pools, and
// capacity reservations.
func (s *Scenario) covers(c *Capacity) (out []string) {
	scope := s.scopeOf(c)
	scope.GPUModel = strings.ToLower(scope.GPUModel)
	for i := range s.Capacity {
		p := &s.Capacity[i]
		sku := s.skuOf(p, p.GPUModel)
		if p.NodesFile != "" {
			sku.GPUModel = scope.GPUModel // one of its nodes may have it
		}
		if p.metered() && scope.Matches(&sku, "") {
			out = append(out, p.Name)
		}
	}
	return out
}

// assumeFloats says what a pool that floats covers, where the scenario leaves to its kind and its
// price that it does.
func (s *Scenario) assumeFloats(c *Capacity) []prices.Assumption {
	if !c.Floats || c.Fenced != nil {
		return nil
	}
	var row *prices.Row // none: it is said of the kind
	return []prices.Assumption{row.Assume(c.Name, "fenced", fmt.Sprintf("%s is no place: it lowers the bill of %s, wherever jobs run (fenced: true makes it a place)", c.Name, strings.Join(s.covers(c), ", ")))}
}

// SizePath returns the path of the field that sets the size of pool i, such as capacity.base.gpus;
// "" where none can be set.
func (s *Scenario) SizePath(i int) string {
	c := &s.Capacity[i]
	for _, pool := range []string{"capacity." + c.Name, s.PoolPath(i)} {
		for _, x := range []struct {
			field string
			size  int
		}{{"nodes", c.Nodes}, {"gpus", c.size()}} {
			if _, err := s.With(fmt.Sprintf("%s.%s=%d", pool, x.field, x.size)); err == nil && x.size > 0 {
				return pool + "." + x.field
			}
		}
	}
	return ""
}

// PoolPath returns the path of pool i for With, such as capacity[1]. Pools that overrides gave the size 0 count in
// it, though they are no longer in Capacity.
func (s *Scenario) PoolPath(i int) string {
	if i < len(s.left) {
		i = s.left[i]
	}
	return fmt.Sprintf("capacity[%d]", i)
}

// size returns the number of GPUs of a pool; 0 if a file says it, or if it has no limit.
func (c *Capacity) size() int { return max(c.GPUs, c.Nodes*c.GPUsPerNode) }

// Settles reports whether runs of the scenario are settled hour by hour with commitments: its own,
// or pools that float.
func (s *Scenario) Settles() bool {
	return len(s.Commitments) > 0 || !s.unsettled && slices.ContainsFunc(s.Capacity, func(c Capacity) bool { return c.Floats })
}

// LeaveUnsettled keeps the pools that float out of invoices and contracts, for plans that settle them on the use
// that was played. FloatingPools returns them as before.
func (s *Scenario) LeaveUnsettled() { s.unsettled = true }

// fenced reads whether the pool is a place.
func fenced(c *Capacity) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		c.Fenced = new(bool)
		strict.Bool(c.Fenced)(d, n)
	}
}

// checkFenced checks the field fenced with the rest of the pool.
func (c *Capacity) checkFenced(o *strict.Object) {
	switch {
	case !o.Has("fenced") || !o.IsClean("fenced"):
	case !c.Kind.Committed():
		o.FaultName("fenced", "fenced is for capacity that is committed to; %s is paid while held", c.KindName())
	case *c.Fenced:
	case c.Kind == simulate.Owned || c.Product != "" && c.Product != "cud":
		o.Fault("fenced", "%s is a place always: only jobs that run in it use it; leave fenced out", c.KindName())
	case c.hasMachines():
		o.Fault("fenced", "it describes machines of its own, so it is a place; leave out %s, or write fenced: true", strings.Join(c.machineFields(), ", "))
	}
}

// machineFields returns the fields of the pool that describe machines of its own.
func (c *Capacity) machineFields() (out []string) {
	for _, x := range []struct {
		name string
		has  bool
	}{
		{"nodes_file", c.NodesFile != ""},
		{"cpus_per_node", c.CPUMilli > 0},
		{"mem_gb_per_node", c.MemMiB > 0},
		{"failures", c.Failures != nil},
		{"hazard", c.Hazard != nil},
		{"availability", c.Trace != nil},
		{"maintenance", len(c.Maintenance) > 0},
		{"reservations", len(c.Reservations) > 0},
		{"domains", len(c.Domains) > 0},
		{"topology", c.Topology != ""},
		{"store_gib_per_s", c.Store > 0},
		{c.sharesNodes(), c.sharesNodes() != ""},
		{"mig", c.MIG != nil},
		{"sharing", c.Sharing != nil},
	} {
		if x.has {
			out = append(out, x.name)
		}
	}
	return out
}

func (c *Capacity) hasMachines() bool { return len(c.machineFields()) > 0 }

// Properties returns what the pool's terms do: whether they cover, guarantee, and are fenced. It
// says nothing of whether an on_demand pool lets them float: see Floats.
func (c *Capacity) Properties() capcli.Properties {
	out := capcli.Properties{Guarantees: true, Fenced: true}
	switch {
	case !c.Kind.Committed():
		return capcli.Properties{}
	case c.Product == "capacity_reservation":
		return capcli.Properties{Guarantees: true}
	case c.Kind == simulate.Owned || c.Product != "" && c.Product != "cud":
		return out
	case c.Price.row() != nil && c.Price.row().Committed():
		out = c.Price.row().Properties()
	case c.Product == "cud":
		out = capcli.Properties{Covers: true, Guarantees: true}
	}
	switch {
	case c.Fenced != nil && *c.Fenced, c.hasMachines():
		out.Fenced = true
	case c.Fenced != nil:
		if c.Price.row() == nil && c.Product == "" {
			out.Guarantees = false
		}
		out.Covers, out.Fenced = true, false
	}
	return out
}

// settleFloating finds the pools that float, once all pools have been read.
func (s *Scenario) settleFloating() {
	s.lentTo = s.lentModel()
	for i := range s.Capacity {
		c := &s.Capacity[i]
		c.Floats = c.mayFloat() && len(s.coveredBy(c)) > 0
	}
}

// coveredBy returns the on_demand pools whose use a pool covers if it floats: those of its GPU
// model, or else those without a model; every one, for a pool without a model. There is none unless
// one of them may run all jobs of the pool's partition.
func (s *Scenario) coveredBy(c *Capacity) []*Capacity {
	for _, exact := range []bool{true, false} {
		var out []*Capacity
		runs := false
		for i := range s.Capacity {
			p := &s.Capacity[i]
			switch {
			case p.Kind != simulate.OnDemand || p.Product == perUse || !sameRegion(p.Place, c.Place) || !c.sameSold(p):
				continue
			case exact && c.GPUModel != "" && (p.NodesFile == "" && p.GPUModel == "" || !p.mayHold(c.GPUModel)):
				continue
			case !exact && (p.GPUModel != "" || !strings.EqualFold(s.lent(p), c.GPUModel)):
				continue
			}
			out = append(out, p)
			runs = runs || p.Partition == "" || p.Partition == c.Partition
		}
		if runs {
			return out
		}
	}
	return nil
}

// sameSold reports whether two pools may be of one GPU model, where a pool that states none has that of
// its price.
func (c *Capacity) sameSold(p *Capacity) bool {
	if c.GPUModel != "" && p.GPUModel != "" || p.NodesFile != "" {
		return true // they are compared as they are stated
	}
	var sold [2]string
	for i, x := range []*Capacity{c, p} {
		if sold[i] = x.GPUModel; sold[i] == "" && x.Price.Quote != nil {
			sold[i] = x.Price.Quote.GPU
		}
	}
	return sold[0] == "" || sold[1] == "" || prices.SameModel(sold[0], sold[1])
}

// lentModel returns the GPU model of the first pool that may float on an on_demand pool without a
// model, because no on_demand pool has that model; "" if there is none.
func (s *Scenario) lentModel() string {
	var sold []string
	for i := range s.Capacity {
		if c := &s.Capacity[i]; c.Kind == simulate.OnDemand {
			sold = append(sold, strings.ToLower(c.GPUModel))
		}
	}
	slices.Sort(sold)
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if _, has := slices.BinarySearch(sold, strings.ToLower(c.GPUModel)); !has && c.mayFloat() {
			return c.GPUModel
		}
	}
	return ""
}

// lent returns the GPU model that the use of an on_demand pool without a model counts as of.
func (s *Scenario) lent(p *Capacity) string {
	if p.Kind != simulate.OnDemand || p.GPUModel != "" || p.NodesFile != "" {
		return ""
	}
	return s.lentTo
}

// mayFloat reports whether the pool floats if some on_demand pool runs its jobs.
func (c *Capacity) mayFloat() bool { return c.size() > 0 && c.Properties().Floats() }

// sameRegion reports whether two places may be of one region: a discount is of a region.
func sameRegion(a, b simulate.Place) bool {
	return (a.Provider == "" || b.Provider == "" || strings.EqualFold(a.Provider, b.Provider)) &&
		(a.Region == "" || b.Region == "" || strings.EqualFold(a.Region, b.Region))
}

// floating returns so many GPUs of a pool that floats as a commitment, for a run from start to end.
func (s *Scenario) floating(c *Capacity, gpus int, start, end capcli.Time) (*billing.Commitment, error) {
	pool := &simulate.Pool{Name: c.Name, Nodes: 1, GPUsPerNode: gpus, From: c.From.offset(start)}
	k, err := c.contract(pool, c.Price.Rate, start, end)
	if err != nil {
		return nil, err
	}
	k.Scope = s.scopeOf(c)
	units := billing.Units(1000 * int64(gpus))
	provider := c.Place.Provider
	if q := c.Price.row(); q != nil {
		provider = cmp.Or(provider, q.Provider)
	}
	switch provider = strings.ToLower(provider); {
	case k.Fees.Upfront == 0 && (c.Product == "cud" || provider == "gcp" || provider == "google"):
		k.Product = billing.CommittedUse{Units: units, Reservation: c.Name}
	case provider == "azure":
		k.Product = billing.AzureReservation{Units: units}
	default:
		k.Product = billing.ReservedInstance{Units: units}
	}
	return k, nil
}

// scopeOf returns the use that a pool covers if it floats, in terms of skuOf.
func (s *Scenario) scopeOf(c *Capacity) billing.Scope {
	out := billing.Scope{GPUModel: c.GPUModel}
	if covered := s.coveredBy(c); c.GPUModel == "" && len(covered) > 0 { // it is sold as one model
		out.GPUModel = covered[0].GPUModel
		for _, p := range covered {
			if !strings.EqualFold(p.GPUModel, out.GPUModel) {
				out.GPUModel = ""
			}
		}
	}
	if s.regional() {
		out.Provider, out.Region = strings.ToLower(c.Place.Provider), strings.ToLower(c.Place.Region)
	}
	return out
}

// skuOf returns what the use of a pool is to commitments. model is that of its GPUs.
func (s *Scenario) skuOf(c *Capacity, model string) billing.SKU {
	out := billing.SKU{GPUModel: strings.ToLower(cmp.Or(s.lent(c), model))}
	if s.regional() {
		out.Provider, out.Region = strings.ToLower(c.Place.Provider), strings.ToLower(c.Place.Region)
	}
	return out
}

// regional reports whether some pool that floats names its region, so that regions tell use apart.
func (s *Scenario) regional() bool {
	return slices.ContainsFunc(s.Capacity, func(c Capacity) bool { return c.Floats && c.Place != simulate.Place{} })
}

// floatingBills returns the pools that float as commitments of a run, but those whose term lies
// outside of it.
func (s *Scenario) floatingBills(start, end capcli.Time) ([]billing.Commitment, error) {
	var out []billing.Commitment
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if !c.Floats || s.unsettled {
			continue
		}
		k, err := s.floating(c, c.size(), start, end)
		if err != nil {
			return nil, fmt.Errorf("the commitment of %s: %w", c.Name, err)
		}
		if k.End > start && k.Start < end {
			out = append(out, *k)
		}
	}
	return out, nil
}

// guarantees returns the pools that float and whose GPUs add to the limit of an on_demand pool.
func (s *Scenario) guarantees(p *Capacity) []*Capacity {
	if p.Kind != simulate.OnDemand || p.size() == 0 || len(p.machineFields()) > 0 || p.Buy != nil {
		return nil
	}
	var out []*Capacity
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if !c.Floats || !c.Properties().Guarantees || p.Nodes > 0 && c.size()%p.GPUsPerNode != 0 {
			continue
		}
		limited := slices.DeleteFunc(s.coveredBy(c), func(o *Capacity) bool { return o.size() == 0 })
		if len(limited) > 0 && limited[0].Name == p.Name {
			out = append(out, c)
		}
	}
	return out
}

// guaranteed returns the GPUs that pools that float add to the limit of a pool, and the windows in
// which their terms have not begun or have ended.
func (s *Scenario) guaranteed(p *Capacity) (gpus int, outside []simulate.Window) {
	for _, c := range s.guarantees(p) {
		gpus += c.size()
		// Known a second before: running machines go on on demand, and only new ones find less room.
		w := simulate.Window{Milli: 1000 * int64(c.size()), Lead: 1}
		if from := c.From.offset(s.Period.Start); from > 0 {
			w.Start, w.End = 0, from
			outside = append(outside, w)
		}
		if until := c.Until.offset(s.Period.Start); c.Until.Given && until > 0 {
			w.Start, w.End = until, 0
			outside = append(outside, w)
		}
	}
	return gpus, outside
}

package scenarios

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/simulate/supply"
)

// Options are the inputs of a run that its scenario does not fix.
type Options struct {
	Seed capcli.Seed // usually the scenario's own
	Run  int         // number of the replication; 0 is the first
	// Open returns a file that the scenario names, decompressed. The name is as in the
	// scenario, relative to Scenario.Dir. Open may be nil when the scenario names no
	// file.
	Open func(name string) ([]byte, error)
}

func (o Options) seed() capcli.Seed { return o.Seed.Child(o.Run) }

// DefaultPlacement returns the placement of a scenario that names none: count when all
// capacity is counted, else consolidate, which keeps a job on the fewest nodes.
func (s *Scenario) DefaultPlacement() string {
	if s.Counted() {
		return "count"
	}
	return "consolidate"
}

// PlacementName returns the placement of a run.
func (s *Scenario) PlacementName() string { return cmp.Or(s.Placement, s.DefaultPlacement()) }

// PolicyName returns the policy of a run.
func (s *Scenario) PolicyName() string {
	if s.Kueue != nil {
		return KueuePolicy
	}
	return cmp.Or(s.Policy.Name, "fifo")
}

// enginePolicy returns the policy that the engine runs; "" is the default. Where Kueue decides, it
// runs none.
func (s *Scenario) enginePolicy() string {
	if s.Kueue != nil {
		return ""
	}
	return s.Policy.Name
}

// Config returns the configuration of one run of the scenario with the given jobs, which come from
// Generated or from a trace. Each call makes new supplies. It fails with *capcli.InputError when a
// file that the scenario names is wrong, with the error of Open when such a file cannot be opened,
// and with *capcli.UnknownError for an unknown policy or placement.
func (s *Scenario) Config(jobs capcli.Jobs, o Options) (simulate.Config, error) {
	files, err := s.load(o.Open) // first, because it may set prices while other runs are being made
	if err != nil {
		return simulate.Config{}, err
	}
	newPolicy, err := policy.Catalog.Get(cmp.Or(s.enginePolicy(), "fifo"))
	if err != nil {
		return simulate.Config{}, err
	}
	newPlacement, err := placement.Catalog.Get(s.PlacementName())
	if err != nil {
		return simulate.Config{}, err
	}
	pools, err := s.pools(files, o.seed())
	if err != nil {
		return simulate.Config{}, err
	}
	cfg := simulate.Config{
		Start:     s.Period.Start,
		Until:     s.Period.Length(),
		Pools:     pools,
		Cuts:      s.cuts(files),
		Jobs:      jobs,
		Policy:    newPolicy,
		Placement: newPlacement(),
		Settings: simulate.Settings{
			Perfect: s.Policy.Perfect, Own: s.Policy.Own, Choices: s.Policy.Choices, Limits: s.Policy.QueueLimits, Round: s.Policy.Round,
			Skip: s.Policy.Skip, ByGPUs: s.Policy.ByGPUs, Predicted: files.predicted,
		},
		Overflow:    simulate.Overflow{Patience: slices.Clone(s.Overflow.Patience), QueueMax: s.Overflow.QueueMax, CommittedFirst: true},
		Restarts:    s.Preemption,
		Preempts:    s.Preempts,
		Retries:     s.Retries,
		Defragment:  s.Defragment,
		Tenants:     slices.Clone(s.Tenants),
		EachTenant:  s.EachTenant,
		Priorities:  slices.Clone(s.PriorityClasses),
		Guard:       s.Policy.Guard,
		CPUJobs:     s.Jobs.CPUJobs,
		KillAtLimit: s.Jobs.KillAtLimit,
		Hourly:      s.Settles(),
	}
	if cfg.Chooser, err = s.chooser(files); err != nil {
		return simulate.Config{}, err
	}
	cfg.Charges = s.charges(files)
	cfg.Places, cfg.Coster = s.placesOf(), s.costerOf(files, pools)
	if cfg.Delayer, err = s.delayer(files, pools); err != nil {
		return simulate.Config{}, err
	}
	if s.Policy.Slurm != nil {
		cfg.Settings.Rules = s.Policy.Slurm
	}
	cfg.Services, err = s.servicesOf(files, o)
	return cfg, err
}

// Generated returns the jobs of the scenario's generator, without its services, which hold capacity
// beside the jobs: see Config. It reports false if the scenario has none.
func (s *Scenario) Generated(o Options) (capcli.Jobs, bool) {
	if s.Jobs.Generate == nil {
		return nil, false
	}
	jobs, some := s.Jobs.Generate.WithoutServices()
	if !some {
		return func(func(capcli.Job, error) bool) {}, true
	}
	return s.withShapes(jobs.Jobs(o.seed())), true
}

// Rates returns the prices of the pools of Config, in their order. A pool without a
// price has rate 0: see Unpriced.
func (s *Scenario) Rates(o Options) ([]billing.Rate, error) {
	files, err := s.load(o.Open)
	if err != nil {
		return nil, err
	}
	return s.rates(files), nil
}

func (s *Scenario) rates(files *files) []billing.Rate {
	var out []billing.Rate
	for c, g := range s.groups(files) {
		out = append(out, s.rate(c, g.model))
	}
	if t := s.transfers(); t != nil {
		for p := range out {
			out[p].Transfers = t
		}
	}
	return out
}

// listPrice returns the pool whose price is the on-demand price of c: the on_demand pool of the
// same model, or one without a model. It returns nil if there is none.
func (s *Scenario) listPrice(c *Capacity, model string) *Capacity {
	if c.Kind == simulate.OnDemand {
		return c
	}
	for _, exact := range []bool{true, false} {
		for i := range s.Capacity {
			p := &s.Capacity[i]
			if p.Kind != simulate.OnDemand || p.Product == perUse || !p.Price.Known || p.NodesFile != "" {
				continue
			}
			if strings.EqualFold(p.GPUModel, model) || (!exact && (p.GPUModel == "" || model == "")) {
				return p
			}
		}
	}
	return nil
}

// Unpriced returns the names of the pools without a price. With one of them the total
// cost is not known.
func (s *Scenario) Unpriced() []string {
	var out []string
	for i := range s.Capacity {
		if !s.Capacity[i].Price.Known {
			out = append(out, s.Capacity[i].Name)
		}
	}
	return out
}

// unlimited is the size of an elastic pool without a limit: more GPUs than any cloud
// has had.
const unlimited = maxGPUs

// pools returns the pools of one run, with their supplies.
func (s *Scenario) pools(files *files, seed capcli.Seed) ([]simulate.Pool, error) {
	var out []simulate.Pool
	for c, g := range s.groups(files) {
		p := simulate.Pool{
			Name: g.name, Terms: c.Kind, GPUModel: g.model, Partition: c.Partition,
			Nodes: g.nodes, GPUsPerNode: g.gpus, CPUMilli: g.cpu, MemMiB: g.mem,
			From: c.From.offset(s.Period.Start), Until: c.Until.offset(s.Period.Start),
			Lead: c.Lead, MinBilling: c.MinBilling, PaidLead: c.PaidLead, Rank: s.rank(c), Place: c.Place,
			MachineGPUs: c.billingUnit(), Domains: c.domains(&g), Scattered: c.Nodes == 0 && c.NodesFile == "", Shared: c.shared(),
		}
		_, outside := s.guaranteed(c)
		p.MTBF, p.Notice, p.Windows = c.mtbf(files, &p), c.notice(), append(s.windows(c), outside...)
		if c.Failures != nil && c.Failures.Rack != nil {
			p.RackMTBF, p.RackNodes = c.Failures.Rack.MTBF, c.Failures.Rack.size(&p)
		}
		if p.Supply = c.supply(files, p, seed, g.place); c.Product == "capacity_block" && p.Until > 0 {
			p.Supply = &ending{inner: p.Supply, at: max(p.From, p.Until-c.EndsEarly), nodes: p.Nodes}
		}
		err := c.setKind(&p)
		if err != nil {
			return nil, err
		}
		if p.Buy, err = s.buying(c, files, seed); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// rank returns c's place in the order of overflow: the scenario's order, then on-demand
// before spot.
func (s *Scenario) rank(c *Capacity) int {
	if c.Kind.Committed() {
		return 0
	}
	for i, o := range s.Overflow.Order {
		if o == c.Name || o == c.KindName() || o == cheapest {
			return i
		}
	}
	return len(s.Overflow.Order) + int(c.Kind)
}

// supply returns how the nodes of a pool come and go in one run; nil if they all stay. Each pool
// has its own random stream, named after the pool.
func (c *Capacity) supply(files *files, p simulate.Pool, seed capcli.Seed, k int) simulate.Supply {
	use := "/" + c.Name
	if k > 0 {
		use += fmt.Sprintf("/%d", k)
	}
	switch {
	case c.Failures != nil:
		return c.Failures.supply(&p, seed.Stream("failures"+use))
	case c.Hazard != nil:
		return supply.NewHazard(p.Nodes, c.Hazard.MeanUp, c.Hazard.MeanDown, c.Hazard.Notice, seed.Stream("hazard"+use))
	case c.Trace != nil:
		return supply.NewAvailability(files.availability[c.Trace.key()], p.Nodes, supply.Following{
			Offset: c.Trace.Offset, Notice: c.Trace.Notice, Repeat: c.Trace.Repeat, Scale: c.Trace.Scale,
		})
	}
	return nil
}

// group is a set of equal nodes of a pool.
type group struct {
	name, model string
	nodes, gpus int
	cpu, mem    int64
	paths       [][]string // domains of each node by level, sorted; nil if no file says them
	place       int        // index among the groups of its pool
}

// groups yields each pool that is a place with each of its groups, in the order of the pools of
// Config.
func (s *Scenario) groups(files *files) iter.Seq2[*Capacity, group] {
	return func(yield func(*Capacity, group) bool) {
		for i := range s.Capacity {
			c := &s.Capacity[i]
			if c.Floats {
				continue
			}
			more, _ := s.guaranteed(c)
			more = max(0, min(more, maxGPUs-c.size()))
			for k, g := range c.groups(files) {
				if g.place = k; c.Nodes > 0 {
					g.nodes += more / g.gpus
				} else {
					g.gpus += more
				}
				if !yield(c, g) {
					return
				}
			}
		}
	}
}

// groups returns the equal nodes of c: one group, or one for each kind of node in its
// file of nodes.
func (c *Capacity) groups(files *files) []group {
	if c.NodesFile != "" {
		return files.nodes[c.Name]
	}
	g := group{paths: files.domains[c.Name], name: c.Name, model: c.GPUModel, nodes: c.Nodes, gpus: c.GPUsPerNode, cpu: c.CPUMilli, mem: c.MemMiB}
	if g.nodes == 0 {
		g.nodes, g.gpus = 1, cmp.Or(c.GPUs, unlimited)
	}
	return []group{g}
}

package scenarios

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// Capacity is one pool of GPUs in a scenario. Its size is a number of GPUs (GPUs), of
// nodes (Nodes and GPUsPerNode), or a file of nodes (NodesFile).
type Capacity struct {
	Name        string // given or made of the kind and a number
	Kind        simulate.Terms
	Product     string // capacity_block, capacity_reservation or cud, which are Reserved; per_use, which is OnDemand; "" for the plain kinds
	GPUModel    string
	Partition   string
	Place       simulate.Place
	GPUs        int // size as a count; 0 with nodes, and for elastic capacity without limit
	Nodes       int
	GPUsPerNode int
	CPUMilli    int64 // thousandths of a CPU a node; 0 is without limit
	MemMiB      int64 // per node; 0 is without limit
	NodesFile   string
	Term        string // length of the contract such as "1y"; "" is none
	Price       Price
	Fenced      *bool // whether it is a place, as the scenario states it; nil is by its kind and price
	Floats      bool  // it is no place: it is settled on the machines in which jobs run
	Free        bool  // whether a price of 0 is meant
	OnDemand    Price // price of a GPU-hour on demand, to compare with
	PricePath   []PriceChange
	From, Until When
	Machine     *billing.Machine // owned: the cost of owning one GPU over the term, which sets Price
	Upfront     int64            // share of the contract paid at its start, in millionths
	EndsEarly   capcli.Seconds   // capacity_block: how long before its end its nodes are taken away
	Lead        capcli.Seconds
	MinBilling  capcli.Seconds
	PaidLead    bool // Lead is billed: the cold start of a per_use pool
	ByMachine   bool // on_demand, spot: each job pays for whole machines
	MachineGPUs int  // GPUs of such a machine as stated; 0 is those of its nodes, or of the machine whose price it has
	Failures    *Failures
	Hazard      *Hazard
	Trace       *Availability
	Buy         *Buy // its nodes are bought; nil if they are not

	Domains  []DomainSpec // from wide to narrow
	Topology string       // file of Slurm's topology that says the domains; "" is none

	Store, HostCPUs, HostMem int64         // what its running jobs share, of the pool and of each node, in millionths; 0 is without limit
	Net                      []levelNumber // the same out of each node and domain, in GiB a second

	Maintenance  []Window // times in which a part of it is taken away
	Reservations []Window // times in which a part of it is kept for tenants

	GPUKind
}

// When is a time in a run: a date, or a time since the start. The zero value means not given.
type When struct {
	Given bool
	Date  capcli.Time // NoTime if After is used
	After capcli.Seconds
}

// Failures are random breakdowns of nodes, and of racks and GPUs beside them.
type Failures struct {
	MTBF, Repair capcli.Seconds
	Rack         *RackFailures
	GPU          *GPUFailures
	Crews        int // parts repaired at once; 0 is all
}

// RackFailures are random breakdowns of racks, which take all their nodes.
type RackFailures struct {
	Nodes        int    // 0 is those of the domains
	Level        string // level of the domains that fail as racks; "" is rack
	MTBF, Repair capcli.Seconds
}

// GPUFailures are random breakdowns of single GPUs.
type GPUFailures struct {
	MTBF, Repair capcli.Seconds
	Takes        string // "gpu" or "node"
}

// Hazard is the random loss and return of spot nodes.
type Hazard struct{ MeanUp, MeanDown, Notice capcli.Seconds }

// Availability is a recorded history of available nodes.
type Availability struct {
	File           string
	Polarity       string // what its counts mean: available or preempted nodes
	Notice, Offset capcli.Seconds
	Repeat         bool // start again at its end
	Scale          bool // scale the counts so that the largest is the whole pool
}

// Limits of capacity. The GPU time of maxCommitted GPUs over fifty years fits in 63 bits of
// thousandths of a GPU-second.
const (
	maxGPUs      = 1_000_000
	maxCommitted = 5_000_000
	maxPerNode   = 4096
)

var poolKinds = [...]string{"owned", "reserved", "on_demand", "spot"}

func capacityFields(c *Capacity) []strict.Field {
	fields := []strict.Field{
		{"name", "what the pool is called; default: its kind", strict.Name(&c.Name)},
		{"kind", "owned, reserved (both paid whether used or not), on_demand, spot (paid while held), or reserved as capacity_block, capacity_reservation, cud; or per_use, seconds of serverless GPUs", kind(c)},
		{"gpu_model", "serves jobs that ask for this model or for any; default: all", strict.Name(&c.GPUModel)},
		{"gpus", "counted capacity: number of GPUs, without nodes", strict.Integer(&c.GPUs, 1, maxGPUs)},
		{"max_gpus", "on_demand, spot: most GPUs; default: without limit", strict.Integer(&c.GPUs, 1, maxGPUs)},
		{"nodes", "number of equal nodes", strict.Integer(&c.Nodes, 1, maxGPUs)},
		{"gpus_per_node", "GPUs of each node", strict.Integer(&c.GPUsPerNode, 0, maxPerNode)},
		{"cpus_per_node", "CPUs of each node; default: without limit", measure(&c.CPUMilli, 1000, 0, 1e6)},
		{"mem_gb_per_node", "memory of each node in GiB; default: without limit", measure(&c.MemMiB, 1024, 0, 1e6)},
		{"nodes_file", "CSV of nodes: sn,cpu_milli,memory_mib,gpu,model", file(&c.NodesFile)},
		{"partition", "virtual cluster or queue that owns it; default: serves all", strict.Name(&c.Partition)},
		{"place", "where it is: provider/region/zone, such as aws/us-east-1/a, as far as it is known", poolPlace(&c.Place)},
		{"term", "of the contract, for people: 1y, 6mo", term(&c.Term)},
		{"machine", "owned: what one GPU costs to own, written off over term: {capital: 30k, residual: 2k, watts: 1000, pue: 1.2, price_kwh: 0.10, space: 0.08}", machineSection.Pointer(&c.Machine)},
		{"upfront", "owned, reserved: share of the contract that is paid at its start: all, none, 50%", upfront(&c.Upfront)},
		{"ends_early", "capacity_block: use ends this long before the block does; default: 30m", strict.Duration(&c.EndsEarly, 0)},
		{"price", "US dollars for one GPU for an hour: 2.20 USD/gpu-h, or a key of the catalogue (capcli prices list)", price(&c.Price)},
		{"price_path", "on_demand, spot: changes to come: [{from: 2027-06-01, change: -44%}]", priceChangeSection.List(&c.PricePath, maxList, "changes of price")},
		{"fenced", "reserved, cud: true where only jobs in it use it (a place), false where it lowers the bill of on-demand use (no place); default: cud false, reserved by its price key, else true", fenced(c)},
		{"free", "true where price 0 is meant", strict.Bool(&c.Free)},
		{"on_demand_price", "what its GPU-hour costs on demand, to compare with; default: that of the on_demand pool of the model", price(&c.OnDemand)},
		{"list_price", "the same as on_demand_price", price(&c.OnDemand)},
		{"from", "delivered then: a date or a time since the start", readWhen(&c.From)},
		{"until", "gone after then: a date (inclusive) or a time since the start", readWhen(&c.Until)},
		{"lead_time", "on_demand, spot: from asking to having", strict.Duration(&c.Lead, 0)},
		{"min_billing", "on_demand, spot, per_use: least time billed for a stay", strict.Duration(&c.MinBilling, 0)},
		{"billed_by", "on_demand, spot: gpu, or machine where each job pays for whole machines; default: gpu", choiceOfUnit(&c.ByMachine)},
		{"machine_gpus", "billed_by machine: GPUs of a machine; default: those of its nodes, or of the machine whose price it has", strict.Integer(&c.MachineGPUs, 1, maxPerNode)},
		{"cold_start", "per_use: from asking to having, which is billed; lead_time is where it is not", coldStart(c)},
		{"failures", "breakdowns of nodes: {mtbf: 30d, repair: 4h}", failuresSection.Pointer(&c.Failures)},
		{"hazard", "loss of spot nodes at random: {mean_up: 11d, mean_down: 2h, notice: 2m}", hazardSection.Pointer(&c.Hazard)},
		{"maintenance", "times in which a part is taken away: [{from: 7d, until: 8d, nodes: 2, mode: drain}]", maintenanceSection.List(&c.Maintenance, maxList, "windows")},
		{"reservations", "times in which a part is kept for tenants: [{from: 7d, until: 8d, gpus: 16, tenants: [research]}]", reservationSection.List(&c.Reservations, maxList, "reservations")},
		{"domains", "levels above the node, from wide to narrow: [{level: block, nodes: 64}, {level: rack, nodes: 8}]", domainSection.List(&c.Domains, maxLevels, "levels")},
		{"topology", "domains from Slurm's topology.conf or topology.yaml; its nodes are those of the pool", file(&c.Topology)},
		{"buy", "on_demand, spot: nodes are bought, shared by jobs and given back: {lead_time: 4m, idle: 10m}; needs nodes and gpus_per_node", buySection.Pointer(&c.Buy)},
		{"availability", "loss of spot nodes as recorded: {file: trace.json, polarity: available, notice: 2m}", availabilitySection.Pointer(&c.Trace)},
	}
	return slices.Concat(fields, sharedFields(c), kindFields(&c.GPUKind))
}

func capacities(dst *[]Capacity) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			d.Fault(n, "capacity is empty; give at least one pool")
		}
		taken := map[string]int{}
		d.ReadList(n, maxCapacity, "pools", func(i int, n *yaml.Node) {
			var c Capacity
			if o := d.ReadObject(n, "capacity", capacityFields(&c)); o != nil {
				c.check(o)
				if line, twice := taken[c.Name]; twice && c.Name != "" {
					o.Fault("name", "pool %s is there twice, first in line %d; jobs and results go by the name", capcli.Quoted(c.Name), line)
				} else if c.Name != "" {
					taken[c.Name] = n.Line
				}
			}
			*dst = append(*dst, c)
		})
		nameRest(*dst, taken)
	}
}

// nameRest names the pools without a name after their kind: owned, owned2 and so on.
func nameRest(pools []Capacity, taken map[string]int) {
	used := map[string]int{}
	for i := range pools {
		c := &pools[i]
		for c.Name == "" {
			candidate := c.KindName()
			if used[candidate]++; used[candidate] > 1 {
				candidate += strconv.Itoa(used[candidate])
			}
			if _, is := taken[candidate]; !is {
				c.Name = candidate
			}
		}
	}
}

// kind reads the terms or the product of a pool.
func kind(c *Capacity) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var s string
		strict.Choice(&s, "kind", append(poolKinds[:len(poolKinds):len(poolKinds)], poolProducts...)...)(d, n)
		if slices.Contains(poolProducts, s) {
			c.Kind, c.Product = simulate.Reserved, s
		}
		if s == perUse {
			c.Kind = simulate.OnDemand
		}
		for i, k := range poolKinds {
			if k == s {
				c.Kind = simulate.Terms(i)
			}
		}
	}
}

// upfront reads all, none or a share.
func upfront(dst *int64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		switch n.Value {
		case "all":
			*dst = allUpfront
		case "none":
			*dst = 0
		default:
			share(dst)(d, n)
		}
	}
}

// term reads the length of a contract: 6mo, 1y, 45d. It stores the text.
func term(dst *string) strict.Reader {
	const form = "a term such as 1y, 6mo or 45d"
	return strict.Value(dst, form, form, func(s string) (string, bool) {
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		unit := strings.TrimSpace(s[digits:])
		return s, digits > 0 && digits <= 4 && strings.Trim(s[:digits], "0") != "" && strings.Contains(" y yr mo w d ", " "+unit+" ")
	})
}

// readWhen reads a date or a time since the start.
func readWhen(dst *When) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		s, ok := d.ReadScalar(n, "a date or a time since the start such as 30d")
		if !ok {
			return
		}
		last := d.FieldName() == "until"
		if t, err := time.Parse(time.DateOnly, s); err == nil {
			if last { // an end date is included
				t = t.AddDate(0, 0, 1)
			}
			*dst = When{true, capcli.TimeOf(t), 0}
			return
		}
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			*dst = When{true, capcli.TimeOf(t), 0}
			return
		}
		if strings.Count(s, "-") == 2 {
			d.FaultWant(n, "a date such as 2027-01-31 or a time since the start such as 30d")
			return
		}
		w := When{Given: true, Date: capcli.NoTime}
		before := d.FaultCount()
		if strict.Duration(&w.After, 0)(d, n); d.FaultCount() == before {
			*dst = w
		}
	}
}

var hazardSection = strict.Section[Hazard]{Name: "hazard", Needs: []string{"mean_up", "mean_down"}, Fields: func(h *Hazard) []strict.Field {
	return []strict.Field{
		{"mean_up", "mean time until a node is lost", strict.Duration(&h.MeanUp, 1)},
		{"mean_down", "mean time until it comes back", strict.Duration(&h.MeanDown, 1)},
		{"notice", "warning before the loss", strict.Duration(&h.Notice, 0)},
	}
}}

var availabilitySection = strict.Section[Availability]{Name: "availability", Needs: []string{"file", "polarity"}, Fields: func(a *Availability) []strict.Field {
	return []strict.Field{
		{"file", "the trace, relative to this file", file(&a.File)},
		{"polarity", "what its numbers count: available or preempted nodes", strict.Choice(&a.Polarity, "polarity", "available", "preempted")},
		{"notice", "warning before a loss", strict.Duration(&a.Notice, 0)},
		{"offset", "where in the trace the run begins", strict.Duration(&a.Offset, 0)},
		{"repeat", "begin again at the trace's end", strict.Bool(&a.Repeat)},
		{"scale", "the trace's largest count is the whole pool", strict.Bool(&a.Scale)},
	}
}}

// measure reads a number of least to most. It stores the number times unit, rounded:
// CPUs in thousandths, GiB in MiB.
func measure(dst *int64, unit, least, most float64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		v := math.NaN()
		if strict.Number(&v, least, most)(d, n); v >= least {
			*dst = int64(math.Round(v * unit))
		}
	}
}

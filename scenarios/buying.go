package scenarios

import (
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/serving/scale"
	"capcli/simulate/serving/service"
	"capcli/simulate/supply"
)

// Buy makes the nodes of an on-demand or spot pool bought ones: see simulate.Buying.
type Buy struct {
	Lead        LeadTime
	BilledFrom  string // order or coming
	Least       capcli.Seconds
	Granularity string // second, minute or hour
	Idle        capcli.Seconds
	Warm        int
	Scaler      *scale.Settings
	Step        capcli.Seconds
	Shortage    *Shortage
	Consolidate capcli.Seconds
}

// LeadTime is the time from an order to the node: Fixed, or log-normal by Median and P95, or drawn from List.
type LeadTime struct {
	Fixed       capcli.Seconds
	Median, P95 capcli.Seconds
	List        []capcli.Seconds
}

// Shortage says when nodes cannot be had: at random by two means, by hour of the day, or as recorded.
type Shortage struct {
	MeanHad, MeanShort capcli.Seconds
	ByHour             []float64 // probability in each hour of the day
	Zone               *time.Location
	Trace              *Availability
	Retry              capcli.Seconds
}

// boughtIdle is the default of Buy.Idle: the documented scale-down-unneeded-time of Kubernetes' Cluster
// Autoscaler.
const boughtIdle = 10 * capcli.Minute

// granularities are the units in which nodes are billed.
var granularities = map[string]capcli.Seconds{"second": 1, "minute": capcli.Minute, "hour": capcli.Hour}

var buySection = strict.Section[Buy]{
	Name: "buy", Start: Buy{BilledFrom: "coming", Granularity: "second", Idle: boughtIdle},
	Fields: func(b *Buy) []strict.Field {
		return []strict.Field{
			{"lead_time", "from the order to the node: 4m, {median: 3m, p95: 12m} (log-normal), or a list to draw from: [2m, 3m, 20m]; default: 0", leadTime(&b.Lead)},
			{"billed_from", "order or coming; default: coming", strict.Choice(&b.BilledFrom, "billed_from", "order", "coming")},
			{"min_billing", "least time billed for a node", strict.Duration(&b.Least, 0)},
			{"granularity", "billed time is rounded up to a whole second, minute or hour; default: second", strict.Choice(&b.Granularity, "granularity", "second", "minute", "hour")},
			{"idle", "an empty node is given back after this; default: 10m", strict.Duration(&b.Idle, 0)},
			{"warm", "nodes that are there from the start and kept even if empty", strict.Integer(&b.Warm, 0, maxGPUs)},
			{"scaler", "what sets the number of nodes, with targets in GPUs; default: orders follow what waits", service.ReadScaler(&b.Scaler)},
			{"step", "how often the scaler decides; default: 1m", strict.Duration(&b.Step, 1)},
			{"shortage", "when nodes cannot be had: {mean_had: 20h, mean_short: 1h}", shortageSection.Pointer(&b.Shortage)},
			{"consolidate", "move the jobs of a node elsewhere where all of them fit, and give it back, if nothing started or ended on it for this long; default: never", strict.Duration(&b.Consolidate, 1)},
		}
	},
}

var shortageSection = strict.Section[Shortage]{Name: "shortage", Check: checkShortage, Fields: func(s *Shortage) []strict.Field {
	return []strict.Field{
		{"mean_had", "mean time in which nodes can be had", strict.Duration(&s.MeanHad, 1)},
		{"mean_short", "mean time in which none can", strict.Duration(&s.MeanShort, 1)},
		{"by_hour", "24 numbers: how likely it is in each hour of the day that none can be had", numbers(&s.ByHour, 24, 0, 1)},
		{"tz", "zone of by_hour: Europe/Berlin; default: UTC", service.ReadZone(&s.Zone)},
		{"availability", "as recorded: {file: trace.json, polarity: available}; it limits the nodes, and takes none away", availabilitySection.Pointer(&s.Trace)},
		{"retry", "a pool whose order was refused is left alone so long; default: 3m, as Karpenter does", strict.Duration(&s.Retry, 1)},
	}
}}

// checkShortage checks that a shortage is stated in one of three ways.
func checkShortage(o *strict.Object, s *Shortage) {
	var ways []string
	for _, name := range []string{"mean_had", "by_hour", "availability"} {
		if o.Has(name) || name == "mean_had" && o.Has("mean_short") {
			ways = append(ways, name)
		}
	}
	switch {
	case len(ways) == 0:
		o.FaultMissing("mean_had", "when are nodes short? give mean_had and mean_short, by_hour, or availability")
	case len(ways) > 1:
		o.FaultName(ways[1], "%s and %s both say when nodes are short; leave one out", ways[0], ways[1])
	case ways[0] == "mean_had":
		o.Require("mean_had", "mean_short")
	case ways[0] == "by_hour" && o.IsClean("by_hour") && len(s.ByHour) != 24:
		o.Fault("by_hour", "by_hour has %d numbers; want 24, one for each hour of the day", len(s.ByHour))
	}
	if o.Has("tz") && !o.Has("by_hour") {
		o.FaultName("tz", "tz is the zone of by_hour")
	}
	if s.Trace != nil && s.Trace.Notice > 0 {
		o.Fault("availability", "a shortage takes no nodes away, so there is no notice")
	}
}

var leadSection = strict.Section[LeadTime]{Name: "lead_time", Needs: []string{"median", "p95"}, Fields: func(l *LeadTime) []strict.Field {
	return []strict.Field{
		{"median", "half of the orders come sooner", strict.Duration(&l.Median, 1)},
		{"p95", "19 of 20 orders come sooner", strict.Duration(&l.P95, 1)},
	}
}, Check: func(o *strict.Object, l *LeadTime) {
	if o.IsClean("median", "p95") && l.P95 < l.Median {
		o.Fault("p95", "p95 is %s, less than the median of %s", l.P95, l.Median)
	}
}}

// leadTime reads a time, a distribution of times, or a list of them.
func leadTime(dst *LeadTime) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		switch n.Kind {
		case yaml.MappingNode:
			leadSection.Read(d, n, dst)
		case yaml.SequenceNode:
			if len(n.Content) == 0 && !d.IsDescribing(n) {
				d.Fault(n, "the list of lead times is empty")
			}
			strict.List(&dst.List, maxList, "lead times", func(t *capcli.Seconds) strict.Reader { return strict.Duration(t, 0) })(d, n)
		default:
			strict.Duration(&dst.Fixed, 0)(d, n)
		}
	}
}

// checkBuy checks the pool's buy section against its other fields.
func (c *Capacity) checkBuy(o *strict.Object) {
	if c.Buy == nil {
		return
	}
	if c.Kind.Committed() {
		o.FaultName("buy", "only nodes of on_demand and spot pools are bought; %s capacity comes at from:", c.Kind)
		return
	}
	o.FaultEach([]string{"lead_time", "min_billing"}, "%s of bought nodes belongs under buy:")
	o.FaultEach([]string{"maintenance", "reservations"}, "bought nodes have no %s")
	if o.Has("nodes_file") {
		o.FaultName("nodes_file", "bought nodes are of one shape: give nodes and gpus_per_node")
		return
	}
	switch {
	case !o.IsClean("nodes", "max_gpus", "gpus", "gpus_per_node", "buy"):
	case c.Nodes == 0:
		o.FaultName("buy", "buy needs the shape of a node and the most nodes: gpus_per_node: 8 with nodes: 20")
	case c.GPUsPerNode == 0:
		o.Fault("gpus_per_node", "bought nodes need GPUs")
	case c.Buy.Warm > c.Nodes:
		o.Fault("buy", "warm is %d nodes, and there may be %d at most (nodes)", c.Buy.Warm, c.Nodes)
	case c.Failures != nil && c.Failures.GPU != nil:
		o.Fault("failures", "single GPUs of bought nodes do not fail; count them in mtbf of the node")
	}
	if o.IsClean("buy") && c.Buy.Step > 0 && c.Buy.Scaler == nil {
		o.Fault("buy", "step is how often the scaler decides, and there is none")
	}
}

// buying returns how the nodes of a pool are bought in one run; nil if they are not.
func (s *Scenario) buying(c *Capacity, files *files, seed capcli.Seed) (*simulate.Buying, error) {
	b := c.Buy
	if b == nil {
		return nil, nil
	}
	out := &simulate.Buying{
		FromOrder: b.BilledFrom == "order", Least: b.Least, Unit: granularities[b.Granularity], Idle: b.Idle, Warm: b.Warm,
		Step: b.Step, Consolidate: b.Consolidate,
	}
	rng := seed.Stream("lead/" + c.Name)
	switch {
	case len(b.Lead.List) > 0:
		out.Lead = supply.MeasuredLead(slices.Clone(b.Lead.List), rng)
	case b.Lead.Median > 0:
		out.Lead = supply.LogNormalLead(b.Lead.Median, b.Lead.P95, rng)
	default:
		fixed := b.Lead.Fixed
		out.Lead = func(int64) capcli.Seconds { return fixed }
	}
	if b.Shortage != nil {
		out.Shortage, out.Retry = b.Shortage.process(c, s.Period.Start, files, seed), b.Shortage.Retry
	}
	if b.Scaler == nil {
		return out, nil
	}
	settings := *b.Scaler
	settings.Start, settings.Unit = s.Period.Start, 1000
	if settings.Model != "" {
		f, err := NewForecaster(settings.Model, settings.Seasons(), seed)
		if err != nil {
			return nil, fmt.Errorf("capacity %s: %w", c.Name, err)
		}
		settings.Forecaster = f
	}
	var err error
	out.Scaler, err = scale.NewScaler(&settings)
	return out, err
}

// process returns the shortage of a pool in one run. start is the run's start; without a period it is not
// known, and by_hour counts from midnight.
func (x *Shortage) process(c *Capacity, start capcli.Time, files *files, seed capcli.Seed) simulate.Shortage {
	rng := seed.Stream("shortage/" + c.Name)
	switch {
	case x.Trace != nil:
		return supply.NewRecordedShortage(files.availability[x.Trace.key()], c.Nodes, supply.Following{
			Offset: x.Trace.Offset, Repeat: x.Trace.Repeat, Scale: x.Trace.Scale,
		})
	case len(x.ByHour) == 24:
		zone := x.Zone
		if zone == nil {
			zone = time.UTC
		}
		if !start.IsKnown() {
			start = 0
		}
		return supply.NewHourlyShortage([24]float64(x.ByHour), start, zone, rng)
	}
	return supply.NewShortage(x.MeanHad, x.MeanShort, rng)
}

// HasBought reports whether the nodes of some pool are bought.
func (s *Scenario) HasBought() bool {
	return slices.ContainsFunc(s.Capacity, func(c Capacity) bool { return c.Buy != nil })
}

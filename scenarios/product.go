package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// poolProducts are the kinds of pool under the rules of a provider: reserved capacity, and per_use.
//
//   - capacity_block: fixed dates of 1 to 182 days, paid whole when it is bought;
//     its nodes are taken away some time before its end;
//   - capacity_reservation: the on-demand price from its start to its end, used or
//     not; the scenario's commitments apply to it;
//   - cud: committed use of one or three years with a reservation, nothing up front;
//   - per_use: serverless GPUs, see perUse.
var poolProducts = []string{"capacity_block", "capacity_reservation", "cud", perUse}

// perUse is the kind of serverless GPUs: on-demand capacity that is billed by the second from the start of a
// job, or from asking for it, to its end.
const perUse = "per_use"

// coldStart reads the time until a start has its GPUs, which is billed.
func coldStart(c *Capacity) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		strict.Duration(&c.Lead, 0)(d, n)
		c.PaidLead = c.Lead > 0
	}
}

// checkPerUse checks the fields of serverless GPUs.
func (c *Capacity) checkPerUse(o *strict.Object) {
	if c.Product != perUse {
		if o.Has("cold_start") {
			o.FaultName("cold_start", "cold_start is for per_use; %s has lead_time", c.KindName())
		}
		return
	}
	if o.Has("cold_start") && o.Has("lead_time") {
		o.FaultName("lead_time", "cold_start is a lead_time that is billed; leave one out")
	}
	o.FaultEach([]string{"nodes", "nodes_file", "gpus_per_node", "buy", "failures", "hazard", "availability"}, "%s is of nodes, and %s capacity is single GPUs; give max_gpus", perUse)
}

// KindName returns the kind of a pool as the scenario states it.
func (c *Capacity) KindName() string {
	if c.Product != "" {
		return c.Product
	}
	return c.Kind.String()
}

// checkProduct checks the fields of the kinds of reserved capacity.
func (c *Capacity) checkProduct(o *strict.Object) {
	c.checkPerUse(o)
	if c.Product != "capacity_block" && o.Has("ends_early") {
		o.FaultName("ends_early", "ends_early is for capacity_block")
	}
	if o.Has("upfront") {
		switch {
		case !c.Kind.Committed():
			o.FaultName("upfront", "upfront is for owned and reserved capacity; %s is paid while held", c.Kind)
		case c.Product == "capacity_reservation":
			o.FaultName("upfront", "a capacity_reservation is paid as it goes, at the on-demand price; leave upfront out")
		case c.Product == "cud" && c.Upfront > 0:
			o.Fault("upfront", "committed use has nothing up front; leave upfront out")
		case c.Product == "capacity_block" && c.Upfront < allUpfront:
			o.Fault("upfront", "a capacity block is paid whole in advance; leave upfront out")
		case !o.Has("term") && !o.Has("until"):
			o.FaultName("upfront", "upfront needs the length of the contract: term: 1y, or until")
		}
	}
	if o.Has("machine") {
		c.checkMachine(o)
	}
	switch c.Product {
	case "capacity_block":
		c.Upfront = allUpfront
		c.checkBlock(o)
	case "capacity_reservation":
		if !c.OnDemand.Known {
			c.OnDemand = c.Price
		}
	case "cud":
		if o.Has("term") && !slices.Contains([]string{"1y", "3y", "1yr", "3yr", "12mo", "36mo", "1 y", "3 y"}, c.Term) {
			o.Fault("term", "committed use is for 1y or 3y; for another length write kind: reserved")
		}
	}
}

// checkMachine sets the price of an owned pool to its cost of ownership: capital less residual
// value, spread over the hours of its life, plus power and space.
func (c *Capacity) checkMachine(o *strict.Object) {
	switch {
	case c.KindName() != "owned":
		o.FaultName("machine", "machine is for owned capacity; %s has a price", c.KindName())
		return
	case o.Has("price") || o.Has("free"):
		o.FaultName("machine", "price and machine both say what it costs; leave one out")
		return
	case o.Has("upfront"):
		o.FaultName("upfront", "a machine is paid for when it is bought; leave upfront out")
		return
	case !o.Has("term"):
		o.FaultMissing("term", "a machine is written off over its life; write term: 4y")
		return
	case !o.IsClean("machine", "term") || c.Machine == nil:
		return
	}
	life := int64(nominal(c.Term))
	fees, err := c.Machine.Fees(1000)
	if err != nil {
		o.Fault("machine", "%v", err)
		return
	}
	// Spread returns dollars an hour: 3600 / life of the capital.
	rate, err := billing.Spread(fees.Upfront-fees.Residual, life)
	if err != nil || rate+fees.Hourly > prices.Dearest {
		o.Fault("machine", "it comes to more than %s a GPU-hour, which is not believed", prices.Dearest)
		return
	}
	c.Price = Price{Rate: rate + fees.Hourly, Known: true}
}

// nominal returns the length of a term without dates: years of 365 days, and months of 730 hours.
func nominal(term string) capcli.Seconds {
	i := len(term) - len(strings.TrimLeft(term, "0123456789"))
	n, err := strconv.ParseInt(term[:i], 10, 32)
	if err != nil {
		return capcli.Day
	}
	unit := map[string]capcli.Seconds{"y": 365 * capcli.Day, "yr": 365 * capcli.Day, "mo": 730 * capcli.Hour, "w": 7 * capcli.Day, "d": capcli.Day}
	return capcli.Seconds(n) * unit[strings.TrimSpace(term[i:])]
}

// allUpfront is the whole price, in millionths.
const allUpfront = 1_000_000

func (c *Capacity) checkBlock(o *strict.Object) {
	if !o.Has("ends_early") {
		c.EndsEarly = billing.BlockEndsEarly
	}
	o.Require("from", "until")
	if !o.Has("from") || !o.Has("until") || !o.IsClean("from", "until") {
		return
	}
	if c.From.Date.IsKnown() != c.Until.Date.IsKnown() {
		o.Fault("until", "from and until of a capacity block are both dates, or both times since the start")
		return
	}
	length := c.Until.After - c.From.After
	if c.From.Date.IsKnown() {
		length = capcli.Seconds(c.Until.Date - c.From.Date)
	}
	switch {
	case length <= 0: // reported by check
	case length%capcli.Day != 0 || length > 182*capcli.Day:
		o.Fault("until", "the block lasts %s; blocks last 1 to 182 whole days", length)
	case c.EndsEarly >= length:
		o.Fault("ends_early", "ends_early is %s, but the block lasts %s", c.EndsEarly, length)
	}
}

// ending is a supply that loses all its nodes for good at a time.
type ending struct {
	inner simulate.Supply // the changes before the end; nil is none
	at    capcli.Seconds
	nodes int
	gone  int
	over  bool // whether inner is used up
}

// Next returns the changes before the end, then the loss of each node.
func (e *ending) Next() (simulate.Change, bool) {
	if e.inner != nil && !e.over {
		if c, ok := e.inner.Next(); ok && c.At < e.at {
			return c, true
		}
	}
	e.over = true
	if e.gone >= e.nodes {
		return simulate.Change{}, false
	}
	e.gone++
	return simulate.Change{At: e.at, Kind: simulate.Lose, Node: e.gone - 1}, true
}

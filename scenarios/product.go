package scenarios

import (
	"slices"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// products of capacity: kinds of pool that are reserved capacity under the rules
// of a provider.
//
//   - capacity_block: fixed dates of 1 to 182 days, paid whole when it is bought,
//     and its nodes go some time before its end;
//   - capacity_reservation: the on-demand price from its first instant to its
//     last, held or not; the scenario's commitments apply to it;
//   - cud: committed use of a year or three with a reservation, nothing up front.
var poolProducts = []string{"capacity_block", "capacity_reservation", "cud"}

// KindName is the kind of a pool as the scenario states it.
func (c *Capacity) KindName() string {
	if c.Product != "" {
		return c.Product
	}
	return c.Kind.String()
}

// checkProduct checks the fields of kinds of reserved capacity.
func (c *Capacity) checkProduct(o *object) {
	if c.Product != "capacity_block" && o.has("ends_early") {
		o.onKey("ends_early", "ends_early is for capacity_block")
	}
	if o.has("upfront") {
		switch {
		case !c.Kind.Committed():
			o.onKey("upfront", "upfront is for owned and reserved capacity; %s is paid while held", c.Kind)
		case c.Product == "capacity_reservation":
			o.onKey("upfront", "a capacity_reservation is paid as it goes, at the on-demand price; leave upfront out")
		case c.Product == "cud" && c.Upfront > 0:
			o.on("upfront", "committed use has nothing up front; leave upfront out")
		case c.Product == "capacity_block" && c.Upfront < allUpfront:
			o.on("upfront", "a capacity block is paid whole in advance; leave upfront out")
		case !o.has("term") && !o.has("until"):
			o.onKey("upfront", "upfront needs the length of the contract: term: 1y, or until")
		}
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
		if o.has("term") && !slices.Contains([]string{"1y", "3y", "1yr", "3yr", "12mo", "36mo", "1 y", "3 y"}, c.Term) {
			o.on("term", "committed use is for 1y or 3y; for another length write kind: reserved")
		}
	}
}

// allUpfront is a share of all in millionths.
const allUpfront = 1_000_000

// checkBlock checks the dates of a capacity block.
func (c *Capacity) checkBlock(o *object) {
	if !o.has("ends_early") {
		c.EndsEarly = billing.BlockEndsEarly
	}
	o.need("from", "until")
	if !o.has("from") || !o.has("until") || !o.clean("from", "until") {
		return
	}
	if c.From.Date.Known() != c.Until.Date.Known() {
		o.on("until", "from and until of a capacity block are both dates, or both times since the start")
		return
	}
	length := c.Until.After - c.From.After
	if c.From.Date.Known() {
		length = capcli.Seconds(c.Until.Date - c.From.Date)
	}
	switch {
	case length <= 0: // told by check
	case length%capcli.Day != 0 || length > 182*capcli.Day:
		o.on("until", "the block lasts %s; blocks last 1 to 182 whole days", length)
	case c.EndsEarly >= length:
		o.on("ends_early", "ends_early is %s, but the block lasts %s", c.EndsEarly, length)
	}
}

// ending is a supply whose nodes all go at an instant and do not come back.
type ending struct {
	inner simulate.Supply // nil: no change before
	at    capcli.Seconds
	nodes int
	gone  int
	over  bool // nothing more of inner
}

// Next gives the changes before the end, and then the end of each node.
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

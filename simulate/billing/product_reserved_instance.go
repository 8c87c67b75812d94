package billing

import (
	"slices"

	"capcli"
)

func init() {
	Products.Add("reserved_instance", "AWS reserved instance: instances by the clock hour",
		example(ReservedInstance{Units: 3000}, Scope{Family: "p5", Size: "large"}, Fees{Upfront: 9000 * capcli.Dollar, Hourly: capcli.Dollar}))
}

// ReservedInstance is AWS's reserved instance. It is billed every clock-hour of
// its term, running or not, and covers at most 3600 instance-seconds in a
// clock-hour for each unit, shared by all matching instances of that hour: four
// that run a quarter of an hour each are covered by one.
//
// With a zone in its scope it covers that zone and that size only. Without, it
// covers all zones of the region, and all sizes of its family, the smallest
// first, by normalisation factor; but not for the families that AWS excepts,
// nor for Windows, RHEL and SUSE. Zonal ones are applied before regional ones,
// to the owner's account before others, and never to spot; zonal ones do not
// apply to capacity reservations, neither to what runs in one nor to the rest.
//
// Source: AWS EC2 User Guide, "How Reserved Instance discounts are applied" and
// "Reserved Instance instance size flexibility".
type ReservedInstance struct {
	Units int64 // thousandths of an instance of the scope's size
}

// Name gives the product's name.
func (ReservedInstance) Name() string { return "reserved_instance" }

func (p ReservedInstance) check(*Commitment) string { return wantUnits(p.Units) }

func (p ReservedInstance) units() int64 { return p.Units }

func (p ReservedInstance) power(c *Commitment) int64 {
	own, _ := sizeFactor(c.Scope.Size)
	return own * p.Units
}

// rigid are the families without size flexibility.
var rigid = []string{"g4ad", "g4dn", "g5", "g5g", "inf1"}

func (p ReservedInstance) cover(c *Commitment, b *bucket) (claim, bool) {
	if !b.eligible() || ((b.idle || b.inside) && c.Scope.Zone != "") {
		return claim{}, false
	}
	stage, scope := stageReserved, c.Scope
	if scope.Zone != "" {
		stage = stageZonal
	}
	own, flexible := sizeFactor(scope.Size)
	flexible = flexible && scope.Zone == "" && scope.Family != "" && !slices.Contains(rigid, scope.Family) &&
		osOf(scope.OS) == "linux" && osOf(b.sku.OS) == "linux"
	factor := own
	if flexible {
		scope.Size = ""
		if factor, flexible = sizeFactor(b.sku.Size); !flexible {
			return claim{}, false
		}
	}
	if !scope.Matches(&b.sku, b.account) {
		return claim{}, false
	}
	o := standing(c, b, stage)
	o.alone, o.size = true, factor
	return claim{weight: factor, order: o}, true
}

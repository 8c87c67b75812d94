package billing

import (
	"slices"
	"strconv"
	"strings"

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
	Units // thousandths of an instance of the scope's size
}

// Name gives the product's name.
func (ReservedInstance) Name() string { return "reserved_instance" }

func (p ReservedInstance) power(c *Commitment) int64 {
	own, _ := sizeFactor(c.Scope.Size)
	return own * p.units()
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

// largest is the largest Nxlarge that has a factor: so many times the most units
// fit an hour's account.
const largest = 640

// sizeFactor is the normalisation factor of an instance size in quarters, so
// that all are whole: nano is 1 (0.25), small 4 (1), xlarge 32 (8), 2xlarge 64
// (16) and Nxlarge 32 N. A size that is none of these has no factor: false, and 1.
//
// Source: AWS EC2 User Guide, "Reserved Instance instance size flexibility",
// table of normalisation factors.
func sizeFactor(size string) (int64, bool) {
	switch size {
	case "nano":
		return 1, true
	case "micro":
		return 2, true
	case "small":
		return 4, true
	case "medium":
		return 8, true
	case "large":
		return 16, true
	case "xlarge":
		return 32, true
	}
	if n, ok := strings.CutSuffix(size, "xlarge"); ok {
		if k, err := strconv.ParseInt(n, 10, 16); err == nil && k > 0 && k <= largest {
			return 32 * k, true
		}
	}
	return 1, false
}

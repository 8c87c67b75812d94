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

// ReservedInstance is AWS's reserved instance. It is billed for every clock hour of its term,
// running or not. Each unit covers at most 3600 instance-seconds in a clock hour, shared by all
// matching instances of that hour: one unit covers four instances that run a quarter of an hour
// each.
//
// With a zone in its scope it covers only that zone and that size. Without a zone it covers all
// zones of the region and all sizes of its family, the smallest first, by normalisation factor;
// the families that AWS excepts, and Windows, RHEL and SUSE, have no such size flexibility.
// Zonal instances are applied before regional ones, and both to the owner's account before
// others, and never to spot. Zonal ones do not apply to capacity reservations, neither to use
// in one nor to its unused part.
//
// Source: AWS EC2 User Guide, "How Reserved Instance discounts are applied" and "Reserved
// Instance instance size flexibility".
type ReservedInstance struct {
	Units // thousandths of an instance of the scope's size
}

// Name returns the product's name.
func (ReservedInstance) Name() string { return "reserved_instance" }

// Form implements Product.
func (p ReservedInstance) Form() *Form {
	p = ReservedInstance{}
	f := unitsForm(&p.Units, func() Product { return p })
	f.Aliases = []string{"ri"}
	return f
}

func (ReservedInstance) properties(c *Commitment) capcli.Properties {
	return capcli.Properties{Covers: true, Guarantees: c.Scope.Zone != ""}
}

func (ReservedInstance) unless() string { return "with a zone: guarantees" }

func (p ReservedInstance) power(c *Commitment) int64 {
	own, _ := sizeFactor(c.Scope.Size)
	return own * p.units()
}

// rigid are the instance families without size flexibility.
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

// largest is the largest N for which Nxlarge has a factor. With it, the power of maxUnits over
// an hour fits an int64.
const largest = 640

// sizeFactor returns the normalisation factor of an instance size in quarters, so that all
// factors are whole: nano is 1 (0.25), small 4 (1), xlarge 32 (8), 2xlarge 64 (16) and Nxlarge
// 32 N. For any other size it returns 1 and false.
//
// Source: AWS EC2 User Guide, "Reserved Instance instance size flexibility", table of
// normalisation factors.
func sizeFactor(size string) (int64, bool) {
	if k := slices.Index([]string{"nano", "micro", "small", "medium", "large", "xlarge"}, size); k >= 0 {
		return 1 << k, true
	}
	if n, ok := strings.CutSuffix(size, "xlarge"); ok {
		if k, err := strconv.ParseInt(n, 10, 16); err == nil && k > 0 && k <= largest {
			return 32 * k, true
		}
	}
	return 1, false
}

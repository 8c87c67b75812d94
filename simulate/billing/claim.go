package billing

import (
	"cmp"
	"math/bits"

	"capcli"
)

// bucket is use that every commitment treats alike: one SKU of one account, had
// in one way at one price.
type bucket struct {
	sku      SKU
	account  string
	kind     UseKind
	capacity string      // the commitment or reservation that it ran in
	list     capcli.Rate // public on-demand price of a unit-hour
	deal     capcli.Rate // negotiated on-demand price of a unit-hour
	paid     capcli.Rate // what the rest that no commitment covers costs
	inside   bool        // ran in the capacity reservation that capacity names
	idle     bool        // not use: the unused part of a capacity reservation
}

// eligible tells whether discounts may apply: not to spot, nor to what ran in
// capacity that is paid for already.
func (b *bucket) eligible() bool { return b.kind == UseOnDemand }

// compare is a total order over the buckets of one record.
func (b *bucket) compare(o *bucket) int {
	return cmp.Or(
		cmp.Compare(b.sku.Provider, o.sku.Provider), cmp.Compare(b.sku.Region, o.sku.Region),
		cmp.Compare(b.sku.Zone, o.sku.Zone), cmp.Compare(b.sku.Service, o.sku.Service),
		cmp.Compare(b.sku.Family, o.sku.Family), cmp.Compare(b.sku.Size, o.sku.Size),
		cmp.Compare(b.sku.GPUModel, o.sku.GPUModel), cmp.Compare(b.sku.OS, o.sku.OS),
		cmp.Compare(b.kind, o.kind), cmp.Compare(b.account, o.account), cmp.Compare(b.capacity, o.capacity),
		cmp.Compare(btoi(b.inside), btoi(o.inside)), cmp.Compare(b.list, o.list), cmp.Compare(b.deal, o.deal), cmp.Compare(b.paid, o.paid),
	)
}

// claim is that a commitment applies to a bucket: at what weight, so many of
// the commitment's own units for a unit of use, and when in the order.
type claim struct {
	weight int64
	order  order
}

// The stages of application. Within each hour all claims of a stage are settled
// before those of the next.
const (
	stageCapacity = iota // use that ran in capacity which a commitment brought
	stageZonal           // reserved instances of a zone
	stageReserved        // regional reserved instances, reservations, committed use
	stageFamily          // savings plans for one family
	stagePlan            // savings plans for all
	stageSpend           // promises to spend
)

// order is where in an hour a claim comes. Fields are compared one after
// another, smaller first; those that a product does not use stay 0.
type order struct {
	stage     int
	idle      int         // 1 for the unused part of a capacity reservation: use that ran comes first
	term      int64       // the longer the earlier: minus the term's length
	narrow    int         // the narrower the earlier: minus the number of fields of the scope
	alone     bool        // one commitment is settled over all its use before the next
	owner     int         // 0 for use of the owner's account
	size      int64       // normalisation factor, smallest size first
	rate, per capcli.Rate // highest saving first: rate/per ascending; then rate
}

// compare orders two claims; a and b are the commitments' places in the
// portfolio's order.
func (x *order) compare(o *order, a, b int) int {
	if c := cmp.Or(cmp.Compare(x.stage, o.stage), cmp.Compare(x.idle, o.idle), cmp.Compare(x.term, o.term),
		cmp.Compare(x.narrow, o.narrow)); c != 0 {
		return c
	}
	if x.alone && o.alone && a != b {
		return cmp.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(x.owner, o.owner), cmp.Compare(x.size, o.size),
		compareRatio(x.rate, x.per, o.rate, o.per), cmp.Compare(x.rate, o.rate))
}

// compareRatio compares a/b with c/d, none of them negative; x/0 is above all.
func compareRatio(a, b, c, d capcli.Rate) int {
	if b == 0 || d == 0 {
		return cmp.Compare(btoi(b == 0 && a > 0), btoi(d == 0 && c > 0))
	}
	h1, l1 := bits.Mul64(uint64(a), uint64(d))
	h2, l2 := bits.Mul64(uint64(c), uint64(b))
	return cmp.Or(cmp.Compare(h1, h2), cmp.Compare(l1, l2))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// standing is the part of an order that all discounts share: who owns it, and
// that use which ran comes before reserved capacity which did not.
func standing(c *Commitment, b *bucket, stage int) order {
	return order{stage: stage, idle: btoi(b.idle), owner: btoi(c.Owner != "" && c.Owner != b.account)}
}

// narrowness is minus the number of fields that a scope states.
func (s *Scope) narrowness() int {
	n := 0
	for _, f := range []string{s.Provider, s.Region, s.Zone, s.Account, s.Family, s.Size, s.GPUModel, s.Service, s.OS} {
		n -= btoi(f != "")
	}
	return n
}

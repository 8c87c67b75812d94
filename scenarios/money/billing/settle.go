package billing

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"capcli"
)

// bucket is use that every commitment treats alike: one SKU of one account, of one kind, at one
// price.
type bucket struct {
	sku      SKU
	account  string
	kind     UseKind
	capacity string      // ID of the commitment or reservation that it ran in
	list     capcli.Rate // public on-demand price of a unit-hour
	deal     capcli.Rate // negotiated on-demand price of a unit-hour
	paid     capcli.Rate // price of a unit-hour that no commitment covers
	inside   bool        // ran in the capacity reservation that capacity names
	idle     bool        // the unused part of a capacity reservation, or of bought nodes, rather than use
	free     bool        // of idle: the unused part of bought nodes
}

// eligible reports whether discounts may apply. They apply neither to spot nor to use that ran
// in capacity that is already paid for.
func (b *bucket) eligible() bool { return b.kind == UseOnDemand }

// compare is a total order of the buckets of one record that agree in idle.
func (b *bucket) compare(o *bucket) int {
	return cmp.Or(
		cmp.Compare(b.sku.Provider, o.sku.Provider), cmp.Compare(b.sku.Region, o.sku.Region),
		cmp.Compare(b.sku.Zone, o.sku.Zone), cmp.Compare(b.sku.Service, o.sku.Service),
		cmp.Compare(b.sku.Family, o.sku.Family), cmp.Compare(b.sku.Size, o.sku.Size),
		cmp.Compare(b.sku.GPUModel, o.sku.GPUModel), cmp.Compare(b.sku.OS, o.sku.OS),
		cmp.Compare(b.kind, o.kind), cmp.Compare(b.account, o.account), cmp.Compare(b.capacity, o.capacity),
		cmp.Compare(capcli.Bit(b.inside), capcli.Bit(o.inside)), cmp.Compare(capcli.Bit(b.free), capcli.Bit(o.free)), cmp.Compare(b.list, o.list), cmp.Compare(b.deal, o.deal), cmp.Compare(b.paid, o.paid),
	)
}

// claim is the right of a commitment to cover a bucket: the amount of the commitment's own unit
// that a unit of use takes, and the place in the order of application.
type claim struct {
	weight int64
	order  order
}

// The stages of application. In each hour all claims of a stage are settled before those of the
// next.
const (
	stageCapacity = iota // use that ran in the capacity of a commitment
	stageZonal           // reserved instances of a zone
	stageReserved        // regional reserved instances, reservations, committed use
	stageFamily          // savings plans for one family
	stagePlan            // savings plans for all families, spend-based committed use
	stageSpend           // promises to spend
)

// order is the place of a claim within an hour. Fields are compared one after another, smaller
// first. Fields that a product does not use are 0.
type order struct {
	stage     int
	idle      int         // 1 for the unused part of a capacity reservation: real use comes first
	term      int64       // minus the term in whole years: longer terms come first
	narrow    int         // minus the number of fields of the scope: narrower scopes come first
	alone     bool        // the commitment is applied to all its use before the next commitment
	owner     int         // 0 for use of the owner's account, 1 for others'
	size      int64       // normalisation factor or ratio: the smallest size comes first
	rate, per capcli.Rate // plan rate and list price: lowest rate/per (highest saving) first, then lowest rate
}

// compare compares two claims. a and b are the indices of their commitments in the order of the
// portfolio.
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

// compareRatio compares a/b with c/d, none of them negative. x/0 with x above 0 is the largest.
func compareRatio(a, b, c, d capcli.Rate) int {
	if b == 0 || d == 0 {
		return cmp.Compare(capcli.Bit(b == 0 && a > 0), capcli.Bit(d == 0 && c > 0))
	}
	h1, l1 := bits.Mul64(uint64(a), uint64(d))
	h2, l2 := bits.Mul64(uint64(c), uint64(b))
	return cmp.Or(cmp.Compare(h1, h2), cmp.Compare(l1, l2))
}

// standing returns the part of an order that all discounts share: the owner's use comes before
// others', and real use before the unused part of a reservation.
func standing(c *Commitment, b *bucket, stage int) order {
	return order{stage: stage, idle: capcli.Bit(b.idle), owner: capcli.Bit(c.Owner != "" && c.Owner != b.account)}
}

// narrowness returns minus the number of fields that a scope names.
func (s *Scope) narrowness() int {
	n := 0
	for _, f := range []string{s.Provider, s.Region, s.Zone, s.Account, s.Family, s.Size, s.GPUModel, s.Service, s.OS} {
		n -= capcli.Bit(f != "")
	}
	return n
}

// pair is a commitment and a bucket that it applies to, by their indices.
type pair struct {
	commit, bucket int
	claim
}

// pricing is a portfolio applied to hours: its commitments in order, and their claims in the
// order in which an hour is settled. Its memory is reused for the next portfolio.
type pricing struct {
	h       *Hours
	commits []*Commitment    // in order of start, then ID
	powers  []int64          // by commitment
	early   []capcli.Seconds // by commitment: time from the end of use to the end of the term
	pairs   []pair           // in order of application

	bought []int64      // by commitment: what is paid for in the hour, in its own unit
	have   []int64      // by commitment: what it can cover in the hour; less than bought where use ends early
	rest   []portion    // by commitment: part of have that is left
	left   []portion    // by open bucket: time that no commitment covers
	took   []portion    // by pair: time covered in the hour
	lost   []uint64     // by pair: what the cut left of the commitment, in 2^-64ths, which counts as used
	draws  []*drawdown  // by commitment: spend of a minimum spend, nil for others; nil where there is none
	due    []capcli.USD // by commitment: shortfall of a minimum spend in the hour
}

// lay applies a checked portfolio to the hours. It fails where the currencies differ, and where
// use names a commitment that the portfolio does not have.
func (x *pricing) lay(h *Hours, p *Portfolio) error {
	if currencyOf(p.Currency) != currencyOf(h.currency) {
		return fmt.Errorf("the use is in %s and the portfolio in %s: amounts in different currencies are not summed; convert one of them",
			currencyOf(h.currency), currencyOf(p.Currency))
	}
	x.h = h
	x.commits, x.powers, x.early, x.pairs = x.commits[:0], x.powers[:0], x.early[:0], x.pairs[:0]
	for i := range p.Commitments {
		x.commits = append(x.commits, &p.Commitments[i])
	}
	slices.SortFunc(x.commits, func(a, b *Commitment) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
	for k, c := range x.commits {
		x.powers = append(x.powers, c.Product.power(c))
		var early capcli.Seconds
		if p, is := c.Product.(earlyEnder); is {
			early = p.endsEarly()
		}
		x.early = append(x.early, early)
		if c.End <= h.from || c.Start >= h.to {
			continue
		}
		for b := range h.buckets[:h.open] {
			if k2, ok := c.Product.cover(c, &h.buckets[b]); ok {
				x.pairs = append(x.pairs, pair{k, b, k2})
			}
		}
	}
	slices.SortFunc(x.pairs, func(a, b pair) int {
		return cmp.Or(a.order.compare(&b.order, a.commit, b.commit), cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.commit, b.commit))
	})
	n := len(x.commits)
	x.bought, x.have, x.rest = sized(x.bought, n), sized(x.have, n), sized(x.rest, n)
	x.left, x.took = sized(x.left, h.open), sized(x.took, len(x.pairs))
	x.lost = sized(x.lost, len(x.pairs))
	if x.draws = drawsDown(x.commits); x.draws != nil {
		x.due = sized(x.due, n)
		clear(x.due)
	}
	return x.named()
}

// sized returns a slice of n elements, in the memory of s where that is large enough.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// named checks that the portfolio has each commitment that reserved use names.
func (x *pricing) named() error {
	for i := range x.h.buckets[:x.h.open] {
		b := &x.h.buckets[i]
		if b.kind != UseReserved {
			continue
		}
		if !slices.ContainsFunc(x.commits, func(c *Commitment) bool { return c.ID == b.capacity }) {
			return fmt.Errorf("use ran in %s, but the portfolio has no commitment of that name", b.capacity)
		}
	}
	return nil
}

// settle settles clock hour i: how much of each bucket each commitment covers. It fails with
// capcli.ErrOverflow where the spend of a minimum spend does not fit.
func (x *pricing) settle(i int) error {
	h := x.h
	for b, time := range h.use[i*h.open : (i+1)*h.open] {
		x.left[b] = portion{whole: int64(time)}
	}
	for k, c := range x.commits {
		x.bought[k] = x.powers[k] * h.overlap(i, c.Start, c.End)
		have := x.bought[k]
		if x.early[k] > 0 {
			have = x.powers[k] * h.overlap(i, c.Start, c.End-capcli.Time(x.early[k]))
		}
		x.have[k], x.rest[k] = have, portion{whole: have}
		if x.draws != nil && x.draws[k] != nil && h.overlap(i, c.Start, c.End) > 0 {
			x.rest[k] = portion{whole: unlimited}
		}
	}
	for k := range x.pairs {
		p := &x.pairs[k]
		left, rest := x.left[p.bucket], x.rest[p.commit]
		x.took[k], x.lost[k] = portion{}, 0
		switch {
		case left.isZero() || rest.isZero():
			continue
		case rest.whole == unlimited:
			x.draws[p.commit].spent.addPortion(p.weight, left)
			x.took[k], x.left[p.bucket] = left, portion{}
			continue
		case p.weight > 0:
			if most, lost := rest.divided(p.weight); most.isLess(left) {
				x.took[k], x.lost[k] = most, lost
				x.left[p.bucket], x.rest[p.commit] = left.minus(most), portion{}
				continue
			}
		}
		x.took[k], x.left[p.bucket] = left, portion{}
		x.rest[p.commit] = rest.minus(left.times(p.weight))
	}
	return x.priceDrawn(i)
}

// priceDrawn sets the shortfalls of minimum spends in hour i.
func (x *pricing) priceDrawn(i int) (err error) {
	h := x.h
	for k, d := range x.draws {
		if d == nil {
			continue
		}
		x.rest[k] = portion{}
		if x.due[k], err = d.settle(min(h.first+capcli.Time(i+1)*hour, h.to), h.from, h.to); err != nil {
			return fmt.Errorf("commitment %s: %w", d.c.ID, err)
		}
	}
	return nil
}

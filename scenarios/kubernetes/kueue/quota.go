package kueue

import (
	"cmp"
	"math"
	"slices"
)

// slot is one resource in one flavor: an index into the world's list of them.
type slot int

// unlimited stands for a limit that is not set.
const unlimited = math.MaxInt64

// node is a queue or a cohort in the tree of quotas. Slices are by slot.
type node struct {
	name     string
	parent   *node
	children []*node
	weight   float64
	queue    *queue // nil for a cohort
	height   int    // 0 for one without children

	nominal   []int64
	borrowing []int64 // most above subtree; unlimited is none
	lending   []int64 // most of subtree that others may use; unlimited is none
	subtree   []int64 // its own quota and what its children lend
	usage     []int64
}

func newNode(name string, weight *float64, slots int) *node {
	n := &node{name: name, weight: 1, nominal: make([]int64, slots), borrowing: make([]int64, slots), lending: make([]int64, slots), subtree: make([]int64, slots), usage: make([]int64, slots)}
	if weight != nil {
		n.weight = *weight
	}
	for s := range n.borrowing {
		n.borrowing[s], n.lending[s] = unlimited, unlimited
	}
	return n
}

// finish sets subtree and height of n and of all below.
func (n *node) finish() {
	copy(n.subtree, n.nominal)
	for _, c := range n.children {
		c.finish()
		for s := range n.subtree {
			n.subtree[s] += c.subtree[s] - c.unlent(slot(s))
		}
		n.height = max(n.height, 1)
		if c.queue == nil {
			n.height = max(n.height, c.height+1)
		}
	}
}

// unlent is what n never lends.
func (n *node) unlent(s slot) int64 {
	if n.lending[s] == unlimited {
		return 0
	}
	return max(0, n.subtree[s]-n.lending[s])
}

// unlentFree is what of it n does not use.
func (n *node) unlentFree(s slot) int64 { return max(0, n.unlent(s)-n.usage[s]) }

// add adds v to the usage of n and to that of the cohorts that lend to it.
func (n *node) add(s slot, v int64) {
	for n != nil {
		kept := n.unlent(s)
		before := max(0, n.usage[s]-kept)
		n.usage[s] += v
		v = max(0, n.usage[s]-kept) - before
		n = n.parent
	}
}

// available is how much more n can use now. Below 0 it is over what it may have.
func (n *node) available(s slot) int64 {
	if n.parent == nil {
		return n.subtree[s] - n.usage[s]
	}
	lent := n.parent.available(s)
	if n.borrowing[s] != unlimited {
		kept := n.unlent(s)
		lent = min(lent, n.subtree[s]-kept-max(0, n.usage[s]-kept)+n.borrowing[s])
	}
	return n.unlentFree(s) + lent
}

// potential is how much n could use if nobody else used anything.
func (n *node) potential(s slot) int64 {
	if n.parent == nil {
		return n.subtree[s]
	}
	p := n.unlent(s) + n.parent.potential(s)
	if n.borrowing[s] != unlimited {
		p = min(p, n.subtree[s]+n.borrowing[s])
	}
	return p
}

// exceeds tells whether n with v more uses more than its quota and its
// children's. For a queue that is to borrow.
func (n *node) exceeds(s slot, v int64) bool { return n.usage[s]+v > n.subtree[s] }

func (n *node) exceedsAny(slots []slot) bool {
	return slices.ContainsFunc(slots, func(s slot) bool { return n.exceeds(s, 0) })
}

// borrowingLevel is how far up the tree a queue must go to borrow v: 0 is not at
// all, else the height of the lowest cohort that has room. mayReclaim tells
// whether others there may be preempted for it.
func (n *node) borrowingLevel(s slot, v int64) (level int, mayReclaim bool) {
	if n.parent == nil || !n.exceeds(s, v) {
		return 0, n.parent != nil
	}
	rest := v - n.unlentFree(s)
	c := n.parent
	for ; c.parent != nil; c = c.parent {
		if !c.exceeds(s, rest) {
			return c.height, true
		}
		rest -= c.unlentFree(s)
	}
	return c.height, false
}

// root is the top of n's tree.
func (n *node) root() *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// isUnder tells whether n stands below c, or is c.
func (n *node) isUnder(c *node) bool {
	for ; n != nil; n = n.parent {
		if n == c {
			return true
		}
	}
	return false
}

// commonCohort is the lowest cohort above both.
func commonCohort(a, b *node) *node {
	c := a.parent
	for c != nil && !b.isUnder(c) {
		c = c.parent
	}
	return c
}

// childToward is the child of c on the way down to n.
func (n *node) childToward(c *node) *node {
	for n.parent != c {
		n = n.parent
	}
	return n
}

// share is a node's weighted dominant resource share.
type share struct {
	unweighted float64 // thousandths of what the parent could lend
	weight     float64
}

// compare orders shares: those of weight 0 that borrow are infinite, and compare
// by their unweighted value.
func (a share) compare(b share) int {
	infiniteA, infiniteB := a.infinite(), b.infinite()
	switch {
	case infiniteA != infiniteB:
		if infiniteA {
			return 1
		}
		return -1
	case infiniteA:
		return cmp.Compare(a.unweighted, b.unweighted)
	}
	return cmp.Compare(a.value(), b.value())
}

func (a share) infinite() bool { return a.weight == 0 && a.unweighted > 0 }

// value is the share as a number, -1 where it is infinite.
func (a share) value() float64 {
	switch {
	case a.unweighted == 0:
		return 0
	case a.weight == 0:
		return -1
	}
	return a.unweighted / a.weight
}

// share returns n's dominant resource share: of the resources, the largest part
// that it borrows of what its parent could lend. A root has 0.
func (n *node) share(w *cluster) share {
	out := share{weight: n.weight}
	if n.parent == nil {
		return out
	}
	for _, slots := range w.slotsOf {
		var borrowed, lendable int64
		for _, s := range slots {
			borrowed += max(0, n.usage[s]-n.subtree[s])
			lendable += n.parent.potential(s)
		}
		if borrowed > 0 && lendable > 0 {
			out.unweighted = max(out.unweighted, float64(borrowed)*1000/float64(lendable))
		}
	}
	return out
}

package topology

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
)

// Request is a gang of equal pods.
type Request struct {
	Pods       int
	Mode       capcli.NearMode // Required, Preferred or Unconstrained
	Level      int             // level that Mode is about; Unconstrained has none
	Slice      int             // pods that must share one domain of SliceLevel: a divisor of Pods; 0 or 1 is no slices
	SliceLevel int
}

// Check fails where no tree can hold the gang by its own numbers.
func (q *Request) Check(t *Tree) error {
	switch {
	case q.Pods < 1:
		return fmt.Errorf("a gang has at least 1 pod, not %d", q.Pods)
	case q.Mode != capcli.Unconstrained && (q.Level < 0 || q.Level > t.Node()):
		return fmt.Errorf("the topology has no level %d", q.Level)
	case q.Slice > 1 && (q.SliceLevel < 0 || q.SliceLevel > t.Node()):
		return fmt.Errorf("the topology has no level %d", q.SliceLevel)
	case q.Slice > 1 && q.Pods%q.Slice != 0:
		return fmt.Errorf("%d pods are not whole slices of %d", q.Pods, q.Slice)
	case q.Slice > 1 && q.Mode != capcli.Unconstrained && q.SliceLevel < q.Level:
		return fmt.Errorf("slices within a %s are wider than the %s that the gang is for", t.levels[q.SliceLevel], t.levels[q.Level])
	}
	return nil
}

// Part is how many pods of a gang a node takes.
type Part struct{ Node, Pods int }

// Room is how many pods of a gang fit on each node. Set the nodes, then Place one gang. The buffers of a
// Room serve one question after another, one at a time.
type Room struct {
	tree   *Tree
	pods   [][]int // by level and domain; of the last level as Set
	free   [][]int // the same, as SetFree: what tells domains apart that have room for as many
	slices [][]int
	list   []int32 // domains of the search, in order
	shares []share
	next   []share
	parts  []Part
	least  []int
}

// share is what one domain takes: slices at the level of slices and above, pods below.
type share struct {
	domain int32
	take   int
}

// NewRoom returns a Room in which no pod fits.
func NewRoom(t *Tree) *Room {
	r := &Room{tree: t, pods: make([][]int, len(t.levels)), free: make([][]int, len(t.levels)), slices: make([][]int, len(t.levels))}
	for l, n := range t.sizes {
		r.pods[l], r.free[l], r.slices[l] = make([]int, n), make([]int, n), make([]int, n)
	}
	return r
}

// Set says how many pods fit on a node.
func (r *Room) Set(node, pods int) { r.pods[r.tree.Node()][node] = pods }

// SetFree says how much is free on a node, in any unit. Of nodes and domains with room for as many pods, those
// with less of it come first, so that the least is left over.
func (r *Room) SetFree(node, units int) { r.free[r.tree.Node()][node] = units }

// Place returns the nodes of a gang, in their order, or nil if it does not fit. The parts are valid until
// the next call. The request must pass its Check.
func (r *Room) Place(q *Request) []Part {
	node := r.tree.Node()
	slice, sliceLevel := max(1, q.Slice), node
	if slice > 1 {
		sliceLevel = q.SliceLevel
	}
	r.count(slice, sliceLevel)
	need := q.Pods / slice
	level := r.start(q, need)
	if level < 0 {
		return nil
	}
	least := q.Mode == capcli.Unconstrained
	r.shares = r.fill(r.shares[:0], r.slices[level], need, least)
	for ; level < node; level++ {
		r.next = r.next[:0]
		if level < sliceLevel {
			r.list = r.list[:0]
			for _, s := range r.shares {
				r.addChildren(level, s.domain)
			}
			r.sort(level+1, least)
			r.next = r.fill(r.next, r.slices[level+1], need, least)
		} else {
			unit := 1
			if level == sliceLevel {
				unit = slice
			}
			for _, s := range r.shares {
				r.list = r.list[:0]
				r.addChildren(level, s.domain)
				r.sort(level+1, least)
				r.next = r.fill(r.next, r.pods[level+1], s.take*unit, least)
			}
		}
		r.shares, r.next = r.next, r.shares
	}
	unit := 1
	if sliceLevel == node {
		unit = slice
	}
	r.parts = r.parts[:0]
	for _, s := range r.shares {
		r.parts = append(r.parts, Part{int(s.domain), s.take * unit})
	}
	slices.SortFunc(r.parts, func(a, b Part) int { return cmp.Compare(a.Node, b.Node) })
	return r.parts
}

// sumBelow sets each domain of level l to the sum over its domains of the level below.
func (t *Tree) sumBelow(l int, sums, below []int) {
	first := t.first[l]
	for d := range sums {
		sum := 0
		for _, n := range below[first[d]:first[d+1]] {
			sum += n
		}
		sums[d] = sum
	}
}

// count sums the pods and the slices of each domain. Domains below the level of slices have no slices.
func (r *Room) count(slice, sliceLevel int) {
	for l := r.tree.Node(); l >= 0; l-- {
		pods, counts := r.pods[l], r.slices[l]
		if l < r.tree.Node() {
			r.tree.sumBelow(l, pods, r.pods[l+1])
			r.tree.sumBelow(l, r.free[l], r.free[l+1])
		}
		switch {
		case l > sliceLevel:
			clear(counts)
		case l == sliceLevel:
			for d := range counts {
				counts[d] = pods[d] / slice
			}
		default:
			r.tree.sumBelow(l, counts, r.slices[l+1])
		}
	}
}

// start finds the level at which the search begins and leaves the domains to fill in the list, in order.
// It returns -1 if the gang does not fit.
func (r *Room) start(q *Request, need int) int {
	level, least := q.Level, q.Mode == capcli.Unconstrained
	if least {
		level = r.tree.Node()
	}
	for ; ; level-- {
		counts := r.slices[level]
		r.list = r.list[:0]
		total := 0
		for d := range counts {
			r.list = append(r.list, int32(d))
			total += counts[d]
		}
		if total < need {
			return -1
		}
		r.sort(level, least)
		switch {
		case least:
			if i := slices.IndexFunc(r.list, func(d int32) bool { return counts[d] >= need }); i >= 0 {
				r.list = r.list[i : i+1]
			}
			return level
		case counts[r.list[0]] >= need:
			i := tightest(r.list, counts, need)
			r.list = r.list[i : i+1]
			return level
		case q.Mode == capcli.Required:
			return -1
		case level == 0:
			return level
		}
	}
}

// addChildren adds the domains below a domain of a level to the list.
func (r *Room) addChildren(level int, domain int32) {
	first := r.tree.first[level]
	for c := first[domain]; c < first[domain+1]; c++ {
		r.list = append(r.list, c)
	}
}

// sort brings the domains of the list, all of one level, into the order in which they are filled: most
// slices first, or fewest first with least; then fewest pods; then the least free; then by path.
func (r *Room) sort(level int, least bool) {
	counts, pods, free := r.slices[level], r.pods[level], r.free[level]
	slices.SortFunc(r.list, func(a, b int32) int {
		d := cmp.Compare(counts[b], counts[a])
		if least {
			d = -d
		}
		return cmp.Or(d, cmp.Compare(pods[a], pods[b]), cmp.Compare(free[a], free[b]), cmp.Compare(a, b))
	})
}

// fill gives need to the domains of the list in order, each its whole count, and adds the shares to dst.
// As soon as one has enough for the rest, the tightest of it and those after it takes the rest; with
// least, the first that has enough.
func (r *Room) fill(dst []share, counts []int, need int, least bool) []share {
	for i, d := range r.list {
		n := counts[d]
		if n >= need {
			if !least {
				d = r.list[i+tightest(r.list[i:], counts, need)]
			}
			return append(dst, share{d, need})
		}
		if n > 0 {
			dst = append(dst, share{d, n})
			need -= n
		}
	}
	return dst
}

// tightest returns the index of the first domain with the fewest that are still enough.
func tightest(list []int32, counts []int, need int) int {
	best := -1
	for i, d := range list {
		if n := counts[d]; n >= need && (best < 0 || n < counts[list[best]]) {
			best = i
		}
	}
	return best
}

// MinDomains returns the fewest domains of a level that could hold so many pods at all, whatever else the
// gang asks for, or -1 if all together cannot.
func (r *Room) MinDomains(pods, level int) int {
	r.count(1, r.tree.Node())
	r.least = append(r.least[:0], r.pods[level]...)
	slices.SortFunc(r.least, func(a, b int) int { return cmp.Compare(b, a) })
	for i, n := range r.least {
		if pods -= n; pods <= 0 {
			return i + 1
		}
	}
	return -1
}

// Largest returns the most pods that one domain of a level can take.
func (r *Room) Largest(level int) int {
	r.count(1, r.tree.Node())
	return slices.Max(r.pods[level])
}

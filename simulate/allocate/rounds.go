package allocate

import "math/bits"

// Share is an exact share of time, Num / Den. The zero value is none.
type Share struct{ Num, Den int64 }

// maxShare is the largest Den.
const maxShare = 1_000_000_000

// ShareOf returns x to nine places: rounds that are played on it are the same on any machine. What is
// below half of the last place is none.
func ShareOf(x float64) Share {
	n := int64(min(max(x, 0), 1)*maxShare + 0.5)
	if n == 0 {
		return Share{}
	}
	return Share{n, maxShare}
}

// Entrant is a job in the rounds of an allocation.
type Entrant struct {
	GPUs     int
	Shares   []Share // of each type
	Received []int64 // rounds that it had on each type
	// Type is its type in the last round; -1 is none.
	Type int
	// Keeps is 1 + the type that it has in the next round whatever its priority; 0 is none.
	Keeps int
}

// Round plays one round of an allocation by the mechanism of Gavel: type by type, in order, the jobs
// with a share of the type by priority. The priority is the share over the rounds received, infinite
// before the first; ties: the larger share, then the earlier job. A job that already has a type, or
// that needs more GPUs than are left, is passed over. workers are the GPUs of each type in this round.
// It sets the Type of each job and adds to what it received.
type Round struct {
	order []int
	kept  []int // by type: GPUs of jobs that keep theirs
}

// Play plays one round.
func (r *Round) Play(workers []int, jobs []Entrant) {
	r.kept = append(r.kept[:0], make([]int, len(workers))...)
	for m := range jobs {
		e := &jobs[m]
		if e.Type = e.Keeps - 1; e.Type >= 0 {
			r.kept[e.Type] += e.GPUs
			e.Received[e.Type]++
		}
	}
	for j, left := range workers {
		left -= r.kept[j]
		r.order = r.order[:0]
		for m := range jobs {
			if e := &jobs[m]; e.Type < 0 && e.Shares[j].Num > 0 && e.GPUs <= left {
				r.order = append(r.order, m)
			}
		}
		first := func(a, b int) int { return precedes(&jobs[a], &jobs[b], j, a, b) }
		// Most rounds take few of many jobs: a heap gives them one by one.
		for heapify(r.order, first); left > 0 && len(r.order) > 0; r.order = pop(r.order, first) {
			e := &jobs[r.order[0]]
			if e.GPUs > left {
				continue
			}
			left -= e.GPUs
			e.Type = j
			e.Received[j]++
		}
	}
}

// precedes compares jobs a and b by their priority on type j: below 0 if a goes first.
func precedes(a, b *Entrant, j, m, n int) int {
	x, y := a.Shares[j], b.Shares[j]
	by := 0
	switch na, nb := a.Received[j], b.Received[j]; {
	case na == 0 && nb > 0:
		return -1
	case nb == 0 && na > 0:
		return 1
	case na > 0:
		by = compare(y.Num, x.Den, na, x.Num, y.Den, nb)
	}
	if by == 0 {
		by = compare(y.Num, x.Den, 1, x.Num, y.Den, 1)
	}
	if by == 0 {
		by = m - n
	}
	return by
}

// compare compares a × b × c with d × e × f, where b × c and e × f fit into 63 bits.
func compare(a, b, c, d, e, f int64) int {
	xh, xl := bits.Mul64(uint64(a), uint64(b)*uint64(c))
	yh, yl := bits.Mul64(uint64(d), uint64(e)*uint64(f))
	switch {
	case xh != yh && xh < yh, xh == yh && xl < yl:
		return -1
	case xh == yh && xl == yl:
		return 0
	}
	return 1
}

// heapify makes a heap of order.
func heapify(order []int, first func(a, b int) int) {
	for i := len(order)/2 - 1; i >= 0; i-- {
		sink(order, i, first)
	}
}

// pop removes the first of a heap.
func pop(order []int, first func(a, b int) int) []int {
	last := len(order) - 1
	order[0] = order[last]
	sink(order[:last], 0, first)
	return order[:last]
}

// sink moves the i-th entry of a heap down to its place.
func sink(order []int, i int, first func(a, b int) int) {
	for {
		c := 2*i + 1
		if c >= len(order) {
			return
		}
		if c+1 < len(order) && first(order[c+1], order[c]) < 0 {
			c++
		}
		if first(order[i], order[c]) <= 0 {
			return
		}
		order[i], order[c] = order[c], order[i]
		i = c
	}
}

package allocate

import (
	"math"
	"math/bits"
)

// claim is the value that a job must have at a level s of the common objective:
//
//	work × s / (base − elapsed × s),
//
// which rises with s. With elapsed = 0 and base = 1 it is proportional to s. A fixed claim is none.
type claim struct {
	work, base, elapsed float64
	fixed               bool
}

// valueAt returns the claim at level s, and how fast it rises with s.
func (c *claim) valueAt(s float64) (value, rise float64) {
	if c.fixed {
		return 0, 0
	}
	rest := c.base - c.elapsed*s
	return c.work * s / rest, c.work * c.base / (rest * rest)
}

// highest returns the level at which the claim is value.
func (c *claim) highest(value float64) float64 {
	return value * c.base / (c.work + c.elapsed*value)
}

// level is the highest level that all can have, with an allocation that gives it.
type level struct {
	s      float64
	answer answer
	prices []float64 // nil where a job's best type is the limit
	halved bool      // whether it was found by halves
	full   []float64 // prices at which the floors cost as much as all GPUs; nil where they cost less
}

// raise returns the highest level at which all claims can be met; they can at level 0. It is Newton's
// method from above, on the cost of all claims at the prices of the tightest types, which is convex in
// the level. Each step ends at a level that is proved to be a bound; the last one can be met. Where claims
// that are fixed fill a type, rounding of their cost may throw a step below low; the way up from there is
// by halves.
func (m *market) raise(claims []claim) level {
	low, high := 0.0, math.Inf(1)
	for i := range claims {
		if c := &claims[i]; !c.fixed {
			high = min(high, c.highest(m.bidders[i].top()))
		}
	}
	out, hint := level{s: high}, m.evenPrices()
	for range 200 {
		m.claimAll(claims, out.s)
		best, busiest, prices := m.spread(hint)
		out.answer, out.full = best, nil
		if busiest >= 1-1e-9 {
			out.full = prices
		}
		next := 0.0
		if busiest <= 1+1e-10 {
			if low = max(low, out.s); low >= high*(1-1e-12) || out.prices == nil || !out.halved {
				break
			}
			next = low + (high-low)/2
		} else {
			high, hint, out.prices = out.s, prices, prices
			if next = m.afford(claims, prices, out.s); next <= low {
				next, out.halved = low+(high-low)/2, true
			}
		}
		if next >= high || next <= low && out.s == low {
			break
		}
		out.s = next
	}
	out.answer.scaleDown()
	return out
}

// claimAll sets the floors of all bidders to their claims at level s.
func (m *market) claimAll(claims []claim, s float64) {
	for i := range claims {
		b := &m.bidders[i]
		b.floor, _ = claims[i].valueAt(s)
		if most := b.top(); b.floor > most {
			b.floor = most // by rounding
		}
	}
}

// afford returns the highest level at which all claims cost 1 or less at prices. It begins from a level
// s at which they cost more.
func (m *market) afford(claims []claim, prices []float64, s float64) float64 {
	var costs, x [maxTypes]float64
	for range 100 {
		m.claimAll(claims, s)
		total, rise := -1.0, 0.0
		for i := range m.bidders {
			b, cost := &m.bidders[i], costs[:m.types]
			b.cost(prices, cost)
			least := b.cheapest(cost, x[:m.types])
			total += least
			if !claims[i].fixed {
				below := b.slopeBelow(cost, least)
				_, speed := claims[i].valueAt(s)
				rise += below * speed
			}
		}
		if rise <= 0 || total <= 1e-12 { // claims that are fixed cost 1 but for rounding
			return s
		}
		next := s - total/rise
		if !(next < s) {
			return s
		}
		if next > s*(1-1e-13) {
			return max(next, 0)
		}
		s = max(next, 0)
	}
	return s
}

// top returns the highest value that the bidder can have.
func (b *bidder) top() float64 {
	most := 0.0
	for _, v := range b.value {
		most = max(most, v)
	}
	return most
}

func (m *market) evenPrices() []float64 {
	prices := make([]float64, m.types)
	for j := range prices {
		prices[j] = 1 / float64(m.types)
	}
	return prices
}

// mostExchanges limits the exchanges of one Rebalance: the rest comes in the next.
const mostExchanges = 32

// Rebalance divides GPUs among jobs as Marginal does, but begins from what the jobs have and changes few of
// them, because each change costs a restart. at is the index of each job's step, -1 for none; Rebalance
// changes it. Steps are in order of GPUs, and more GPUs than at holds must not be there.
//
//  1. Each job without GPUs, in order, gets its first step, from what is free, then from the steps whose
//     loss for each GPU is least.
//  2. Free GPUs go where a step gains most for each.
//  3. A step goes from one job to another while it gains more than 1 + keep times what it loses. A job that
//     changes anyway does not count keep.
func Rebalance(gpus int, jobs [][]Step, at []int, keep float64) {
	b := balance{jobs: jobs, at: at, free: gpus, keep: keep, changed: make([]bool, len(jobs))}
	for m, k := range at {
		if k >= 0 {
			b.free -= jobs[m][k].GPUs
		} else {
			b.changed[m] = true
		}
	}
	dry := false // all that can shrink has
	for m, k := range at {
		if k >= 0 || len(jobs[m]) == 0 {
			continue
		}
		for !dry && b.free < jobs[m][0].GPUs {
			dry = !b.shrink(-1, math.Inf(1))
		}
		if b.free >= jobs[m][0].GPUs {
			b.free -= jobs[m][0].GPUs
			at[m] = 0
		}
	}
	for range mostExchanges {
		for b.grow() {
		}
		if !b.exchange() {
			break
		}
	}
	for b.grow() {
	}
}

// balance is a division in progress.
type balance struct {
	jobs    [][]Step
	at      []int
	changed []bool
	free    int
	keep    float64
}

// rate returns what a job gains for each GPU by going from step k to a wider one; below 0 if it loses.
func (b *balance) rate(m, k, to int) float64 {
	s := b.jobs[m]
	return float64(s[k].Left-s[to].Left) / float64(s[to].GPUs-s[k].GPUs)
}

// weight makes a change of a job that would otherwise run on look less worth.
func (b *balance) weight(m int) float64 {
	if b.changed[m] {
		return 1
	}
	return 1 + b.keep
}

// change gives a job another step.
func (b *balance) change(m, to int) {
	b.free += b.jobs[m][b.at[m]].GPUs - b.jobs[m][to].GPUs
	b.at[m] = to
	b.changed[m] = true
}

// shrink narrows the job whose loss for each GPU is least, and below most. It reports whether there is one.
// Job but keeps its own.
func (b *balance) shrink(but int, most float64) bool {
	best, at := -1, 0
	for m, k := range b.at {
		if m == but {
			continue
		}
		for to := range k {
			if loss := b.rate(m, to, k) * b.weight(m); loss < most {
				best, at, most = m, to, loss
			}
		}
	}
	if best < 0 {
		return false
	}
	b.change(best, at)
	return true
}

// bestStep returns the job that gains most for each GPU by a wider step of at most room GPUs more, and that
// step; -1 if none gains.
func (b *balance) bestStep(room int) (best, at int, rate float64) {
	best = -1
	for m, k := range b.at {
		if k < 0 {
			continue
		}
		for to := k + 1; to < len(b.jobs[m]) && b.jobs[m][to].GPUs-b.jobs[m][k].GPUs <= room; to++ {
			if r := b.rate(m, k, to) / b.weight(m); r > rate {
				best, at, rate = m, to, r
			}
		}
	}
	return best, at, rate
}

// grow gives free GPUs to the job that gains most. It reports whether one gains.
func (b *balance) grow() bool {
	m, to, _ := b.bestStep(b.free)
	if m >= 0 {
		b.change(m, to)
	}
	return m >= 0
}

// exchange takes GPUs from jobs that lose less than another gains. It reports whether it did.
func (b *balance) exchange() bool {
	m, to, rate := b.bestStep(1 << 30)
	if m < 0 {
		return false
	}
	for b.free < b.jobs[m][to].GPUs-b.jobs[m][b.at[m]].GPUs {
		if !b.shrink(m, rate) {
			return false
		}
	}
	b.change(m, to)
	return true
}

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

package allocate

import "math"

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

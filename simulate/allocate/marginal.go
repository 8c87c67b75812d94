package allocate

import (
	"container/heap"
	"math/bits"

	"capcli"
)

// Step is a number of GPUs that a job may have, and the time that the rest of the job takes with them.
type Step struct {
	GPUs int
	Left capcli.Seconds
}

// Marginal divides GPUs among jobs by marginal gain (Peng et al., "Optimus: An Efficient Dynamic
// Resource Scheduler for Deep Learning Clusters", EuroSys 2018, section 4.1). Each job in turn gets its
// first step while there are GPUs. Then the job whose time falls most by its next step, for each GPU
// that the step takes, gets it; ties: the earlier job. It ends when no GPUs are left or no time falls.
// A step that does not fit, or by which the time does not fall, ends the rise of its job for good, even
// if a later step would pay.
//
// The steps of a job are in order of GPUs. The result is the index of each job's step, -1 for none.
func Marginal(gpus int, jobs [][]Step) []int {
	at := make([]int, len(jobs))
	h := capcli.Heap[gain]{}
	for m, steps := range jobs {
		at[m] = -1
		if len(steps) > 0 && steps[0].GPUs <= gpus {
			at[m] = 0
			gpus -= steps[0].GPUs
			if g, pays := nextGain(m, 0, steps); pays {
				h = append(h, g)
			}
		}
	}
	heap.Init(&h)
	for len(h) > 0 && gpus > 0 {
		g := h[0]
		if g.gpus > int64(gpus) {
			heap.Pop(&h)
			continue
		}
		gpus -= int(g.gpus)
		at[g.job]++
		if following, pays := nextGain(g.job, at[g.job], jobs[g.job]); pays {
			h[0] = following
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	return at
}

// gain is what the next step of a job saves, and the GPUs that it takes.
type gain struct {
	job         int
	saves, gpus int64
}

// Precedes puts the largest saving for each GPU first.
func (g gain) Precedes(h gain) bool {
	xh, xl := bits.Mul64(uint64(g.saves), uint64(h.gpus))
	yh, yl := bits.Mul64(uint64(h.saves), uint64(g.gpus))
	if xh != yh {
		return xh > yh
	}
	return xl > yl || xl == yl && g.job < h.job
}

// nextGain returns the gain of the step after the k-th of a job, and whether it pays.
func nextGain(job, k int, steps []Step) (gain, bool) {
	if k+1 == len(steps) || steps[k+1].Left >= steps[k].Left {
		return gain{}, false
	}
	return gain{job, int64(steps[k].Left - steps[k+1].Left), int64(steps[k+1].GPUs - steps[k].GPUs)}, true
}

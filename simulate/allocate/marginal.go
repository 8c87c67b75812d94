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
	h := gains{}
	for m, steps := range jobs {
		at[m] = -1
		if len(steps) > 0 && steps[0].GPUs <= gpus {
			at[m] = 0
			gpus -= steps[0].GPUs
			h.offer(m, 0, steps)
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
		steps := jobs[g.job]
		if k := at[g.job]; k+1 < len(steps) && steps[k+1].Left < steps[k].Left {
			h[0] = gain{g.job, int64(steps[k].Left - steps[k+1].Left), int64(steps[k+1].GPUs - steps[k].GPUs)}
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

// gains is a heap, the largest saving for each GPU on top.
type gains []gain

// offer adds the step after the k-th of a job, if it pays.
func (h *gains) offer(job, k int, steps []Step) {
	if k+1 < len(steps) && steps[k+1].Left < steps[k].Left {
		*h = append(*h, gain{job, int64(steps[k].Left - steps[k+1].Left), int64(steps[k+1].GPUs - steps[k].GPUs)})
	}
}

func (h gains) Len() int      { return len(h) }
func (h gains) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h gains) Less(i, j int) bool {
	xh, xl := bits.Mul64(uint64(h[i].saves), uint64(h[j].gpus))
	yh, yl := bits.Mul64(uint64(h[j].saves), uint64(h[i].gpus))
	if xh != yh {
		return xh > yh
	}
	return xl > yl || xl == yl && h[i].job < h[j].job
}

// Push and Pop implement heap.Interface.
func (h *gains) Push(x any) { *h = append(*h, x.(gain)) }

// Pop removes the last entry.
func (h *gains) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

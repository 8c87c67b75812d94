package width

import "capcli"

// Marginal returns how many GPUs each job gets by the rule of Optimus (Peng et al., EuroSys 2018, section
// 4.1). In the order of jobs, each gets one GPU while there are any. Then one GPU at a time goes to the job
// whose run time falls most by one more; ties go to the earlier job. It ends when no GPU is left, or no run
// time falls. A job without a GPU, or without a time for one GPU more, gains nothing. A step that does not pay
// stops a job for good, even where the step after it would pay.
func Marginal(gpus int, jobs []map[int]capcli.Seconds) []int {
	out := make([]int, len(jobs))
	for i := range jobs {
		if gpus > 0 {
			out[i] = 1
			gpus--
		}
	}
	for ; gpus > 0; gpus-- {
		best, most := -1, capcli.Seconds(0)
		for i, times := range jobs {
			now, has := times[out[i]]
			next, more := times[out[i]+1]
			if out[i] > 0 && has && more && now-next > most {
				best, most = i, now-next
			}
		}
		if best < 0 {
			return out
		}
		out[best]++
	}
	return out
}

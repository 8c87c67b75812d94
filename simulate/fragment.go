package simulate

import "capcli"

// fragClock measures how long the nodes of a pool had each number of free GPUs. With the mix of job
// sizes, which is known at the end, this gives the exact mean fragmentation: the idle GPUs of a
// node that a job drawn from the mix could not use (Weng et al., "Beware of Fragmentation", ATC
// 2023).
type fragClock struct {
	nodes []int64          // nodes at each level now
	since []capcli.Seconds // time up to which spent is counted, by level
	spent []int64          // node-seconds at each level
}

func newFragClock(gpus int) fragClock {
	return fragClock{make([]int64, gpus+1), make([]capcli.Seconds, gpus+1), make([]int64, gpus+1)}
}

// move moves a node from one number of free GPUs to another at time now. -1 means that it takes no
// work.
func (f *fragClock) move(old, to int32, now capcli.Seconds) {
	if old >= 0 {
		f.touch(old, now)
		f.nodes[old]--
	}
	if to >= 0 {
		f.touch(to, now)
		f.nodes[to]++
	}
}

func (f *fragClock) touch(level int32, now capcli.Seconds) {
	f.spent[level] += f.nodes[level] * int64(now-f.since[level])
	f.since[level] = now
}

// mean returns the mean number of fragmented GPUs over the time up to now. mix counts the jobs by
// number of GPUs; its last entry counts all larger jobs. A job larger than a node needs whole
// nodes.
func (f *fragClock) mean(mix []int64, now capcli.Seconds) float64 {
	var jobs int64
	for _, n := range mix[1:] {
		jobs += n
	}
	if jobs == 0 || now <= 0 {
		return 0
	}
	var total float64
	for level := range f.spent {
		f.touch(int32(level), now)
		var cannot int64
		for size := level + 1; size < len(mix); size++ {
			if level < len(f.spent)-1 { // a free node serves any size
				cannot += mix[size]
			}
		}
		total += float64(f.spent[level]) * float64(level) * float64(cannot) / float64(jobs)
	}
	return total / float64(now)
}

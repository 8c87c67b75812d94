package play

import (
	"cmp"
	"slices"

	"capcli"
	"capcli/simulate"
)

// Curve is the GPUs in use over a run: the mean and the peak of equal intervals. When the run
// outgrows curveMax intervals, pairs are joined, so memory does not grow with the run.
type Curve struct {
	width   capcli.Seconds // of an interval
	used    []float64      // by interval, in thousandths of GPU-seconds
	peaks   []int64        // by interval, in thousandths of a GPU
	nowUsed int64          // GPUs in use now, in thousandths
	since   capcli.Seconds
}

const (
	curveWidth = 60 // initial width in seconds
	curveMax   = 512
)

// Observe implements simulate.Observer: it counts starts and ends.
func (c *Curve) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil {
		return
	}
	milli := e.Job.Milli()
	switch e.Kind {
	case simulate.Start:
		c.accrue(e.At)
		c.nowUsed += milli
	case simulate.Finish, simulate.Preempt:
		c.accrue(e.At)
		c.nowUsed -= milli
	case simulate.Arrive, simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake, simulate.Drop:
	}
}

// Replica implements simulate.ReplicaWatcher: it counts the replicas of services.
func (c *Curve) Replica(now capcli.Seconds, k simulate.Kind, s *simulate.Service, _ []simulate.Slice) {
	c.accrue(now)
	if k == simulate.Start {
		c.nowUsed += s.Milli()
	} else {
		c.nowUsed -= s.Milli()
	}
}

// fill counts the stays of a history.
func (c *Curve) fill(h *simulate.History) {
	type change struct {
		at    capcli.Seconds
		milli int64
	}
	var all []change
	for i := range h.Jobs {
		for _, x := range h.Jobs[i].Stays {
			for _, held := range x.Holds {
				all = append(all, change{max(0, x.From), held.Milli}, change{x.To, -held.Milli})
			}
		}
	}
	slices.SortFunc(all, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.milli, b.milli)) })
	for _, x := range all {
		c.accrue(x.at)
		c.nowUsed += x.milli
	}
}

// accrue charges the GPUs in use to the intervals up to time at.
func (c *Curve) accrue(at capcli.Seconds) {
	for c.since < at {
		i := int(c.since / c.width)
		for i >= curveMax {
			c.join()
			i = int(c.since / c.width)
		}
		for len(c.used) <= i {
			c.used, c.peaks = append(c.used, 0), append(c.peaks, 0)
		}
		end := min(at, capcli.Seconds(i+1)*c.width)
		c.used[i] += float64(c.nowUsed * int64(end-c.since))
		c.peaks[i] = max(c.peaks[i], c.nowUsed)
		c.since = end
	}
}

// join doubles the width of the intervals.
func (c *Curve) join() {
	for i := range (len(c.used) + 1) / 2 {
		sum, peak := c.used[2*i], c.peaks[2*i]
		if 2*i+1 < len(c.used) {
			sum, peak = sum+c.used[2*i+1], max(peak, c.peaks[2*i+1])
		}
		c.used[i], c.peaks[i] = sum, peak
	}
	c.used, c.peaks = c.used[:(len(c.used)+1)/2], c.peaks[:(len(c.peaks)+1)/2]
	c.width *= 2
}

// Committed returns the mean GPUs of committed pools in each of n intervals up to end, by the
// pools' dates.
func (c *Curve) Committed(pools []simulate.Pool, end capcli.Seconds, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		from := capcli.Seconds(i) * c.width
		to := min(from+c.width, end)
		for p := range pools {
			if pool := &pools[p]; pool.Terms.Committed() && to > from {
				out[i] += float64(pool.Capacity()) * float64(pool.Offered(from, to)) / float64(to-from)
			}
		}
	}
	return out
}

// values returns the mean and the peak of GPUs in use in each interval up to end.
func (c *Curve) values(end capcli.Seconds) (out, peaks []float64) {
	c.accrue(end)
	out, peaks = make([]float64, len(c.used)), make([]float64, len(c.used))
	for i, sum := range c.used {
		length := min(c.width, end-capcli.Seconds(i)*c.width)
		if length > 0 {
			out[i] = sum / 1000 / float64(length)
		}
		peaks[i] = float64(c.peaks[i]) / 1000
	}
	return out, peaks
}

// GPUsInUse returns the mean over all runs of the GPUs in use in each interval, and the peak; nil
// if the runs differ in length.
func GPUsInUse(runs []*Run) (mean, peaks []float64) {
	mean, peaks = runs[0].Curve.values(runs[0].Ended)
	if len(runs) == 1 {
		return mean, peaks
	}
	for _, r := range runs[1:] {
		more, tops := r.Curve.values(r.Ended)
		if r.Ended != runs[0].Ended || len(more) != len(mean) {
			return nil, nil
		}
		for i, v := range more {
			mean[i] += v
			peaks[i] = max(peaks[i], tops[i])
		}
	}
	for i := range mean {
		mean[i] /= float64(len(runs))
	}
	return mean, peaks
}

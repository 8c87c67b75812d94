package main

import (
	"capcli"
	"capcli/simulate"
)

// curve is GPUs in use over a run, as means over equal
// stretches of time. Where the run grows too long for its stretches they are
// joined two by two, so memory does not grow with the run.
type curve struct {
	width   capcli.Seconds // of a stretch
	used    []float64      // GPU-seconds by stretch
	nowUsed float64
	since   capcli.Seconds
}

const (
	curveWidth = 60 // seconds, at first
	curveMax   = 512
)

func newCurve() *curve { return &curve{width: curveWidth} }

// Observe follows starts and ends.
func (c *curve) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil {
		return
	}
	gpus := float64(e.Job.Milli()) / 1000
	switch e.Kind {
	case simulate.Start:
		c.to(e.At)
		c.nowUsed += gpus
	case simulate.Finish, simulate.Preempt:
		c.to(e.At)
		c.nowUsed -= gpus
	case simulate.Arrive, simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake:
	}
}

// to books the present state up to instant at.
func (c *curve) to(at capcli.Seconds) {
	for c.since < at {
		i := int(c.since / c.width)
		for i >= curveMax {
			c.join()
			i = int(c.since / c.width)
		}
		for len(c.used) <= i {
			c.used = append(c.used, 0)
		}
		end := min(at, capcli.Seconds(i+1)*c.width)
		c.used[i] += c.nowUsed * float64(end-c.since)
		c.since = end
	}
}

// join doubles the width of the stretches.
func (c *curve) join() {
	for i := range (len(c.used) + 1) / 2 {
		sum := c.used[2*i]
		if 2*i+1 < len(c.used) {
			sum += c.used[2*i+1]
		}
		c.used[i] = sum
	}
	c.used = c.used[:(len(c.used)+1)/2]
	c.width *= 2
}

// values gives the mean GPUs in use of each stretch up to end.
func (c *curve) values(end capcli.Seconds) []float64 {
	c.to(end)
	out := make([]float64, len(c.used))
	for i, sum := range c.used {
		length := min(c.width, end-capcli.Seconds(i)*c.width)
		if length > 0 {
			out[i] = sum / float64(length)
		}
	}
	return out
}

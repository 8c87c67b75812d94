package billing

import "capcli"

// cutter cuts what happened to a bucket in an hour among those who used it, in
// proportion to what each has left.
type cutter struct {
	h    *Hours
	from []int // by bucket: its first cell of the hour
	to   []int
	left [][]capcli.GPUTime // by bucket: of each of its cells in the hour

	weights []int64
	pairs   []int
	scratch []int64
}

// begin turns to hour i; next is where each bucket's cells go on.
func (c *cutter) begin(h *Hours, next []int, i int) {
	if c.h == nil {
		n := len(h.buckets)
		c.h, c.from, c.to, c.left = h, make([]int, n), make([]int, n), make([][]capcli.GPUTime, n)
	}
	for b, cells := range h.cells {
		c.from[b] = next[b]
		end := next[b]
		c.left[b] = c.left[b][:0]
		for end < len(cells) && int(cells[end].hour) == i {
			c.left[b] = append(c.left[b], cells[end].time)
			end++
		}
		c.to[b], next[b] = end, end
	}
}

// take cuts time and money of a bucket among its users, and takes the time from
// what they have left.
func (c *cutter) take(b int, time capcli.GPUTime, money capcli.USD, to func(who int32, t capcli.GPUTime, part capcli.USD)) {
	left := c.left[b]
	cells := c.h.cells[b][c.from[b]:c.to[b]]
	if len(left) == 1 {
		left[0] -= time
		to(cells[0].who, time, money)
		return
	}
	c.scratch = c.scratch[:0]
	for _, t := range left {
		c.scratch = append(c.scratch, int64(t))
	}
	times := capcli.Split(capcli.USD(time), c.scratch)
	parts := capcli.Split(money, c.scratch)
	for i := range left {
		if t := capcli.GPUTime(times[i]); t > 0 || parts[i] > 0 {
			left[i] -= t
			to(cells[i].who, t, parts[i])
		}
	}
}

// rest gives what is left of a bucket in the hour, by user.
func (c *cutter) rest(b int, to func(who int32, t capcli.GPUTime)) {
	for i, t := range c.left[b] {
		if t > 0 {
			to(c.h.cells[b][c.from[b]+i].who, t)
		}
	}
}

// shareOut is capcli.Split for two weights at most without memory of its own,
// and the last share takes all where no weight is above 0.
func shareOut(total capcli.USD, weights []int64) []capcli.USD {
	zero := true
	for _, w := range weights {
		zero = zero && w == 0
	}
	if zero {
		out := make([]capcli.USD, len(weights))
		out[len(out)-1] = total
		return out
	}
	return capcli.Split(total, weights)
}

package billing

import "capcli"

// cutter cuts what happened to a bucket in an hour among those who used it, in
// proportion to what each has left.
type cutter struct {
	h    *Hours
	from []int // by bucket: its first cell of the hour
	to   []int
	left [][]capcli.GPUTime // by bucket: of each of its cells in the hour

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

// take cuts time of a bucket among its users, and takes it from what they have
// left.
func (c *cutter) take(b int, time capcli.GPUTime, to func(who int32, t capcli.GPUTime)) {
	left := c.left[b]
	cells := c.h.cells[b][c.from[b]:c.to[b]]
	if len(left) == 1 {
		left[0] -= time
		to(cells[0].who, time)
		return
	}
	c.scratch = c.scratch[:0]
	for _, t := range left {
		c.scratch = append(c.scratch, int64(t))
	}
	for i, t := range capcli.Split(capcli.USD(time), c.scratch) {
		if t > 0 {
			left[i] -= capcli.GPUTime(t)
			to(cells[i].who, capcli.GPUTime(t))
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

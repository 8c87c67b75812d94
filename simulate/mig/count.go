package mig

import "slices"

// counts are numbers of instances, by profile.
type counts [maxProfiles]int

func tally(mix []int) (c counts) {
	for _, p := range mix {
		c[p]++
	}
	return c
}

// spell returns the instances that c counts, in the order of the table.
func (c *counts) spell() (mix []int) {
	for p, n := range c {
		for range n {
			mix = append(mix, p)
		}
	}
	return mix
}

// covers reports whether c has at least the instances of d.
func (c *counts) covers(d *counts) bool {
	for p := range c {
		if c[p] < d[p] {
			return false
		}
	}
	return true
}

// legal returns all mixes of the profiles that can be on one GPU, without the empty one, in order of
// their counts.
func (g *GPU) legal(profiles []int) (all []counts) {
	var c counts
	var grow func(i int)
	grow = func(i int) {
		if i == len(profiles) {
			if c != (counts{}) {
				all = append(all, c)
			}
			return
		}
		p := profiles[i]
		for g.Check(c.spell()) == Fits {
			grow(i + 1)
			c[p]++
		}
		c[p] = 0
	}
	grow(0)
	return all
}

// maximal returns those of the mixes to which none adds an instance.
func maximal(all []counts) (most []counts) {
	for i := range all {
		if !slices.ContainsFunc(all, func(o counts) bool { return o != all[i] && o.covers(&all[i]) }) {
			most = append(most, all[i])
		}
	}
	return most
}

// placements returns the number of maximal placements: sets of instances with their starts to which no
// instance of the profiles can be added, in whatever order they were made.
func (g *GPU) placements(profiles []int) int {
	n := 0
	var grow func(s Layout, from int)
	grow = func(s Layout, from int) { // instances in order of their starts, so that each set comes once
		if !s.IsEmpty() && !slices.ContainsFunc(profiles, func(p int) bool { return g.Start(&s, p, false) >= 0 }) {
			n++
			return
		}
		for at := from; at < g.Memory; at++ {
			for _, p := range profiles {
				if g.IsFree(&s, p, at) {
					next := s
					g.Make(&next, p, at)
					grow(next, at+1)
				}
			}
		}
	}
	grow(Layout{}, 0)
	return n
}

// orders counts the different orders of a mix that can be made one after another with the lowest free
// start, and those that cannot.
func (g *GPU) orders(mix []int) (work, fail int64) {
	left := tally(mix)
	var grow func(s Layout, n int)
	grow = func(s Layout, n int) {
		if n == 0 {
			work++
			return
		}
		for p := range g.Profiles {
			if left[p] == 0 {
				continue
			}
			left[p]--
			if at := g.Start(&s, p, false); at >= 0 {
				next := s
				g.Make(&next, p, at)
				grow(next, n-1)
			} else {
				fail += left.arrangements()
			}
			left[p]++
		}
	}
	grow(Layout{}, len(mix))
	return work, fail
}

// arrangements returns the number of different orders of the instances that c counts.
func (c *counts) arrangements() int64 {
	all, n := int64(1), int64(0)
	for _, k := range c {
		for i := int64(1); i <= int64(k); i++ {
			n++
			all = all * n / i
		}
	}
	return all
}

// workingOrder returns the first order of a mix, by the order of the table from large to small, in which
// all of it can be made; nil if there is none.
func (g *GPU) workingOrder(mix []int, driver bool) []int {
	left := tally(mix)
	var order []int
	var grow func(s Layout, n int) bool
	grow = func(s Layout, n int) bool {
		if n == 0 {
			return true
		}
		for p := len(g.Profiles) - 1; p >= 0; p-- {
			at := -1
			if left[p] > 0 {
				at = g.Start(&s, p, driver)
			}
			if at < 0 {
				continue
			}
			next := s
			g.Make(&next, p, at)
			left[p]--
			order = append(order, p)
			if grow(next, n-1) {
				return true
			}
			left[p]++
			order = order[:len(order)-1]
		}
		return false
	}
	if !grow(Layout{}, len(mix)) {
		return nil
	}
	return order
}

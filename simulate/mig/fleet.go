package mig

import (
	"cmp"
	"slices"
)

// FirstFit puts the instances of a mix on GPUs one after another: each on the lowest numbered GPU with a
// free start, at its lowest. It returns the GPUs.
func (g *GPU) FirstFit(mix []int) []Layout {
	var gpus []Layout
	for _, p := range mix {
		i, at := 0, -1
		for ; i < len(gpus); i++ {
			if at = g.Start(&gpus[i], p, false); at >= 0 {
				break
			}
		}
		if at < 0 {
			gpus = append(gpus, Layout{})
			at = g.Start(&gpus[i], p, false)
		}
		g.Make(&gpus[i], p, at)
	}
	return gpus
}

// LargestFirst is FirstFit of the instances in order of their memory slices, then compute slices, both
// falling, then names.
func (g *GPU) LargestFirst(mix []int) []Layout {
	sorted := slices.Clone(mix)
	slices.SortStableFunc(sorted, func(a, b int) int {
		x, y := &g.Profiles[a], &g.Profiles[b]
		return cmp.Or(cmp.Compare(y.Memory, x.Memory), cmp.Compare(y.Compute, x.Compute), cmp.Compare(x.Name, y.Name))
	})
	return g.FirstFit(sorted)
}

// Pack puts the instances of a mix on as few GPUs as it can. bound is a number below which it is
// impossible; the answer is the fewest if it is equal or if the search came to its end (proved).
func (g *GPU) Pack(mix []int) (gpus []Layout, bound int, proved bool) {
	s := packing{g: g, steps: mostSteps, worse: map[counts]int{}}
	want := tally(mix)
	var used []int
	for p, n := range want {
		if n > 0 {
			used = append(used, p)
		}
	}
	if len(used) == 0 {
		return nil, 0, true
	}
	s.full = maximal(g.legal(used))
	s.weights(used)
	best := g.LargestFirst(mix)
	bound = s.bound(&want)
	s.most = len(best) - 1
	for s.most >= bound && s.search(want, 0) {
		best = s.layouts()
		s.most, s.fills = len(best)-1, nil
	}
	return best, bound, len(best) == bound || s.steps > 0
}

// mostSteps limits the search of Pack.
const mostSteps = 200_000

// packing is a branch and bound over the fillings of one GPU after another (Martello and Toth, "Knapsack
// Problems", 1990, section 8): the next GPU gets the instance that is hardest to place, with every
// filling that no other covers.
type packing struct {
	g     *GPU
	full  []counts // maximal mixes of one GPU
	heavy []weight
	most  int // GPUs allowed
	fills []counts
	best  []counts
	steps int
	worse map[counts]int // fewest GPUs used before a rest from which the search failed
}

// weight gives each profile a number, so that no GPU holds more than most in all: n instances then need
// the sum of their numbers over most GPUs.
type weight struct {
	of   counts
	most int
}

// weights finds the numbers of profiles that bound the GPUs: all small ones that no others dominate.
func (s *packing) weights(used []int) {
	limit := [...]int{8, 8, 8, 8, 8, 5, 3, 3, 3}[len(used)]
	var w counts
	var grow func(i int)
	grow = func(i int) {
		if i < len(used) {
			for w[used[i]] = 0; w[used[i]] <= limit; w[used[i]]++ {
				grow(i + 1)
			}
			w[used[i]] = 0
			return
		}
		most := 0
		for k := range s.full {
			most = max(most, w.times(&s.full[k]))
		}
		if most > 0 && s.tight(&w, most, used) {
			s.heavy = append(s.heavy, weight{w, most})
		}
	}
	grow(0)
	for _, slices := range []func(*Profile) int{func(p *Profile) int { return p.Compute }, func(p *Profile) int { return p.Memory }} {
		var sizes counts
		for _, p := range used {
			sizes[p] = slices(&s.g.Profiles[p])
		}
		most := 0
		for k := range s.full {
			most = max(most, sizes.times(&s.full[k]))
		}
		s.heavy = append(s.heavy, weight{sizes, most})
	}
}

// tight reports whether no number can be made larger without making most larger.
func (s *packing) tight(w *counts, most int, used []int) bool {
	for _, p := range used {
		fits := true
		w[p]++
		for k := range s.full {
			if w.times(&s.full[k]) > most {
				fits = false
				break
			}
		}
		if w[p]--; fits {
			return false
		}
	}
	return true
}

func (c *counts) times(o *counts) (sum int) {
	for p := range c {
		sum += c[p] * o[p]
	}
	return sum
}

// bound returns a number of GPUs that left needs at least.
func (s *packing) bound(left *counts) (n int) {
	for i := range s.heavy {
		h := &s.heavy[i]
		n = max(n, (h.of.times(left)+h.most-1)/h.most)
	}
	return n
}

// search reports whether left fits on the GPUs that are allowed beside those used.
func (s *packing) search(left counts, used int) bool {
	if left == (counts{}) {
		s.best = slices.Clone(s.fills)
		return true
	}
	if s.steps--; s.steps <= 0 || used+s.bound(&left) > s.most {
		return false
	}
	if before, known := s.worse[left]; known && used >= before {
		return false
	}
	hard := s.hardest(&left)
	for _, fill := range s.fillings(&left, hard) {
		rest := left
		for p := range rest {
			rest[p] -= fill[p]
		}
		s.fills = append(s.fills, fill)
		if s.search(rest, used+1) {
			return true
		}
		s.fills = s.fills[:len(s.fills)-1]
	}
	if s.steps > 0 && len(s.worse) < mostSteps {
		s.worse[left] = used
	}
	return false
}

// hardest returns the profile that has instances left and takes the most slices.
func (s *packing) hardest(left *counts) int {
	hard := -1
	for p := range s.g.Profiles {
		if left[p] > 0 && (hard < 0 || s.g.size(p) > s.g.size(hard)) {
			hard = p
		}
	}
	return hard
}

// size orders profiles by what they take.
func (g *GPU) size(p int) int { return 16*g.Profiles[p].Memory + g.Profiles[p].Compute }

// fillings returns what one GPU can take of left with an instance of profile hard, the fullest first,
// without those that another covers.
func (s *packing) fillings(left *counts, hard int) []counts {
	var all []counts
	for _, f := range s.full {
		if f[hard] == 0 {
			continue
		}
		for p := range f {
			f[p] = min(f[p], left[p])
		}
		if !slices.ContainsFunc(all, func(o counts) bool { return o.covers(&f) }) {
			all = slices.DeleteFunc(all, func(o counts) bool { return f.covers(&o) })
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b counts) int { return s.filled(&b) - s.filled(&a) })
	return all
}

// filled weighs how full a filling makes a GPU.
func (s *packing) filled(f *counts) (sum int) {
	for p := range s.g.Profiles {
		sum += f[p] * s.g.size(p)
	}
	return sum
}

// layouts places the best fillings.
func (s *packing) layouts() []Layout {
	gpus := make([]Layout, len(s.best))
	for i := range s.best {
		mix := s.best[i].spell()
		starts := s.g.Place(mix)
		for k, p := range mix {
			s.g.Make(&gpus[i], p, starts[k])
		}
	}
	return gpus
}

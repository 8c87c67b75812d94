package mix

// refine tries a coarse grid of the ordered axes, then refines around the best. At each stride it
// tries the neighbours of the best mixes and of the frontier until all are tried, then halves the
// stride.
func (s *search) refine() {
	s.visit(s.coarse(s.Stride))
	for stride := s.Stride; stride >= 1 && s.err == nil; {
		before := len(s.tried)
		s.visit(s.neighbours(stride))
		if len(s.tried) == before {
			stride /= 2
		}
	}
}

// coarse returns the mixes with every stride-th value and the last of each ordered axis, and all
// values of the other axes.
func (s *search) coarse(stride int) []int {
	places := make([][]int, len(s.Problem.Space.Axes))
	for a, axis := range s.Problem.Space.Axes {
		last := len(axis.Values) - 1
		for k := range axis.Values {
			if !axis.Ordered || k%axis.stride(stride) == 0 || k == last {
				places[a] = append(places[a], k)
			}
		}
	}
	var out []int
	at := make([]int, len(places))
	var fill func(a int)
	fill = func(a int) {
		if a == len(places) {
			out = append(out, s.Problem.Space.index(at))
			return
		}
		for _, k := range places[a] {
			at[a] = k
			fill(a + 1)
		}
	}
	fill(0)
	return out
}

// stride returns the distance between tried values of the axis: as asked, or less so that at least
// four are tried.
func (a *Axis) stride(asked int) int {
	for asked > 1 && asked*3 > len(a.Values)-1 {
		asked /= 2
	}
	return max(1, asked)
}

// neighbours returns the neighbours, at a stride, of the best mixes and of the frontier: one step
// either way on each ordered axis, and on each two at once.
func (s *search) neighbours(stride int) []int {
	f, err := s.foundMixes()
	if err != nil {
		s.err = err
		return nil
	}
	centres := f.frontier()
	for _, e := range []*Entry{f.BestEntry(), f.bestOnMean(), f.nearestMix()} {
		if e != nil {
			centres = append(centres, e)
		}
	}
	var out []int
	for _, e := range centres {
		at := s.Problem.Space.places(e.Index)
		s.steps(at, stride, func() { out = append(out, s.Problem.Space.index(at)) })
	}
	return out
}

// steps moves at to each of its neighbours in turn, calls tell, and moves it back.
func (s *search) steps(at []int, stride int, tell func()) {
	axes := s.Problem.Space.Axes
	for a := range axes {
		sa := axes[a].stride(stride)
		for _, da := range []int{-sa, sa} {
			if !s.move(at, a, da) {
				continue
			}
			tell()
			for b := a + 1; b < len(axes); b++ {
				sb := axes[b].stride(stride)
				for _, db := range []int{-sb, sb} {
					if s.move(at, b, db) {
						tell()
						at[b] -= db
					}
				}
			}
			at[a] -= da
		}
	}
}

// move takes a step on an ordered axis; it returns false where that leaves the axis.
func (s *search) move(at []int, axis, by int) bool {
	a := &s.Problem.Space.Axes[axis]
	if to := at[axis] + by; !a.Ordered || to < 0 || to >= len(a.Values) {
		return false
	}
	at[axis] += by
	return true
}

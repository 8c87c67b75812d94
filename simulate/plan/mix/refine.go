package mix

// refine tries a coarse grid of the ordered axes, then goes finer around the
// best: at each stride the neighbours of every mix on the frontier and of the
// best, until those are tried, then half the stride.
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

// coarse are the candidates at every stride-th value of each ordered axis, the
// last one among them, and all values of the others.
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

// stride is how far apart values of the axis are tried: as asked, but at least
// four of them.
func (a *Axis) stride(asked int) int {
	for asked > 1 && asked*3 > len(a.Values)-1 {
		asked /= 2
	}
	return max(1, asked)
}

// neighbours are the neighbours of the mixes worth a closer look, at a stride: one
// step either way on each ordered axis by itself, and on each two at once.
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

// steps moves at to each of its neighbours in turn, tells, and moves it back.
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

// move takes a step on one axis, if there is something there.
func (s *search) move(at []int, axis, by int) bool {
	a := &s.Problem.Space.Axes[axis]
	if to := at[axis] + by; !a.Ordered || to < 0 || to >= len(a.Values) {
		return false
	}
	at[axis] += by
	return true
}

package draw

import (
	"math"
	"slices"

	"capcli/scenarios/figure"
)

// pile holds the areas of a Stack over the values of X that they have in common.
type pile struct {
	xs      []figure.Number
	series  []int       // of the areas, from the bottom
	values  [][]float64 // by area and point
	known   []bool      // by point: all areas have a value
	clipped int         // values below zero, drawn as zero
}

// newPile collects the areas of the figure. A series that has no known value is left out, with a note.
func (s *sketch) newPile() *pile {
	p := &pile{}
	same := true
	var first []figure.Number
	for i := range s.f.Series {
		one := &s.f.Series[i]
		if one.Over {
			continue
		}
		if !slices.ContainsFunc(one.Y, drawable) {
			s.note("Nothing is known of %q; it is left out.", figure.Clean(one.Name))
			continue
		}
		xs := s.xValues(one)
		if first == nil {
			first = xs
		}
		same = same && slices.Equal(first, xs)
		p.series = append(p.series, i)
	}
	p.xs = first
	if !same {
		p.xs = s.commonX(p.series)
	}
	p.known = make([]bool, len(p.xs))
	for j, x := range p.xs {
		p.known[j] = drawable(x)
	}
	for _, i := range p.series {
		p.values = append(p.values, p.valuesOf(&s.f.Series[i], s.xValues(&s.f.Series[i]), same))
	}
	return p
}

// commonX returns all values of X of the series, in order.
func (s *sketch) commonX(series []int) []figure.Number {
	var out []figure.Number
	for _, i := range series {
		for _, x := range s.xValues(&s.f.Series[i]) {
			if drawable(x) {
				out = append(out, x)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// valuesOf returns the values of one at the points of p, and marks those that are unknown.
func (p *pile) valuesOf(one *figure.Series, xs []figure.Number, same bool) []float64 {
	at := map[figure.Number]int{}
	if !same {
		for j, x := range xs {
			at[x] = j
		}
	}
	out := make([]float64, len(p.xs))
	for j, x := range p.xs {
		k, ok := j, true
		if !same {
			k, ok = at[x]
		}
		if !ok || !drawable(one.Y[k]) {
			p.known[j] = false
			continue
		}
		if out[j] = float64(one.Y[k]); out[j] < 0 {
			out[j] = 0
			p.clipped++
		}
	}
	return out
}

func (s *sketch) paintStack() {
	s.noteHuge()
	p := s.newPile()
	x, y := s.spans()
	if x.isEmpty() {
		s.noData()
		return
	}
	y.add(0)
	for j := range p.xs {
		if p.known[j] {
			sum := 0.0
			for _, v := range p.values {
				sum += v[j]
			}
			y.add(sum)
		}
	}
	y.lo = math.Max(y.lo, 0)
	if slices.ContainsFunc(s.f.Series, func(one figure.Series) bool { return one.Over }) {
		_, all := s.spans()
		y.lo = math.Min(0, all.lo)
	}
	s.addMarks(&x, &y)
	if n := len(s.f.X.Names); n > 0 {
		x = span{-0.5, float64(n) - 0.5}
	}
	s.frame(x, y)
	s.addLegend(func(i int) Style {
		switch {
		case !s.f.Series[i].Over:
			return Solid
		case s.isDashed(i):
			return Dashed
		}
		return Stroke
	})
	if p.clipped > 0 {
		s.note("%s below zero %s drawn as zero.", plural(p.clipped, "value"), verb(p.clipped, "is", "are"))
	}
	s.drawPile(p)
	s.drawSeriesLines(func(one *figure.Series) bool { return one.Over })
	s.drawMarks(s.y, s.x.pixel, false)
	s.drawChosen()
}

// drawPile draws the areas upon each other, with a gap where one is unknown.
func (s *sketch) drawPile(p *pile) {
	points, drawn := 0, 0
	gaps := 0
	runs(len(p.xs), func(j int) bool { return p.known[j] }, func(from, to int) {
		base := make([]float64, to-from)
		kept := s.keptOfPile(p, from, to)
		points, drawn = points+to-from, drawn+len(kept)
		for k, i := range p.series {
			top := make([]float64, to-from)
			for j := range top {
				top[j] = base[j] + p.values[k][from+j]
			}
			s.drawLayer(i, p.xs[from:to], base, top, kept)
			base = top
		}
	})
	for _, known := range p.known {
		if !known {
			gaps++
		}
	}
	if gaps > 0 {
		s.note("The areas have a gap at %s where one of them is unknown.", plural(gaps, "point"))
	}
	if drawn < points {
		s.note("Of %s, %s are drawn: the first, lowest, highest and last sum of each %d pixels.", plural(points, "point"), figure.Count.Text(figure.Number(drawn)), column)
	}
}

// keptOfPile returns the points of a run that its picture needs, by the sum of the areas.
func (s *sketch) keptOfPile(p *pile, from, to int) []int {
	px, sums := make([]float64, to-from), make([]float64, to-from)
	for j := range px {
		px[j] = s.x.pixel(float64(p.xs[from+j]))
		for _, v := range p.values {
			sums[j] += v[from+j]
		}
	}
	return thinned(px, sums, s.inner.x1-s.inner.x0)
}

// drawLayer draws the area of series i between base and top. A single point is a bar of two pixels.
func (s *sketch) drawLayer(i int, xs []figure.Number, base, top []float64, kept []int) {
	r, _ := seriesRoleAt(i)
	var ring []point
	for _, j := range kept {
		ring = append(ring, point{s.x.pixel(float64(xs[j])), s.y.pixel(top[j])})
	}
	for k := len(kept) - 1; k >= 0; k-- {
		j := kept[k]
		ring = append(ring, point{s.x.pixel(float64(xs[j])), s.y.pixel(base[j])})
	}
	if len(kept) == 1 {
		s.c.box(rect{ring[0].x - 1, ring[0].y, ring[0].x + 1, ring[1].y}, paint{role: r}, "")
		return
	}
	s.c.area(ring, paint{role: r, opacity: 0.85})
	s.c.line(ring[:len(kept)], pen{role: paperRole, width: 0.8})
}

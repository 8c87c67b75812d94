package draw

import (
	"math"
	"slices"

	"capcli/scenarios/figure"
)

// place writes a label at a point where it covers no other label and stays in the picture: above,
// right, below or left, then further away with a line to its point. It counts a label without room.
func (s *sketch) place(at point, text string, l lettering, gap float64) {
	l.halo = true
	text = shortened(text, l, maxLabelWidth)
	if text == "" {
		return
	}
	for _, free := range []func(rect) bool{s.isClear, s.isFree} {
		for _, away := range []float64{gap, gap + 14, gap + 28, gap + 46} {
			if s.placeAround(at, text, l, gap, away, free) {
				return
			}
		}
	}
	s.left++
}

// placeAround writes a label at a distance from its point, at the first side that is free, and reports
// whether there is one. A label further away than gap gets a line to its point.
func (s *sketch) placeAround(at point, text string, l lettering, gap, away float64, free func(rect) bool) bool {
	for _, side := range []struct {
		dx, dy float64
		anchor anchor
	}{
		{0, -1, middleAnchor},
		{1, 0, startAnchor},
		{0, 1, middleAnchor},
		{-1, 0, endAnchor},
		{0.7, -0.7, startAnchor},
		{-0.7, -0.7, endAnchor},
		{0.7, 0.7, startAnchor},
		{-0.7, 0.7, endAnchor},
	} {
		l.anchor = side.anchor
		p := point{at.x + side.dx*away, at.y + side.dy*(away-1) + 4 + 4*side.dy}
		b := l.bounds(p, text)
		if b.x0 < s.inner.x0 || b.y1 > s.inner.y1 || !free(b) {
			continue
		}
		if away > gap {
			leader := []point{{at.x + side.dx*gap, at.y + side.dy*gap}, {at.x + side.dx*(away-2), at.y + side.dy*(away-2)}}
			if s.crossesLabel(leader[0], leader[1]) {
				continue
			}
			s.c.line(leader, pen{role: softRole, width: 1})
			s.placed = append(s.placed, leaderBoxes(leader[0], leader[1])...)
		}
		s.c.text(p, text, l)
		s.placed = append(s.placed, b)
		return true
	}
	return false
}

// leaderBoxes returns small boxes along the line from a label to its point.
func leaderBoxes(a, b point) []rect {
	const boxes = 6
	out := make([]rect, 0, boxes)
	for i := range boxes {
		part := float64(i) / (boxes - 1)
		x, y := a.x+(b.x-a.x)*part, a.y+(b.y-a.y)*part
		out = append(out, rect{x - 1, y - 1, x + 1, y + 1})
	}
	return out
}

// crossesLabel reports whether a line from a to b covers a label.
func (s *sketch) crossesLabel(a, b point) bool {
	for _, box := range leaderBoxes(a, b) {
		for _, p := range s.placed {
			if box.overlaps(p) {
				return true
			}
		}
	}
	return false
}

// isFree reports whether a label at b is inside the picture and covers no other.
func (s *sketch) isFree(b rect) bool {
	if b.x0 < 0 || b.x1 > s.width || b.y0 < 0 || b.y1 > s.height {
		return false
	}
	return !slices.ContainsFunc(s.placed, b.overlaps)
}

// lineCell is the size in pixels of the cells in which lines are kept.
const lineCell = 4

// isClear reports whether a label at b is free and covers no line either.
func (s *sketch) isClear(b rect) bool {
	for x := int(b.x0 / lineCell); x <= int(b.x1/lineCell); x++ {
		for y := int(b.y0 / lineCell); y <= int(b.y1/lineCell); y++ {
			if s.lines[[2]int{x, y}] {
				return false
			}
		}
	}
	return s.isFree(b)
}

// addLine keeps the cells that a line crosses, for labels to keep away from.
func (s *sketch) addLine(path []point) {
	if s.lines == nil {
		s.lines = map[[2]int]bool{}
	}
	for i := 1; i < len(path); i++ {
		a, b := path[i-1], path[i]
		n := math.Ceil(math.Hypot(b.x-a.x, b.y-a.y) / lineCell)
		for k := 0.0; k < n; k++ {
			s.lines[[2]int{int((a.x + (b.x-a.x)*k/n) / lineCell), int((a.y + (b.y-a.y)*k/n) / lineCell)}] = true
		}
	}
}

// drawMarks draws the lines across the picture, with their labels. values is the scale of the axis Y;
// flip says that it lies across.
func (s *sketch) drawMarks(values scale, places func(float64) float64, flip bool) {
	for _, m := range s.f.Marks {
		at := float64(m.At)
		label := m.Label
		unit := s.f.Y.Unit
		if m.Axis == "x" {
			unit = s.f.X.Unit
		}
		if label == "" {
			label = unit.Text(m.At)
		}
		if !drawable(m.At) {
			s.note("The mark %q is unknown and not drawn.", figure.Clean(m.Label))
			continue
		}
		pixel := places(at)
		low, high := s.inner.x0, s.inner.x1
		if m.Axis == "y" {
			pixel = values.pixel(at)
		}
		upright := (m.Axis == "x") != flip
		if !upright {
			low, high = s.inner.y0, s.inner.y1
		}
		if !(pixel >= low-0.5 && pixel <= high+0.5) {
			s.note("The mark %q at %s lies outside the picture.", figure.Clean(m.Label), unit.Text(m.At))
			continue
		}
		if upright {
			s.drawUpright(pixel, label, flip || s.f.Kind == figure.Spans)
		} else {
			s.drawAcross(pixel, label)
		}
	}
}

var markLettering = lettering{role: markRole, size: 11, halo: true}

const markDash = "6 4"

// drawAcross draws a mark from left to right, with its label above or below its right end.
func (s *sketch) drawAcross(y float64, label string) {
	path := []point{{s.inner.x0, y}, {s.inner.x1, y}}
	s.c.line(path, pen{role: markRole, width: 1.5, dash: markDash})
	s.addLine(path)
	l := markLettering
	label = shortened(label, l, 0.6*s.width)
	w := textWidth(label, l)
	l.anchor = endAnchor
	for _, x := range []float64{s.inner.x1, s.inner.x1 - w - 20, s.inner.x0 + w + 6} {
		for _, base := range []float64{y - 5, y + 13} {
			if s.write(point{x, base}, label, l) {
				return
			}
		}
	}
	s.left++
}

// drawUpright draws a mark from top to bottom, with its label beside its top, or above bars that lie.
func (s *sketch) drawUpright(x float64, label string, above bool) {
	path := []point{{x, s.inner.y0}, {x, s.inner.y1}}
	s.c.line(path, pen{role: markRole, width: 1.5, dash: markDash})
	s.addLine(path)
	l := markLettering
	label = shortened(label, l, 0.45*s.width)
	if above {
		half := textWidth(label, l) / 2
		l.anchor = middleAnchor
		if s.write(point{math.Min(math.Max(x, half), s.width-half), s.inner.y0 - 5}, label, l) {
			return
		}
	}
	for row := range 6 {
		y := s.inner.y0 + 10 + float64(row)*lineHeight
		l.anchor = startAnchor
		if s.write(point{x + 5, y}, label, l) {
			return
		}
		l.anchor = endAnchor
		if s.write(point{x - 5, y}, label, l) {
			return
		}
	}
	s.left++
}

// write writes a text where it is free and inside the picture, and reports whether it could.
func (s *sketch) write(at point, text string, l lettering) bool {
	b := l.bounds(at, text)
	if !s.isFree(b) {
		return false
	}
	s.c.text(at, text, l)
	s.placed = append(s.placed, b)
	return true
}

// drawNames writes the names of the axis X below their places, as many as there is room for.
func (s *sketch) drawNames() {
	names := s.f.X.Names
	s.plot.Names = len(names)
	every := 1
	room := (s.inner.x1 - s.inner.x0) / float64(len(names))
	l := lettering{role: softRole, anchor: middleAnchor}
	w := 0.0
	for _, n := range names {
		w = math.Max(w, math.Min(textWidth(shortened(n, l, 120), l), 120))
	}
	for float64(every)*room < w+6 && every < len(names) {
		every++
	}
	for i := 0; i < len(names); i += every {
		x := s.x.pixel(float64(i))
		text := shortened(names[i], l, math.Min(120, 2*math.Min(x, s.width-x)))
		s.c.text(point{x, s.inner.y1 + tickSpace - 3}, text, l)
	}
	if every > 1 {
		s.note("Only every %s name has room below the axis.", ordinal(every))
	}
	s.axisText(point{s.width, s.height - 4}, shortened(s.f.X.Label, lettering{}, s.width/2), endAnchor)
}

// shortText returns a value in as few signs as a label in a picture has.
func shortText(u figure.Unit, n figure.Number) string {
	v := float64(n)
	abs := math.Abs(v)
	if !n.IsKnown() {
		return "n/a"
	}
	switch u {
	case figure.Share:
		if abs == 0 || abs >= 0.0995 {
			return decimals(v*100, 1) + "%"
		}
	case figure.USD, figure.Count, figure.GPUHours:
		sign := ""
		if u == figure.USD {
			sign = "$"
		}
		if v < 0 {
			sign = "-" + sign
		}
		for _, s := range []struct {
			from, by float64
			name     string
		}{{1e15, 0, ""}, {0.9995e12, 1e12, "T"}, {0.9995e9, 1e9, "B"}, {0.9995e6, 1e6, "M"}, {9995, 1e3, "k"}} {
			switch {
			case abs < s.from:
			case s.by == 0:
				return sign + decimals(abs, 1e-9)
			default:
				return sign + threeDigits(abs/s.by) + s.name
			}
		}
		if u == figure.GPUHours {
			return figure.Count.Text(n)
		}
	default:
	}
	return u.Text(n)
}

func threeDigits(v float64) string {
	switch {
	case v >= 99.95:
		return decimals(v, 1)
	case v >= 9.995:
		return decimals(v, 0.1)
	}
	return decimals(v, 0.01)
}

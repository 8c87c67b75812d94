package draw

import (
	"math"
	"slices"

	"capcli/scenarios/figure"
)

// ledge is a frame with names along one axis and values along the other.
type ledge struct {
	names  int     // that are drawn
	flip   bool    // names lie along the axis up
	start  float64 // where the first name begins
	step   float64 // pixels of a name
	values scale
}

// Names beyond these are in the table only.
const (
	maxRows    = 50
	maxColumns = 160

	maxBarWidth = 110 // in pixels
)

// slot returns where name i begins and ends.
func (l ledge) slot(i int) (from, to float64) {
	return l.start + float64(i)*l.step, l.start + float64(i+1)*l.step
}

// bar returns the rectangle between a and b along the names, and between two values.
func (l ledge) bar(a, b, v0, v1 float64) rect {
	p0, p1 := l.values.pixel(v0), l.values.pixel(v1)
	if l.flip {
		return rect{p0, a, p1, b}.sorted()
	}
	return rect{a, p0, b, p1}.sorted()
}

// pixelAt returns the pixel at a along the names and at a value.
func (l ledge) pixelAt(a, v float64) point {
	if l.flip {
		return point{l.values.pixel(v), a}
	}
	return point{a, l.values.pixel(v)}
}

// newLedge draws the frame of a figure with names. It lies down where the names have no room below
// upright bars, and where it must.
func (s *sketch) newLedge(y span, lie bool) ledge {
	names := s.f.X.Names
	widest := 0.0
	for _, n := range names {
		widest = math.Max(widest, math.Min(textWidth(shortened(n, lettering{}, 2*maxNameWidth), lettering{}), maxNameWidth))
	}
	room := (s.width - 70) / float64(len(names))
	l := ledge{names: len(names)}
	switch {
	case lie:
		l.flip = true
	case len(names) <= 12:
		l.flip = widest/2+14 > room && widest > room-8
	default:
		l.flip = widest > 66
	}
	most := maxColumns
	if l.flip {
		most = maxRows
	}
	if l.names > most {
		s.note("The first %d of %s are drawn.", most, plural(l.names, "name"))
		l.names = most
	}
	y = y.opened(s.f.Y.Unit)
	if l.flip {
		s.lieDown(&l, y, widest)
	} else {
		s.standUp(&l, y)
	}
	s.plot.Names, s.plot.Flip = l.names, l.flip
	return l
}

// standUp draws the frame of upright bars.
func (s *sketch) standUp(l *ledge, y span) {
	if s.height == 0 {
		s.height = defaultHeight
	}
	lines := 1
	for _, n := range s.f.X.Names[:l.names] {
		if l.names <= 12 && textWidth(shortened(n, lettering{}, 2*maxNameWidth), lettering{}) > (s.width-70)/float64(l.names)-6 {
			lines = 2
		}
	}
	bottom := s.height - tickSpace - float64(lines-1)*lineHeight
	if s.f.X.Label != "" {
		bottom -= lineHeight
	}
	most := int((bottom - topSpace) / 44)
	y = y.stepped(s.f.Y.Unit, most)
	ticks := ticksOf(s.f.Y.Unit, y, most)
	s.inner = rect{s.tickWidth(ticks) + 8, topSpace, s.width - 4, bottom}
	s.y = scale{y.lo, y.hi, s.inner.y1, s.inner.y0}
	s.plot.Y = [2]float64{y.lo, y.hi}
	l.values, l.start, l.step = s.y, s.inner.x0, (s.inner.x1-s.inner.x0)/float64(l.names)
	s.x = scale{0, float64(max(l.names-1, 1)), l.start + l.step/2, l.start + l.step/2 + l.step*float64(max(l.names-1, 1))}
	s.drawLevels(ticks)
	if l.names > 12 {
		s.drawNames()
		return
	}
	for i, n := range s.f.X.Names[:l.names] {
		from, to := l.slot(i)
		for row, line := range wrapped(n, lettering{}, l.step-6, 2) {
			s.axisText(point{(from + to) / 2, s.inner.y1 + tickSpace - 3 + float64(row)*lineHeight}, line, middleAnchor)
		}
	}
	s.axisText(point{s.width, s.height - 3}, shortened(s.f.X.Label, lettering{}, s.width/2), endAnchor)
}

// lieDown draws the frame of bars that lie.
func (s *sketch) lieDown(l *ledge, y span, widest float64) {
	l.flip = true
	groups := 0
	for i := range s.f.Series {
		if !s.f.Series[i].Pile || i == 0 {
			groups++
		}
	}
	if s.height == 0 {
		s.height = topSpace + tickSpace + 6 + float64(l.names)*math.Min(math.Max(26, float64(groups)*13+8), math.Max(26, math.Min(120, 1600/float64(l.names))))
	}
	s.inner = rect{widest + 12, topSpace, s.width - 46, s.height - tickSpace - 6}
	most := int((s.inner.x1 - s.inner.x0) / 90)
	y = y.stepped(s.f.Y.Unit, most)
	l.values = scale{y.lo, y.hi, s.inner.x0, s.inner.x1}
	s.x = l.values
	l.start, l.step = s.inner.y0, (s.inner.y1-s.inner.y0)/float64(l.names)
	for _, t := range ticksOf(s.f.Y.Unit, y, most) {
		at := l.values.pixel(t.at)
		r := gridRole
		if t.at == 0 {
			r = axisRole
		}
		s.c.line([]point{{at, s.inner.y0}, {at, s.inner.y1}}, pen{role: r, width: 1})
		s.axisText(point{at, s.inner.y1 + tickSpace - 4}, t.text, middleAnchor)
	}
	for i, n := range s.f.X.Names[:l.names] {
		from, to := l.slot(i)
		s.c.text(point{s.inner.x0 - 8, (from+to)/2 + 4}, shortened(n, lettering{}, maxNameWidth), lettering{anchor: endAnchor})
	}
	label := shortened(s.f.Y.Label, lettering{}, s.width-s.inner.x0)
	s.axisText(point{s.width, 12}, label, endAnchor)
	s.placed = append(s.placed, lettering{anchor: endAnchor}.bounds(point{s.width, 12}, label))
	s.axisText(point{0, 12}, shortened(s.f.X.Label, lettering{}, math.Max(s.inner.x0-10, 60)), startAnchor)
}

// barGroups returns the series of each group: a series with Pile joins the one before.
func (s *sketch) barGroups() [][]int {
	var groups [][]int
	for i := range s.f.Series {
		if n := len(groups); n > 0 && s.f.Series[i].Pile {
			groups[n-1] = append(groups[n-1], i)
		} else {
			groups = append(groups, []int{i})
		}
	}
	return groups
}

// barPart is a part of a bar between two values.
type barPart struct {
	series   int
	from, to float64
}

// barParts returns the parts of a group at name i, those above zero upwards and those below downwards.
func (s *sketch) barParts(group []int, i int) (parts []barPart, up, down float64) {
	for _, j := range group {
		v := s.f.Series[j].Y[i]
		switch {
		case !drawable(v):
		case v >= 0:
			parts = append(parts, barPart{j, up, up + float64(v)})
			up += float64(v)
		default:
			parts = append(parts, barPart{j, down, down + float64(v)})
			down += float64(v)
		}
	}
	return parts, up, down
}

func (s *sketch) paintBars() {
	s.noteHuge()
	groups := s.barGroups()
	_, y := s.spans()
	if y.isEmpty() {
		s.noData()
		return
	}
	y.add(0)
	for i := range s.f.X.Names {
		for _, g := range groups {
			_, up, down := s.barParts(g, i)
			y.add(up)
			y.add(down)
		}
	}
	s.addMarks(&span{}, &y)
	l := s.newLedge(y, false)
	s.addLegend(func(int) Style { return Solid })
	gap := math.Max(math.Min(l.step*0.25, 14), l.step-maxBarWidth*float64(len(groups)))
	width := (l.step - gap) / float64(len(groups))
	for i := range l.names {
		from, _ := l.slot(i)
		for g, group := range groups {
			a := from + gap/2 + float64(g)*width
			b := a + width
			if width > 6 {
				b -= 1
			}
			s.drawBar(l, group, i, a, b)
		}
	}
	for i := range l.names {
		from, _ := l.slot(i)
		for g, group := range groups {
			s.labelBar(l, group, i, from+gap/2+(float64(g)+0.5)*width, width)
		}
	}
	s.drawMarks(l.values, s.x.pixel, l.flip)
}

// drawBar draws the parts of a group at name i, and the range of a single part. A group without a
// known value is marked.
func (s *sketch) drawBar(l ledge, group []int, i int, a, b float64) {
	parts, _, _ := s.barParts(group, i)
	for _, p := range parts {
		one := &s.f.Series[p.series]
		r, _ := seriesRoleAt(p.series)
		fill := paint{role: r, opacity: 0.9}
		if slices.Contains(one.Chosen, i) {
			fill = paint{role: r, edge: inkRole}
		}
		s.c.box(l.bar(a, b, p.from, p.to), fill, s.f.X.Names[i]+": "+named(one.Name)+s.f.Y.Unit.Text(one.Y[i]))
		if len(group) == 1 && len(one.Lo) > 0 && drawable(one.Lo[i]) && drawable(one.Hi[i]) {
			middle := (a + b) / 2
			s.c.line([]point{l.pixelAt(middle, float64(one.Lo[i])), l.pixelAt(middle, float64(one.Hi[i]))}, pen{role: inkRole, width: 1.5, opacity: 0.7})
		}
	}
}

// named returns a name before its value.
func named(name string) string {
	if name == "" {
		return ""
	}
	return name + " "
}

// labelBar writes the sum of a group beyond its end, where there is room, and n/a where it is unknown.
func (s *sketch) labelBar(l ledge, group []int, i int, middle, width float64) {
	parts, up, down := s.barParts(group, i)
	text, end := "n/a", 0.0
	if len(parts) > 0 {
		sum := up + down
		text, end = shortText(s.f.Y.Unit, figure.Number(sum)), up
		if sum < 0 {
			end = down
		}
	} else if len(group) == 0 {
		return
	}
	if one := &s.f.Series[group[0]]; len(group) == 1 && len(one.Hi) > 0 && drawable(one.Hi[i]) && end >= 0 {
		end = math.Max(end, float64(one.Hi[i]))
	}
	s.labelEnd(l, text, middle, width, end)
}

// labelEnd writes a text beyond the end of a bar, where there is room.
func (s *sketch) labelEnd(l ledge, text string, middle, width, end float64) {
	t := lettering{size: 11, anchor: middleAnchor, halo: true}
	at := l.pixelAt(middle, end)
	switch {
	case l.flip && width < 11, !l.flip && textWidth(text, t) > width*1.6+4:
		return
	case l.flip && end >= 0:
		t.anchor = startAnchor
		at = point{at.x + 4, at.y + 4}
	case l.flip:
		t.anchor = endAnchor
		at = point{at.x - 4, at.y + 4}
	case end >= 0:
		at.y -= 4
	default:
		at.y += 12
	}
	s.write(at, text, t)
}

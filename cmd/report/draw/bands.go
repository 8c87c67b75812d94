package draw

import (
	"math"
	"slices"

	"capcli/scenarios/figure"
)

const (
	laneHeight  = 22
	maxLanes    = 80
	maxBarsDraw = 4000
)

// lanes lays the bars of a series into as few lanes as hold them without covering each other: each
// takes the first lane that is free when it begins. A bar without an end takes all that follows.
func lanes(one *figure.Series) (of []int, count int) {
	of = make([]int, len(one.Lo))
	order := make([]int, 0, len(one.Lo))
	for i := range one.Lo {
		of[i] = -1
		if drawable(one.Lo[i]) {
			order = append(order, i)
		}
	}
	sortBy(order, func(i int) float64 { return float64(one.Lo[i]) })
	var ends []float64
	for _, i := range order {
		end := math.Inf(1)
		if drawable(one.Hi[i]) {
			end = float64(one.Hi[i])
		}
		k := 0
		for k < len(ends) && ends[k] > float64(one.Lo[i]) {
			k++
		}
		if k == len(ends) {
			ends = append(ends, end)
		} else {
			ends[k] = end
		}
		of[i] = k
	}
	return of, max(len(ends), 1)
}

func (s *sketch) paintSpans() {
	s.noteHuge()
	x := emptySpan()
	for i := range s.f.Series {
		one := &s.f.Series[i]
		for j := range one.Lo {
			for _, v := range []figure.Number{one.Lo[j], one.Hi[j]} {
				if drawable(v) && drawable(one.Lo[j]) {
					x.add(float64(v))
				}
			}
		}
	}
	if x.isEmpty() {
		s.noData()
		return
	}
	s.addMarks(&x, &span{})
	x = x.opened(s.f.X.Unit)
	rows, laneOf, total, bars := s.rowsOfSpans()
	widest := 0.0
	for i := range s.f.Series[:rows] {
		widest = math.Max(widest, textWidth(shortened(s.f.Series[i].Name, lettering{}, maxLabelWidth), lettering{}))
	}
	top := 10.0
	if slices.ContainsFunc(s.f.Marks, func(m figure.Mark) bool { return m.Axis == "x" }) {
		top = 24 // for the labels of marks
	}
	if s.height == 0 {
		s.height = top + tickSpace + lineHeight + float64(total)*laneHeight + float64(rows)*4
	}
	s.inner = rect{widest + 12, top, s.width - rightSpace, s.height - tickSpace - lineHeight}
	s.x = scale{x.lo, x.hi, s.inner.x0, s.inner.x1}
	s.plot.X = [2]float64{x.lo, x.hi}
	s.gridOfSpans(x)
	unit := (s.inner.y1 - s.inner.y0 - float64(rows)*4) / float64(total)
	y := s.inner.y0
	for i := range s.f.Series[:rows] {
		of, count := laneOf[i], 1
		for _, k := range of {
			count = max(count, k+1)
		}
		y1 := y + float64(count)*unit + 4
		s.plot.Rows = append(s.plot.Rows, [2]float64{y, y1})
		s.c.text(point{s.inner.x0 - 8, (y+y1)/2 + 4}, shortened(s.f.Series[i].Name, lettering{}, maxLabelWidth), lettering{anchor: endAnchor})
		s.c.line([]point{{0, y1}, {s.inner.x1, y1}}, pen{role: gridRole, width: 1})
		s.drawRow(i, of, y+2, unit, bars <= maxBarsDraw)
		y = y1
	}
	s.drawMarks(scale{0, 1, s.inner.y1, s.inner.y0}, s.x.pixel, false)
}

// rowsOfSpans returns how many rows are drawn, the lanes of each, how many lanes they need in all, and
// how many bars there are.
func (s *sketch) rowsOfSpans() (rows int, laneOf [][]int, total, bars int) {
	for i := range s.f.Series {
		of, count := lanes(&s.f.Series[i])
		if total+count > maxLanes && rows > 0 {
			s.note("The first %d of %s are drawn.", rows, plural(len(s.f.Series), "row"))
			break
		}
		laneOf = append(laneOf, of)
		total += min(count, maxLanes)
		rows++
		bars += len(of)
	}
	if bars > maxBarsDraw {
		s.note("%s have neither labels nor tips.", plural(bars, "bar"))
	}
	return rows, laneOf, total, bars
}

// gridOfSpans draws the ticks of the axis across, from top to bottom.
func (s *sketch) gridOfSpans(x span) {
	for _, t := range ticksOf(s.f.X.Unit, x, int((s.inner.x1-s.inner.x0)/70)) {
		at := s.x.pixel(t.at)
		s.c.line([]point{{at, s.inner.y0}, {at, s.inner.y1}}, pen{role: gridRole, width: 1})
	}
	s.drawTicks(x)
}

// drawRow draws the bars of series i, each with its label inside it or beside it. A bar whose end is
// unknown reaches to the right edge and has no edge there.
func (s *sketch) drawRow(i int, of []int, y, unit float64, tips bool) {
	one := &s.f.Series[i]
	r, _ := seriesRoleAt(i)
	if i >= maxLegend {
		r = seriesRole
	}
	unknown := 0
	for j, k := range of {
		if k < 0 || k >= maxLanes {
			unknown++
			continue
		}
		x0, x1 := s.x.pixel(float64(one.Lo[j])), s.inner.x1
		end := "an unknown end"
		if drawable(one.Hi[j]) {
			x1 = s.x.pixel(float64(one.Hi[j]))
			end = s.f.X.Unit.Text(one.Hi[j])
		}
		y0 := y + float64(k)*unit + 1
		b := rect{x0, y0, math.Max(x1, x0+1), y0 + unit - 2}
		if !tips {
			s.c.box(b, paint{role: r, opacity: 0.8}, "")
			continue
		}
		label := spanLabel(s.f, one, j)
		tip := one.Name + ": " + s.f.X.Unit.Text(one.Lo[j]) + " to " + end
		if label != "" {
			tip += ", " + label
		}
		s.c.box(b, paint{role: r, opacity: 0.35, edge: r}, tip)
		if drawable(one.Hi[j]) {
			s.c.line([]point{{b.x1, b.y0}, {b.x1, b.y1}}, pen{role: r, width: 3})
		}
		s.labelSpan(b, label)
	}
	if unknown > 0 {
		s.note("%s of %q %s no known start.", plural(unknown, "bar"), figure.Clean(one.Name), verb(unknown, "has", "have"))
	}
}

// spanLabel returns the label of bar j, or its amount.
func spanLabel(f *figure.Figure, one *figure.Series, j int) string {
	switch {
	case len(one.Labels) > 0 && one.Labels[j] != "":
		return one.Labels[j]
	case len(one.Y) > 0:
		return shortText(f.Y.Unit, one.Y[j])
	}
	return ""
}

// labelSpan writes a label in a bar, or to its right or left where it is too short.
func (s *sketch) labelSpan(b rect, label string) {
	t := lettering{size: 11}
	height := b.y1 - b.y0
	if label == "" || height < 11 {
		return
	}
	y := (b.y0+b.y1)/2 + 4
	w := textWidth(label, t)
	if w+8 <= b.x1-b.x0 {
		s.write(point{b.x0 + 5, y}, label, t)
		return
	}
	t.halo = true
	if s.write(point{b.x1 + 6, y}, shortened(label, t, maxLabelWidth), t) {
		return
	}
	t.anchor = endAnchor
	if s.write(point{b.x0 - 5, y}, shortened(label, t, maxLabelWidth), t) {
		return
	}
	t.anchor = startAnchor
	if cut := shortened(label, t, b.x1-b.x0-8); b.x1-b.x0 > 40 && s.write(point{b.x0 + 5, y}, cut, t) {
		return
	}
	s.left++
}

package draw

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"capcli"
	"capcli/scenarios/figure"
)

// maxDots is how many points a line may have to get a dot on each, which tells its value.
const maxDots = 40

// spans returns the ranges of the values of all series, with marks that are not far away.
func (s *sketch) spans() (x, y span) {
	x, y = emptySpan(), emptySpan()
	for i := range s.f.Series {
		one := &s.f.Series[i]
		for j, at := range s.xValues(one) {
			if !drawable(at) {
				continue
			}
			found := false
			for _, list := range [][]figure.Number{one.Y, one.Lo, one.Hi} {
				if len(list) > 0 && drawable(list[j]) {
					y.add(float64(list[j]))
					found = true
				}
			}
			if found {
				x.add(float64(at))
			}
		}
	}
	return x, y
}

// addMarks widens x and y to the marks, unless a mark would press the values into less than a third.
func (s *sketch) addMarks(x, y *span) {
	for _, m := range s.f.Marks {
		axis := x
		if m.Axis == "y" {
			axis = y
		}
		if !drawable(m.At) || axis.isEmpty() {
			continue
		}
		wider := *axis
		wider.add(float64(m.At))
		if wider.hi-wider.lo <= 3*(axis.hi-axis.lo) || axis.hi == axis.lo {
			*axis = wider
		}
	}
}

func (s *sketch) paintLines() {
	s.noteHuge()
	x, y := s.spans()
	if x.isEmpty() {
		s.noData()
		return
	}
	y = zeroBased(y)
	s.addMarks(&x, &y)
	if n := len(s.f.X.Names); n > 0 {
		x = span{-0.5, float64(n) - 0.5}
	}
	s.frame(x, y)
	s.addLegend(func(i int) Style {
		if s.isDashed(i) {
			return Dashed
		}
		return Stroke
	})
	for i := range s.f.Series {
		s.drawBand(i)
	}
	s.drawSeriesLines(func(*figure.Series) bool { return true })
	s.drawMarks(s.y, s.x.pixel, false)
	s.drawChosen()
}

func (s *sketch) isDashed(i int) bool {
	_, dash := seriesRoleAt(i)
	return dash != "" || s.f.Series[i].Dashed
}

// drawBand draws the range around series i.
func (s *sketch) drawBand(i int) {
	one := &s.f.Series[i]
	if len(one.Lo) == 0 {
		return
	}
	xs := s.xValues(one)
	r, _ := seriesRoleAt(i)
	runs(len(xs), func(j int) bool { return drawable(xs[j]) && drawable(one.Lo[j]) && drawable(one.Hi[j]) }, func(from, to int) {
		highs := s.path(xs, one.Hi, from, to)
		lows := s.path(xs, one.Lo, from, to)
		slices.Reverse(lows)
		if ring := append(highs, lows...); to-from > 1 {
			s.c.area(ring, paint{role: r, opacity: 0.18})
		} else {
			s.c.line([]point{highs[0], lows[0]}, pen{role: r, width: 6, opacity: 0.25})
		}
	})
}

// path returns the pixels of a run of points, thinned.
func (s *sketch) path(xs, ys []figure.Number, from, to int) []point {
	px, py := make([]float64, to-from), make([]float64, to-from)
	for i := range px {
		px[i], py[i] = s.x.pixel(float64(xs[from+i])), s.y.pixel(float64(ys[from+i]))
	}
	kept := thinned(px, py, s.inner.x1-s.inner.x0)
	return capcli.Map(kept, func(k int) point { return point{px[k], py[k]} })
}

// drawSeriesLines draws the lines of the series that are wanted, and says how many points of them the
// picture needs.
func (s *sketch) drawSeriesLines(wanted func(*figure.Series) bool) {
	points, drawn := 0, 0
	for i := range s.f.Series {
		one := &s.f.Series[i]
		if !wanted(one) {
			continue
		}
		xs := s.xValues(one)
		r, dash := seriesRoleAt(i)
		if one.Dashed && dash == "" {
			dash = "6 4"
		}
		known := func(j int) bool { return drawable(xs[j]) && drawable(one.Y[j]) }
		runs(len(xs), known, func(from, to int) {
			path := s.path(xs, one.Y, from, to)
			points, drawn = points+to-from, drawn+len(path)
			if to-from > 1 {
				s.c.line(path, pen{role: r, width: 2, dash: dash})
				s.addLine(path)
			}
			if len(xs) <= maxDots || to-from == 1 {
				s.drawDots(one, r, from, to)
			}
		})
	}
	if drawn < points {
		s.note("Of %s, %s are drawn: the first, lowest, highest and last of each %d pixels, which look the same.",
			plural(points, "point"), figure.Count.Text(figure.Number(drawn)), column)
	}
}

// drawDots draws a dot that tells its value on each point of a run.
func (s *sketch) drawDots(one *figure.Series, r role, from, to int) {
	xs := s.xValues(one)
	for j := from; j < to; j++ {
		s.c.dot(point{s.x.pixel(float64(xs[j])), s.y.pixel(float64(one.Y[j]))}, 2.5, paint{role: r}, s.tip(one, j))
	}
}

// tip returns what a point says: its series, its place and its value with its range.
func (s *sketch) tip(one *figure.Series, i int) string {
	text := s.xText(s.xValues(one)[i]) + ": "
	if one.Name != "" {
		text += one.Name + " "
	}
	if len(one.Labels) > 0 && one.Labels[i] != "" {
		text = one.Labels[i] + ", " + text
	}
	text += s.f.Y.Unit.Text(one.Y[i])
	if len(one.Lo) > 0 {
		text += " (" + s.f.Y.Unit.Text(one.Lo[i]) + " to " + s.f.Y.Unit.Text(one.Hi[i]) + ")"
	}
	return text
}

// maxRunLabels is how many runs of points with the same label get it written, the longest first.
const maxRunLabels = 4

// drawChosen makes the chosen points of lines stand out, with their label or their value. Points in
// a row with the same label get it once, in their middle.
func (s *sketch) drawChosen() {
	for i := range s.f.Series {
		one := &s.f.Series[i]
		xs := s.xValues(one)
		at := func(j int) point { return point{s.x.pixel(float64(xs[j])), s.y.pixel(float64(one.Y[j]))} }
		r, _ := seriesRoleAt(i)
		known := func(j int) bool { return drawable(xs[j]) && drawable(one.Y[j]) }
		for _, j := range one.Chosen {
			if !known(j) {
				continue
			}
			text := shortText(s.f.Y.Unit, one.Y[j])
			if len(one.Labels) > 0 && one.Labels[j] != "" {
				text = one.Labels[j]
			}
			s.c.dot(at(j), 6, paint{role: r, edge: inkRole}, s.tip(one, j))
			s.placed = append(s.placed, rect{at(j).x - 6, at(j).y - 6, at(j).x + 6, at(j).y + 6})
			s.place(at(j), text, lettering{bold: true}, 12)
		}
		for _, j := range labelPlaces(one, known) {
			s.place(at(j), one.Labels[j], lettering{}, 9)
		}
	}
}

// labelPlaces returns the middles of the longest runs of known points with the same label, in order.
func labelPlaces(one *figure.Series, known func(int) bool) []int {
	if len(one.Labels) == 0 {
		return nil
	}
	type run struct{ from, to int }
	var all []run
	for j, label := range one.Labels {
		switch last := len(all) - 1; {
		case label == "" || !known(j) || slices.Contains(one.Chosen, j):
		case last >= 0 && all[last].to == j && one.Labels[j-1] == label:
			all[last].to++
		default:
			all = append(all, run{j, j + 1})
		}
	}
	slices.SortStableFunc(all, func(a, b run) int { return (b.to - b.from) - (a.to - a.from) })
	all = all[:min(len(all), maxRunLabels)]
	places := capcli.Map(all, func(r run) int { return (r.from + r.to - 1) / 2 })
	slices.Sort(places)
	return places
}

// column is the width in pixels within which a thinned line keeps four points.
const column = 2

// thinned returns the indices of the points of a run that its picture needs: of each column of pixels
// the first, the lowest, the highest and the last. The line through these looks as that through all
// (U. Jugel et al., M4: A Visualization-Oriented Time Series Data Aggregation, VLDB 2014). The pixels
// xs do not fall; where they do, all points are kept.
func thinned(xs, ys []float64, width float64) []int {
	n := len(xs)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if float64(n) <= 4*width/column {
		return all
	}
	var out []int
	for first := 0; first < n; {
		col := math.Floor(xs[first] / column)
		lowest, highest, last := first, first, first
		for i := first; i < n && math.Floor(xs[i]/column) == col; i++ {
			if i > first && xs[i] < xs[i-1] {
				return all
			}
			if ys[i] < ys[lowest] {
				lowest = i
			}
			if ys[i] > ys[highest] {
				highest = i
			}
			last = i
		}
		out = appendIncreasing(out, first, min(lowest, highest), max(lowest, highest), last)
		first = last + 1
	}
	return out
}

// appendIncreasing appends those of indices that are larger than the last.
func appendIncreasing(out []int, indices ...int) []int {
	for _, i := range indices {
		if len(out) == 0 || i > out[len(out)-1] {
			out = append(out, i)
		}
	}
	return out
}

// runs calls each with the ranges of points that are known without a gap.
func runs(n int, known func(i int) bool, each func(from, to int)) {
	from := -1
	for i := 0; i <= n; i++ {
		switch {
		case i < n && known(i):
			if from < 0 {
				from = i
			}
		case from >= 0:
			each(from, i)
			from = -1
		}
	}
}

// xValues returns the values of series i along the axis X: its X, or the places of the names.
func (s *sketch) xValues(one *figure.Series) []figure.Number {
	if len(s.f.X.Names) == 0 {
		return one.X
	}
	out := make([]figure.Number, len(s.f.X.Names))
	for i := range out {
		out[i] = figure.Number(i)
	}
	return out
}

func (s *sketch) xText(x figure.Number) string {
	if i := int(x); len(s.f.X.Names) > 0 && i >= 0 && i < len(s.f.X.Names) {
		return s.f.X.Names[i]
	}
	return s.f.X.Unit.Text(x)
}

// ordinal returns "2nd", "3rd" or "11th".
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// sortBy sorts indices by a key; equal keys keep their order.
func sortBy(indices []int, key func(i int) float64) {
	slices.SortStableFunc(indices, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
}

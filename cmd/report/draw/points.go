package draw

import (
	"math"
	"slices"

	"capcli/scenarios/figure"
)

// maxPoints is how many points a picture shows before those upon each other are left out.
const maxPoints = 1500

// maxRanges is how many points show their range as a line.
const maxRanges = 300

func (s *sketch) paintPoints() {
	s.noteHuge()
	x, y := s.spans()
	if x.isEmpty() {
		s.noData()
		return
	}
	y = zeroBased(y)
	if x.lo >= 0 && x.lo < 0.3*x.hi && s.f.X.Unit != figure.Time {
		x.add(0)
	}
	s.addMarks(&x, &y)
	x = x.opened(s.f.X.Unit)
	pad := 0.03 * (x.hi - x.lo)
	if x.hi += pad; x.lo != 0 {
		x.lo -= pad
	}
	if n := len(s.f.X.Names); n > 0 {
		x = span{-0.5, float64(n) - 0.5}
	}
	s.frame(x, y)
	s.addLegend(func(int) Style { return Round })
	s.drawSeriesJoined()
	shown := s.pointsToShow()
	if len(shown) <= maxRanges {
		for _, p := range shown {
			s.placed = append(s.placed, p.bounds())
		}
	}
	s.drawMarks(s.y, s.x.pixel, false)
	s.drawPoints(shown)
}

// drawSeriesJoined joins the points of the series that are Over by a line.
func (s *sketch) drawSeriesJoined() {
	for i := range s.f.Series {
		one := &s.f.Series[i]
		if !one.Over {
			continue
		}
		xs := s.xValues(one)
		r, dash := seriesRoleAt(i)
		runs(len(xs), func(j int) bool { return drawable(xs[j]) && drawable(one.Y[j]) }, func(from, to int) {
			path := s.path(xs, one.Y, from, to)
			s.c.line(path, pen{role: r, width: 1.5, dash: dash, opacity: 0.6})
			s.addLine(path)
		})
	}
}

// shownPoint is a point of a series with its pixel.
type shownPoint struct {
	series, index int
	at            point
	chosen        bool
}

// pointsToShow returns the points that are drawn. Of too many, one of each four pixels by four stays;
// chosen ones always do.
func (s *sketch) pointsToShow() []shownPoint {
	var all []shownPoint
	for i := range s.f.Series {
		one := &s.f.Series[i]
		for j, x := range s.xValues(one) {
			if drawable(x) && drawable(one.Y[j]) {
				all = append(all, shownPoint{i, j, point{s.x.pixel(float64(x)), s.y.pixel(float64(one.Y[j]))}, slices.Contains(one.Chosen, j)})
			}
		}
	}
	if len(all) <= maxPoints {
		return all
	}
	type cell struct{ series, x, y int }
	seen := map[cell]bool{}
	var kept []shownPoint
	for _, p := range all {
		c := cell{min(p.series, maxLegend), int(p.at.x / 4), int(p.at.y / 4)}
		if !seen[c] || p.chosen {
			kept = append(kept, p)
		}
		seen[c] = true
	}
	if len(kept) < len(all) {
		s.note("Of %s, %s are drawn: one of each 4 pixels by 4.", plural(len(all), "point"), figure.Count.Text(figure.Number(len(kept))))
	}
	return kept
}

// bounds returns what a label must not cover.
func (p shownPoint) bounds() rect {
	r := 5.0
	if p.chosen {
		r = 8
	}
	return rect{p.at.x - r, p.at.y - r, p.at.x + r, p.at.y + r}
}

func (s *sketch) drawPoints(shown []shownPoint) {
	ranges := 0
	for _, p := range shown {
		one := &s.f.Series[p.series]
		if len(one.Lo) > 0 {
			ranges++
		}
	}
	if ranges > maxRanges {
		s.note("The ranges of %s are in the table only.", plural(ranges, "point"))
	}
	for _, p := range shown {
		if one := &s.f.Series[p.series]; len(one.Lo) > 0 && ranges <= maxRanges {
			s.drawRange(one, p)
		}
	}
	radius := 4.5
	if len(shown) > 200 {
		radius = 2.5
	}
	for _, last := range []bool{false, true} { // chosen ones on top
		for _, p := range shown {
			if p.chosen != last {
				continue
			}
			r, _ := seriesRoleAt(p.series)
			size, fill := radius, paint{role: r, opacity: 0.85}
			if p.chosen {
				size, fill = 7, paint{role: r, edge: inkRole}
			}
			s.c.dot(p.at, size, fill, s.tip(&s.f.Series[p.series], p.index))
		}
	}
	s.drawPointLabels(shown)
}

func (s *sketch) drawRange(one *figure.Series, p shownPoint) {
	lo, hi := one.Lo[p.index], one.Hi[p.index]
	if !drawable(lo) || !drawable(hi) {
		return
	}
	r, _ := seriesRoleAt(p.series)
	y0, y1 := s.y.pixel(float64(lo)), s.y.pixel(float64(hi))
	s.c.line([]point{{p.at.x, y0}, {p.at.x, y1}}, pen{role: r, width: 1.5, opacity: 0.4})
	for _, y := range []float64{y0, y1} {
		if math.Abs(y-p.at.y) > 5 {
			s.c.line([]point{{p.at.x - 4, y}, {p.at.x + 4, y}}, pen{role: r, width: 1.5, opacity: 0.4})
		}
	}
}

// drawPointLabels writes the labels: first those of chosen points.
func (s *sketch) drawPointLabels(shown []shownPoint) {
	for _, chosen := range []bool{true, false} {
		for _, p := range shown {
			one := &s.f.Series[p.series]
			if p.chosen != chosen {
				continue
			}
			text, gap := "", 9.0
			if chosen {
				gap = 13
			}
			if len(one.Labels) > 0 {
				text = one.Labels[p.index]
			} else if chosen {
				text = shortText(s.f.Y.Unit, one.Y[p.index])
			}
			s.place(p.at, text, lettering{bold: chosen, size: 11}, gap)
		}
	}
}

package draw

import (
	"math"

	"capcli/scenarios/figure"
)

const (
	white rgb = 0xffffff
	black rgb = 0x000000
)

// Colours of heat: from the least to the largest value, and for values on both sides of zero.
var (
	oneWay  = []rgb{0xeff5fb, 0xa9cde9, 0x4a98c9, 0x0072b2, 0x00304d}
	twoWays = []rgb{0xa63c00, 0xe58b4b, 0xf7f4ef, 0x6aaedb, 0x00527f}
)

// heatColour returns the colour at share of a scale, 0 to 1.
func heatColour(scale []rgb, share float64) rgb {
	share = math.Min(math.Max(share, 0), 1) * float64(len(scale)-1)
	i := min(int(share), len(scale)-2)
	part := share - float64(i)
	r0, g0, b0 := scale[i].parts()
	r1, g1, b1 := scale[i+1].parts()
	mix := func(a, b uint8) rgb { return rgb(math.Round(float64(a) + part*(float64(b)-float64(a)))) }
	return mix(r0, r1)<<16 | mix(g0, g1)<<8 | mix(b0, b1)
}

// luminance returns the relative luminance of a colour (WCAG 2.2).
func luminance(c rgb) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	r, g, b := c.parts()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// contrast returns the contrast of two colours, 1 to 21 (WCAG 2.2).
func contrast(a, b rgb) float64 {
	la, lb := luminance(a), luminance(b)
	return (math.Max(la, lb) + 0.05) / (math.Min(la, lb) + 0.05)
}

// readable returns black or white, whichever has more contrast on c.
func readable(c rgb) rgb {
	if contrast(c, white) > contrast(c, black) {
		return white
	}
	return black
}

// heatScale maps values to colours.
type heatScale struct {
	lo, hi  float64 // values of the first and the last colour
	shown   span    // of the values
	colours []rgb
}

func newHeatScale(y span) heatScale {
	if y.lo < 0 && y.hi > 0 {
		most := math.Max(-y.lo, y.hi)
		return heatScale{-most, most, y, twoWays}
	}
	if y.lo > 0 && y.lo < 0.5*y.hi {
		y.lo = 0
	}
	return heatScale{y.lo, y.hi, y, oneWay}
}

func (h heatScale) colour(v float64) rgb {
	if h.hi == h.lo {
		return heatColour(h.colours, 0.5)
	}
	return heatColour(h.colours, (v-h.lo)/(h.hi-h.lo))
}

// Rows and columns of a heatmap that are drawn.
const (
	maxHeatRows    = 60
	maxHeatColumns = 200
)

func (s *sketch) paintHeat() {
	s.noteHuge()
	_, y := s.spans()
	if y.isEmpty() {
		s.noData()
		return
	}
	columns, rows := min(len(s.f.X.Names), maxHeatColumns), min(len(s.f.Series), maxHeatRows)
	if columns < len(s.f.X.Names) || rows < len(s.f.Series) {
		s.note("The first %d of %d rows and %d of %d columns are drawn.", rows, len(s.f.Series), columns, len(s.f.X.Names))
	}
	widest := 0.0
	for i := range s.f.Series[:rows] {
		widest = math.Max(widest, textWidth(shortened(s.f.Series[i].Name, lettering{}, maxLabelWidth), lettering{}))
	}
	const top = 40
	if s.height == 0 {
		s.height = top + tickSpace + lineHeight + float64(rows)*math.Max(28, 100/float64(rows))
	}
	s.inner = rect{widest + 10, top, s.width, s.height - tickSpace - lineHeight}
	s.x = scale{0, 1, s.inner.x0, s.inner.x0 + (s.inner.x1-s.inner.x0)/float64(columns)}
	s.plot.Names = columns
	h := newHeatScale(y)
	height := (s.inner.y1 - s.inner.y0) / float64(rows)
	for i := range s.f.Series[:rows] {
		y0 := s.inner.y0 + float64(i)*height
		s.plot.Rows = append(s.plot.Rows, [2]float64{y0, y0 + height})
		s.c.text(point{s.inner.x0 - 8, y0 + height/2 + 4}, shortened(s.f.Series[i].Name, lettering{}, maxLabelWidth), lettering{anchor: endAnchor})
		s.drawHeatRow(h, i, columns, y0, y0+height)
	}
	s.x.p0 += (s.x.p1 - s.x.p0) / 2
	s.x.p1 = s.x.p0 + (s.inner.x1-s.inner.x0)/float64(columns)
	s.heatNames(columns)
	s.heatKey(h)
}

// drawHeatRow draws the cells of row i, with their values where all of them have room.
func (s *sketch) drawHeatRow(h heatScale, i, columns int, y0, y1 float64) {
	one := &s.f.Series[i]
	t := lettering{role: exactRole, size: 10.5, anchor: middleAnchor}
	width := s.x.p1 - s.x.p0
	for j := range columns {
		x0 := s.x.p0 + float64(j)*width
		b := rect{x0 + 0.5, y0 + 0.5, x0 + width - 0.5, y1 - 0.5}
		if width < 4 {
			b.x0, b.x1 = x0, x0+width
		}
		v := one.Y[j]
		tip := one.Name + ", " + s.f.X.Names[j] + ": " + s.f.Y.Unit.Text(v)
		if !drawable(v) {
			s.c.box(b, paint{edge: gridRole}, tip)
			if width >= 22 {
				s.c.text(point{x0 + width/2, (y0+y1)/2 + 4}, "n/a", lettering{role: softRole, size: 10.5, anchor: middleAnchor})
			}
			continue
		}
		c := h.colour(float64(v))
		s.c.box(b, paint{role: exactRole, exact: c}, tip)
		t.exact = readable(c)
		if text := shortText(s.f.Y.Unit, v); textWidth(text, t) <= width+1 && y1-y0 >= 14 {
			s.c.text(point{x0 + width/2, (y0+y1)/2 + 4}, text, t)
		}
	}
}

// heatNames writes the names of columns that have room.
func (s *sketch) heatNames(columns int) {
	all := *s.f
	few := all
	few.X.Names = all.X.Names[:columns]
	s.f = &few
	s.drawNames()
	s.f = &all
}

// heatKey draws the colours with their least and largest value above the cells.
func (s *sketch) heatKey(h heatScale) {
	const cells, width = 24, 7
	hi, lo := shortText(s.f.Y.Unit, figure.Number(h.shown.hi)), shortText(s.f.Y.Unit, figure.Number(h.shown.lo))
	x := s.width - textWidth(hi, lettering{}) - 6 - cells*width
	for i := range cells {
		v := h.shown.lo + (h.shown.hi-h.shown.lo)*float64(i)/(cells-1)
		s.c.box(rect{x + float64(i)*width, 8, x + float64(i+1)*width, 20}, paint{role: exactRole, exact: h.colour(v)}, "")
	}
	s.axisText(point{s.width, 18}, hi, endAnchor)
	s.axisText(point{x - 6, 18}, lo, endAnchor)
	room := x - 16 - textWidth(lo, lettering{})
	s.axisText(point{0, 18}, shortened(s.f.Y.Label, lettering{}, room), startAnchor)
}

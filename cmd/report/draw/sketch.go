package draw

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"capcli"
	"capcli/scenarios/figure"
)

// sketch lays a figure out and draws it. To draw it twice gives the same picture.
type sketch struct {
	f      *figure.Figure
	c      canvas
	width  float64
	height float64
	legend []Entry
	notes  []string
	plot   Plot

	inner  rect            // of the axes
	x, y   scale           // of the axes that have numbers
	placed []rect          // labels that stand already, and what they must not cover
	lines  map[[2]int]bool // cells of lines that labels keep away from
	left   int             // labels for which there was no room
}

// scale maps values to pixels.
type scale struct{ d0, d1, p0, p1 float64 }

func (s scale) pixel(v float64) float64 { return s.p0 + (v-s.d0)/(s.d1-s.d0)*(s.p1-s.p0) }

// paint draws the figure on c, without its title and legend.
func (s *sketch) paint(c canvas) {
	s.c, s.legend, s.notes, s.placed, s.lines, s.left, s.plot = c, nil, nil, nil, nil, 0, Plot{}
	s.height = 0
	switch s.f.Kind {
	case figure.Lines:
		s.paintLines()
	case figure.Stack:
		s.paintStack()
	case figure.Points:
		s.paintPoints()
	case figure.Bars:
		s.paintBars()
	case figure.Waterfall:
		s.paintWaterfall()
	case figure.Tornado:
		s.paintTornado()
	case figure.Heat:
		s.paintHeat()
	case figure.Spans:
		s.paintSpans()
	}
	if s.left > 0 {
		s.note("%s had no room in the picture and %s in the table only.", plural(s.left, "label"), verb(s.left, "is", "are"))
	}
	s.plot.Width, s.plot.Height = s.width, s.height
	s.plot.Left, s.plot.Top, s.plot.Right, s.plot.Bottom = s.inner.x0, s.inner.y0, s.inner.x1, s.inner.y1
}

func (s *sketch) note(format string, values ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, values...))
}

// plural returns "1 label" or "2 labels", with commas between the thousands.
func plural(n int, noun string) string {
	return figure.Count.Text(figure.Number(n)) + " " + verb(n, noun, noun+"s")
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// largest is the largest value that is drawn. Beyond it the lengths of axes cannot be computed.
const largest = 1e150

// drawable reports whether v has a place in a picture.
func drawable(v figure.Number) bool { return v.IsKnown() && math.Abs(float64(v)) <= largest }

// noteHuge says how many values are too large to be drawn.
func (s *sketch) noteHuge() {
	n := 0
	for i := range s.f.Series {
		one := &s.f.Series[i]
		for _, list := range [][]figure.Number{one.X, one.Y, one.Lo, one.Hi} {
			for _, v := range list {
				if math.Abs(float64(v)) > largest { // infinite ones, too
					n++
				}
			}
		}
	}
	if n > 0 {
		s.note("%s too large to be drawn.", plural(n, "value")+" "+verb(n, "is", "are"))
	}
}

// seriesRoleAt returns the colour of series i, and its dash: eight colours, each in three dashes; all
// after these are grey.
func seriesRoleAt(i int) (role, string) {
	switch {
	case i < seriesColours:
		return seriesRole + role(i), ""
	case i < 2*seriesColours:
		return seriesRole + role(i%seriesColours), "7 3"
	case i < 3*seriesColours:
		return seriesRole + role(i%seriesColours), "2 3"
	}
	return greyRole, ""
}

// maxLegend is how many entries a legend has.
const maxLegend = 3 * seriesColours

// addLegend adds the entries of series, or says how many are grey.
func (s *sketch) addLegend(style func(i int) Style) {
	n := len(s.f.Series)
	if n == 1 && s.f.Series[0].Name == "" {
		return
	}
	for i := range s.f.Series[:min(n, maxLegend)] {
		r, _ := seriesRoleAt(i)
		s.legend = append(s.legend, Entry{theme[r].class, s.f.Series[i].Name, style(i)})
	}
	if n > maxLegend {
		s.legend = append(s.legend, Entry{theme[greyRole].class, "and " + strconv.Itoa(n-maxLegend) + " more", Stroke})
		s.note("Only the first %d series have a colour; the other %d are grey.", maxLegend, n-maxLegend)
	}
}

// text writes a text in the colour and size of labels of axes.
func (s *sketch) axisText(at point, text string, a anchor) {
	s.c.text(at, text, lettering{role: softRole, anchor: a})
}

// Distances of the frame, in pixels.
const (
	defaultHeight = 320
	topSpace      = 24
	tickSpace     = 20
	lineHeight    = 15
	rightSpace    = 18
	maxLabelWidth = 190
	maxNameWidth  = 250 // of a name beside a bar that lies
)

// frame draws axes with numbers on both sides: grid, ticks and labels. It sets s.inner, s.x and s.y.
func (s *sketch) frame(x, y span) {
	s.height = cmp.Or(s.height, defaultHeight)
	x, y = x.opened(s.f.X.Unit), y.opened(s.f.Y.Unit)
	bottom := s.height - tickSpace - lineHeight
	if s.f.X.Unit != figure.Time && s.f.X.Label == "" {
		bottom += lineHeight
	}
	most := int((bottom - topSpace) / 44)
	y = y.stepped(s.f.Y.Unit, most)
	ticks := ticksOf(s.f.Y.Unit, y, most)
	s.inner = rect{s.tickWidth(ticks) + 8, topSpace, s.width - rightSpace, bottom}
	s.y = scale{y.lo, y.hi, s.inner.y1, s.inner.y0}
	s.x = scale{x.lo, x.hi, s.inner.x0, s.inner.x1}
	s.plot.X, s.plot.Y = [2]float64{x.lo, x.hi}, [2]float64{y.lo, y.hi}
	s.drawLevels(ticks)
	s.c.line([]point{{s.inner.x0, s.inner.y1}, {s.inner.x1, s.inner.y1}}, pen{role: axisRole, width: 1})
	if len(s.f.X.Names) > 0 {
		s.drawNames()
	} else {
		s.drawTicks(x)
	}
	if y.lo > 0 {
		s.note("The axis does not start at zero.")
	}
}

// tickWidth returns the width of the widest text of ticks.
func (s *sketch) tickWidth(ticks []tick) float64 {
	w := 0.0
	for _, t := range ticks {
		w = math.Max(w, textWidth(t.text, lettering{}))
	}
	return w
}

// drawLevels draws the ticks of the axis up, and its label above it.
func (s *sketch) drawLevels(ticks []tick) {
	for _, t := range ticks {
		at := s.y.pixel(t.at)
		r := gridRole
		if t.at == 0 {
			r = axisRole
		}
		s.c.line([]point{{s.inner.x0, at}, {s.inner.x1, at}}, pen{role: r, width: 1})
		s.axisText(point{s.inner.x0 - 6, at + 4}, t.text, endAnchor)
	}
	s.axisText(point{0, 12}, shortened(s.f.Y.Label, lettering{}, s.width), startAnchor)
}

// drawTicks draws the ticks of the axis across, and its label below its end. A tick without room is left
// out.
func (s *sketch) drawTicks(x span) {
	ticks := ticksOf(s.f.X.Unit, x, int((s.inner.x1-s.inner.x0)/70))
	end, endSub := -1e9, -1e9
	y := s.inner.y1
	for _, t := range ticks {
		at := s.x.pixel(t.at)
		w := textWidth(t.text, lettering{})
		center := math.Min(at, s.width-w/2)
		s.c.line([]point{{at, y}, {at, y + 4}}, pen{role: axisRole, width: 1})
		if center-w/2 < end+6 {
			continue
		}
		s.axisText(point{center, y + tickSpace - 3}, t.text, middleAnchor)
		end = center + w/2
		if w := textWidth(t.sub, lettering{}); t.sub != "" && center-w/2 > endSub+6 {
			center = math.Min(at, s.width-w/2)
			s.axisText(point{center, y + tickSpace + lineHeight - 4}, t.sub, middleAnchor)
			endSub = center + w/2
		}
	}
	if label := shortened(s.f.X.Label, lettering{}, s.width/2); label != "" && s.width-textWidth(label, lettering{}) > endSub+12 {
		s.axisText(point{s.width, s.height - 4}, label, endAnchor)
	}
}

// zeroBased returns y with zero, unless the values lie far above or below it.
func zeroBased(y span) span {
	if y.isEmpty() || y.lo > 0.6*y.hi && y.lo > 0 && y.hi > y.lo {
		return y
	}
	if y.hi < 0.6*y.lo && y.hi < 0 && y.hi > y.lo {
		return y
	}
	y.add(0)
	return y
}

// noData says in the middle of an empty picture that there is nothing to see.
func (s *sketch) noData() {
	s.height = cmp.Or(s.height, 120)
	s.inner = rect{0, 0, s.width, s.height}
	s.c.box(rect{0.5, 0.5, s.width - 0.5, s.height - 0.5}, paint{edge: gridRole}, "")
	s.c.text(point{s.width / 2, s.height/2 + 4}, "no known values", lettering{role: softRole, anchor: middleAnchor})
	s.note("None of the values is known: there is nothing to draw.")
}

// moved is a canvas whose top left lies elsewhere.
type moved struct {
	canvas
	dx, dy float64
}

func (m moved) move(points []point) []point {
	return capcli.Map(points, func(p point) point { return point{p.x + m.dx, p.y + m.dy} })
}

func (m moved) area(ring []point, p paint) { m.canvas.area(m.move(ring), p) }
func (m moved) line(points []point, p pen) { m.canvas.line(m.move(points), p) }

func (m moved) box(b rect, p paint, t string) {
	m.canvas.box(rect{b.x0 + m.dx, b.y0 + m.dy, b.x1 + m.dx, b.y1 + m.dy}, p, t)
}

func (m moved) dot(center point, radius float64, p paint, t string) {
	m.canvas.dot(point{center.x + m.dx, center.y + m.dy}, radius, p, t)
}

func (m moved) text(at point, text string, l lettering) {
	m.canvas.text(point{at.x + m.dx, at.y + m.dy}, text, l)
}

// framed draws the figure as a file shows it: with its title, sentence, legend and notes, and with a
// border. It returns the height.
func (s *sketch) framed(c canvas) float64 {
	const border = 20
	whole := s.width
	s.width -= 2 * border
	s.paint(nowhere{})
	side := moved{c, border, 0}
	y := s.header(side)
	s.paint(moved{c, border, y})
	y += s.height + 6
	for _, n := range append(append([]string(nil), s.f.Notes...), s.notes...) {
		for _, line := range wrapped(n, lettering{size: 11}, s.width, 3) {
			y += lineHeight
			side.text(point{0, y}, line, lettering{role: softRole, size: 11})
		}
	}
	s.width = whole
	return y + border
}

// header draws the title, sentence and legend of a file, and returns where they end.
func (s *sketch) header(c canvas) float64 {
	y := 14.0
	title := lettering{size: 18, bold: true}
	for _, line := range wrapped(s.f.Title, title, s.width, 2) {
		y += 22
		c.text(point{0, y}, line, title)
	}
	sentence := lettering{size: 13}
	for _, line := range wrapped(s.f.Sentence, sentence, s.width, 5) {
		y += 19
		c.text(point{0, y}, line, sentence)
	}
	x := 0.0
	for i, e := range s.legend {
		name := shortened(e.Name, lettering{}, 260)
		w := textWidth(name, lettering{}) + 18
		if i == 0 || x+w > s.width {
			x = 0
			y += 22
		}
		drawEntry(c, point{x, y}, e)
		c.text(point{x + 17, y}, name, lettering{})
		x += w + 14
	}
	return y + 14
}

func drawEntry(c canvas, at point, e Entry) {
	r := roleOf(e.Class)
	middle := at.y - 4
	switch e.Style {
	case Stroke:
		c.line([]point{{at.x, middle}, {at.x + 13, middle}}, pen{role: r, width: 2.5})
	case Dashed:
		c.line([]point{{at.x, middle}, {at.x + 13, middle}}, pen{role: r, width: 2.5, dash: "5 3"})
	case Round:
		c.dot(point{at.x + 6, middle}, 4.5, paint{role: r}, "")
	default:
		c.box(rect{at.x + 1, middle - 5, at.x + 11, middle + 5}, paint{role: r}, "")
	}
}

func roleOf(class string) role {
	for r, t := range theme {
		if t.class == class && r >= int(inkRole) {
			return role(r)
		}
	}
	return greyRole
}

package draw

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"capcli/scenarios/figure"
)

// canvas is what figures are drawn on. Lengths are in pixels of the layout, from the top left.
type canvas interface {
	area(ring []point, p paint)
	line(points []point, p pen)
	box(b rect, p paint, tip string)
	dot(center point, radius float64, p paint, tip string)
	text(at point, text string, l lettering)
}

// nowhere is a canvas that shows nothing: drawing on it lays a figure out.
type nowhere struct{}

func (nowhere) area([]point, paint)               {}
func (nowhere) line([]point, pen)                 {}
func (nowhere) box(rect, paint, string)           {}
func (nowhere) dot(point, float64, paint, string) {}
func (nowhere) text(point, string, lettering)     {}

type point struct{ x, y float64 }

// rect is a rectangle from its top left to its bottom right.
type rect struct{ x0, y0, x1, y1 float64 }

func (r rect) overlaps(o rect) bool {
	return r.x0 < o.x1 && o.x0 < r.x1 && r.y0 < o.y1 && o.y0 < r.y1
}

// sorted returns r with its corners in order.
func (r rect) sorted() rect {
	return rect{math.Min(r.x0, r.x1), math.Min(r.y0, r.y1), math.Max(r.x0, r.x1), math.Max(r.y0, r.y1)}
}

// role is what a colour is for. A theme gives each role its colour.
type role uint8

const (
	noRole    role = iota
	exactRole      // the colour stands beside the role
	inkRole
	softRole
	gridRole
	axisRole
	paperRole
	markRole
	greyRole
	downRole
	upRole
	totalRole
	seriesRole // the first of the colours of series
)

const seriesColours = 8

// theme gives each role its colour, light and dark.
//
// The colours of series are those of M. Okabe and K. Ito, Color Universal Design (2008), which people
// who see few colours tell apart. Yellow is last, as it is faint on white; black is left to marks.
var theme = [...]struct {
	class       string
	light, dark rgb
}{
	noRole:         {"", 0, 0},
	exactRole:      {"", 0, 0},
	inkRole:        {"i", 0x1b1f24, 0xe7eaee},
	softRole:       {"o", 0x57606a, 0xa5aeb9},
	gridRole:       {"g", 0xe4e8ec, 0x2b3138},
	axisRole:       {"a", 0x8c959f, 0x6e7781},
	paperRole:      {"p", 0xffffff, 0x14171b},
	markRole:       {"m", 0x1b1f24, 0xe7eaee},
	greyRole:       {"e", 0x9aa3ad, 0x7b848e},
	downRole:       {"d", 0x009e73, 0x009e73},
	upRole:         {"u", 0xd55e00, 0xd55e00},
	totalRole:      {"t", 0x0072b2, 0x3b9bd8},
	seriesRole:     {"s0", 0x0072b2, 0x3b9bd8},
	seriesRole + 1: {"s1", 0xe69f00, 0xe69f00},
	seriesRole + 2: {"s2", 0x009e73, 0x009e73},
	seriesRole + 3: {"s3", 0xd55e00, 0xd55e00},
	seriesRole + 4: {"s4", 0xcc79a7, 0xcc79a7},
	seriesRole + 5: {"s5", 0x56b4e9, 0x8fd3ff},
	seriesRole + 6: {"s6", 0x6b6f00, 0xf0e442},
	seriesRole + 7: {"s7", 0x5a3e8c, 0xb9a3e3},
}

// rgb is a colour: 0xRRGGBB.
type rgb uint32

func (c rgb) String() string { return fmt.Sprintf("#%06x", uint32(c)) }

func (c rgb) parts() (r, g, b uint8) { return uint8(c >> 16), uint8(c >> 8), uint8(c) }

func (r role) colour(exact rgb, dark bool) rgb {
	switch {
	case r == exactRole:
		return exact
	case dark:
		return theme[r].dark
	}
	return theme[r].light
}

// Rules of all drawings, and of texts on a colour of their own.
const (
	baseRules = "svg.fig{display:block;font:12px Arial,Helvetica,\"Liberation Sans\",sans-serif}" +
		"svg.fig .h{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}svg.fig .b{font-weight:700}"
	exactRules = "svg.fig text.w{fill:#fff}svg.fig text.n{fill:#000}"
)

// CSS returns the rules that give the colours to the drawings of a page, light and dark, and print
// them light.
func CSS() string {
	var b strings.Builder
	b.WriteString(baseRules)
	fmt.Fprintf(&b, "svg.fig text{fill:%s}", inkRole.colour(0, false))
	rules(&b, false)
	fmt.Fprintf(&b, "@media screen and (prefers-color-scheme:dark){svg.fig text{fill:%s}", inkRole.colour(0, true))
	rules(&b, true)
	b.WriteString("}" + exactRules)
	return b.String()
}

// rules writes the rules of each role: f for what is filled, k for what is stroked, and of the
// entries of legends.
func rules(b *strings.Builder, dark bool) {
	for r := inkRole; int(r) < len(theme); r++ {
		class, colour := theme[r].class, r.colour(0, dark)
		fmt.Fprintf(b, "svg.fig .f%s{fill:%s}svg.fig .k%s{stroke:%s}", class, colour, class, colour)
		if r >= greyRole {
			fmt.Fprintf(b, ".legend .%s{color:%s}", class, colour)
		}
	}
	fmt.Fprintf(b, "svg.fig .h{stroke:%s}", paperRole.colour(0, dark))
}

// paint is how an area is filled.
type paint struct {
	role    role
	exact   rgb
	opacity float64 // 0 is 1
	edge    role    // of its outline of one pixel; noRole has none
}

// pen is how a line is drawn.
type pen struct {
	role    role
	width   float64
	dash    string // lengths of SVG, such as "6 4"; "" is solid
	opacity float64
}

// lettering is how a text is written.
type lettering struct {
	role   role
	exact  rgb
	size   float64 // 0 is 12
	bold   bool
	anchor anchor
	halo   bool // with an edge in the colour of the paper, so that it is read on lines
}

type anchor uint8

const (
	startAnchor anchor = iota
	middleAnchor
	endAnchor
)

const textSize = 12

func (l lettering) points() float64 {
	if l.size == 0 {
		return textSize
	}
	return l.size
}

// bounds returns the rectangle of a text at a point of its baseline.
func (l lettering) bounds(at point, text string) rect {
	w, size := textWidth(text, l), l.points()
	x := at.x
	switch l.anchor {
	case middleAnchor:
		x -= w / 2
	case endAnchor:
		x -= w
	default:
	}
	return rect{x, at.y - 0.8*size, x + w, at.y + 0.25*size}
}

// svg is a canvas that writes SVG.
type svg struct{ b strings.Builder }

func coordinate(v float64) string {
	r := math.Round(v * 10)
	if r == 0 {
		return "0"
	}
	return strconv.FormatFloat(r/10, 'f', -1, 64)
}

// maxTip is how many characters of a text a picture holds.
const maxTip = 300

// escaped returns a text for SVG: without signs that XML refuses.
func escaped(text string) string { return html.EscapeString(figure.Brief(text, maxTip)) }

func (c *svg) points(points []point) {
	for i, p := range points {
		if i > 0 {
			c.b.WriteByte(' ')
		}
		c.b.WriteString(coordinate(p.x) + "," + coordinate(p.y))
	}
}

func (c *svg) opacity(name string, v float64) {
	if v > 0 && v < 1 {
		fmt.Fprintf(&c.b, ` %s="%s"`, name, strconv.FormatFloat(v, 'f', -1, 64))
	}
}

// fill writes the attributes of a paint. What a drawing on a page has no class for, it has as an
// attribute.
func (c *svg) fill(p paint) {
	var classes []string
	switch p.role {
	case exactRole:
		fmt.Fprintf(&c.b, ` fill="%s"`, p.exact)
	case noRole:
		c.b.WriteString(` fill="none"`)
	default:
		classes = append(classes, "f"+theme[p.role].class)
	}
	if p.edge != noRole {
		classes = append(classes, "k"+theme[p.edge].class)
	}
	if len(classes) > 0 {
		fmt.Fprintf(&c.b, ` class="%s"`, strings.Join(classes, " "))
	}
	c.opacity("fill-opacity", p.opacity)
}

func (c *svg) end(name, tip string) {
	if tip == "" {
		c.b.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&c.b, "><title>%s</title></%s>\n", escaped(tip), name)
}

func (c *svg) area(ring []point, p paint) {
	c.b.WriteString(`<polygon points="`)
	c.points(ring)
	c.b.WriteByte('"')
	c.fill(p)
	c.end("polygon", "")
}

func (c *svg) line(points []point, p pen) {
	c.b.WriteString(`<polyline points="`)
	c.points(points)
	fmt.Fprintf(&c.b, `" fill="none" class="k%s" stroke-width="%s"`, theme[p.role].class, coordinate(p.width))
	if p.dash != "" {
		fmt.Fprintf(&c.b, ` stroke-dasharray="%s"`, p.dash)
	} else if len(points) > 2 {
		c.b.WriteString(` stroke-linejoin="round"`)
	}
	c.opacity("stroke-opacity", p.opacity)
	c.end("polyline", "")
}

func (c *svg) box(b rect, p paint, tip string) {
	b = b.sorted()
	fmt.Fprintf(&c.b, `<rect x="%s" y="%s" width="%s" height="%s"`,
		coordinate(b.x0), coordinate(b.y0), coordinate(b.x1-b.x0), coordinate(b.y1-b.y0))
	c.fill(p)
	c.end("rect", tip)
}

func (c *svg) dot(center point, radius float64, p paint, tip string) {
	fmt.Fprintf(&c.b, `<circle cx="%s" cy="%s" r="%s"`, coordinate(center.x), coordinate(center.y), coordinate(radius))
	c.fill(p)
	if p.edge != noRole {
		c.b.WriteString(` stroke-width="1.5"`)
	}
	c.end("circle", tip)
}

func (c *svg) text(at point, text string, l lettering) {
	if text == "" {
		return
	}
	fmt.Fprintf(&c.b, `<text x="%s" y="%s"`, coordinate(at.x), coordinate(at.y))
	var classes []string
	switch l.role {
	case exactRole:
		classes = append(classes, exactClass(l.exact))
	case noRole, inkRole:
	default:
		classes = append(classes, "f"+theme[l.role].class)
	}
	if l.bold {
		classes = append(classes, "b")
	}
	if l.halo {
		classes = append(classes, "h")
	}
	if len(classes) > 0 {
		fmt.Fprintf(&c.b, ` class="%s"`, strings.Join(classes, " "))
	}
	if l.size != 0 && l.size != textSize {
		fmt.Fprintf(&c.b, ` font-size="%s"`, coordinate(l.size))
	}
	switch l.anchor {
	case middleAnchor:
		c.b.WriteString(` text-anchor="middle"`)
	case endAnchor:
		c.b.WriteString(` text-anchor="end"`)
	default:
	}
	fmt.Fprintf(&c.b, ">%s</text>\n", escaped(text))
}

// exactClass returns the class of a text on a colour of its own, which is black or white in any theme.
func exactClass(c rgb) string {
	if c == white {
		return "w"
	}
	return "n"
}

// element returns the svg element of what was drawn. A file has its own colours and background.
func (c *svg) element(f *figure.Figure, width, height float64, file, dark bool) string {
	var b strings.Builder
	b.WriteString(`<svg class="fig"`)
	if file {
		b.WriteString(` xmlns="http://www.w3.org/2000/svg"`)
	}
	fmt.Fprintf(&b, ` width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="title-%s desc-%s">`,
		coordinate(width), coordinate(height), coordinate(width), coordinate(height), f.ID, f.ID)
	fmt.Fprintf(&b, "\n<title id=\"title-%s\">%s</title><desc id=\"desc-%s\">%s</desc>\n", f.ID, escaped(f.Title), f.ID, html.EscapeString(figure.Brief(description(f), 5*maxTip)))
	if file {
		fmt.Fprintf(&b, "<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" class=\"fp\"/>\n", fileCSS(dark))
	}
	b.WriteString(c.b.String())
	b.WriteString("</svg>")
	return b.String()
}

func fileCSS(dark bool) string {
	var b strings.Builder
	b.WriteString(baseRules)
	fmt.Fprintf(&b, "svg.fig text{fill:%s}", inkRole.colour(0, dark))
	rules(&b, dark)
	b.WriteString(exactRules)
	return b.String()
}

// description returns what a picture shows, for those who cannot see it.
func description(f *figure.Figure) string {
	kinds := map[figure.Kind]string{
		figure.Lines: "Lines", figure.Stack: "Stacked areas", figure.Points: "Points", figure.Bars: "Bars",
		figure.Waterfall: "Waterfall of changes", figure.Tornado: "Bars of low and high values",
		figure.Heat: "Heatmap", figure.Spans: "Bars in time",
	}
	var b strings.Builder
	if f.Sentence != "" {
		b.WriteString(strings.TrimRight(f.Sentence, ". ") + ". ")
	}
	b.WriteString(kinds[f.Kind])
	if f.Y.Label != "" {
		b.WriteString(" of " + f.Y.Label)
	}
	if f.X.Label != "" {
		b.WriteString(" over " + f.X.Label)
	}
	const most = 12
	var names []string
	for _, s := range f.Series[:min(len(f.Series), most)] {
		if s.Name != "" {
			names = append(names, s.Name)
		}
	}
	if len(names) > 0 {
		b.WriteString(": " + strings.Join(names, ", "))
	}
	if rest := len(f.Series) - most; rest > 0 {
		fmt.Fprintf(&b, " and %d more", rest)
	}
	return b.String() + "."
}

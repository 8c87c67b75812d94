package draw

import (
	"fmt"
	"math"
	"strings"
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

// colour returns the colour of a role in a theme.
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

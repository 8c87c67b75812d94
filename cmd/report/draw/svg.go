package draw

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"capcli/scenarios/figure"
)

// svg is a canvas that writes SVG.
type svg struct{ b strings.Builder }

// coordinate returns v in tenths of a pixel.
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

// fileCSS returns the rules of a file in one theme.
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

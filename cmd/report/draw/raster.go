package draw

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"capcli/scenarios/figure"
)

// raster is a canvas of pixels.
type raster struct {
	image *image.RGBA
	scale float64
	dark  bool
	fonts [2]*opentype.Font // regular and bold
	faces map[faceKey]font.Face
}

type faceKey struct {
	bold bool
	size float64
}

func newRaster(width, height, scale float64, dark bool) (*raster, error) {
	c := &raster{scale: scale, dark: dark, faces: map[faceKey]font.Face{}}
	c.image = image.NewRGBA(image.Rect(0, 0, int(math.Ceil(width*scale)), int(math.Ceil(height*scale))))
	draw.Draw(c.image, c.image.Bounds(), image.NewUniform(c.colour(paperRole, 0, 1)), image.Point{}, draw.Src)
	for i, data := range [][]byte{goregular.TTF, gobold.TTF} {
		f, err := opentype.Parse(data)
		if err != nil {
			return nil, err
		}
		c.fonts[i] = f
	}
	return c, nil
}

// colour returns the colour of a role with an opacity; 0 is 1.
func (c *raster) colour(r role, exact rgb, opacity float64) color.NRGBA {
	red, green, blue := r.colour(exact, c.dark).parts()
	if opacity == 0 {
		opacity = 1
	}
	return color.NRGBA{red, green, blue, uint8(math.Round(255 * opacity))}
}

// fill fills closed rings that all turn the same way: where they overlap they are one area.
func (c *raster) fill(rings [][]point, colour color.NRGBA) {
	bounds := rect{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, ring := range rings {
		for _, p := range ring {
			bounds.x0, bounds.x1 = math.Min(bounds.x0, p.x*c.scale), math.Max(bounds.x1, p.x*c.scale)
			bounds.y0, bounds.y1 = math.Min(bounds.y0, p.y*c.scale), math.Max(bounds.y1, p.y*c.scale)
		}
	}
	if !(bounds.x0 <= bounds.x1) {
		return
	}
	size := c.image.Bounds().Max
	box := image.Rect(clamp(math.Floor(bounds.x0), size.X), clamp(math.Floor(bounds.y0), size.Y),
		clamp(math.Ceil(bounds.x1), size.X), clamp(math.Ceil(bounds.y1), size.Y))
	if box.Empty() {
		return
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, ring := range rings {
		for i, p := range ring {
			x, y := float32(p.x*c.scale-float64(box.Min.X)), float32(p.y*c.scale-float64(box.Min.Y))
			if i == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(c.image, box, image.NewUniform(colour), image.Point{})
}

func clamp(v float64, most int) int { return int(math.Min(math.Max(v, 0), float64(most))) }

func (c *raster) area(ring []point, p paint) {
	if p.role != noRole {
		c.fill([][]point{ring}, c.colour(p.role, p.exact, p.opacity))
	}
}

func (c *raster) line(points []point, p pen) {
	colour := c.colour(p.role, 0, p.opacity)
	var rings [][]point
	for _, part := range dashes(points, p.dash) {
		rings = append(rings, stroke(part, p.width)...)
	}
	c.fill(rings, colour)
}

func (c *raster) box(b rect, p paint, _ string) {
	b = b.sorted()
	ring := []point{{b.x0, b.y0}, {b.x1, b.y0}, {b.x1, b.y1}, {b.x0, b.y1}}
	c.area(ring, p)
	if p.edge != noRole {
		c.line(append(ring, ring[0]), pen{role: p.edge, width: 1})
	}
}

func (c *raster) dot(center point, radius float64, p paint, _ string) {
	c.area(circle(center, radius), p)
	if p.edge != noRole {
		ring := circle(center, radius)
		c.line(append(ring, ring[0]), pen{role: p.edge, width: 1.5})
	}
}

// circle returns a ring of 32 corners.
func circle(center point, radius float64) []point {
	const corners = 32
	ring := make([]point, corners)
	for i := range ring {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		ring[i] = point{center.x + radius*cos, center.y + radius*sin}
	}
	return ring
}

// stroke returns the rings that cover a line of a width: a rectangle for each part and a disc at each
// inner corner. All turn the same way.
func stroke(points []point, width float64) [][]point {
	var rings [][]point
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		if length == 0 {
			continue
		}
		nx, ny := (b.y-a.y)/length*width/2, -(b.x-a.x)/length*width/2
		rings = append(rings, []point{{a.x + nx, a.y + ny}, {b.x + nx, b.y + ny}, {b.x - nx, b.y - ny}, {a.x - nx, a.y - ny}})
		if i > 1 && width >= 1.5 {
			rings = append(rings, corner(a, width/2))
		}
	}
	return rings
}

// corner returns a disc of eight corners.
func corner(center point, radius float64) []point {
	ring := make([]point, 8)
	for i := range ring {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / 8)
		ring[i] = point{center.x + radius*cos, center.y + radius*sin}
	}
	return ring
}

// dashes cuts a line into the dashes of a pattern such as "6 4": 6 pixels drawn, 4 left out.
func dashes(points []point, pattern string) [][]point {
	on, off, ok := strings.Cut(pattern, " ")
	draws, err1 := strconv.ParseFloat(on, 64)
	skips, err2 := strconv.ParseFloat(off, 64)
	if !ok || err1 != nil || err2 != nil || len(points) == 0 {
		return [][]point{points}
	}
	var out [][]point
	part := []point{points[0]}
	left, drawing := draws, true
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		for at := 0.0; at < length; {
			goes := math.Min(left, length-at)
			at += goes
			left -= goes
			p := point{a.x + (b.x-a.x)*at/length, a.y + (b.y-a.y)*at/length}
			if drawing {
				part = append(part, p)
			}
			if left > 1e-9 {
				continue
			}
			if drawing {
				out = append(out, part)
				left = skips
			} else {
				part, left = []point{p}, draws
			}
			drawing = !drawing
		}
	}
	if drawing && len(part) > 1 {
		out = append(out, part)
	}
	return out
}

func (c *raster) text(at point, text string, l lettering) {
	text = figure.Clean(text)
	face, err := c.face(l)
	if err != nil || text == "" {
		return // a face of the fonts inside the program always opens
	}
	x := at.x * c.scale
	width := float64(font.MeasureString(face, text)) / 64
	switch l.anchor {
	case middleAnchor:
		x -= width / 2
	case endAnchor:
		x -= width
	default:
	}
	y := at.y * c.scale
	if l.halo {
		r := 1.5 * c.scale
		for i := range 12 {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / 12)
			c.glyphs(face, text, x+r*cos, y+r*sin, c.colour(paperRole, 0, 1))
		}
	}
	role := l.role
	if role == noRole {
		role = inkRole
	}
	c.glyphs(face, text, x, y, c.colour(role, l.exact, 1))
}

func (c *raster) glyphs(face font.Face, text string, x, y float64, colour color.NRGBA) {
	d := font.Drawer{
		Dst: c.image, Src: image.NewUniform(colour), Face: face,
		Dot: fixed.Point26_6{X: fixed.Int26_6(math.Round(x * 64)), Y: fixed.Int26_6(math.Round(y * 64))},
	}
	d.DrawString(text)
}

func (c *raster) face(l lettering) (font.Face, error) {
	key := faceKey{l.bold, l.points() * c.scale}
	if f := c.faces[key]; f != nil {
		return f, nil
	}
	source := c.fonts[0]
	if l.bold {
		source = c.fonts[1]
	}
	f, err := opentype.NewFace(source, &opentype.FaceOptions{Size: key.size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return nil, err
	}
	c.faces[key] = f
	return f, nil
}

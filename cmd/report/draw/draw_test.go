package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"

	"capcli/scenarios/figure"
	"capcli/testdata/figuretest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var unknown = figure.Number(math.NaN())

// element is an element of a drawing.
type element struct {
	name  string
	attrs map[string]string
	text  string // of a text, or of the title inside
}

func (e element) number(t *testing.T, attr string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attrs[attr], 64)
	if err != nil {
		t.Fatalf("%s of %v: %v", attr, e, err)
	}
	return v
}

// corners returns the points of a polyline or polygon.
func (e element) corners(t *testing.T) []point {
	t.Helper()
	var out []point
	for _, pair := range strings.Fields(e.attrs["points"]) {
		x, y, _ := strings.Cut(pair, ",")
		px, err1 := strconv.ParseFloat(x, 64)
		py, err2 := strconv.ParseFloat(y, 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("points %q", pair)
		}
		out = append(out, point{px, py})
	}
	return out
}

// elements returns the elements of an SVG. It fails where the XML is wrong.
func elements(text string) ([]element, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	var out []element
	var open []int
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			out = append(out, e)
			open = append(open, len(out)-1)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, i := range open[max(0, len(open)-2):] {
				if i > 0 {
					out[i].text += string(token)
				}
			}
		}
	}
}

func inline(t *testing.T, f *figure.Figure) (*Drawing, []element) {
	t.Helper()
	d, err := Inline(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := elements(d.SVG)
	if err != nil {
		t.Fatalf("%s: %v", f.ID, err)
	}
	return d, all
}

func classed(all []element, name, class string) []element {
	var out []element
	for _, e := range all {
		if e.name == name && slices.Contains(strings.Fields(e.attrs["class"]), class) {
			out = append(out, e)
		}
	}
	return out
}

// value returns the value at a pixel of the axis up.
func (p Plot) value(y float64) float64 {
	return p.Y[0] + (p.Bottom-y)/(p.Bottom-p.Top)*(p.Y[1]-p.Y[0])
}

// place returns the value at a pixel of the axis across.
func (p Plot) place(x float64) float64 {
	return p.X[0] + (x-p.Left)/(p.Right-p.Left)*(p.X[1]-p.X[0])
}

// isNear reports whether a is b within a twentieth of a pixel of an axis of so many values.
func isNear(a, b, values, pixels float64) bool { return math.Abs(a-b) <= 0.051*values/pixels }

func sample(t *testing.T, kind figure.Kind) *figure.Figure {
	t.Helper()
	for _, f := range figuretest.Samples() {
		if f.Kind == kind {
			return &f
		}
	}
	t.Fatalf("no sample of the kind %s", kind)
	return nil
}

// TestLinesGiveTheirData turns the pixels of a line and its band back into the values.
func TestLinesGiveTheirData(t *testing.T) {
	f := sample(t, figure.Lines)
	d, all := inline(t, f)
	p := d.Plot
	for i, one := range f.Series {
		lines := classed(all, "polyline", "ks"+strconv.Itoa(i))
		if len(lines) != 1 {
			t.Fatalf("%d lines of series %d", len(lines), i)
		}
		corners := lines[0].corners(t)
		if len(corners) != len(one.X) {
			t.Fatalf("%d corners of %d points", len(corners), len(one.X))
		}
		for j, c := range corners {
			if x := p.place(c.x); !isNear(x, float64(one.X[j]), p.X[1]-p.X[0], p.Right-p.Left) {
				t.Errorf("series %d, point %d: x %v, want %v", i, j, x, one.X[j])
			}
			if y := p.value(c.y); !isNear(y, float64(one.Y[j]), p.Y[1]-p.Y[0], p.Bottom-p.Top) {
				t.Errorf("series %d, point %d: y %v, want %v", i, j, y, one.Y[j])
			}
		}
	}
	ring := classed(all, "polygon", "fs0")[0].corners(t)
	n := len(f.Series[0].X)
	for j := range n {
		hi, lo := p.value(ring[j].y), p.value(ring[2*n-1-j].y)
		if !isNear(hi, float64(f.Series[0].Hi[j]), p.Y[1]-p.Y[0], p.Bottom-p.Top) || !isNear(lo, float64(f.Series[0].Lo[j]), p.Y[1]-p.Y[0], p.Bottom-p.Top) {
			t.Errorf("band at %d: %v to %v, want %v to %v", j, lo, hi, f.Series[0].Lo[j], f.Series[0].Hi[j])
		}
	}
}

// TestTicksStandWhereTheySay reads the words of the axes back into values.
func TestTicksStandWhereTheySay(t *testing.T) {
	d, all := inline(t, sample(t, figure.Lines))
	seen := 0
	money := regexp.MustCompile(`^\$([0-9.]+)M$|^\$(0)$`)
	for _, e := range all {
		if m := money.FindStringSubmatch(e.text); e.name == "text" && e.attrs["text-anchor"] == "end" && m != nil {
			want, _ := strconv.ParseFloat(m[1]+m[2], 64)
			if got := d.Plot.value(e.number(t, "y") - 4); math.Abs(got-want*1e6) > 5e3 {
				t.Errorf("%s stands at %v", e.text, got)
			}
			seen++
		}
		if v, err := strconv.ParseFloat(e.text, 64); err == nil && e.name == "text" && e.attrs["text-anchor"] == "middle" {
			if got := d.Plot.place(e.number(t, "x")); math.Abs(got-v) > 0.1 {
				t.Errorf("%s stands at %v", e.text, got)
			}
			seen++
		}
	}
	if seen < 8 {
		t.Errorf("%d ticks found", seen)
	}
}

// TestStackAddsUp holds that the upper edge of each area is the sum of the areas up to it.
func TestStackAddsUp(t *testing.T) {
	f := sample(t, figure.Stack)
	d, all := inline(t, f)
	n := len(f.Series[0].X)
	sums := make([]float64, n)
	for i := range 4 {
		rings := classed(all, "polygon", "fs"+strconv.Itoa(i))
		if len(rings) != 1 {
			t.Fatalf("%d areas of series %d", len(rings), i)
		}
		ring := rings[0].corners(t)
		for j := range n {
			sums[j] += float64(f.Series[i].Y[j])
			if got := d.Plot.value(ring[j].y); !isNear(got, sums[j], d.Plot.Y[1]-d.Plot.Y[0], d.Plot.Bottom-d.Plot.Top) {
				t.Fatalf("series %d, point %d: %v, want %v", i, j, got, sums[j])
			}
		}
	}
	if lines := classed(all, "polyline", "ks4"); len(lines) != 2 {
		t.Errorf("%d lines of the demand, want two: it has a gap", len(lines))
	}
}

func TestUnknownInAStackIsAGap(t *testing.T) {
	f := &figure.Figure{ID: "s", Kind: figure.Stack, X: figure.Axis{Unit: figure.Count}, Y: figure.Axis{Unit: figure.Count}, Series: []figure.Series{
		{Name: "a", X: []figure.Number{0, 1, 2, 3, 4}, Y: []figure.Number{1, 2, unknown, 2, 1}},
		{Name: "b", X: []figure.Number{0, 1, 2, 3, 4}, Y: []figure.Number{1, 1, 1, 1, 1}},
		{Name: "c", X: []figure.Number{0, 1, 2, 3, 4}, Y: []figure.Number{unknown, unknown, unknown, unknown, unknown}},
	}}
	d, all := inline(t, f)
	if areas := classed(all, "polygon", "fs1"); len(areas) != 2 {
		t.Errorf("%d areas of b, want two around the gap", len(areas))
	}
	if notes := strings.Join(d.Notes, "\n"); !strings.Contains(notes, `Nothing is known of "c"`) || !strings.Contains(notes, "gap at 1 point ") {
		t.Errorf("notes: %s", notes)
	}
}

// TestBarsGiveTheirData turns the heights of bars back into the values, piled and beside each other.
func TestBarsGiveTheirData(t *testing.T) {
	f := sample(t, figure.Bars)
	d, all := inline(t, f)
	for i, one := range f.Series {
		bars := classed(all, "rect", "fs"+strconv.Itoa(i))
		k := 0
		for j, y := range one.Y {
			if !y.IsKnown() {
				continue
			}
			b := bars[k]
			k++
			top, bottom := d.Plot.value(b.number(t, "y")), d.Plot.value(b.number(t, "y")+b.number(t, "height"))
			base := 0.0
			if one.Pile {
				base = float64(f.Series[i-1].Y[j])
			}
			if math.Abs(bottom-base) > 1500 || math.Abs(top-base-float64(y)) > 1500 {
				t.Errorf("series %d, %s: %v to %v, want %v more than %v", i, f.X.Names[j], bottom, top, y, base)
			}
		}
		if k != len(bars) {
			t.Errorf("series %d has %d bars, want %d", i, len(bars), k)
		}
	}
}

// TestWaterfallStepsFromTotalToTotal holds that each change starts where the one before ends.
func TestWaterfallStepsFromTotalToTotal(t *testing.T) {
	f := sample(t, figure.Waterfall)
	d, all := inline(t, f)
	if len(d.Notes) != 0 {
		t.Errorf("notes %q", d.Notes)
	}
	var bars []element
	for _, e := range all {
		if e.name == "rect" && e.text != "" {
			bars = append(bars, e)
		}
	}
	sum := 0.0
	for i, b := range bars {
		high, low := d.Plot.value(b.number(t, "y")), d.Plot.value(b.number(t, "y")+b.number(t, "height"))
		from, to := sum, sum+float64(f.Series[0].Y[i])
		if i == len(bars)-1 {
			from, to = 0, float64(f.Series[0].Y[i])
		}
		if math.Abs(low-math.Min(from, to)) > 1500 || math.Abs(high-math.Max(from, to)) > 1500 {
			t.Errorf("%s: %v to %v, want %v to %v", f.X.Names[i], low, high, from, to)
		}
		sum = to
	}
	f.Series[0].Y[5] = 2e6
	if d, _ := inline(t, f); len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "differs from the sum of the bars before it by $420,461") {
		t.Errorf("a total that is no sum: notes %q", d.Notes)
	}
}

func TestTornadoEnds(t *testing.T) {
	f := sample(t, figure.Tornado)
	d, all := inline(t, f)
	// the base and one end give the scale, and the others must agree with it
	downs, ups := classed(all, "rect", "fd"), classed(all, "rect", "fu")
	if len(downs) != 4 || len(ups) != 4 || d.Plot.Names != 4 || !d.Plot.Flip {
		t.Fatalf("%d and %d bars, plot %+v", len(downs), len(ups), d.Plot)
	}
	zero := ups[0].number(t, "x")
	base := float64(f.Marks[0].At)
	perDollar := ups[0].number(t, "width") / (float64(f.Series[0].Hi[0]) - base)
	for i := range downs {
		lo := base + (downs[i].number(t, "x")-zero)/perDollar
		hi := base + (ups[i].number(t, "x")+ups[i].number(t, "width")-zero)/perDollar
		if math.Abs(lo-float64(f.Series[0].Lo[i])) > 500 || math.Abs(hi-float64(f.Series[0].Hi[i])) > 500 {
			t.Errorf("%s: %v to %v", f.X.Names[i], lo, hi)
		}
	}
}

// TestHeatIsReadable holds that a darker cell is a larger value and that its number can be read.
func TestHeatIsReadable(t *testing.T) {
	f := sample(t, figure.Heat)
	f.Series[6].Y[3] = 5 // no value below zero: one way
	_, all := inline(t, f)
	type seen struct{ value, light float64 }
	var cells []seen
	missing := 0
	for _, e := range all {
		if e.name != "rect" || e.text == "" {
			continue
		}
		_, text, _ := strings.Cut(e.text, ": ")
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			missing++
			continue
		}
		c, err := strconv.ParseUint(strings.TrimPrefix(e.attrs["fill"], "#"), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		cells = append(cells, seen{v, luminance(rgb(c))})
		if ratio := contrast(rgb(c), readable(rgb(c))); ratio < 4.5 {
			t.Errorf("%v on #%06x has a contrast of %.1f", v, c, ratio)
		}
	}
	if len(cells) != 7*24-3 || missing != 3 {
		t.Fatalf("%d cells, %d unknown", len(cells), missing)
	}
	slices.SortStableFunc(cells, func(a, b seen) int { return int(a.value - b.value) })
	for i := 1; i < len(cells); i++ {
		if cells[i].value > cells[i-1].value && cells[i].light > cells[i-1].light {
			t.Errorf("%v is lighter than %v", cells[i], cells[i-1])
		}
	}
}

// TestContrastOfHeat holds that black or white can be read on every colour of both scales.
func TestContrastOfHeat(t *testing.T) {
	if got := contrast(black, white); math.Abs(got-21) > 1e-9 {
		t.Errorf("black on white has %v, want 21", got)
	}
	for _, scale := range [][]rgb{oneWay, twoWays} {
		for i := range 101 {
			if c := heatColour(scale, float64(i)/100); contrast(c, readable(c)) < 4.5 {
				t.Errorf("%s: contrast %.2f", c, contrast(c, readable(c)))
			}
		}
	}
}

func TestSpansGiveTheirData(t *testing.T) {
	f := sample(t, figure.Spans)
	d, all := inline(t, f)
	for i, one := range f.Series {
		var bars []element
		for _, e := range classed(all, "rect", "fs"+strconv.Itoa(i)) {
			if e.text != "" {
				bars = append(bars, e)
			}
		}
		for j, b := range bars {
			lo := d.Plot.place(b.number(t, "x"))
			hi := d.Plot.place(b.number(t, "x") + b.number(t, "width"))
			want := float64(one.Hi[j])
			if !one.Hi[j].IsKnown() {
				want = d.Plot.X[1]
			}
			if math.Abs(lo-float64(one.Lo[j])) > 6000 || math.Abs(hi-want) > 12000 {
				t.Errorf("%s %d: %v to %v, want %v to %v", one.Name, j, lo, hi, one.Lo[j], want)
			}
		}
	}
	rows := d.Plot.Rows
	if len(rows) != 3 || rows[0][1] > rows[1][0]+0.1 {
		t.Errorf("rows %v", rows)
	}
}

func TestLanesNeverOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	one := figure.Series{}
	for range 300 {
		lo := r.Float64() * 1000
		one.Lo, one.Hi = append(one.Lo, figure.Number(lo)), append(one.Hi, figure.Number(lo+r.Float64()*50))
	}
	of, count := lanes(&one)
	most := 0
	for i := range of {
		at := 0
		for j := range of {
			if i != j && of[i] == of[j] && one.Lo[i] < one.Hi[j] && one.Lo[j] < one.Hi[i] {
				t.Fatalf("bars %d and %d cover each other in lane %d", i, j, of[i])
			}
			if one.Lo[j] <= one.Lo[i] && one.Lo[i] < one.Hi[j] {
				at++
			}
		}
		most = max(most, at)
	}
	if count != most {
		t.Errorf("%d lanes, want %d: as many as bars at one time", count, most)
	}
}

// TestThinnedLineLooksTheSame holds that each column of pixels has the same lowest and highest value.
func TestThinnedLineLooksTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n, width = 50_000, 700
	xs, ys := make([]float64, n), make([]float64, n)
	y := 0.0
	for i := range xs {
		y += r.NormFloat64()
		xs[i], ys[i] = width*float64(i)/n, y
	}
	kept := thinned(xs, ys, width)
	if len(kept) > 4*width/column+4 {
		t.Errorf("%d points are kept", len(kept))
	}
	type ends struct{ lo, hi float64 }
	columns := func(indices []int) map[int]ends {
		out := map[int]ends{}
		for _, i := range indices {
			c := int(xs[i] / column)
			e, ok := out[c]
			if !ok {
				e = ends{ys[i], ys[i]}
			}
			out[c] = ends{math.Min(e.lo, ys[i]), math.Max(e.hi, ys[i])}
		}
		return out
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	want, got := columns(all), columns(kept)
	for c, e := range want {
		if got[c] != e {
			t.Fatalf("column %d: %v, want %v", c, got[c], e)
		}
	}
	if !slices.IsSorted(kept) || kept[0] != 0 || kept[len(kept)-1] != n-1 {
		t.Error("the points that are kept are not in order from the first to the last")
	}
	f := &figure.Figure{ID: "l", Kind: figure.Lines, X: figure.Axis{Unit: figure.Count}, Y: figure.Axis{Unit: figure.Count}, Series: []figure.Series{{Name: "a", X: figure.Numbers(xs), Y: figure.Numbers(ys)}}}
	d, all2 := inline(t, f)
	drawn := len(classed(all2, "polyline", "ks0")[0].corners(t))
	if want := fmt.Sprintf("Of 50,000 points, %s are drawn", figure.Count.Text(figure.Number(drawn))); !strings.Contains(strings.Join(d.Notes, "\n"), want) {
		t.Errorf("notes %q, want %s", d.Notes, want)
	}
}

// boxes returns where the texts of a drawing are, by the measure of the layout.
func boxes(t *testing.T, all []element) (out []rect, texts []string) {
	t.Helper()
	for _, e := range all {
		if e.name != "text" {
			continue
		}
		l := lettering{bold: strings.Contains(e.attrs["class"], "b")}
		if s := e.attrs["font-size"]; s != "" {
			l.size = e.number(t, "font-size")
		}
		switch e.attrs["text-anchor"] {
		case "middle":
			l.anchor = middleAnchor
		case "end":
			l.anchor = endAnchor
		}
		out = append(out, l.bounds(point{e.number(t, "x"), e.number(t, "y")}, e.text))
		texts = append(texts, e.text)
	}
	return out, texts
}

// TestLabelsDoNotOverlap draws many points with labels: those that are written cover no other, and
// those without room are counted.
func TestLabelsDoNotOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	one := figure.Series{Name: "mixes"}
	for i := range 150 {
		one.X, one.Y = append(one.X, figure.Number(r.Float64())), append(one.Y, figure.Number(r.Float64()))
		one.Labels = append(one.Labels, fmt.Sprintf("mix number %d", i))
	}
	one.Chosen = []int{77}
	f := &figure.Figure{ID: "p", Kind: figure.Points, X: figure.Axis{Unit: figure.Count}, Y: figure.Axis{Unit: figure.Count}, Series: []figure.Series{one}}
	d, all := inline(t, f)
	bounds, texts := boxes(t, all)
	labels := 0
	for i, a := range bounds {
		if strings.HasPrefix(texts[i], "mix number") {
			labels++
		}
		for j := range i {
			if a.overlaps(bounds[j]) {
				t.Errorf("%q covers %q", texts[i], texts[j])
			}
		}
		if a.x0 < 0 || a.x1 > d.Plot.Width || a.y0 < -1 || a.y1 > d.Plot.Height+1 {
			t.Errorf("%q is cut", texts[i])
		}
	}
	if !slices.Contains(texts, "mix number 77") {
		t.Error("the chosen point has no label")
	}
	if want := fmt.Sprintf("%d labels had no room", 150-labels); labels < 10 || labels == 150 || !strings.Contains(strings.Join(d.Notes, " "), want) {
		t.Errorf("%d labels of 150; notes %q", labels, d.Notes)
	}
}

// TestSamplesHaveNoOverlap holds that no two texts of a picture cover each other.
func TestSamplesHaveNoOverlap(t *testing.T) {
	for _, f := range figuretest.Samples() {
		_, all := inline(t, &f)
		bounds, texts := boxes(t, all)
		for i, a := range bounds {
			for j := range i {
				if b := bounds[j]; math.Min(a.x1, b.x1)-math.Max(a.x0, b.x0) > 6 && math.Min(a.y1, b.y1)-math.Max(a.y0, b.y0) > 4 {
					t.Errorf("%s: %q covers %q", f.ID, texts[i], texts[j])
				}
			}
		}
	}
}

// TestAdvancesAreThoseOfTheFont holds the table of widths against the fonts of PNG.
func TestAdvancesAreThoseOfTheFont(t *testing.T) {
	c, err := newRaster(10, 10, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, table := range [][95]uint16{regularAdvances, boldAdvances} {
		face, err := opentype.NewFace(c.fonts[i], &opentype.FaceOptions{Size: 1000, DPI: 72, Hinting: font.HintingNone})
		if err != nil {
			t.Fatal(err)
		}
		for r := ' '; r <= '~'; r++ {
			if a, ok := face.GlyphAdvance(r); !ok || a.Round() != int(table[r-' ']) {
				t.Errorf("font %d, %q: %d, want %d", i, r, table[r-' '], a.Round())
			}
		}
	}
}

// TestPNGIsTheSamePicture holds the pixels in the middle of bars and cells against their colours in
// SVG.
func TestPNGIsTheSamePicture(t *testing.T) {
	for _, f := range figuretest.Samples() {
		var text, pixels bytes.Buffer
		if err := SVG(&text, &f, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := PNG(&pixels, &f, Options{Scale: 1}); err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(pixels.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		all, err := elements(text.String())
		if err != nil {
			t.Fatal(err)
		}
		if b := picture.Bounds(); math.Abs(float64(b.Dx())-all[0].number(t, "width")) > 1 || math.Abs(float64(b.Dy())-all[0].number(t, "height")) > 1 {
			t.Errorf("%s: %v pixels, SVG %v", f.ID, b, all[0].attrs)
		}
		seen, same := 0, 0
		for _, e := range all {
			if (e.name != "rect" && e.name != "circle") || e.text == "" || e.attrs["fill"] == "none" {
				continue
			}
			seen++
			if sameColour(t, picture, e) {
				same++
			}
		}
		if same < seen*8/10 { // numbers and lines lie on some
			t.Errorf("%s: %d of %d shapes have their colour in the middle", f.ID, same, seen)
		}
	}
}

// sameColour reports whether the pixel in a shape has the colour of its class on white.
func sameColour(t *testing.T, picture image.Image, e element) bool {
	t.Helper()
	x, y := 0.0, 0.0
	if e.name == "rect" { // away from the number in the middle
		x, y = e.number(t, "x")+e.number(t, "width")*0.5, e.number(t, "y")+math.Min(3, e.number(t, "height")*0.3)
	} else {
		x, y = e.number(t, "cx"), e.number(t, "cy")
	}
	var want rgb
	if fill := e.attrs["fill"]; fill != "" {
		v, _ := strconv.ParseUint(fill[1:], 16, 32)
		want = rgb(v)
	} else {
		class, _, _ := strings.Cut(e.attrs["class"], " ")
		want = theme[roleOf(class[1:])].light
	}
	opacity := 1.0
	if s := e.attrs["fill-opacity"]; s != "" {
		opacity = e.number(t, "fill-opacity")
	}
	r, g, b, _ := picture.At(int(x), int(y)).RGBA()
	wr, wg, wb := want.parts()
	far := func(got uint32, want uint8) bool {
		return math.Abs(float64(got>>8)-(float64(want)*opacity+255*(1-opacity))) > 24
	}
	return !far(r, wr) && !far(g, wg) && !far(b, wb)
}

func TestSameBytes(t *testing.T) {
	for _, f := range figuretest.Samples() {
		var first [3]bytes.Buffer
		for i := range first {
			err := SVG(&first[i], &f, Options{Dark: true})
			if f.Kind == figure.Points || f.Kind == figure.Lines {
				err = errors.Join(err, PNG(&first[i], &f, Options{Scale: 1}))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first[0].Bytes(), first[1].Bytes()) || !bytes.Equal(first[0].Bytes(), first[2].Bytes()) {
			t.Errorf("%s: other bytes the second time", f.ID)
		}
	}
}

func TestGolden(t *testing.T) {
	for _, kind := range []figure.Kind{figure.Waterfall, figure.Tornado, figure.Spans} {
		f := sample(t, kind)
		var b bytes.Buffer
		if err := SVG(&b, f, Options{}); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join("testdata", f.ID+".svg")
		if *update {
			if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s differs; look at it, then run: go test ./cmd/report/draw -update", name)
		}
	}
}

// Package draw draws figures: as SVG inside a page, as an SVG file and as a PNG file. One code draws
// all of them, on a small canvas with two backends, so that the pictures are the same.
package draw

import (
	"fmt"
	"image/png"
	"io"

	"capcli/scenarios/figure"
)

// Options are how large a picture is, and in which colours. The zero value is a light picture of 760
// pixels.
type Options struct {
	Width  int     // in pixels, 320 to 4000; 0 is 760
	Height int     // of the plot without its legend; 0 is as the kind needs
	Dark   bool    // light on dark, in a picture file
	Scale  float64 // pixels of a PNG for each pixel of the layout, 0.5 to 4; 0 is 2
}

// Drawing is a figure drawn for a page.
type Drawing struct {
	SVG    string   // one svg element, without a title, a sentence and a legend
	Legend []Entry  // what the colours mean
	Notes  []string // what the picture leaves out or cannot show
	Plot   Plot     // where the values lie in the picture
}

// Entry is an entry of a legend. Class is the CSS class that gives its colour.
type Entry struct {
	Class, Name string
	Style       Style
}

// Style is how an Entry is drawn.
type Style string

// The styles of entries.
const (
	Solid  Style = "solid"  // an area
	Stroke Style = "stroke" // a line
	Dashed Style = "dashed" // a broken line
	Round  Style = "round"  // a point
)

// Plot says where values lie in a picture, so that a script can find what is under the pointer.
type Plot struct {
	Width  float64      `json:"w"`
	Height float64      `json:"h"`
	Left   float64      `json:"left"`
	Right  float64      `json:"right"`
	Top    float64      `json:"top"`
	Bottom float64      `json:"bottom"`
	X      [2]float64   `json:"x,omitzero"`     // values at Left and Right
	Y      [2]float64   `json:"y,omitzero"`     // values at Bottom and Top
	Names  int          `json:"names,omitzero"` // names that are drawn, from the first on
	Flip   bool         `json:"flip,omitzero"`  // names lie along the axis up, values along the axis across
	Rows   [][2]float64 `json:"rows,omitempty"` // top and bottom of each row of spans
}

const (
	defaultWidth = 760
	minWidth     = 320
	maxWidth     = 4000
)

// Check reports options out of range.
func (o Options) Check() error {
	switch {
	case o.Width != 0 && (o.Width < minWidth || o.Width > maxWidth):
		return fmt.Errorf("a picture is %d to %d pixels wide, not %d", minWidth, maxWidth, o.Width)
	case o.Height != 0 && (o.Height < 80 || o.Height > maxWidth):
		return fmt.Errorf("a picture is 80 to %d pixels high, not %d", maxWidth, o.Height)
	case o.Scale != 0 && (o.Scale < 0.5 || o.Scale > 4):
		return fmt.Errorf("the scale of a picture is 0.5 to 4, not %g", o.Scale)
	}
	return nil
}

func (o Options) width() float64 {
	if o.Width == 0 {
		return defaultWidth
	}
	return float64(o.Width)
}

func (o Options) scale() float64 {
	if o.Scale == 0 {
		return 2
	}
	return o.Scale
}

// prepared checks f and o, and returns a sketch of f.
func prepared(f *figure.Figure, o Options) (*sketch, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	return newSketch(f, o), nil
}

// Inline draws f for a page, which has the rules of CSS.
func Inline(f *figure.Figure, o Options) (*Drawing, error) {
	s, err := prepared(f, o)
	if err != nil {
		return nil, err
	}
	c := &svg{}
	s.paint(c)
	return &Drawing{
		SVG:    c.element(f, s.width, s.height, false, false),
		Legend: s.legend, Notes: s.notes, Plot: s.plot,
	}, nil
}

// SVG writes f as an SVG file with its title, sentence and legend.
func SVG(w io.Writer, f *figure.Figure, o Options) error {
	s, err := prepared(f, o)
	if err != nil {
		return err
	}
	c := &svg{}
	height := s.framed(c)
	_, err = io.WriteString(w, c.element(f, s.width, height, true, o.Dark)+"\n")
	return err
}

// PNG writes f as a PNG file: the same picture as that of SVG.
func PNG(w io.Writer, f *figure.Figure, o Options) error {
	s, err := prepared(f, o)
	if err != nil {
		return err
	}
	height := s.framed(nowhere{})
	c, err := newRaster(s.width, height, o.scale(), o.Dark)
	if err != nil {
		return err
	}
	s, err = prepared(f, o)
	if err != nil {
		return err
	}
	s.framed(c)
	return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, c.image)
}

// Package figure holds pictures of results as data. A Figure says what is drawn, in which units, and
// in one sentence what a reader sees in it. The packages of cmd/report draw it: in a page, in a
// file, in a terminal.
package figure

import "capcli"

// Figure is one picture. Its data are also its table.
type Figure struct {
	ID       string   `json:"id"` // unique in a paper: small letters, digits and dashes
	Title    string   `json:"title"`
	Sentence string   `json:"sentence"` // what the data say, computed from them
	Kind     Kind     `json:"kind"`
	X        Axis     `json:"x"`
	Y        Axis     `json:"y"`
	Series   []Series `json:"series"`
	Marks    []Mark   `json:"marks,omitempty"`
	Notes    []string `json:"notes,omitempty"` // what a reader must know beside the sentence
}

// Kind says how the series of a Figure are drawn.
type Kind string

// The kinds of figures.
const (
	Lines     Kind = "lines"     // a line for each series; Lo and Hi are a band around it
	Stack     Kind = "stack"     // areas upon each other; a series with Over set is a line over them
	Points    Kind = "points"    // a point for each value; Lo and Hi are its range, Labels its name
	Bars      Kind = "bars"      // bars over the names of X, side by side; a series with Pile set is piled on the one before
	Waterfall Kind = "waterfall" // one series of changes over the names of X; the first and the last are totals
	Tornado   Kind = "tornado"   // one series: for each name of X the values at the low and the high end in Lo and Hi; a mark on y is the base
	Heat      Kind = "heat"      // a row for each series, a column for each name of X, a colour for each value
	Spans     Kind = "spans"     // a row for each series, with a bar on X from Lo to Hi for each value, Y its amount in the unit of Y
)

// Axis is what an axis measures.
type Axis struct {
	Label string   `json:"label"`
	Unit  Unit     `json:"unit"`
	Names []string `json:"names,omitempty"` // names of the places of an axis that has no numbers
}

// Unit is the unit of the values of an axis.
type Unit string

// The units of values.
const (
	Count    Unit = "count"     // a number, such as GPUs or jobs
	USD      Unit = "usd"       // US dollars
	GPUHours Unit = "gpu_hours" // hours of one GPU
	Seconds  Unit = "s"         // a length of time
	Share    Unit = "share"     // 1 is the whole
	Time     Unit = "time"      // a moment: seconds since 1970 in UTC
	Name     Unit = "name"      // no number: the axis has names
)

// Series is one line, area, row or group of bars of a Figure. X, Y, Lo, Hi and Labels have one value
// for each point; those that the kind does not need are nil.
type Series struct {
	Name   string   `json:"name"`
	X      []Number `json:"x,omitempty"`
	Y      []Number `json:"y,omitempty"`
	Lo     []Number `json:"lo,omitempty"`
	Hi     []Number `json:"hi,omitempty"`
	Labels []string `json:"labels,omitempty"`
	Over   bool     `json:"over,omitempty"` // in points: joined by a line
	Pile   bool     `json:"pile,omitempty"`
	Dashed bool     `json:"dashed,omitempty"`
	Chosen []int    `json:"chosen,omitempty"` // indices of the points to stand out, such as the best plan
}

// Mark is a line across a Figure at a value of one axis, such as a limit or a bound.
type Mark struct {
	Label string `json:"label"`
	Axis  string `json:"axis"` // "x" or "y"
	At    Number `json:"at"`
}

// Number is a value. One that is not known (NaN) is drawn as a gap and written as null.
type Number = capcli.Figure

// Numbers converts values.
func Numbers(values []float64) []Number {
	out := make([]Number, len(values))
	for i, v := range values {
		out[i] = Number(v)
	}
	return out
}

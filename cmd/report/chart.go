package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"capcli"
)

// Chart is a text chart of figures over time. The values are at equal intervals; NaN is a gap.
type Chart struct {
	Title    string
	Lines    []Line  // the first line is drawn over the others
	From, To string  // labels under the two ends of the time axis
	Height   int     // rows; 0 is 8; 1 is a spark of the first line after the title
	Top      float64 // the scale reaches at least this value
	// Grid draws each line as a row of blocks after its name, two columns for each value. All
	// rows have the same scale, so that they can be compared.
	Grid bool
	// Stack draws the lines without Over as areas upon each other, the first at the bottom, and those
	// with Over as lines before them.
	Stack bool
	// Columns draws a heat map: each line is a row, and each of its values a cell in the column of
	// that name, with a shade and its figure. Where they do not fit, neighbours are joined to their
	// mean.
	Columns []string
	Spans   *Spans  // draws bars over time in place of lines
	Shades  *Shades // draws a heat map of many columns, a character for each value
}

// Line is one line of a Chart.
type Line struct {
	Name   string
	Values []float64
	Peaks  []float64 // highest value within the interval of each value; nil is Values
	Over   bool      // see Chart.Stack
}

// pen is the set of characters that draw one line.
type pen struct{ flat, upright, downFrom, downTo, upFrom, upTo rune }

var pens = []pen{
	{'─', '│', '╮', '╰', '╯', '╭'},
	{'╌', '╎', '┐', '└', '┘', '┌'},
	{'═', '║', '╗', '╚', '╝', '╔'},
	{'·', '·', '·', '·', '·', '·'},
}

// peakPen marks the highest value of a column above the first line.
const peakPen = '•'

// Draw returns the chart, at most width columns wide; 0 is 80, and less than 30 is 30. A column
// with several values shows their mean, and for the first line their highest value too. The axis
// has round figures, each at a row of its own, and starts at zero where no value is negative.
func (c Chart) Draw(width int) string { return c.draw(width, false) }

// draw is Draw, with colors where color is set.
func (c Chart) draw(width int, color bool) string {
	if width <= 0 {
		width = 80
	}
	width = max(width, 30)
	height := c.Height
	if height == 1 && len(c.Lines) > 0 {
		return Strip(c.Title) + " " + Spark(c.Lines[0].Values) + "\n"
	}
	switch {
	case c.Grid:
		return c.grid()
	case len(c.Columns) > 0:
		return c.heat(width)
	case c.Spans != nil:
		return c.spans(width)
	case c.Shades != nil:
		return c.drawShades(width, color)
	case c.Stack:
		return c.stack(width)
	}
	if height <= 1 {
		height = 8
	}
	lo, hi, ok := c.bounds()
	if !ok {
		return Strip(c.Title) + "\n(no data)\n"
	}
	s := newScale(lo, hi, height)
	s.part(c.Lines[1:])
	labels, labelWidth := s.labels(c.Lines[1:])
	plot := width - labelWidth - 2
	canvas := make([][]rune, s.rows)
	for i := range canvas {
		canvas[i] = []rune(strings.Repeat(" ", plot))
	}
	marked := c.drawPeaks(canvas, &s)
	for i := len(c.Lines) - 1; i >= 0; i-- {
		draw(canvas, pens[i%len(pens)], s.levels(columns(c.Lines[i].Values, plot, mean)))
	}
	return c.titled(canvas, labels, labelWidth, width) + c.legend(labelWidth, plot, marked)
}

// titled returns the title and the rows of a canvas beside the labels of the axis.
func (c *Chart) titled(canvas [][]rune, labels []string, labelWidth, width int) string {
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(wrap(Strip(c.Title), width, "") + "\n")
	}
	for i, row := range canvas {
		pad := strings.Repeat(" ", labelWidth-len(labels[i]))
		b.WriteString(strings.TrimRight(pad+labels[i]+" ┤"+string(row), " ") + "\n")
	}
	return b.String()
}

// drawPeaks marks the highest value of each column of the first line where it is in a row above
// the line. It reports whether it marked any.
func (c *Chart) drawPeaks(canvas [][]rune, s *scale) bool {
	l := &c.Lines[0]
	peaks := l.Peaks
	if peaks == nil {
		peaks = l.Values
	}
	plot, marked := len(canvas[0]), false
	high, line := s.levels(columns(peaks, plot, highest)), s.levels(columns(l.Values, plot, mean))
	for x := range high {
		if high[x] >= 0 && high[x] < line[x] { // rows count from the top
			canvas[high[x]][x], marked = peakPen, true
		}
	}
	return marked
}

// bounds returns the range of the values, of Top and of 0. ok is false where no value is finite.
func (c *Chart) bounds() (lo, hi float64, ok bool) {
	for _, l := range c.Lines {
		for _, values := range [][]float64{l.Values, l.Peaks} {
			for _, v := range values {
				if finite(v) {
					lo, hi, ok = min(lo, v), max(hi, v), true
				}
			}
		}
	}
	if ok {
		hi = max(hi, c.Top)
	}
	if rest := 1e-9 * (hi - lo); -lo < rest { // rounding errors of sums that should be 0
		lo = 0
	} else if hi < rest {
		hi = 0
	}
	if lo == hi {
		hi = lo + 1
	}
	return lo, hi, ok
}

// grid returns the chart as rows of blocks.
func (c *Chart) grid() string {
	_, most, _ := c.bounds()
	nameWidth := 0
	for _, l := range c.Lines {
		nameWidth = max(nameWidth, twwidth.Width(Strip(l.Name)))
	}
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(Strip(c.Title) + "\n")
	}
	for _, l := range c.Lines {
		name := Strip(l.Name)
		b.WriteString(name + strings.Repeat(" ", nameWidth-twwidth.Width(name)+1))
		row := ""
		for _, r := range spark(l.Values, most) {
			row += strings.Repeat(string(r), 2)
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	if from := Strip(c.From); from != "" {
		b.WriteString(strings.Repeat(" ", nameWidth+1) + from + "\n")
	}
	return b.String()
}

// finite reports whether v is a number that a form can write: neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// scale is the value axis of a chart: round figures, each at a row.
type scale struct {
	step   float64 // difference between two figures
	places int     // decimal places of the figures
	from   int     // lowest figure, in steps from zero
	to     int
	each   int // rows between two figures
	rows   int
}

// newScale returns the scale from lo to hi. Its step is the smallest of 1, 2, 2.5 or 5 times a
// power of ten with at most five steps, and at most height-1. lo must be at most 0 and hi at
// least 0.
func newScale(lo, hi float64, height int) scale {
	most := min(5, height-1)
	for exponent := int(math.Floor(math.Log10((hi-lo)/float64(most)))) - 1; ; exponent++ {
		for _, digits := range []float64{1, 2, 2.5, 5} {
			s := scale{step: digits * math.Pow10(exponent), places: max(0, -exponent)}
			if digits == 2.5 {
				s.places = max(0, 1-exponent)
			}
			const slack = 1e-9 // 3 × 0.1 is over 0.3
			s.from, s.to = int(math.Floor(lo/s.step+slack)), int(math.Ceil(hi/s.step-slack))
			if n := s.to - s.from; n <= most {
				s.each = max(1, (height-1+n-1)/n)
				s.rows = n*s.each + 1
				return s
			}
		}
	}
}

// part adds rows between the figures, up to four times, while a constant line falls on the row of
// a figure that is not its value, since it would be misread as that figure.
func (s *scale) part(lines []Line) {
	for range 4 {
		misread := false
		for i := range lines {
			v, ok := lines[i].flat()
			steps := v / s.step
			if row := int(math.Round((steps - float64(s.from)) * float64(s.each))); ok && row%s.each == 0 && math.Abs(steps-math.Round(steps)) > 1e-6 {
				misread = true
			}
		}
		if !misread {
			return
		}
		s.each++
		s.rows = (s.to-s.from)*s.each + 1
	}
}

// labels returns the label of each row, "" for none, and their largest width. Rows with a round
// figure have it. A row of a constant line has the value of that line, where no round figure is.
func (s *scale) labels(lines []Line) (labels []string, width int) {
	labels = make([]string, s.rows)
	for i := range lines {
		if v, ok := lines[i].flat(); ok {
			row := s.levels([]float64{v})[0]
			labels[row] = figure(v)
			width = max(width, len(labels[row]))
		}
	}
	for k := s.from; k <= s.to; k++ {
		row := (s.to - k) * s.each
		labels[row], _ = fixed(float64(k)*s.step, s.places) // it is finite
		width = max(width, len(labels[row]))
	}
	return labels, width
}

// levels returns the row of each value, from the top; -1 for a gap.
func (s *scale) levels(values []float64) []int {
	out := make([]int, len(values))
	for x, v := range values {
		if out[x] = -1; finite(v) {
			out[x] = s.rows - 1 - int(math.Round((v/s.step-float64(s.from))*float64(s.each)))
		}
	}
	return out
}

// columns returns a value for each of plot columns: of of the values in that column; NaN where
// there are no values.
func columns(values []float64, plot int, of func([]float64) float64) []float64 {
	out := make([]float64, plot)
	for x := range out {
		if len(values) == 0 {
			out[x] = math.NaN()
			continue
		}
		from := x * len(values) / plot
		out[x] = of(values[from:max((x+1)*len(values)/plot, from+1)])
	}
	return out
}

// mean returns the mean of the finite values; NaN where none is.
func mean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if finite(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}

func highest(values []float64) float64 {
	top := math.NaN()
	for _, v := range values {
		if finite(v) && !(v <= top) {
			top = v
		}
	}
	return top
}

func draw(canvas [][]rune, p pen, levels []int) {
	for x, y := range levels {
		if y < 0 {
			continue
		}
		next := y
		if x+1 < len(levels) && levels[x+1] >= 0 {
			next = levels[x+1]
		}
		switch {
		case next == y:
			canvas[y][x] = p.flat
		case next > y: // rows count from the top, so this is down
			canvas[y][x], canvas[next][x] = p.downFrom, p.downTo
		default:
			canvas[y][x], canvas[next][x] = p.upFrom, p.upTo
		}
		for between := min(y, next) + 1; between < max(y, next); between++ {
			canvas[between][x] = p.upright
		}
	}
}

// legend returns the text under the plot: the two ends of time, and the names of the lines where
// there are several. A constant line, except the first, has its value there.
func (c *Chart) legend(labelWidth, plot int, peaks bool) string {
	var b strings.Builder
	indent := strings.Repeat(" ", labelWidth+2)
	if from, to := Strip(c.From), Strip(c.To); from+to != "" {
		pad := max(plot-twwidth.Width(from)-twwidth.Width(to), 1)
		b.WriteString(indent + from + strings.Repeat(" ", pad) + to + "\n")
	}
	if len(c.Lines) < 2 && !peaks {
		return b.String()
	}
	var parts []string
	for i, l := range c.Lines {
		name := Strip(l.Name)
		if v, ok := l.flat(); ok && i > 0 {
			name += ", " + figure(v)
		}
		parts = append(parts, strings.Repeat(string(pens[i%len(pens)].flat), 2)+" "+name)
		if i == 0 && peaks {
			parts = append(parts, strings.Repeat(string(peakPen), 2)+" its highest")
		}
	}
	return b.String() + indent + strings.Join(parts, "   ") + "\n"
}

// flat returns the value of a constant line; false where the line is not constant, or zero.
func (l *Line) flat() (float64, bool) {
	for _, v := range l.Values {
		if v != l.Values[0] || !finite(v) || v == 0 {
			return 0, false
		}
	}
	if len(l.Values) == 0 {
		return 0, false
	}
	return l.Values[0], true
}

// figure returns v as text: an integer in full, any other number in three digits.
func figure(v float64) string {
	if v == math.Trunc(v) {
		return capcli.GroupDigits(strconv.FormatFloat(v, 'f', 0, 64))
	}
	text, _ := humanFloat(v) // it is finite
	return text
}

package report

import (
	"math"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Chart is a picture in text of figures over time. The time between values is
// the same for all; NaN is a gap.
type Chart struct {
	Title    string
	Lines    []Line  // the first is drawn over the others
	From, To string  // stands under the two ends
	Height   int     // rows; 0 is 8, and 1 is a spark of the first line behind the title
	Top      float64 // what the highest row stands for at least
	// Grid draws each line as a row of blocks behind its name, two columns for
	// each value and all on one scale, so that rows can be held side by side.
	Grid bool
}

// Line is one line of a Chart.
type Line struct {
	Name   string
	Values []float64
}

// pen is what one line of a chart is drawn with.
type pen struct{ flat, upright, downFrom, downTo, upFrom, upTo rune }

var pens = []pen{
	{'─', '│', '╮', '╰', '╯', '╭'},
	{'╌', '╎', '┐', '└', '┘', '┌'},
	{'═', '║', '╗', '╚', '╝', '╔'},
	{'·', '·', '·', '·', '·', '·'},
}

// Draw gives the chart, at most width columns wide (80 where width is 0, never
// under 30). Several values that share a column are shown by their mean.
func (c Chart) Draw(width int) string {
	if width <= 0 {
		width = 80
	}
	width = max(width, 30)
	height := c.Height
	if height == 1 && len(c.Lines) > 0 {
		return Strip(c.Title) + " " + Spark(c.Lines[0].Values) + "\n"
	}
	if c.Grid {
		return c.grid()
	}
	if height <= 1 {
		height = 8
	}
	lo, hi, ok := c.bounds()
	if !ok {
		return Strip(c.Title) + "\n(no data)\n"
	}
	labels, labelWidth := axis(lo, hi, height)
	plot := width - labelWidth - 2
	canvas := make([][]rune, height)
	for i := range canvas {
		canvas[i] = []rune(strings.Repeat(" ", plot))
	}
	for i := len(c.Lines) - 1; i >= 0; i-- {
		draw(canvas, pens[i%len(pens)], levels(c.Lines[i].Values, plot, height, lo, hi))
	}
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(Strip(c.Title) + "\n")
	}
	for i, row := range canvas {
		pad := strings.Repeat(" ", labelWidth-len(labels[i]))
		b.WriteString(strings.TrimRight(pad+labels[i]+" ┤"+string(row), " ") + "\n")
	}
	b.WriteString(c.legend(labelWidth, plot))
	return b.String()
}

// bounds gives the range of the values, from 0 where none is negative.
func (c *Chart) bounds() (lo, hi float64, ok bool) {
	for _, l := range c.Lines {
		for _, v := range l.Values {
			if finite(v) {
				lo, hi, ok = min(lo, v), max(hi, v), true
			}
		}
	}
	if ok {
		hi = max(hi, c.Top)
	}
	if lo == hi {
		hi = lo + 1
	}
	return lo, hi, ok
}

// grid draws the rows of blocks.
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

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// axis gives the text beside each row: at the top, in the middle, at the foot.
func axis(lo, hi float64, height int) (labels []string, width int) {
	labels = make([]string, height)
	for _, i := range []int{0, height / 2, height - 1} {
		v := hi - (hi-lo)*float64(i)/float64(height-1)
		if labels[i], _ = humanFloat(v); v == math.Trunc(v) { // v is finite
			labels[i], _ = fixed(v, 0)
		}
		width = max(width, len(labels[i]))
	}
	return labels, width
}

// levels gives, for each column of the plot, the row of the line, or -1.
func levels(values []float64, plot, height int, lo, hi float64) []int {
	out := make([]int, plot)
	for x := range out {
		out[x] = -1
		if len(values) == 0 {
			continue
		}
		from := x * len(values) / plot
		to := max((x+1)*len(values)/plot, from+1)
		sum, n := 0.0, 0
		for _, v := range values[from:to] {
			if finite(v) {
				sum, n = sum+v, n+1
			}
		}
		if n > 0 {
			out[x] = height - 1 - int(math.Round((sum/float64(n)-lo)/(hi-lo)*float64(height-1)))
		}
	}
	return out
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

// legend gives what stands under the plot: the two ends of time, and which line
// is which where there are several.
func (c *Chart) legend(labelWidth, plot int) string {
	var b strings.Builder
	indent := strings.Repeat(" ", labelWidth+2)
	if from, to := Strip(c.From), Strip(c.To); from+to != "" {
		pad := max(plot-twwidth.Width(from)-twwidth.Width(to), 1)
		b.WriteString(indent + from + strings.Repeat(" ", pad) + to + "\n")
	}
	if len(c.Lines) > 1 {
		b.WriteString(indent)
		for i, l := range c.Lines {
			if i > 0 {
				b.WriteString("   ")
			}
			b.WriteString(strings.Repeat(string(pens[i%len(pens)].flat), 2) + " " + Strip(l.Name))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

package report

import (
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Spans are rows of bars over an axis, such as the jobs of a run over time (a Gantt chart).
type Spans struct {
	From, To float64  // the axis
	Kinds    []string // names of the kinds of bars; the first is drawn as dots
	Rows     []SpanRow
}

// SpanRow is one row of Spans.
type SpanRow struct {
	Name  string
	Note  string // in a column after the name, such as a number of GPUs
	Bars  []SpanBar
	After string // said after the bars, such as "never fits"
}

// SpanBar is one bar of a row.
type SpanBar struct {
	From, To float64
	Kind     int  // index into Spans.Kinds
	Broken   bool // its end is marked with a cross
}

// spanFills are the characters of the kinds of bars.
var spanFills = []rune("·█▓▒░▚▞#=%")

// breakPen marks the end of a broken bar.
const breakPen = '×'

// most columns of names in a chart of spans; a longer name ends in an ellipsis.
const spanNames = 24

// spans returns the chart as rows of bars. A bar has at least a column.
func (c Chart) spans(width int) string {
	s := c.Spans
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(wrap(Strip(c.Title), width, "") + "\n")
	}
	if len(s.Rows) == 0 || s.To <= s.From {
		return b.String() + "(no data)\n"
	}
	names, notes := 0, 0
	for i := range s.Rows {
		names = max(names, twwidth.Width(Strip(s.Rows[i].Name)))
		notes = max(notes, twwidth.Width(Strip(s.Rows[i].Note)))
	}
	names = min(names, spanNames, width/4)
	plot := max(10, width-names-notes-3)
	broken := false
	for i := range s.Rows {
		r := &s.Rows[i]
		row := []rune(strings.Repeat(" ", plot))
		for _, x := range r.Bars {
			from, to := s.column(x.From, plot), s.column(x.To, plot)
			for at := from; at < max(to, from+1); at++ {
				row[at] = spanFills[x.Kind%len(spanFills)]
			}
			if x.Broken {
				row[max(from, to-1)], broken = breakPen, true
			}
		}
		name, note := cutTo(Strip(r.Name), names), Strip(r.Note)
		line := name + strings.Repeat(" ", names-twwidth.Width(name)+1+notes-twwidth.Width(note)) + note + " │" + string(row)
		line = strings.TrimRight(line, " ")
		if after := Strip(r.After); after != "" {
			line = cutTo(line+" "+after, width)
		}
		b.WriteString(line + "\n")
	}
	ends := Chart{From: c.From, To: c.To}
	b.WriteString(ends.legend(names+notes+1, plot, false))
	var keys []string
	for i, k := range s.Kinds {
		keys = append(keys, strings.Repeat(string(spanFills[i%len(spanFills)]), 2)+" "+Strip(k))
	}
	if broken {
		keys = append(keys, string(breakPen)+" preempted")
	}
	return b.String() + keyLines(keys, names+notes+3, width)
}

// column returns the column of a place on the axis.
func (s *Spans) column(at float64, plot int) int {
	x := (at - s.From) / (s.To - s.From) * float64(plot)
	return max(0, min(int(x), plot-1))
}

// cutTo returns s, at most width columns wide: a longer text ends in an ellipsis.
func cutTo(s string, width int) string {
	if twwidth.Width(s) <= width {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && twwidth.Width(string(r))+1 > width {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// CountText returns n in full, with up to three decimal places where it is no whole number.
func CountText(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

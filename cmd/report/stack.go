package report

import (
	"strings"
)

// fills are the characters of areas, from the bottom up; overs those of lines before them.
var (
	fills = []rune("█▓▒░")
	overs = []rune("━•┄+")
)

// stack returns the chart as areas upon each other with lines before them.
func (c Chart) stack(width int) string {
	height := c.Height
	if height <= 1 {
		height = 8
	}
	var areas, lines []Line
	for _, l := range c.Lines {
		if l.Over {
			lines = append(lines, l)
		} else {
			areas = append(areas, l)
		}
	}
	all := Chart{Lines: append(sumsOf(areas), lines...), Top: c.Top}
	lo, hi, ok := all.bounds()
	if !ok {
		return Strip(c.Title) + "\n(no data)\n"
	}
	s := newScale(min(lo, 0), hi, height)
	labels, labelWidth := s.labels(nil)
	plot := width - labelWidth - 2
	canvas := make([][]rune, s.rows)
	for i := range canvas {
		canvas[i] = []rune(strings.Repeat(" ", plot))
	}
	base := s.levels([]float64{0})[0]
	for i := len(areas) - 1; i >= 0; i-- { // the lower ones hide what is under them
		for x, y := range s.levels(columns(all.Lines[i].Values, plot, mean)) {
			for ; y >= 0 && y < base; y++ {
				canvas[y][x] = fills[i%len(fills)]
			}
		}
	}
	for i, l := range lines {
		for x, y := range s.levels(columns(l.Values, plot, mean)) {
			if y >= 0 {
				canvas[y][x] = overs[i%len(overs)]
			}
		}
	}
	var keys []string
	for i, l := range areas {
		keys = append(keys, strings.Repeat(string(fills[i%len(fills)]), 2)+" "+Strip(l.Name))
	}
	for i, l := range lines {
		keys = append(keys, strings.Repeat(string(overs[i%len(overs)]), 2)+" "+Strip(l.Name))
	}
	ends := Chart{From: c.From, To: c.To}
	return c.titled(canvas, labels, labelWidth, width) + ends.legend(labelWidth, plot, false) + keyLines(keys, labelWidth+2, width)
}

// sumsOf returns each area as the height of its upper edge.
func sumsOf(areas []Line) []Line {
	out := make([]Line, len(areas))
	for i, l := range areas {
		out[i] = Line{Name: l.Name, Values: append([]float64(nil), l.Values...)}
		if i > 0 {
			for x := range min(len(out[i].Values), len(out[i-1].Values)) {
				out[i].Values[x] += out[i-1].Values[x]
			}
		}
	}
	return out
}

// keyLines returns the keys of a chart after an indent, on as many lines as they need.
func keyLines(keys []string, indent, width int) string {
	var b strings.Builder
	at := 0
	for i, k := range keys {
		switch w := len([]rune(k)); {
		case i == 0:
			b.WriteString(strings.Repeat(" ", indent))
			at = indent + w
		case at+3+w > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent + w
		default:
			b.WriteString("   ")
			at += 3 + w
		}
		b.WriteString(k)
	}
	return b.String() + "\n"
}

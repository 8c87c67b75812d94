package report

import (
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Shades draws a heat map of many columns: a row for each line, one character for each value. The shade of
// the character says how high the value is, so that it can be read without colors. Chart.Top is the top of the
// scale, also where values are higher; 0 is the highest value.
type Shades struct {
	Labels []string // under each column, "" for none; those that have no room are left out
	Legend string   // what the top of the scale is, such as "100%"
}

// levels of shades: the background that a terminal with 256 colors has for each, the lightest first.
var shadeColors = []string{"", "48;5;153;38;5;16", "48;5;110;38;5;16", "48;5;67;38;5;231", "48;5;24;38;5;231"}

const gapShade = '·'

// shadeOf returns the level of a value on a scale up to top, -1 for a gap.
func shadeOf(v, top float64) int {
	switch {
	case !finite(v):
		return -1
	case top <= 0:
		return 0
	}
	return max(0, min(int(v/top*float64(len(shades))), len(shades)-1))
}

// drawShades returns the chart as rows of shades.
func (c Chart) drawShades(width int, color bool) string {
	names := 0
	for _, l := range c.Lines {
		names = max(names, twwidth.Width(Strip(l.Name)))
	}
	names = min(names, width/2)
	room := max(1, width-names-1)
	top := c.Top
	if _, most, ok := c.bounds(); ok && top == 0 {
		top = most
	}
	join := 1
	for len(c.Lines) > 0 && (len(c.Lines[0].Values)+join-1)/join > room {
		join++
	}
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(wrap(Strip(c.Title), width, "") + "\n")
	}
	for _, l := range c.Lines {
		name := twwidth.Truncate(Strip(l.Name), names)
		b.WriteString(name + strings.Repeat(" ", names-twwidth.Width(name)+1))
		b.WriteString(shadeRow(l.Values, join, top, color) + "\n")
	}
	if row := c.shadeLabels(join, room); row != "" {
		b.WriteString(strings.Repeat(" ", names+1) + row + "\n")
	}
	legend := ""
	for i := 1; i < len(shades); i++ {
		legend += shade(i, color) + fmt.Sprintf(" from %d%%  ", 20*i)
	}
	b.WriteString(wrap(legend+"of "+Strip(c.Shades.Legend)+"  "+string(gapShade)+" no samples", 0, "") + "\n")
	return b.String()
}

func shade(level int, color bool) string {
	if level < 0 {
		return string(gapShade)
	}
	text := string(shades[level])
	if color && shadeColors[level] != "" {
		return "\x1b[" + shadeColors[level] + "m" + text + "\x1b[0m"
	}
	return text
}

// shadeRow returns the characters of values, of which join make one.
func shadeRow(values []float64, join int, top float64, color bool) string {
	row := ""
	for x := 0; x < len(values); x += join {
		row += shade(shadeOf(mean(values[x:min(x+join, len(values))]), top), color)
	}
	return strings.TrimRight(row, " ")
}

// shadeLabels returns the labels under the columns.
func (c Chart) shadeLabels(join, room int) string {
	row := ""
	for x, label := range c.Shades.Labels {
		label = Strip(label)
		at := x / join
		used := twwidth.Width(row)
		if label == "" || used > 0 && at < used+1 || at < used || at+twwidth.Width(label) > room {
			continue
		}
		row += strings.Repeat(" ", at-used) + label
	}
	return row
}

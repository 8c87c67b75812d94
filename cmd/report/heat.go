package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// shades are the shades of a cell of a heat map, by fifths of the largest value.
var shades = []rune(" ░▒▓█")

// heat returns the chart as a heat map. Each cell has a shade and its figure, so that it can be read
// without colors.
func (c Chart) heat(width int) string {
	_, most, ok := c.bounds()
	if !ok {
		return Strip(c.Title) + "\n(no data)\n"
	}
	names := 0
	for _, l := range c.Lines {
		names = max(names, twwidth.Width(Strip(l.Name)))
	}
	digits, places := len(strconv.FormatFloat(math.Round(most), 'f', 0, 64)), 0
	if most < 10 {
		digits, places = 3, 1
	}
	n := len(c.Columns)
	join := 1
	for join < n && (n%join != 0 || names+1+(n/join)*(digits+1) > width) {
		join++
	}
	cell := min((width-names-1)/(n/join), digits+2)
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(wrap(Strip(c.Title), width, "") + "\n")
	}
	for _, l := range c.Lines {
		name := Strip(l.Name)
		b.WriteString(name + strings.Repeat(" ", names-twwidth.Width(name)+1))
		row := ""
		for x := 0; x < n; x += join {
			text, shade := "", " "
			if v := mean(l.Values[min(x, len(l.Values)):min(x+join, len(l.Values))]); finite(v) {
				text, _ = fixed(v, places)
				text = strings.ReplaceAll(text, ",", "")
				if most > 0 {
					shade = string(shades[max(0, min(int(v/most*5), 4))])
				}
			}
			row += strings.Repeat(" ", max(0, cell-1-len(text))) + shade + text
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	b.WriteString(strings.Repeat(" ", names+1))
	row := ""
	for x := 0; x < n; x += join {
		name := Strip(c.Columns[x])
		row += strings.Repeat(" ", max(0, cell-twwidth.Width(name))) + name
	}
	b.WriteString(strings.TrimRight(row, " ") + "\n")
	largest, _ := fixed(most, places)
	return b.String() + strings.Repeat(" ", names+1) + "░ from a fifth, ▒ two, ▓ three, █ four fifths of " + largest + "\n"
}

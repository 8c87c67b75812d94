package report

import (
	"math"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// kinds are charts of every kind.
func kinds(n int) []Chart {
	line := func(by float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = by * (1 + math.Sin(float64(i)/9))
		}
		return out
	}
	var hours []string
	var week []Line
	for h := range 24 {
		hours = append(hours, string(rune('a'+h)))
	}
	for _, d := range []string{"Mon", "Tue"} {
		week = append(week, Line{Name: d, Values: columns(line(1000), 24, mean)})
	}
	long := strings.Repeat("a long title of many words ", 6)
	return []Chart{
		{Title: long, Stack: true, From: "2027-01-01", To: "2027-12-31", Lines: []Line{
			{Name: "used, committed", Values: line(30)},
			{Name: "used, on-demand", Values: line(20)},
			{Name: "used, spot", Values: line(7)},
			{Name: "committed", Values: line(33), Over: true},
			{Name: "demand (unconstrained)", Values: line(80), Over: true},
		}},
		{Title: long, Lines: []Line{{Name: "waiting, mean", Values: line(3), Peaks: line(9)}}, From: "2027-01-01", To: "2027-12-31"},
		{Title: long, Columns: hours, Lines: week},
		{Title: long, From: "2027-01-01", To: "2027-12-31", Spans: &Spans{To: 100, Kinds: []string{"waiting", "ran in base", "ran in a pool of a long name"}, Rows: []SpanRow{
			{Name: "a job of a name that is far too long", Note: "128", Bars: []SpanBar{{0, 10, 0, false}, {10, 10, 1, false}, {50, 100, 2, true}}},
			{Name: "b", Note: "1", After: "can never run, and a reason"},
		}}},
	}
}

// TestChartsFit draws every kind of chart at 60 to 200 columns: no line is wider.
func TestChartsFit(t *testing.T) {
	for _, n := range []int{1, 3, 50, 400} {
		for width := 60; width <= 200; width++ {
			for i, c := range kinds(n) {
				for line := range strings.Lines(c.Draw(width)) {
					if w := twwidth.Width(strings.TrimSuffix(line, "\n")); w > width {
						t.Fatalf("chart %d of %d values at %d columns has a line of %d: %q", i, n, width, w, line)
					}
				}
			}
		}
	}
}

// TestStackedAreas holds that areas lie upon each other and lines before them.
func TestStackedAreas(t *testing.T) {
	c := Chart{Stack: true, Height: 5, Lines: []Line{
		{Name: "low", Values: []float64{1, 1}}, {Name: "high", Values: []float64{1, 2}}, {Name: "line", Values: []float64{4, 4}, Over: true},
	}}
	want := `4 ┤━━━━━━━━━━━━━━━━━━━━━━━━━━━
3 ┤              ▓▓▓▓▓▓▓▓▓▓▓▓▓
2 ┤▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
1 ┤███████████████████████████
0 ┤
   ██ low   ▓▓ high   ━━ line
`
	if got := c.Draw(30); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestHeatReadsWithoutColor holds that each cell has its figure, and that hours are joined to their
// mean where they do not fit.
func TestHeatReadsWithoutColor(t *testing.T) {
	c := Chart{Columns: []string{"0", "1", "2", "3"}, Lines: []Line{{Name: "Mon", Values: []float64{0, 100, 200, math.NaN()}}, {Name: "Tue", Values: []float64{50, 50, 7, 7}}}}
	want := "Mon     0 ▒100 █200\nTue   ░50  ░50    7    7\n        0    1    2    3\n    ░ from a fifth, ▒ two, ▓ three, █ four fifths of 200\n"
	if got := c.Draw(80); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestEmptyCharts draws charts without data.
func TestEmptyCharts(t *testing.T) {
	for _, c := range []Chart{{Stack: true}, {Columns: []string{"a"}}, {Spans: &Spans{}}} {
		if got := c.Draw(60); !strings.Contains(got, "(no data)") {
			t.Errorf("got %q", got)
		}
	}
}

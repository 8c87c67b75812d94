package report

import (
	"math"
	"strings"
	"testing"
)

// A gap is not a zero, each value has a character, colors change no character, and no line is wider than asked.
func TestShades(t *testing.T) {
	nan := math.NaN()
	c := Chart{Title: "busy", Top: 100, Shades: &Shades{Labels: []string{"Mon", "", "", "", "Tue", "x"}, Legend: "100%"}, Lines: []Line{
		{Name: "gpu-01", Values: []float64{0, 19, 20, 45, 79, 100, 250, nan}},
		{Name: "a\x1b[2Jb", Values: []float64{nan, nan, 100}},
	}}
	want := "busy\n" +
		"gpu-01   ░▒▓██·\n" +
		"ab     ··█\n" +
		"       Mon Tue\n" +
		"░ from 20%  ▒ from 40%  ▓ from 60%  █ from 80%  of 100%  · no samples\n"
	if got := c.Draw(80); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	colored := c.draw(80, true)
	if !strings.Contains(colored, "\x1b[48;5;153") || Strip(strings.ReplaceAll(colored, "\n", "|")) != strings.ReplaceAll(want, "\n", "|") {
		t.Errorf("in colors\n%q", colored)
	}
	var long []float64
	for i := range 500 {
		long = append(long, float64(i))
	}
	c.Lines[0].Values = long
	for _, line := range strings.Split(strings.TrimSpace(c.Draw(40)), "\n")[:3] {
		if n := len([]rune(line)); n > 40 {
			t.Errorf("%d columns wide: %s", n, line)
		}
	}
}

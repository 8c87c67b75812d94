package scaling

import (
	"fmt"

	"capcli"
)

// Lead returns the answer in a sentence for each of the first curves.
func (r *Result) Lead() string {
	text := ""
	for i, c := range r.Curves {
		if i == 2 {
			text += fmt.Sprintf(" %d more in the table.", len(r.Curves)-i)
			break
		}
		first, last := c.Points[0], c.Points[0]
		for _, p := range c.Points {
			if p.Model == first.Model {
				last = p
			}
		}
		if i > 0 {
			text += " "
		}
		text += fmt.Sprintf("%s: %d %s for %d gets %.3g times as much done: an efficiency of %.0f%%.", c.Name, last.GPUs, last.Model, first.GPUs, float64(last.Speedup), 100*float64(last.Efficiency))
	}
	return text
}

// Notes returns what a reader needs to understand the points.
func (r *Result) Notes() []string {
	var out []string
	single, steps := int64(0), false
	for _, c := range r.Curves {
		steps = steps || c.Unit == "steps"
		for _, p := range c.Points {
			if p.Runs == 1 {
				single++
			}
		}
	}
	if single > 0 {
		out = append(out, fmt.Sprintf("%d %s of one run: how much runs differ is not known there, and low is the 5th percentile over its time", single, capcli.Plural(single, "point")))
	}
	if steps {
		out = append(out, "steps are compared as if --batch were true of all runs")
	}
	if n := int64(len(r.Left)); n > 0 {
		out = append(out, fmt.Sprintf("%d %s left out (--table left_out), such as %s: %s", n, capcli.Plural(n, "job"), r.Left[0].Job, r.Left[0].Why))
	}
	return out
}

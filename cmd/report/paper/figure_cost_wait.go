package paper

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/figure"
)

// The cost of a year against the wait, with the frontier of the mixes.
func init() {
	register(Drawing{ID: "cost-wait", Rank: 30, Needs: "a plan of capcli plan mix, or two runs of the same jobs", Draw: drawCostWait})
}

func drawCostWait(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.mixes {
		if f, ok := frontier(x.Doc); ok {
			if runs := trialPoints(m); len(runs.X) > 0 && m.foreignTo(x.Doc) == "" {
				f.Series = append(f.Series, runs)
			}
			out = append(out, f)
		}
	}
	if runs := trialPoints(m); len(out) == 0 && len(runs.X) > 1 && m.foreign() == "" {
		f := costWaitFigure([]figure.Series{runs})
		least, quick := 0, 0
		for i := range runs.X {
			if runs.Y[i] < runs.Y[least] {
				least = i
			}
			if runs.X[i] < runs.X[quick] {
				quick = i
			}
		}
		f.Sentence = sentence(
			fmt.Sprintf("the run %s costs least, %s a year with a wait of %s", runs.Labels[least], usd(runs.Y[least]), wait(runs.X[least])),
			fmt.Sprintf("%s waits least, %s for %s a year", runs.Labels[quick], wait(runs.X[quick]), usd(runs.Y[quick])))
		out = append(out, f)
	}
	return number1(out), ""
}

func costWaitFigure(series []figure.Series) figure.Figure {
	return figure.Figure{
		ID: "cost-wait", Title: "Cost a year against wait (95th percentile)", Kind: figure.Points,
		X: figure.Axis{Label: "Wait, 95th percentile", Unit: figure.Seconds}, Y: figure.Axis{Label: "Cost a year", Unit: figure.USD}, Series: series,
	}
}

// frontierSeries has the mixes that no other mix beats in cost and wait.
const frontierSeries = "Frontier"

func frontier(r *mix.Result) (figure.Figure, bool) {
	s := figure.Series{Name: frontierSeries}
	for _, x := range r.Frontier {
		if x == nil || x.PerYear == nil || x.WaitP95 == nil {
			continue
		}
		if r.Best != nil && x.Mix == r.Best.Mix {
			s.Chosen = append(s.Chosen, len(s.X))
		}
		s.X, s.Y, s.Labels = append(s.X, number(x.WaitP95)), append(s.Y, dollars(*x.PerYear)), append(s.Labels, choicesText(x.Choices))
	}
	if len(s.X) < 2 {
		return figure.Figure{}, false
	}
	f := costWaitFigure([]figure.Series{s})
	last := len(s.X) - 1
	parts := []string{
		fmt.Sprintf("%d mixes are beaten by no other in both cost and wait", len(s.X)),
		fmt.Sprintf("they go from %s a year with a wait of %s to %s with %s", usd(s.Y[0]), wait(s.X[0]), usd(s.Y[last]), wait(s.X[last])),
	}
	switch {
	case len(s.Chosen) > 0:
		i := s.Chosen[0]
		parts = append(parts, fmt.Sprintf("the chosen one costs %s with %s", usd(s.Y[i]), wait(s.X[i])))
	case r.Best != nil && r.Best.PerYear != nil && r.Best.WaitP95 != nil:
		own := figure.Series{
			Name: "Chosen", X: []figure.Number{number(r.Best.WaitP95)}, Y: []figure.Number{dollars(*r.Best.PerYear)}, Labels: []string{choicesText(r.Best.Choices)}, Chosen: []int{0},
		}
		f.Series = append(f.Series, own)
		parts = append(parts, fmt.Sprintf("the chosen one, which holds the limits in more runs, costs %s with %s", usd(own.Y[0]), wait(own.X[0])))
	}
	f.Sentence = sentence(parts...)
	for _, l := range r.Limits {
		if l.Metric == "wait_p95" {
			f.Marks = append(f.Marks, figure.Mark{Label: "Limit " + l.Text, Axis: "x", At: figure.Number(l.Value)})
		}
	}
	f.Notes = []string{"mixes that leave more work undone than allowed are not on the frontier"}
	return f, true
}

// trialPoints returns the simulated plans whose cost and wait are known exactly.
func trialPoints(m *material) figure.Series {
	s := figure.Series{Name: "Runs"}
	for i := range m.trials {
		t := &m.trials[i]
		x, _, _, atLeast := t.spread("wait_p95")
		y, _, _, _ := t.spread("cost_per_year")
		if x.IsKnown() && y.IsKnown() && !atLeast {
			s.X, s.Y, s.Labels = append(s.X, x), append(s.Y, y), append(s.Labels, m.name(t))
		}
	}
	return s
}

// choicesText names a mix by its choice on each axis.
func choicesText(choices []mix.Choice) string {
	out := capcli.Map(choices, func(c mix.Choice) string { return c.Text() })
	return strings.Join(out, ", ")
}

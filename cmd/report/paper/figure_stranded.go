package paper

import (
	"fmt"

	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// Committed GPUs that nobody held, over time, by reason.
func init() {
	register(Drawing{ID: "stranded", Rank: 40, Needs: "a run with a timeline (capcli simulate --out)", Draw: func(m *material) ([]figure.Figure, string) { return m.eachTimeline(drawStranded) }})
}

func drawStranded(line *outcome.Timeline, _ *outcome.Outcome) (figure.Figure, bool) {
	n := len(line.Committed)
	if n == 0 || len(line.Idle) != n || len(line.Blocked) != n || len(line.Down) != n || sumOf(figure.Numbers(line.Committed)) == 0 {
		return figure.Figure{}, false
	}
	x := times(line, n)
	f := figure.Figure{
		ID: "stranded", Title: "Committed GPUs that nobody held, by reason", Kind: figure.Stack,
		X: figure.Axis{Label: "Time (UTC)", Unit: figure.Time}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
		Series: []figure.Series{
			{Name: "Idle", X: x, Y: figure.Numbers(line.Idle)},
			{Name: "Blocked", X: x, Y: figure.Numbers(line.Blocked)},
			{Name: "Down", X: x, Y: figure.Numbers(line.Down)},
			{Name: committedSeries, X: x, Y: figure.Numbers(line.Committed), Over: true, Dashed: true},
		},
	}
	idle, blocked, down, all := sumOf(f.Series[0].Y), sumOf(f.Series[1].Y), sumOf(f.Series[2].Y), sumOf(f.Series[3].Y)
	f.Sentence = sentence(
		fmt.Sprintf("over the steps shown %s of the committed GPU time was stranded", share((idle+blocked+down)/all)),
		fmt.Sprintf("%s idle, %s blocked (jobs waited that could not start there), %s down", share(idle/all), share(blocked/all), share(down/all)),
	)
	f.Notes = []string{fmt.Sprintf("each step is a mean over %s; the last step may be shorter", line.Step)}
	return f, true
}

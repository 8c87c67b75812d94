package paper

import (
	"fmt"

	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// Waiting jobs over time.
func init() {
	register(Drawing{ID: "queue", Rank: 130, Needs: "a run with a timeline (capcli simulate --out)", Draw: func(m *material) ([]figure.Figure, string) { return m.eachTimeline(drawQueue) }})
}

func drawQueue(line *outcome.Timeline, _ *outcome.Outcome) (figure.Figure, bool) {
	n := len(line.Waiting)
	if n == 0 || len(line.WaitingPeak) != n {
		return figure.Figure{}, false
	}
	x := times(line, n)
	peak := make([]figure.Number, n)
	for i, v := range line.WaitingPeak {
		peak[i] = figure.Number(v)
	}
	f := figure.Figure{
		ID: "queue", Title: "Waiting jobs over time", Kind: figure.Lines,
		X: figure.Axis{Label: "Time (UTC)", Unit: figure.Time}, Y: figure.Axis{Label: "Jobs waiting", Unit: figure.Count},
		Series: []figure.Series{{Name: "Mean", X: x, Y: figure.Numbers(line.Waiting)}, {Name: "Most at once", X: x, Y: peak, Dashed: true}},
	}
	at, none := peakOf(peak), 0
	for _, v := range peak {
		if v == 0 {
			none++
		}
	}
	text := fmt.Sprintf("the queue is longest on %s with %s jobs", moment(x[at]), count(peak[at]))
	if peak[at] == 0 {
		text = "no job ever waits"
	}
	f.Sentence = sentence(text, fmt.Sprintf("in %s of %s steps nobody waits", count(figure.Number(none)), count(figure.Number(n))))
	f.Notes = []string{fmt.Sprintf("each step is %s", line.Step)}
	return f, true
}

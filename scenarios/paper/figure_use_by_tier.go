package paper

import (
	"fmt"

	"capcli/scenarios/paper/figure"
	"capcli/simulate/outcome"
)

// GPUs in use by tier over time, against the demand and the commitments.
func init() {
	register(Drawing{ID: "use-by-tier", Rank: 20, Needs: "a run with a timeline (capcli simulate --out)", Draw: func(m *material) ([]figure.Figure, string) { return m.eachTimeline(drawUse) }})
}

// Names of lines that figures over time share.
const (
	demandSeries    = "Demand (unconstrained)"
	committedSeries = "Committed GPUs"
)

func drawUse(line *outcome.Timeline, _ *outcome.Outcome) (figure.Figure, bool) {
	n := len(line.Committed)
	if n == 0 || len(line.Demand) != n {
		return figure.Figure{}, false
	}
	x := times(line, n)
	f := figure.Figure{
		ID: "use-by-tier", Title: "GPUs in use by tier, against demand and commitments", Kind: figure.Stack,
		X: figure.Axis{Label: "Time (UTC)", Unit: figure.Time}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
	}
	for _, t := range line.Tiers {
		if len(t.Used) == n {
			f.Series = append(f.Series, figure.Series{Name: tierName(t.Tier) + ", in use", X: x, Y: figure.Numbers(t.Used)})
		}
	}
	if len(f.Series) == 0 {
		return figure.Figure{}, false
	}
	demand := figure.Series{Name: demandSeries, X: x, Y: figure.Numbers(line.Demand), Over: true}
	held := figure.Series{Name: committedSeries, X: x, Y: figure.Numbers(line.Committed), Over: true, Dashed: true}
	f.Series = append(f.Series, demand, held)
	over, at := 0, peakOf(demand.Y)
	for i := range demand.Y {
		if demand.Y[i] > held.Y[i] {
			over++
		}
	}
	f.Sentence = sentence(
		fmt.Sprintf("demand is above the committed GPUs in %s of %s steps (%s of the time)", count(figure.Number(over)), count(figure.Number(n)), share(figure.Number(over)/figure.Number(n))),
		fmt.Sprintf("it peaks at %s GPUs on %s, with %s committed", count(demand.Y[at]), moment(x[at]), count(held.Y[at])),
	)
	f.Notes = []string{fmt.Sprintf("each step is a mean over %s; demand is what would be in use if no job waited", line.Step)}
	return f, true
}

// tierName names a tier of a document for people.
func tierName(tier string) string {
	switch tier {
	case "on_demand":
		return "On-demand"
	case "":
		return "Other"
	}
	return capital(tier)
}

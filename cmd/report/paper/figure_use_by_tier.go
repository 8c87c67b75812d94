package paper

import (
	"fmt"
	"slices"

	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
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
	wanted, what, peaks := demand.Y, "demand is", "it peaks"
	f.Notes = []string{fmt.Sprintf("each step is a mean over %s; demand is what would be in use if no job waited", line.Step)}
	if slices.Max(line.Demand) > 0 {
		f.Series = append(f.Series, demand)
	} else { // services, which no job asks for
		wanted, what, peaks = usedInAll(line), "GPUs in use are", "they peak"
		f.Notes = []string{fmt.Sprintf("each step is a mean over %s; services hold the GPUs, and no job wants any", line.Step)}
	}
	f.Series = append(f.Series, held)
	over, at := 0, peakOf(wanted)
	for i := range wanted {
		if wanted[i] > held.Y[i] {
			over++
		}
	}
	f.Sentence = sentence(
		fmt.Sprintf("%s above the committed GPUs in %s of %s steps (%s of the time)", what, count(figure.Number(over)), count(figure.Number(n)), share(figure.Number(over)/figure.Number(n))),
		fmt.Sprintf("%s at %s GPUs on %s, with %s committed", peaks, count(wanted[at]), moment(x[at]), count(held.Y[at])),
	)
	return f, true
}

// usedInAll returns the GPUs in use in all tiers, by step.
func usedInAll(line *outcome.Timeline) []figure.Number {
	out := make([]figure.Number, len(line.Committed))
	for _, t := range line.Tiers {
		for i, v := range t.Used {
			out[i] += figure.Number(v)
		}
	}
	return out
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

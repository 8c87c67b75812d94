package whatif

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// figures returns the pictures of an answer: use by tier, and the queue, over time.
func figures(t *outcome.Timeline) []figure.Figure {
	if t == nil || len(t.Committed) == 0 {
		return nil
	}
	x := make([]figure.Number, len(t.Committed))
	for i := range x {
		x[i] = figure.Number(int64(t.Start) + int64(t.Step)*int64(i))
	}
	return []figure.Figure{useByTier(t, x), queue(t, x)}
}

var tierTitles = map[string]string{"committed": "Committed", "on_demand": "On-demand", "spot": "Spot"}

func useByTier(t *outcome.Timeline, x []figure.Number) figure.Figure {
	f := figure.Figure{
		ID: "whatif-use", Title: "GPUs in use by tier, against demand and commitments", Kind: figure.Stack,
		X: figure.Axis{Label: "Time (UTC)", Unit: figure.Time}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
	}
	for _, tier := range t.Tiers {
		f.Series = append(f.Series, figure.Series{Name: tierTitles[tier.Tier], X: x, Y: figure.Numbers(tier.Used)})
	}
	f.Series = append(f.Series, figure.Series{Name: "Demand (unconstrained)", X: x, Y: figure.Numbers(t.Demand), Over: true},
		figure.Series{Name: "Committed GPUs", X: x, Y: figure.Numbers(t.Committed), Over: true, Dashed: true})
	above := 0
	for i := range x {
		if t.Demand[i] > t.Committed[i] {
			above++
		}
	}
	f.Sentence = fmt.Sprintf("Demand is above the committed GPUs in %d of %d steps of %s.", above, len(x), t.Step)
	if len(t.Demand) > 0 && slices.Max(t.Demand) == 0 {
		f.Sentence = "No job wants GPUs: those in use serve requests."
	}
	return f
}

func queue(t *outcome.Timeline, x []figure.Number) figure.Figure {
	f := figure.Figure{
		ID: "whatif-queue", Title: "Waiting jobs over time", Kind: figure.Lines,
		X: figure.Axis{Label: "Time (UTC)", Unit: figure.Time}, Y: figure.Axis{Label: "Jobs waiting", Unit: figure.Count},
		Series: []figure.Series{{Name: "Mean", X: x, Y: figure.Numbers(t.Waiting)}},
	}
	peak, at := int64(0), 0
	for i, n := range t.WaitingPeak {
		if n > peak {
			peak, at = n, i
		}
	}
	if f.Sentence = "No job waits."; peak > 0 {
		f.Sentence = fmt.Sprintf("At most %s jobs wait, on %s.", capcli.Grouped(peak), capcli.Time(x[at]).Date())
	}
	return f
}

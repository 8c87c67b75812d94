package paper

import (
	"fmt"

	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/figure"
)

// The GPUs that are committed before and after each end of commitments, against the demand that
// follows.
func init() {
	register(Drawing{ID: "cliffs", Rank: 92, Needs: "a dated plan of capcli plan futures whose commitments end", Draw: drawCliffs})
}

func drawCliffs(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.futures {
		if f, ok := cliffs(x.Doc); ok {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func cliffs(r *futures.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "cliffs", Title: "Ends of commitments against the demand after them", Kind: figure.Bars,
		X: figure.Axis{Label: "Commitments end on", Unit: figure.Name}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
	}
	before, after := figure.Series{Name: "Committed before"}, figure.Series{Name: "Committed after"}
	mean, high := figure.Series{Name: "Demand after, mean"}, figure.Series{Name: "Demand after, 80% quantile"}
	worst := -1
	short := func(i int) figure.Number { return mean.Y[i] - after.Y[i] }
	for i := range r.Cliffs {
		c := &r.Cliffs[i]
		if !c.Date.Dated() {
			return f, false
		}
		f.X.Names = append(f.X.Names, c.Date.Time.Date())
		before.Y, after.Y = append(before.Y, figure.Number(c.Before)), append(after.Y, figure.Number(c.After))
		mean.Y, high.Y = append(mean.Y, number(c.Wanted)), append(high.Y, number(c.High))
		if mean.Y[i].IsKnown() && (worst < 0 || short(i) > short(worst)) {
			worst = i
		}
	}
	if len(f.X.Names) == 0 {
		return f, false
	}
	f.Series = []figure.Series{before, after, mean, high}
	if worst >= 0 {
		f.Sentence = sentence(fmt.Sprintf("on %s the committed GPUs go from %s to %s, and the month after wants %s on average", f.X.Names[worst], count(before.Y[worst]), count(after.Y[worst]), count(mean.Y[worst])))
	} else {
		f.Sentence = sentence(fmt.Sprintf("commitments end %d times; the demand after them is not known", len(f.X.Names)))
	}
	return f, true
}

package paper

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/figure"
)

// The cost of plans over possible futures: the mean, and the range from a good to a bad one.
func init() {
	register(Drawing{ID: "futures", Rank: 62, Needs: "a plan of capcli plan futures", Draw: drawFutures})
}

// The cost of the best mix in each future that the plan played.
func init() {
	register(Drawing{ID: "played", Rank: 64, Needs: "a plan of capcli plan mix --futures", Draw: drawPlayed})
}

func drawFutures(m *material) ([]figure.Figure, string) {
	out := capcli.Map(m.futures, func(x source[futures.Result]) figure.Figure { return futuresFigure(x.Doc) })
	return number1(out), ""
}

func futuresFigure(r *futures.Result) figure.Figure {
	f := figure.Figure{
		ID: "futures", Title: fmt.Sprintf("Cost of plans over %s futures", capcli.Grouped(int64(r.Futures.Count))), Kind: figure.Bars,
		X: figure.Axis{Label: "Plan", Unit: figure.Name}, Y: figure.Axis{Label: "Cost until " + untilText(r), Unit: figure.USD},
	}
	series := []figure.Series{{Name: "Mean"}, {Name: "80% of futures at most"}, {Name: "95% of futures at most"}, {Name: "Mean of the worst 5%"}}
	for i := range r.Plans {
		p := &r.Plans[i]
		f.X.Names = append(f.X.Names, p.Name)
		for k, v := range []*capcli.USD{p.Mean, p.P80, p.P95, p.CVaR95} {
			series[k].Y = append(series[k].Y, dollarsOr(v))
		}
	}
	series[0].Chosen = []int{0}
	f.Series = series
	if r.Optimum.Bound > 0 {
		f.Marks = []figure.Mark{{Label: "Lower bound (" + r.Risk + ")", Axis: "y", At: dollars(r.Optimum.Bound)}}
	}
	text := fmt.Sprintf("the plan %q costs %s on average, at most %s in 95%% of the futures, and %s on average in the worst 5%%", f.X.Names[0], usd(series[0].Y[0]), usd(series[2].Y[0]), usd(series[3].Y[0]))
	parts := []string{text}
	if len(r.Plans) > 1 {
		k := 1
		for i := range series[0].Y {
			if i > 0 && series[0].Y[i] < series[0].Y[k] {
				k = i
			}
		}
		parts = append(parts, fmt.Sprintf("the least mean of the other plans is that of %q, %s", f.X.Names[k], usd(series[0].Y[k])))
	}
	f.Sentence = sentence(parts...)
	f.Notes = []string{"the futures are those of " + r.Futures.Input, "demand is served at once: what is not committed is bought on demand, and no job waits"}
	return f
}

func untilText(r *futures.Result) string {
	if r.Futures.End.Dated() {
		return r.Futures.End.Time.Date()
	}
	return "the end"
}

func drawPlayed(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.mixes {
		if f, ok := played(x.Doc); ok {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func played(r *mix.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "played", Title: "Cost of the plan in each future, and the least that a mix would have cost", Kind: figure.Points,
		X: figure.Axis{Label: "GPU-hours wanted", Unit: figure.GPUHours}, Y: figure.Axis{Label: "Cost", Unit: figure.USD},
	}
	if r.Futures == nil || r.Best == nil {
		return f, false
	}
	cost, least := figure.Series{Name: "The plan"}, figure.Series{Name: "Cheapest mix that holds the limits in that future"}
	held := 0
	var regret []figure.Number
	for i := range r.Futures.Runs {
		p := &r.Futures.Runs[i]
		if p.Cost == nil || p.Mix < 0 {
			continue
		}
		x, name := figure.Number(p.Drawn.Hours()), fmt.Sprintf("future %d", p.Future)
		if p.Held != nil && *p.Held {
			held++
		} else {
			name += ", breaks a limit"
		}
		cost.X, cost.Y, cost.Labels = append(cost.X, x), append(cost.Y, dollars(*p.Cost)), append(cost.Labels, name)
		least.X, least.Y, least.Labels = append(least.X, x), append(least.Y, dollars(p.Least)), append(least.Labels, fmt.Sprintf("future %d", p.Future))
		regret = append(regret, dollars(*p.Cost)-dollars(p.Least))
	}
	if len(cost.X) < 2 {
		return f, false
	}
	f.Series = []figure.Series{cost, least}
	sorted := slices.Sorted(slices.Values(cost.Y))
	at := peakOf(regret)
	f.Sentence = sentence(
		fmt.Sprintf("over %d futures the plan costs %s to %s and holds the limits in %d of them", len(cost.Y), usd(sorted[0]), usd(sorted[len(sorted)-1]), held),
		fmt.Sprintf("the cheapest mix that holds the limits in a future would have cost %s less on average, %s at most, in %s", usd(meanOf(regret)), usd(regret[at]), strings.TrimSuffix(cost.Labels[at], ", breaks a limit")),
	)
	return f, true
}

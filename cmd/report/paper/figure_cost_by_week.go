package paper

import (
	"fmt"

	"capcli"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// The cost of each week by tier, with the trend over the whole weeks.
func init() {
	register(Drawing{ID: "cost-by-week", Rank: 110, Needs: "a run with a timeline and prices (capcli simulate --out)", Draw: func(m *material) ([]figure.Figure, string) { return m.eachTimeline(drawWeeks) }})
}

// trendSeries names the least-squares line through the whole weeks.
const trendSeries = "Trend of whole weeks"

func drawWeeks(line *outcome.Timeline, o *outcome.Outcome) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "cost-by-week", Title: "Cost by week", Kind: figure.Stack,
		X: figure.Axis{Label: "Week that begins on", Unit: figure.Time}, Y: figure.Axis{Label: "Cost of the week", Unit: figure.USD},
	}
	if len(line.Weeks) < 2 {
		return f, false
	}
	var parts []capcli.USD // of all weeks, tier by tier
	tiers := len(line.Weeks[0].Tiers)
	for i := range line.Weeks {
		w := &line.Weeks[i]
		if len(w.Tiers) != tiers || w.Cost == nil {
			return f, false
		}
		rest := *w.Cost
		for _, t := range w.Tiers {
			if t.Cost == nil {
				return f, false
			}
			parts, rest = append(parts, *t.Cost), rest-*t.Cost
		}
		parts = append(parts, rest)
	}
	total, cents := wholeCents(parts)
	x := capcli.Map(line.Weeks, func(x outcome.Week) figure.Number { return figure.Number(x.Start) })
	for k := range tiers + 1 {
		s := figure.Series{Name: "Other", X: x}
		if k < tiers {
			s.Name = tierName(line.Weeks[0].Tiers[k].Tier)
		}
		for i := range line.Weeks {
			s.Y = append(s.Y, dollars(cents[i*(tiers+1)+k]))
		}
		if k < tiers || sumOf(s.Y) != 0 {
			f.Series = append(f.Series, s)
		}
	}
	out := []string{fmt.Sprintf("the %d weeks cost %s in all", len(x), total)}
	if trend, slope, n := weeklyTrend(line, f.Series); n >= 3 {
		f.Series = append(f.Series, figure.Series{Name: trendSeries, X: x, Y: trend, Over: true, Dashed: true})
		word := "rises"
		if slope < 0 {
			word, slope = "falls", -slope
		}
		out = append(out, fmt.Sprintf("over the %d whole weeks the cost %s by %s a week", n, word, usd(slope)))
	}
	f.Sentence = sentence(out...)
	if o.Cost.Total != nil && floorCent(*o.Cost.Total+cent/2) != total {
		f.Notes = append(f.Notes, fmt.Sprintf("the run costs %s", *o.Cost.Total))
	}
	f.Notes = append(f.Notes, "weeks begin on Monday, 00:00 UTC; the first and the last may be partial")
	return f, true
}

// weeklyTrend returns the least-squares line through the costs of the whole weeks, its slope in
// dollars a week, and the number of whole weeks. Other weeks have no value.
func weeklyTrend(line *outcome.Timeline, costs []figure.Series) (trend []figure.Number, slope figure.Number, n int) {
	var sx, sy, sxx, sxy figure.Number
	trend = make([]figure.Number, len(line.Weeks))
	each := make([]bool, len(line.Weeks))
	for i := range line.Weeks {
		trend[i] = unknown
		if line.Weeks[i].Length != 7*capcli.Day {
			continue
		}
		y := capcli.Sum(costs, func(x figure.Series) figure.Number { return x.Y[i] })
		each[i] = true
		x := figure.Number(i)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if n < 3 {
		return nil, 0, n
	}
	m := figure.Number(n)
	slope = (m*sxy - sx*sy) / (m*sxx - sx*sx)
	for i := range trend {
		if each[i] {
			trend[i] = (sy-slope*sx)/m + slope*figure.Number(i)
		}
	}
	return trend, slope, n
}

package paper

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// The picture that a board needs: the cost of a year and its risk by the number of committed GPUs,
// with the chosen number, the lower bound, and where limits break.
func init() {
	register(Drawing{ID: "cost-by-reserved", Rank: 10, Needs: "a plan of capcli plan mix that varies the size of a committed pool, or runs of several sizes", Draw: drawCostByReserved})
}

func drawCostByReserved(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.mixes {
		if f, ok := costOfSizes(x.Doc); ok {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		if f, ok := costOfTrials(m); ok {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

// sizePoint is one number of committed GPUs in the picture.
type sizePoint struct {
	gpus, cost, lo, hi figure.Number
	breaks             string // the limits that break; "" where all hold
	chosen             bool
}

// Names of the series of costs by number.
const (
	costSeries   = "Cost a year"
	breaksSeries = "Breaks a limit"
)

// costOfSizes draws the plan by its number of committed GPUs.
func costOfSizes(r *mix.Result) (figure.Figure, bool) {
	points := make([]sizePoint, 0, len(r.Sizes))
	for i := range r.Sizes {
		s := &r.Sizes[i]
		p := sizePoint{gpus: figure.Number(s.GPUs), cost: dollars(s.Cost), lo: unknown, hi: unknown, chosen: s.Best}
		if len(s.Range) == 2 && r.Runs > 1 {
			p.lo, p.hi = dollars(s.Range[0]), dollars(s.Range[1])
		}
		if !s.Holds {
			if p.breaks = strings.Join(s.Broken, ", "); p.breaks == "" {
				p.breaks = "the limits together"
			}
		}
		points = append(points, p)
	}
	if len(points) < 2 {
		return figure.Figure{}, false
	}
	f := sizesFigure(points)
	f.Title = "Cost a year and its risk by number of GPUs reserved"
	if bound, ok := yearlyBound(r); ok {
		f.Marks = append(f.Marks, figure.Mark{Label: boundLabel(r), Axis: "y", At: dollars(bound)})
	}
	f.Sentence = sizesSentence(&f, r.Runs)
	if r.Futures != nil {
		f.Notes = append(f.Notes, fmt.Sprintf("each run is one of %d futures", r.Futures.Count))
	}
	if r.Runs == 1 {
		f.Notes = append(f.Notes, "there is one run, so the range of the cost is not known: plan with --runs or --futures")
	}
	f.Notes = append(f.Notes, "every number has the rules of the plan; with other rules another number may cost less")
	if r.Best != nil && len(r.Buys) > 1 {
		f.Notes = append(f.Notes, "the committed pools are in the proportion of the plan")
	}
	return f, true
}

// boundLabel names the lower bound of a plan and what it is over.
func boundLabel(r *mix.Result) string {
	if r.Bound.Service() {
		return "Lower bound of mixes that serve as well"
	}
	return "Lower bound of every mix"
}

// yearlyBound returns the lower bound on the cost of a year; false where none is known.
func yearlyBound(r *mix.Result) (capcli.USD, bool) {
	if r.Bound == nil || r.Bound.Cost <= 0 || r.Best == nil || r.Best.Length <= 0 {
		return 0, false
	}
	return yearly(r.Bound.Cost, r.Best.Length), true
}

// sizesFigure draws points, in the order of the number of GPUs.
func sizesFigure(points []sizePoint) figure.Figure {
	cost := figure.Series{Name: costSeries}
	breaks := figure.Series{Name: breaksSeries, Over: true, Dashed: true}
	band, broken := false, false
	for i, p := range points {
		cost.X, cost.Y = append(cost.X, p.gpus), append(cost.Y, p.cost)
		cost.Lo, cost.Hi = append(cost.Lo, p.lo), append(cost.Hi, p.hi)
		band = band || p.lo.IsKnown()
		breaks.X, breaks.Labels = append(breaks.X, p.gpus), append(breaks.Labels, p.breaks)
		y := unknown
		if p.breaks != "" {
			y, broken = p.cost, true
		}
		breaks.Y = append(breaks.Y, y)
		if p.chosen {
			cost.Chosen = append(cost.Chosen, i)
		}
	}
	if !band {
		cost.Lo, cost.Hi = nil, nil
	}
	f := figure.Figure{
		ID: "cost-by-reserved", Kind: figure.Lines, X: figure.Axis{Label: "GPUs reserved", Unit: figure.Count},
		Y: figure.Axis{Label: "Cost a year", Unit: figure.USD}, Series: []figure.Series{cost},
	}
	if broken {
		f.Series = append(f.Series, breaks)
	}
	for _, i := range cost.Chosen {
		f.Marks = append(f.Marks, figure.Mark{Label: "Chosen", Axis: "x", At: cost.X[i]})
	}
	return f
}

// sizesSentence says what the chosen number costs, how far it is above the bound, and below and
// above which numbers limits break.
func sizesSentence(f *figure.Figure, runs int) string {
	cost := &f.Series[0]
	var parts []string
	if len(cost.Chosen) > 0 {
		i := cost.Chosen[0]
		text := fmt.Sprintf("%s reserved GPUs cost %s a year", count(cost.X[i]), usd(cost.Y[i]))
		if len(cost.Lo) > 0 && cost.Lo[i].IsKnown() {
			text += fmt.Sprintf(" (%s to %s%s)", usd(cost.Lo[i]), usd(cost.Hi[i]), capcli.RangeOf(runs, runsText(runs)))
		}
		for _, b := range f.Marks {
			if b.Axis == "y" && b.At > 0 {
				text += fmt.Sprintf(", %s above the lower bound of %s", share((cost.Y[i]-b.At)/b.At), usd(b.At))
			}
		}
		parts = append(parts, text)
	}
	return sentence(append(parts, holdText(f)...)...)
}

// holdText says which numbers of GPUs hold the limits, and which limits break below and above.
func holdText(f *figure.Figure) []string {
	x := f.Series[0].X
	if len(f.Series) == 1 {
		return []string{fmt.Sprintf("no limit breaks from %s to %s", count(x[0]), count(x[len(x)-1]))}
	}
	labels := f.Series[1].Labels
	first, last := slices.Index(labels, ""), -1
	for i, l := range labels {
		if l == "" {
			last = i
		}
	}
	if first < 0 {
		return []string{fmt.Sprintf("no number from %s to %s holds the limits", count(x[0]), count(x[len(x)-1])), undoneUpTo(x, labels)}
	}
	text := fmt.Sprintf("%s to %s hold the limits", count(x[first]), count(x[last]))
	if first == last {
		text = "only " + count(x[first]) + " holds the limits"
	}
	if slices.ContainsFunc(labels[first:last], func(l string) bool { return l != "" }) {
		text += ", though not every number between"
	}
	out := []string{text, undoneUpTo(x, labels)}
	if first > 0 {
		out = append(out, fmt.Sprintf("%s and fewer break a limit (%s)", count(x[first-1]), labels[first-1]))
	}
	if last+1 < len(x) {
		out = append(out, fmt.Sprintf("%s and more break a limit (%s)", count(x[last+1]), labels[last+1]))
	}
	return out
}

// undoneUpTo says up to which number of GPUs more work is left undone than the limit on it allows: a
// low cost there is no saving. It returns "" where there is none.
func undoneUpTo(x []figure.Number, labels []string) string {
	for i := len(labels) - 1; i >= 0; i-- {
		if strings.Contains(labels[i], "unserved_") {
			return fmt.Sprintf("up to %s more work is left undone than is allowed, which makes the cost low", count(x[i]))
		}
	}
	return ""
}

// costOfTrials draws simulated plans by the committed GPUs that they had.
func costOfTrials(m *material) (figure.Figure, bool) {
	if m.foreign() != "" {
		return figure.Figure{}, false
	}
	var points []sizePoint
	runs := 0
	for i := range m.trials {
		t := &m.trials[i]
		cost, ok := outcome.SpreadOf(t.runs(), "cost_per_year")
		if !ok {
			continue
		}
		p := sizePoint{gpus: t.committed(), cost: figure.Number(cost.Mean.Value), lo: unknown, hi: unknown, breaks: t.broken()}
		if cost.Runs > 1 {
			p.lo, p.hi = figure.Number(cost.Lo.Value), figure.Number(cost.Hi.Value)
		}
		runs = max(runs, cost.Runs)
		points = append(points, p)
	}
	slices.SortStableFunc(points, func(a, b sizePoint) int { return int(max(-1, min(1, a.gpus-b.gpus))) })
	points = slices.CompactFunc(points, func(a, b sizePoint) bool { return a.gpus == b.gpus })
	if len(points) < 2 {
		return figure.Figure{}, false
	}
	best := -1
	for i, p := range points {
		if p.breaks == "" && (best < 0 || p.cost < points[best].cost) {
			best = i
		}
	}
	if best >= 0 {
		points[best].chosen = true
	}
	f := sizesFigure(points)
	f.Title = "Cost a year by number of GPUs committed"
	f.Sentence = sizesSentence(&f, runs)
	f.Notes = []string{"the points are the results named, which may differ in more than the number; the chosen one is the cheapest of them that holds its limits"}
	return f, true
}

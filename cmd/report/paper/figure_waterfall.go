package paper

import (
	"fmt"

	"capcli"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// From the cost of one plan to that of another, by part. The changes sum to the cent.
func init() {
	register(Drawing{ID: "waterfall", Rank: 70, Needs: "two priced runs of the same jobs, or a plan whose own mix is not the best", Draw: drawWaterfall})
}

// partNames are the parts of a cost.
var partNames = []string{"Committed, used", "Committed, stranded", "On-demand", "Spot", "Work not served, priced", "Other"}

// bill is the cost of a year of a plan by part, in whole cents.
type bill struct {
	name  string
	total capcli.USD
	parts []capcli.USD // in the order of partNames
	// undone is the share of the work that is not served; unknown where it is not known.
	undone figure.Number
}

func newBill(name string, parts []capcli.USD, length capcli.Seconds, undone figure.Number) bill {
	for i := range parts {
		parts[i] = yearly(parts[i], length)
	}
	total, cents := wholeCents(parts)
	return bill{name, total, cents, undone}
}

func drawWaterfall(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.mixes {
		own, okOwn := mixBill(x.Doc, x.Doc.Own, "the scenario "+x.Doc.Scenario)
		best, ok := mixBill(x.Doc, x.Doc.Best, "the plan")
		if ok && okOwn && x.Doc.Own.Mix != x.Doc.Best.Mix {
			out = append(out, waterfall(&own, &best))
		}
	}
	var bills []bill
	for i := range m.trials {
		if b, ok := trialBill("the run "+m.name(&m.trials[i]), &m.trials[i]); ok {
			bills = append(bills, b)
		}
	}
	why := m.foreign()
	for i := 1; i < len(bills) && i <= mostPlans && why == ""; i++ {
		out = append(out, waterfall(&bills[0], &bills[i]))
	}
	if why != "" {
		why += ": runs of different jobs are not set against each other"
	}
	return number1(out), why
}

// mixBill returns the bill of a mix; false for nil or a mix without a price.
func mixBill(r *mix.Result, x *mix.Mix, name string) (bill, bool) {
	if x == nil || x.Cost == nil || x.OnDemand == nil || x.Spot == nil || x.Stranded == nil || x.Length <= 0 || r.Futures != nil && r.Futures.Risk != "mean" {
		return bill{}, false
	}
	var priced capcli.USD
	if x.Penalty != nil {
		priced = *x.Penalty
	}
	held := *x.Cost - *x.OnDemand - *x.Spot - priced - *x.Stranded
	return newBill(name, []capcli.USD{held, *x.Stranded, *x.OnDemand, *x.Spot, priced, 0}, x.Length, number(x.Unserved)), true
}

// trialBill returns the mean bill of a simulated plan; false where a run has no price.
func trialBill(name string, t *trial) (bill, bool) {
	total, ok := t.meanUSD(func(o *outcome.Outcome) *capcli.USD { return o.Cost.Total })
	stranded, okStranded := t.meanUSD(func(o *outcome.Outcome) *capcli.USD { return o.Cost.Stranded })
	if !ok || !okStranded {
		return bill{}, false
	}
	tier := func(name string) capcli.USD {
		v, _ := t.meanUSD(func(o *outcome.Outcome) *capcli.USD { u := o.Cost.ByTier[name]; return &u })
		return v
	}
	committed, onDemand, spot := tier("committed"), tier("on_demand"), tier("spot")
	length := capcli.Sum(t.Runs, func(x outcome.Outcome) capcli.Seconds { return x.Ended })
	length /= capcli.Seconds(len(t.Runs))
	undone, _, _, _ := t.spread("unserved_share")
	return newBill(name, []capcli.USD{committed - stranded, stranded, onDemand, spot, 0, total - committed - onDemand - spot}, length, undone), true
}

func waterfall(a, b *bill) figure.Figure {
	f := figure.Figure{
		ID: "waterfall", Title: fmt.Sprintf("Cost a year, from %s to %s", a.name, b.name), Kind: figure.Waterfall,
		X: figure.Axis{Label: "Part of the cost", Unit: figure.Name, Names: []string{a.name}}, Y: figure.Axis{Label: "Cost a year", Unit: figure.USD},
	}
	s := figure.Series{Name: "Change", Y: []figure.Number{dollars(a.total)}}
	most := -1
	for i, name := range partNames {
		change := b.parts[i] - a.parts[i]
		if a.parts[i] == 0 && b.parts[i] == 0 {
			continue
		}
		f.X.Names, s.Y = append(f.X.Names, name), append(s.Y, dollars(change))
		if most < 0 || max(change, -change) > max(b.parts[most]-a.parts[most], a.parts[most]-b.parts[most]) {
			most = i
		}
	}
	name := b.name
	if name == a.name {
		name += " (2)"
	}
	f.X.Names, s.Y = append(f.X.Names, name), append(s.Y, dollars(b.total))
	f.Series = []figure.Series{s}
	parts := []string{fmt.Sprintf("%s costs %s a year, %s less than the %s of %s", b.name, b.total, a.total-b.total, a.total, a.name)}
	switch {
	case b.total > a.total:
		parts[0] = fmt.Sprintf("%s costs %s a year, %s more than the %s of %s", b.name, b.total, b.total-a.total, a.total, a.name)
	case b.total == a.total:
		parts[0] = fmt.Sprintf("%s and %s both cost %s a year", a.name, b.name, a.total)
	}
	if most >= 0 && a.parts[most] != b.parts[most] {
		word, by := "up", b.parts[most]-a.parts[most]
		if by < 0 {
			word, by = "down", -by
		}
		parts = append(parts, fmt.Sprintf("the largest change is in %q, %s by %s", partNames[most], word, by))
	}
	if a.undone.IsKnown() && b.undone.IsKnown() && undoneText(float64(a.undone)) != undoneText(float64(b.undone)) {
		parts = append(parts, fmt.Sprintf("the work that is not served goes from %s to %s", undoneText(float64(a.undone)), undoneText(float64(b.undone))))
	}
	f.Sentence = sentence(parts...)
	f.Notes = []string{"amounts are of a year at the rate of the runs, in whole cents; the changes sum exactly"}
	return f
}

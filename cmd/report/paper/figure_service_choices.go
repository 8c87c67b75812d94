package paper

import (
	"fmt"

	"capcli/scenarios/decide/plan/sizing"
	"capcli/scenarios/figure"
)

// What a million tokens cost, by GPU model, width and weights, or by term where there is one choice.
func init() {
	register(Drawing{ID: "service-cost", Rank: 7, Needs: "a plan of capcli plan service with prices", Only: hasServices, Draw: drawServiceCost})
}

func drawServiceCost(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.services {
		if f, ok := serviceCost(x.Doc); ok && len(out) < mostPlans {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func serviceCost(r *sizing.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "service-cost", Title: "Cost of a million tokens of " + r.Service, Kind: figure.Bars,
		X: figure.Axis{Label: "Choice", Unit: figure.Name}, Y: figure.Axis{Label: "Cost of a million tokens", Unit: figure.USD},
	}
	s := figure.Series{Name: "A million tokens, in and out"}
	add := func(name string, c *sizing.Cost) {
		if c != nil && c.PerMillion != nil && c.Rate > 0 {
			f.X.Names, s.Y = append(f.X.Names, name), append(s.Y, dollars(*c.PerMillion))
		}
	}
	if len(r.Choices) > 1 {
		for i := range r.Choices {
			add(r.Choices[i].Name(), r.Choices[i].Cost)
		}
	} else {
		f.X.Label = "Term"
		for i := range r.Costs {
			add(r.Costs[i].Term, &r.Costs[i])
		}
	}
	if len(s.Y) == 0 {
		return f, false
	}
	least := 0
	for i := range s.Y {
		if s.Y[i] < s.Y[least] {
			least = i
		}
	}
	f.Series = []figure.Series{s}
	f.Sentence = sentence(fmt.Sprintf("%s is cheapest with %s for a million tokens", f.X.Names[least], usd(s.Y[least])))
	f.Notes = []string{"at the rate of requests that was given, with all replicas held all the time; choices that keep no promise are left out"}
	return f, true
}

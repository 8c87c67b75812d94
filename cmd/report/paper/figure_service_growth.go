package paper

import (
	"fmt"

	"capcli/scenarios/decide/plan/sizing"
	"capcli/scenarios/figure"
)

// The GPUs that a service needs if its load grows.
func init() {
	register(Drawing{ID: "service-growth", Rank: 8, Needs: "a plan of capcli plan service --growth", Only: hasServices, Draw: drawServiceGrowth})
}

func drawServiceGrowth(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.services {
		if f, ok := serviceGrowth(x.Doc); ok && len(out) < mostPlans {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func serviceGrowth(r *sizing.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "service-growth", Title: "GPUs that " + r.Service + " needs if its load grows", Kind: figure.Bars,
		X: figure.Axis{Label: "Load", Unit: figure.Name}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
	}
	s := figure.Series{Name: "GPUs"}
	for i := range r.Growth {
		g := &r.Growth[i]
		f.X.Names, s.Y = append(f.X.Names, fmt.Sprintf("x %g", g.Load)), append(s.Y, number(g.GPUs))
	}
	last := len(s.Y) - 1
	if last < 0 || !s.Y[last].IsKnown() || r.Headroom == nil {
		return f, false
	}
	f.Series = []figure.Series{s}
	f.Sentence = sentence(fmt.Sprintf("at %s the load it needs %s GPUs", f.X.Names[last], count(s.Y[last])), r.Headroom.Clause())
	return f, true
}

package paper

import (
	"fmt"

	"capcli/scenarios/decide/plan/sizing"
	"capcli/scenarios/figure"
)

// The GPUs that each hour of a service needs, beside what is reserved.
func init() {
	register(Drawing{ID: "service-hours", Rank: 6, Needs: "a plan of capcli plan service --hourly", Only: hasServices, Draw: drawServiceHours})
}

func drawServiceHours(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.services {
		if f, ok := serviceHours(x.Doc); ok && len(out) < mostPlans {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func serviceHours(r *sizing.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "service-hours", Title: "GPUs that each hour of " + r.Service + " needs", Kind: figure.Bars,
		X: figure.Axis{Label: "Hour", Unit: figure.Name}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
	}
	if len(r.Hours) == 0 || len(r.Hours) > 24*8 {
		return f, false
	}
	s := figure.Series{Name: "GPUs"}
	high, low := 0, 0
	for i, h := range r.Hours {
		f.X.Names = append(f.X.Names, h.Name())
		s.Y = append(s.Y, number(h.GPUs))
		if s.Y[i] > s.Y[high] || !s.Y[high].IsKnown() {
			high = i
		}
		if s.Y[i] < s.Y[low] || !s.Y[low].IsKnown() {
			low = i
		}
	}
	if !s.Y[high].IsKnown() {
		return f, false
	}
	f.Series = []figure.Series{s}
	text := fmt.Sprintf("%s needs the most with %s GPUs, and %s the fewest with %s", f.X.Names[high], count(s.Y[high]), f.X.Names[low], count(s.Y[low]))
	if r.Split != nil && r.Split.Base > 0 {
		f.Marks = []figure.Mark{{Label: "Reserved", Axis: "y", At: figure.Number(r.Split.Base)}}
		text += fmt.Sprintf("; %s are reserved, and the rest scales", count(f.Marks[0].At))
	}
	f.Sentence = sentence(text)
	return f, true
}

package paper

import (
	"fmt"

	"capcli/scenarios/figure"
)

// How long the services of played plans take to begin an answer.
func init() {
	register(Drawing{ID: "service-times", Rank: 95, Needs: "a run with services whose requests are played one by one", Only: playsServices, Draw: drawServiceTimes})
}

// playsServices reports whether a played plan has services.
func playsServices(m *material) bool {
	for i := range m.trials {
		if len(m.trials[i].Runs[0].Services) > 0 {
			return true
		}
	}
	return false
}

// fillServices gives f a bar for each of two metrics of each service of the played plans of which both are
// known, as means over the runs. It returns the place of the service with the most of the second; -1 without
// any.
func (m *material) fillServices(f *figure.Figure, first, firstName, second, secondName string) int {
	a, b := figure.Series{Name: firstName}, figure.Series{Name: secondName}
	most := -1
	for i := range m.trials {
		t := &m.trials[i]
		for k := range t.Runs[0].Services {
			name := t.Runs[0].Services[k].Name
			x, _, _, _ := t.spread(name + "." + first)
			y, _, _, _ := t.spread(name + "." + second)
			if !x.IsKnown() || !y.IsKnown() {
				continue
			}
			if len(m.trials) > 1 {
				name += " in " + m.name(t)
			}
			f.X.Names, a.Y, b.Y = append(f.X.Names, name), append(a.Y, x), append(b.Y, y)
			if most < 0 || y > b.Y[most] {
				most = len(b.Y) - 1
			}
		}
	}
	f.Series = []figure.Series{a, b}
	return most
}

func drawServiceTimes(m *material) ([]figure.Figure, string) {
	f := figure.Figure{
		ID: "service-times", Title: "Time to the first token of an answer", Kind: figure.Bars,
		X: figure.Axis{Label: "Service", Unit: figure.Name}, Y: figure.Axis{Label: "Time", Unit: figure.Seconds},
	}
	slowest := m.fillServices(&f, "ttft_p50", "50% of the requests within", "ttft_p99", "99% within")
	if slowest < 0 {
		return nil, ""
	}
	text := fmt.Sprintf("99%% of the answers of %s begin within %s", f.X.Names[slowest], wait(f.Series[1].Y[slowest]))
	if n := len(f.X.Names); n > 1 {
		text += fmt.Sprintf(", the slowest of %d services", n)
	}
	f.Sentence = sentence(text)
	f.Notes = []string{"over the requests that were answered, the mean over the runs; those rejected or never answered are in the share within the promise alone"}
	return []figure.Figure{f}, ""
}

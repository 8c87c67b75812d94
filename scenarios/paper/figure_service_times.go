package paper

import (
	"fmt"

	"capcli/scenarios/paper/figure"
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

// serviceRow is a service of a played plan, with figures that are means over its runs.
type serviceRow struct {
	Name   string
	Values []figure.Number
}

// serviceRows returns the services of all played plans of which all the metrics are known.
func (m *material) serviceRows(metrics ...string) []serviceRow {
	var out []serviceRow
	for i := range m.trials {
		t := &m.trials[i]
	services:
		for k := range t.Runs[0].Services {
			r := serviceRow{Name: t.Runs[0].Services[k].Name}
			for _, name := range metrics {
				v, _, _, _ := t.spread(r.Name + "." + name)
				if !v.IsKnown() {
					continue services
				}
				r.Values = append(r.Values, v)
			}
			if len(m.trials) > 1 {
				r.Name += " in " + m.name(t)
			}
			out = append(out, r)
		}
	}
	return out
}

func drawServiceTimes(m *material) ([]figure.Figure, string) {
	f := figure.Figure{
		ID: "service-times", Title: "Time to the first token of an answer", Kind: figure.Bars,
		X: figure.Axis{Label: "Service", Unit: figure.Name}, Y: figure.Axis{Label: "Time", Unit: figure.Seconds},
	}
	half, most := figure.Series{Name: "50% of the requests within"}, figure.Series{Name: "99% within"}
	rows := m.serviceRows("ttft_p50", "ttft_p99")
	slowest := 0
	for i, r := range rows {
		f.X.Names = append(f.X.Names, r.Name)
		half.Y, most.Y = append(half.Y, r.Values[0]), append(most.Y, r.Values[1])
		if most.Y[i] > most.Y[slowest] {
			slowest = i
		}
	}
	if len(rows) == 0 {
		return nil, ""
	}
	f.Series = []figure.Series{half, most}
	text := fmt.Sprintf("99%% of the answers of %s begin within %s", f.X.Names[slowest], wait(most.Y[slowest]))
	if len(rows) > 1 {
		text += fmt.Sprintf(", the slowest of %d services", len(rows))
	}
	f.Sentence = sentence(text)
	f.Notes = []string{"over the requests that were answered, the mean over the runs; those rejected or never answered are in the share within the promise alone"}
	return []figure.Figure{f}, ""
}

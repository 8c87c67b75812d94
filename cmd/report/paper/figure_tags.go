package paper

import (
	"fmt"

	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// What the jobs of each value of a tag cost: project, team, environment, kind of work.
func init() {
	register(Drawing{ID: "tags", Rank: 104, Needs: "a priced run of jobs with tags", Draw: drawTags})
}

func drawTags(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for i := range m.trials {
		t := &m.trials[i]
		for _, tag := range t.Runs[0].Tags {
			bills, ok := meanBills(t, mostTenants, "(no job)", func(o *outcome.Outcome) []payer { return tagPayers(o, tag.Tag) })
			if !ok || len(out) == mostPlans {
				continue
			}
			f := tenantsFigure(bills)
			f.ID, f.Title, f.X.Label = "tags", "Cost by "+tag.Tag, capital(tag.Tag)
			if len(m.trials) > 1 {
				f.Title += ": " + m.name(t)
			}
			f.Notes = []string{"amounts are for " + lengthText(t.Runs[0].Ended)}
			if len(t.Runs) > 1 {
				f.Notes = append(f.Notes, fmt.Sprintf("means of %s", runsText(len(t.Runs))))
			}
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func tagPayers(o *outcome.Outcome, tag string) []payer {
	var out []payer
	for i := range o.Tags {
		if o.Tags[i].Tag != tag {
			continue
		}
		for k := range o.Tags[i].Values {
			v := &o.Tags[i].Values[k]
			out = append(out, payer{v.Label(), v.Direct, v.Share})
		}
	}
	return out
}

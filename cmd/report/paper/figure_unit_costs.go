package paper

import (
	"fmt"

	"capcli/scenarios/figure"
)

// What a finished job and a GPU-hour in use cost, by plan.
func init() {
	register(Drawing{ID: "unit-costs", Rank: 120, Needs: "a priced run with finished jobs", Draw: drawUnitCosts})
}

func drawUnitCosts(m *material) ([]figure.Figure, string) {
	f := figure.Figure{
		ID: "unit-costs", Title: "Cost of a job and of a GPU-hour in use", Kind: figure.Bars,
		X: figure.Axis{Label: "Plan", Unit: figure.Name}, Y: figure.Axis{Label: "Cost", Unit: figure.USD},
	}
	jobs, hours := figure.Series{Name: "A finished job"}, figure.Series{Name: "A GPU-hour in use"}
	for i := range m.trials {
		t := &m.trials[i]
		cost, _, _, _ := t.spread("cost")
		finished, _, _, _ := t.spread("finished")
		used, _, _, _ := t.spread("used_gpu_hours")
		if !cost.IsKnown() || !(finished > 0) || !(used > 0) {
			continue
		}
		f.X.Names = append(f.X.Names, m.name(t))
		jobs.Y, hours.Y = append(jobs.Y, cost/finished), append(hours.Y, cost/used)
	}
	if len(f.X.Names) == 0 {
		return nil, ""
	}
	f.Series = []figure.Series{jobs, hours}
	least := 0
	for i := range hours.Y {
		if hours.Y[i] < hours.Y[least] {
			least = i
		}
	}
	f.Sentence = sentence(fmt.Sprintf("with %s a finished job costs %s and a GPU-hour in use %s", f.X.Names[least], usd(jobs.Y[least]), usd(hours.Y[least])))
	if len(hours.Y) > 1 {
		f.Sentence = sentence(f.Sentence[:len(f.Sentence)-1], fmt.Sprintf("that is the least for a GPU-hour of %d plans", len(hours.Y)))
	}
	f.Notes = []string{"the mean cost over the mean number of finished jobs and of GPU-hours held; unfinished work has its cost in them too"}
	return []figure.Figure{f}, ""
}

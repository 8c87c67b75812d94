package decide

import (
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/kinds"
)

// LossCase is what the tiers would be if machines on spot were taken away more or less often. The jobs stay where the rules
// send them.
type LossCase struct {
	MeanUp  capcli.Seconds `json:"mean_up_s"`
	Cost    capcli.USD     `json:"cost_usd"`          // of the plan as it is
	Least   capcli.USD     `json:"least_usd"`         // of the plans around it
	Base    float64        `json:"base_gpus"`         // of that plan
	Most    float64        `json:"spot_gpus_most"`    // likewise
	Spot    float64        `json:"spot_mean_gpus"`    // likewise, in use
	Changes bool           `json:"changes_the_order"` // that plan is another one, and costs less by over a thousandth
	Holds   bool           `json:"plan_holds"`        // the plan as it is holds the limits
	Redone  float64        `json:"redone_gpu_hours"`  // by the plan as it is
}

// tryLosses plays the plan and its neighbours with machines on spot that are lost twice as often and half as often.
func (s *tierSearch) tryLosses(ctx context.Context, best tierPoint) ([]LossCase, error) {
	if best.nodes == 0 && len(s.nodes) < 2 {
		return nil, nil
	}
	at := slices.Index(s.sizes, best.gpus)
	points := []tierPoint{best}
	for _, gpus := range s.sizes[max(0, at-1):min(len(s.sizes), at+2)] {
		for _, n := range s.nodes {
			if p := (tierPoint{gpus, n, best.open, best.wait}).normalise(); !slices.Contains(points, p) {
				points = append(points, p)
			}
		}
	}
	var out []LossCase
	for _, meanUp := range []capcli.Seconds{max(1, s.rules.Spot.MeanUp/2), 2 * s.rules.Spot.MeanUp} {
		var changes [][]string
		for _, p := range points {
			changes = append(changes, append(s.changes(p), fmt.Sprintf("capacity.spot.hazard.mean_up=%ds", meanUp)))
		}
		mixes, err := s.planner.Assess(ctx, changes)
		if err != nil {
			return nil, err
		}
		other := &tierSearch{chain: s.chain, waits: s.waits, found: map[tierPoint]*mix.Mix{}}
		for i, p := range points {
			other.found[p] = mixes[i]
		}
		least := other.bestPoint(func(tierPoint) bool { return true })
		cost := func(p tierPoint) capcli.USD { return plan.Risk{}.USD(costs(other.found[p]), true) }
		x := LossCase{MeanUp: meanUp, Cost: cost(best), Least: cost(least), Base: float64(least.gpus), Most: float64(least.nodes * s.rules.MachineGPUs), Holds: mixes[0].Holds(s.hold)}
		n := float64(len(mixes[0].Entry.Outcomes))
		for i := range mixes[0].Entry.Outcomes {
			x.Redone += mixes[0].Entry.Outcomes[i].Redone.Hours() / n
			for _, p := range other.found[least].Entry.Outcomes[i].Pools {
				if p.Name == tierSpot {
					x.Spot += p.Used.Hours() / n / s.out.Length.Hours()
				}
			}
		}
		x.Changes = least != best && float64(x.Cost-x.Least) > float64(x.Cost)/1000
		out = append(out, x)
	}
	return out, nil
}

// lossSentence says by how much the answer moves with the losses on spot; "" where nothing is on spot.
func (t *Tiers) lossSentence() string {
	if len(t.Losses) == 0 {
		return ""
	}
	text := ""
	for i := range t.Losses {
		x := &t.Losses[i]
		word, by := "more", x.Cost-t.Cost
		if by < 0 {
			word, by = "less", -by
		}
		if i > 0 {
			text += "; "
		}
		text += fmt.Sprintf("lost once in %s the same plan costs %s %s", x.MeanUp, by.Brief(), word)
		if x.Changes {
			text += fmt.Sprintf(", and one with %s as a base and %s on spot (%s at most) costs %s", gpusText(x.Base), kinds.GPUsText(x.Spot), gpusText(x.Most), x.Least.Brief())
		} else {
			text += ", and no plan around it is better"
		}
	}
	return fmt.Sprintf("Were machines on spot, lost once in %s here (%s), %s.", t.Kinds.Spot.MeanUp, t.Kinds.Spot.Source, text)
}

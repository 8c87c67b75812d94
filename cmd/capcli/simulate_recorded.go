package main

import (
	"fmt"
	"strings"

	"capcli/scenarios/play"
	"capcli/simulate/outcome"

	"capcli"
)

// recordedWaits sets the waits that the log recorded beside the simulated ones,
// in a sentence; "" where the log records none. Plans of several logs have
// nothing in common to compare.
func recordedWaits(plans []*play.Case, results [][]*play.Run) string {
	first := results[0][0].Recorded
	if first.Jobs == 0 {
		return ""
	}
	var simulated []string
	for i, p := range plans {
		if results[i][0].Recorded != first {
			return ""
		}
		mean, known := meanOverRuns(results[i], "wait_p95")
		text := "not known"
		if known {
			text = capcli.Seconds(mean + 0.5).String()
		}
		if len(plans) > 1 {
			text += " with " + planDifference(plans, p)
		}
		simulated = append(simulated, text)
	}
	of := ""
	if read := results[0][0].Jobs.Read; first.Jobs < read {
		of = fmt.Sprintf(" of the %s of %s with a recorded start", grouped(first.Jobs), jobCount(read))
	}
	return fmt.Sprintf("Waits in the log: p95 %s%s; simulated: %s; the log's scheduler, outages and limits differ.", first.P95, of, strings.Join(simulated, ", "))
}

// meanOverRuns is the mean of a metric over the runs in which it is known.
func meanOverRuns(runs []*play.Run, metric string) (mean float64, known bool) {
	for _, r := range runs {
		if _, ok := r.Exact(metric); ok {
			return outcome.Mean(runs, metric), true
		}
	}
	return 0, false
}

// planDifference names p by what tells it from the other plans: its policy
// where scenarios and placements are the same, else its label.
func planDifference(plans []*play.Case, p *play.Case) string {
	for _, other := range plans {
		if other.Scenario.Name != p.Scenario.Name || other.Scenario.PlacementName() != p.Scenario.PlacementName() {
			return p.Label()
		}
	}
	return p.Scenario.PolicyName()
}

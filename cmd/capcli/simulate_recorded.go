package main

import (
	"fmt"
	"strings"

	"capcli"
)

// logWaitJSON is the waits that a log records of the jobs that were played.
type logWaitJSON struct {
	Jobs int64          `json:"jobs"` // with a recorded start
	Mean float64        `json:"mean_s"`
	P50  capcli.Seconds `json:"p50_s"`
	P95  capcli.Seconds `json:"p95_s"`
	P99  capcli.Seconds `json:"p99_s"`
	Max  capcli.Seconds `json:"max_s"`
}

// logWait is nil where the log records no start.
func (r *outcome) logWait() *logWaitJSON {
	w := r.intake.RecordedWaits()
	if w.Jobs == 0 {
		return nil
	}
	return &logWaitJSON{w.Jobs, w.Mean, w.P50, w.P95, w.P99, w.Max}
}

// recordedWaits sets the waits that the log recorded beside the simulated ones,
// in a sentence; "" where the log records none. Plans of several logs have
// nothing in common to compare.
func recordedWaits(plans []*plan, results [][]*outcome) string {
	first := results[0][0].intake.RecordedWaits()
	if first.Jobs == 0 {
		return ""
	}
	var simulated []string
	for i, p := range plans {
		if results[i][0].intake.RecordedWaits() != first {
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
	if read := results[0][0].result.Jobs.Read; first.Jobs < read {
		of = fmt.Sprintf(" of the %s of %s with a recorded start", grouped(first.Jobs), jobCount(read))
	}
	return fmt.Sprintf("Waits in the log: p95 %s%s; simulated: %s; the log's scheduler, outages and limits differ.", first.P95, of, strings.Join(simulated, ", "))
}

// meanOverRuns is the mean of a metric over the runs in which it is known.
func meanOverRuns(runs []*outcome, metric string) (mean float64, known bool) {
	for _, r := range runs {
		if _, ok := r.metric(metric); ok {
			return meanOf(runs, metric), true
		}
	}
	return 0, false
}

// planDifference names p by what tells it from the other plans: its policy
// where scenarios and placements are the same, else its label.
func planDifference(plans []*plan, p *plan) string {
	for _, other := range plans {
		if other.scenario.Name != p.scenario.Name || other.scenario.PlacementName() != p.scenario.PlacementName() {
			return p.label()
		}
	}
	return p.scenario.PolicyName()
}

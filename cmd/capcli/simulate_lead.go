package main

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/play"
	"capcli/simulate/billing"
	"capcli/simulate/outcome"
)

// leadOf is the answer in a sentence: what was done, for how long a time, what it
// cost and how long jobs waited. Of several runs it is their mean.
func leadOf(p *play.Case, runs []*play.Run) string {
	text := ""
	if n := len(runs); n > 1 {
		text = fmt.Sprintf("Mean of %d runs: ", n)
	}
	text += fmt.Sprintf("%s on %s ", outcome.JobsText(outcome.Mean(runs, "finished")), p.Scenario.Name)
	if cost, ok := outcome.SpreadOf(runs, "cost"); ok {
		text += "cost " + spreadText(cost, usdText) + inLength(play.MeanLength(runs), cost.Mean.Value)
	} else {
		text += "in " + lengthText(play.MeanLength(runs)) + ", at a cost that is not known"
	}
	text += "; " + waitedText(runs)
	if committed := outcome.Mean(runs, "committed"); runs[0].Priced() && committed > 0 {
		stranded := outcome.Mean(runs, "stranded_usd")
		text += fmt.Sprintf("; %s (%.0f%%) of what was committed was stranded", usdText(stranded), 100*stranded/committed)
	}
	if u := outcome.MeanUnserved(runs); u.Share >= 0.0005 || u.Waiting+u.Unplaceable > 0 {
		text += "; " + unservedText(&u) + " was left undone"
	}
	return text + "."
}

// inLength says what time an amount of dollars is for, and what a year of it comes
// to.
func inLength(length capcli.Seconds, cost float64) string {
	year, ok := billing.PerYear(capcli.USDOf(cost), length)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" in %s (%s a year at that rate)", lengthText(length), year.Brief())
}

func usdText(v float64) string { return capcli.USDOf(v).String() }

func secondsText(v float64) string { return capcli.Seconds(v + 0.5).String() }

// waitedText says in words how long jobs waited for their start: those that never
// started count as waiting longest.
func waitedText(runs []*play.Run) string {
	half, okHalf := outcome.SpreadOf(runs, "wait_p50")
	most, okMost := outcome.SpreadOf(runs, "wait_p95")
	longest, okAll := outcome.SpreadOf(runs, "wait_max")
	if !okHalf || !okMost || !okAll {
		return "no job came"
	}
	none := func(s outcome.Spread) bool { return s.Hi.Value == 0 && !s.Mean.AtLeast }
	switch {
	case !slices.ContainsFunc(runs, func(r *play.Run) bool { return r.Started > 0 }):
		return "none started"
	case none(longest):
		return "none waited"
	case none(most):
		return "95% did not wait, the longest waited " + spreadText(longest, secondsText)
	}
	first := "half waited at most " + spreadText(half, secondsText)
	switch {
	case none(half):
		first = "half did not wait"
	case half.Mean.AtLeast:
		first = "half waited " + spreadText(half, secondsText) + " or never started"
	}
	if most.Mean.AtLeast {
		return first + ", 5% waited " + spreadText(most, secondsText) + " or never started"
	}
	return first + ", 95% waited at most " + spreadText(most, secondsText)
}

// leadOfMany names the cheapest plan and the one that waits least.
func leadOfMany(results [][]*play.Run) string {
	all := make([]outcome.Ranking, len(results))
	for i, runs := range results {
		all[i] = play.Rank(runs)
	}
	return leadOfRanks(all)
}

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
		text := "not known"
		if slices.ContainsFunc(results[i], func(r *play.Run) bool { _, exact := r.Exact("wait_p95"); return exact }) {
			text = secondsText(outcome.Mean(results[i], "wait_p95"))
		}
		if len(plans) > 1 {
			text += " with " + planDifference(plans, p)
		}
		simulated = append(simulated, text)
	}
	of := ""
	if read := results[0][0].Jobs.Read; first.Jobs < read {
		of = fmt.Sprintf(" of the %s of %s with a recorded start", capcli.Grouped(first.Jobs), outcome.JobsText(float64(read)))
	}
	return fmt.Sprintf("Waits in the log: p95 %s%s; simulated: %s; the log's scheduler, outages and limits differ.", first.P95, of, strings.Join(simulated, ", "))
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

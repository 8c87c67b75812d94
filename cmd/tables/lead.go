package tables

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// leadOf answers in one sentence: the jobs done, the length of time, the cost and the waits.
// Several runs are summed up by their means.
func leadOf(p *play.Case, runs []*play.Run) string {
	text := ""
	if n := len(runs); n > 1 {
		text = fmt.Sprintf("Mean of %d runs: ", n)
	}
	if outcome.Mean(runs, "finished") > 0 || len(p.Scenario.Services) == 0 {
		text += outcome.JobsText(outcome.Mean(runs, "finished")) + " on "
	}
	text += p.Scenario.Name + " "
	if cost, ok := outcome.SpreadOf(runs, "cost"); ok {
		text += "cost " + spreadText(cost, usdText) + inLength(play.MeanLength(runs), cost.Mean.Value)
	} else {
		text += "in " + lengthText(play.MeanLength(runs)) + ", at an unknown cost"
	}
	text += "; " + waitedText(runs)
	if committed := outcome.Mean(runs, "committed"); runs[0].Priced() && committed > 0 {
		stranded := outcome.Mean(runs, "stranded_usd")
		text += fmt.Sprintf("; %s (%.0f%%) of the commitments was stranded", usdText(stranded), 100*stranded/committed)
	}
	if machines := outcome.Mean(runs, "rounding_usd"); machines > 0 {
		text += "; " + usdText(machines) + " of the cost is for rounding jobs up to whole machines"
	}
	if u := outcome.MeanUnserved(runs); u.Share >= 0.0005 || u.Waiting+u.Unplaceable+u.Dropped > 0 {
		text += "; " + unservedText(&u) + " was left undone"
	}
	if due := runs[0].Jobs.Deadlines; due > 0 && len(runs) == 1 {
		text += fmt.Sprintf("; %s of %s %s missed", capcli.Grouped(runs[0].Jobs.Misses), capcli.Grouped(due), capcli.Plural(due, "deadline"))
	}
	return text + "."
}

// inLength states the length of time that an amount of dollars covers, and the amount per year; ""
// where no year can be computed.
func inLength(length capcli.Seconds, cost float64) string {
	year, ok := billing.PerYear(capcli.USDOf(cost), length)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" in %s (%s a year at that rate)", lengthText(length), year.Brief())
}

func usdText(v float64) string { return capcli.USDOf(v).String() }

func secondsText(v float64) string { return capcli.Seconds(v + 0.5).String() }

// waitedText says how long jobs waited for their start. Jobs that never started count as the
// longest waits.
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

// leadOfMany names the cheapest plan and the one with the least wait.
func leadOfMany(results [][]*play.Run) string {
	all := make([]outcome.Ranking, len(results))
	for i, runs := range results {
		all[i] = play.Rank(runs)
	}
	return leadOfRanks(all)
}

// recordedWaits compares the waits recorded in the log with the simulated ones. It returns "" where
// the log records none, or where the plans have different logs.
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

// ownPast says how far each plan's policy is from the waits that the log records; "" where it
// records none.
func ownPast(plans []*play.Case, results [][]*play.Run) string {
	var lines []string
	for i, p := range plans {
		past := results[i][0].OwnPast
		if past == nil {
			continue
		}
		text := past.Sentence
		if len(plans) > 1 {
			text = strings.TrimSuffix(text, ".") + " with " + planDifference(plans, p) + "."
		}
		if !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return JoinSentences(lines...)
}

// planDifference names p by what distinguishes it from the other plans: its policy where scenarios
// and placements are the same, else its label.
func planDifference(plans []*play.Case, p *play.Case) string {
	for _, other := range plans {
		if other.Scenario.Name != p.Scenario.Name || other.Scenario.PlacementName() != p.Scenario.PlacementName() {
			return p.Label()
		}
	}
	return p.Scenario.PolicyName()
}

// PartialLead says how many runs an interrupted result has.
func PartialLead(p *outcome.Partial) string {
	why := strings.ToUpper(p.Why[:1]) + p.Why[1:]
	return fmt.Sprintf("%s after %d of %d runs: what follows is of those.", why, p.Done, p.Asked)
}

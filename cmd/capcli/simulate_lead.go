package main

import (
	"fmt"

	"capcli"
	"capcli/simulate/billing"
)

// leadOf is the answer in a sentence: what was done, for how long a time, what it
// cost and how long jobs waited. Of several runs it is their mean.
func leadOf(p *plan, runs []*outcome) string {
	text := ""
	if n := len(runs); n > 1 {
		text = fmt.Sprintf("Mean of %d runs: ", n)
	}
	text += fmt.Sprintf("%s on %s ", countText(meanOf(runs, "finished")), p.scenario.Name)
	if cost, ok := runSpreadOf(runs, "cost"); ok {
		text += "cost " + cost.text(usdText) + inLength(meanLength(runs), cost.mean.v)
	} else {
		text += "in " + lengthText(meanLength(runs)) + ", at a cost that is not known"
	}
	text += "; " + waitedText(runs)
	if committed := meanOf(runs, "committed"); runs[0].priced() && committed > 0 {
		stranded := meanOf(runs, "stranded_usd")
		text += fmt.Sprintf("; %s (%.0f%%) of what was committed was stranded", usdText(stranded), 100*stranded/committed)
	}
	if u := undoneOf(runs); u.share >= 0.0005 || u.waiting+u.unplaceable > 0 {
		text += "; " + u.text() + " was left undone"
	}
	return text + "."
}

// inLength says what time an amount of dollars is for, and what a year of it comes
// to.
func inLength(length capcli.Seconds, cost float64) string {
	year, ok := billing.PerYear(capcli.USD(cost*1e6+0.5), length)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" in %s (%s a year at that rate)", lengthText(length), briefUSD(year))
}

// meanLength is how long the runs are, in the mean.
func meanLength(runs []*outcome) capcli.Seconds {
	var sum capcli.Seconds
	for _, r := range runs {
		sum += r.result.Ended
	}
	n := capcli.Seconds(len(runs))
	return (sum + n/2) / n
}

// text is the mean with its range in a sentence, or the figure of a single run.
func (s runSpread) text(of func(float64) string) string {
	mean, lo, hi := s.mean.text(of), s.lo.text(of), s.hi.text(of)
	if lo == hi {
		return mean
	}
	return fmt.Sprintf("%s (%s to %s)", mean, lo, hi)
}

func usdText(v float64) string { return capcli.USD(v*1e6 + 0.5).String() }

func secondsText(v float64) string { return capcli.Seconds(v + 0.5).String() }

// briefUSD is an amount to three figures from ten thousand dollars up.
func briefUSD(u capcli.USD) string {
	for _, unit := range []struct {
		of   capcli.USD
		name string
	}{{1_000_000_000, "B"}, {1_000_000, "M"}, {1_000, "k"}} {
		if v := u.Float() / float64(unit.of); v >= 1 && u >= 10_000*capcli.Dollar {
			return "$" + threeFigures(v) + unit.name
		}
	}
	return u.String()
}

func threeFigures(v float64) string {
	places := 2
	for limit := 9.995; places > 0 && v >= limit; limit *= 10 {
		places--
	}
	return fmt.Sprintf("%.*f", places, v)
}

// waitedText says in words how long jobs waited for their start: those that never
// started count as waiting longest.
func waitedText(runs []*outcome) string {
	half, okHalf := runSpreadOf(runs, "wait_p50")
	most, okMost := runSpreadOf(runs, "wait_p95")
	longest, okAll := runSpreadOf(runs, "wait_max")
	if !okHalf || !okMost || !okAll {
		return "no job came"
	}
	none := func(s runSpread) bool { return s.hi.v == 0 && !s.mean.over }
	switch {
	case startedJobs(runs) == 0:
		return "none started"
	case none(longest):
		return "none waited"
	case none(most):
		return "95% did not wait, the longest waited " + longest.text(secondsText)
	}
	first := "half waited at most " + half.text(secondsText)
	switch {
	case none(half):
		first = "half did not wait"
	case half.mean.over:
		first = "half waited " + half.text(secondsText) + " or never started"
	}
	if most.mean.over {
		return first + ", 5% waited " + most.text(secondsText) + " or never started"
	}
	return first + ", 95% waited at most " + most.text(secondsText)
}

func startedJobs(runs []*outcome) int64 {
	var n int64
	for _, r := range runs {
		n += r.result.Wait.Started
	}
	return n
}

// jobCount is "1 job" or "8,102 jobs".
func jobCount(n int64) string { return grouped(n) + " " + plural(n, "job") }

// leadOfMany names the cheapest plan and the one that waits least.
func leadOfMany(plans []*plan, results [][]*outcome) string {
	all := make([]ranked, len(plans))
	for i, p := range plans {
		all[i] = rankOf(p, results[i])
	}
	return leadOfRanks(all)
}

// rankOf is what a plan is ranked by.
func rankOf(p *plan, runs []*outcome) ranked {
	u, queued := undoneOf(runs), meanOf(runs, "queue_time_mean")
	out := ranked{name: p.label(), length: meanLength(runs), queued: &queued, jct: meanOf(runs, "jct_mean"), preempts: meanOf(runs, "preemptions") > 0, undone: &u}
	if runs[0].priced() {
		cost := meanOf(runs, "cost")
		out.cost = &cost
	}
	if s, ok := runSpreadOf(runs, "wait_p95"); ok {
		out.wait = &s.mean
	}
	return out
}

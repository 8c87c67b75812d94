package paper

import (
	"cmp"
	"fmt"

	"capcli"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// trialsAnswer says which of the simulated plans costs least of those that hold their limits, or
// what the only one came to.
func (m *material) trialsAnswer() Answer {
	if why := m.foreign(); why != "" {
		return Answer{Sentence: sentence("the runs cannot be compared: "+why, "each is shown by itself")}
	}
	best := m.cheapest()
	if best == nil {
		t := &m.trials[0]
		if len(m.trials) == 1 {
			return m.trialAnswer(t)
		}
		out := m.trialAnswer(t)
		out.Sentence = sentence(fmt.Sprintf("none of the %d plans holds its limits with a known price, so none is recommended", len(m.trials))) + " " + out.Sentence
		return out
	}
	out := m.trialAnswer(best)
	if len(m.trials) > 1 {
		text := fmt.Sprintf("of %d plans %s is the cheapest that holds its limits", len(m.trials), m.name(best))
		out.Sentence = sentence(text) + " " + out.Sentence
	}
	return out
}

// cheapest returns the plan with the least cost of a year of those that hold all their limits in
// every run and leave no more work undone than a plan may; nil where there is none.
func (m *material) cheapest() *trial {
	var best *trial
	least := unknown
	for i := range m.trials {
		t := &m.trials[i]
		cost, _, _, _ := t.spread("cost_per_year")
		undone, _, _, _ := t.spread("unserved_share")
		if held := t.heldShare(); !cost.IsKnown() || held.IsKnown() && held < 1 || undone > mostUndone {
			continue
		}
		if best == nil || cost < least {
			best, least = t, cost
		}
	}
	return best
}

// trialAnswer says what a simulated plan came to.
func (m *material) trialAnswer(t *trial) Answer {
	var length capcli.Seconds
	for i := range t.Runs {
		length = max(length, t.Runs[i].Ended)
	}
	cost, lo, hi, _ := t.spread("cost_per_year")
	text := "the plan " + m.name(t) + " has no known cost"
	if cost.IsKnown() {
		text = fmt.Sprintf("the plan %s costs %s a year at the rate of %s", m.name(t), usd(cost), lengthText(length))
		if len(t.Runs) > 1 {
			text += fmt.Sprintf(", %s to %s%s", usd(lo), usd(hi), capcli.RangeOf(len(t.Runs), runsText(len(t.Runs))))
		}
	}
	parts := []string{text, trialServed(t)}
	p95, _, _, atLeast := t.spread("wait_p95")
	if p95.IsKnown() {
		word := "at most "
		if atLeast {
			word = "over "
		}
		clause := "95% of the jobs wait " + word + wait(p95)
		if atLeast {
			clause = "the 95th percentile of waits is over " + wait(p95)
		}
		parts = append(parts, clause)
	}
	if held := t.heldShare(); held.IsKnown() {
		parts = append(parts, heldText(held, len(t.Runs), runsText(len(t.Runs))))
	}
	stranded, _, _, _ := t.spread("stranded_usd")
	total, _, _, _ := t.spread("cost")
	if stranded > 0 && total > 0 {
		parts = append(parts, fmt.Sprintf("%s of the cost of %s is for committed GPUs that nobody held", usd(stranded), usd(total)))
	}
	undone, _, _, _ := t.spread("unserved_share")
	heads := knownHeads([]Headline{
		{"Cost a year", cost, figure.USD, headText(cost, figure.USD), "at the rate of " + lengthText(length)},
		{"Work not served", undone, figure.Share, undoneText(float64(undone)), "over " + lengthText(length)},
		{"Wait, 95th percentile", p95, figure.Seconds, cmp.Or(map[bool]string{true: "over "}[atLeast], "") + wait(p95), "mean of " + runsText(len(t.Runs))},
	})
	return Answer{Sentence: sentence(parts...), Heads: heads}
}

// trialServed says how much of the work was served, and how much was not.
func trialServed(t *trial) string {
	undone, lo, hi, _ := t.spread("unserved_share")
	switch {
	case !undone.IsKnown():
		return "how much of the work is served is not known"
	case undone == 0:
		return "all work that could be done by the end is served"
	}
	text := fmt.Sprintf("all but %s of the work is served", outcome.ShareText(float64(undone)))
	if len(t.Runs) > 1 {
		text += fmt.Sprintf(" (%s to %s%s)", outcome.ShareText(float64(lo)), outcome.ShareText(float64(hi)), capcli.RangeOf(len(t.Runs), "the runs"))
	}
	return text
}

package main

import (
	"fmt"

	"capcli/simulate/outcome"

	"capcli"
)

// unservedText says how much of the work is left undone: "38.2% of the work (1,204
// GPU-hours; 446 jobs wait at the end, 3 can never run)".
func unservedText(u *outcome.Unserved) string {
	if u.GPUHours == 0 && u.Waiting+u.Unplaceable == 0 {
		return "none of the work"
	}
	text := fmt.Sprintf("%s of the work (%s GPU-hours", outcome.ShareText(u.Share), briefly(u.GPUHours))
	switch {
	case u.Waiting == 1:
		text += "; 1 job waits at the end"
	case u.Waiting > 0:
		text += fmt.Sprintf("; %s wait at the end", outcome.JobsText(u.Waiting))
	}
	if u.Unplaceable > 0 {
		text += fmt.Sprintf("; %s can never run", outcome.JobsText(u.Unplaceable))
	}
	return text + ")"
}

// against says that a plan does less of the work than another; "" where it does
// not, or that is not known.
func against(a, than *outcome.Ranking) string {
	if a.Unserved == nil || than.Unserved == nil || !a.Unserved.Exceeds(than.Unserved) {
		return ""
	}
	return fmt.Sprintf(", but leaves %s undone where %s leaves %s", unservedText(a.Unserved), than.Name, unservedText(than.Unserved))
}

// beside says how much of the work each of two plans leaves undone, where that is
// not the same.
func beside(a, b *outcome.Ranking) string {
	if a.Unserved != nil && b.Unserved != nil && b.Unserved.Exceeds(a.Unserved) {
		return fmt.Sprintf(", and leaves %s undone where %s leaves %s", unservedText(a.Unserved), b.Name, unservedText(b.Unserved))
	}
	return against(a, b)
}

// leadOfRanks names the cheapest plan and the one whose jobs wait least, and
// whether these leave more of the work undone than another.
func leadOfRanks(all []outcome.Ranking) string {
	cheap, quick, best := 0, 0, 0
	low, high, priced := 0.0, 0.0, true
	for i := range all {
		r := &all[i]
		if r.Unserved != nil && all[best].Unserved != nil && all[best].Unserved.Exceeds(r.Unserved) {
			best = i
		}
		if r.Queued != nil && (all[quick].Queued == nil || *r.Queued < *all[quick].Queued) {
			quick = i
		}
		if r.Cost == nil {
			priced = false
			continue
		}
		if i == 0 {
			low, high = *r.Cost, *r.Cost
		}
		low, high = min(low, *r.Cost), max(high, *r.Cost)
		if all[cheap].Cost != nil && *r.Cost < *all[cheap].Cost {
			cheap = i
		}
	}
	least := ""
	if r := &all[quick]; r.Queued != nil {
		least = fmt.Sprintf("least waiting: %s, mean %s", r.Name, capcli.Seconds(*r.Queued+0.5))
		if r.Preempts {
			least += fmt.Sprintf(" with the waits after preemptions, and jobs end %s after they come", capcli.Seconds(r.JCT+0.5))
		}
		least += against(r, &all[best])
	}
	amount := func(v float64, length capcli.Seconds) string { return usdText(v) + inLength(length, v) }
	var text string
	switch c := &all[cheap]; {
	case !priced:
		text = fmt.Sprintf("%d plans, not all with prices", len(all))
	case low == high:
		text = fmt.Sprintf("All %d plans cost %s", len(all), amount(low, all[0].Length))
	default:
		text = fmt.Sprintf("Cheapest of %d plans: %s, %s%s", len(all), c.Name, amount(*c.Cost, c.Length), against(c, &all[best]))
	}
	if least != "" {
		text += "; " + least
	}
	return text + "."
}

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
	text := fmt.Sprintf("%s of the work (%s GPU-hours", smallShare(u.Share), briefly(u.GPUHours))
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
func against(a, than *ranked) string {
	if a.undone == nil || than.undone == nil || !a.undone.Exceeds(than.undone) {
		return ""
	}
	return fmt.Sprintf(", but leaves %s undone where %s leaves %s", unservedText(a.undone), than.name, unservedText(than.undone))
}

// beside says how much of the work each of two plans leaves undone, where that is
// not the same.
func beside(a, b *ranked) string {
	if a.undone != nil && b.undone != nil && b.undone.Exceeds(a.undone) {
		return fmt.Sprintf(", and leaves %s undone where %s leaves %s", unservedText(a.undone), b.name, unservedText(b.undone))
	}
	return against(a, b)
}

// ranked is what a plan is ranked by, in the mean of its runs; nil is not known.
type ranked struct {
	name     string
	length   capcli.Seconds  // of a run; 0 is not known
	cost     *float64        // dollars
	wait     *outcome.Figure // 95th percentile, seconds
	queued   *float64        // mean time in queues, seconds
	jct      float64         // seconds
	preempts bool
	undone   *outcome.Unserved
}

// leadOfRanks names the cheapest plan and the one whose jobs wait least, and
// whether these leave more of the work undone than another.
func leadOfRanks(all []ranked) string {
	cheap, quick, best := 0, 0, 0
	low, high, priced := 0.0, 0.0, true
	for i := range all {
		r := &all[i]
		if r.undone != nil && all[best].undone != nil && all[best].undone.Exceeds(r.undone) {
			best = i
		}
		if r.queued != nil && (all[quick].queued == nil || *r.queued < *all[quick].queued) {
			quick = i
		}
		if r.cost == nil {
			priced = false
			continue
		}
		if i == 0 {
			low, high = *r.cost, *r.cost
		}
		low, high = min(low, *r.cost), max(high, *r.cost)
		if all[cheap].cost != nil && *r.cost < *all[cheap].cost {
			cheap = i
		}
	}
	least := ""
	if r := &all[quick]; r.queued != nil {
		least = fmt.Sprintf("least waiting: %s, mean %s", r.name, capcli.Seconds(*r.queued+0.5))
		if r.preempts {
			least += fmt.Sprintf(" with the waits after preemptions, and jobs end %s after they come", capcli.Seconds(r.jct+0.5))
		}
		least += against(r, &all[best])
	}
	amount := func(v float64, length capcli.Seconds) string { return usdText(v) + inLength(length, v) }
	var text string
	switch c := &all[cheap]; {
	case !priced:
		text = fmt.Sprintf("%d plans, not all with prices", len(all))
	case low == high:
		text = fmt.Sprintf("All %d plans cost %s", len(all), amount(low, all[0].length))
	default:
		text = fmt.Sprintf("Cheapest of %d plans: %s, %s%s", len(all), c.name, amount(*c.cost, c.length), against(c, &all[best]))
	}
	if least != "" {
		text += "; " + least
	}
	return text + "."
}

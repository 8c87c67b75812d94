package tables

import (
	"fmt"

	"capcli"
	"capcli/scenarios/outcome"
)

// unservedText describes the work left undone: "38.2% of the work (1,204 GPU-hours; 446 jobs wait
// at the end, 3 can never run)".
func unservedText(u *outcome.Unserved) string {
	if u.GPUHours == 0 && u.Waiting+u.Unplaceable+u.Dropped == 0 {
		return "none of the work"
	}
	text := fmt.Sprintf("%s of the work (%s GPU-hours", outcome.ShareText(u.Share), capcli.BriefNumber(u.GPUHours))
	switch {
	case u.Waiting == 1:
		text += "; 1 job waits at the end"
	case u.Waiting > 0:
		text += fmt.Sprintf("; %s wait at the end", outcome.JobsText(u.Waiting))
	}
	if u.Unplaceable > 0 {
		text += fmt.Sprintf("; %s can never run", outcome.JobsText(u.Unplaceable))
	}
	if u.Dropped > 0 {
		text += fmt.Sprintf("; %s dropped", outcome.JobsText(u.Dropped))
	}
	return text + ")"
}

// moreUndone says that plan a leaves more work undone than plan than; "" where it does not, or
// where that is unknown.
func moreUndone(a, than *outcome.Ranking) string {
	if a.Unserved == nil || than.Unserved == nil || !a.Unserved.Exceeds(than.Unserved) {
		return ""
	}
	return fmt.Sprintf(", but leaves %s undone where %s leaves %s", unservedText(a.Unserved), than.Name, unservedText(than.Unserved))
}

// undoneOfBoth says how much work each of two plans leaves undone, where the amounts differ.
func undoneOfBoth(a, b *outcome.Ranking) string {
	if a.Unserved != nil && b.Unserved != nil && b.Unserved.Exceeds(a.Unserved) {
		return fmt.Sprintf(", and leaves %s undone where %s leaves %s", unservedText(a.Unserved), b.Name, unservedText(b.Unserved))
	}
	return moreUndone(a, b)
}

// leadOfRanks names the cheapest plan and the plan with the least wait, and says whether they leave
// more work undone than another.
func leadOfRanks(all []outcome.Ranking) string {
	first, least, text := outcome.LeadersOf(all), "", ""
	if r := first.Quickest; r.Queued != nil {
		least = fmt.Sprintf("least waiting: %s, mean %s", r.Name, capcli.Seconds(*r.Queued+0.5))
		if r.Preempts {
			least += fmt.Sprintf(" with the waits after preemptions, and jobs end %s after they come", capcli.Seconds(r.JCT+0.5))
		}
		least += moreUndone(r, first.Fullest)
	}
	switch c := first.Cheapest; {
	case !first.Priced:
		text = fmt.Sprintf("%d plans, not all with prices", len(all))
	case first.SameCost:
		text = fmt.Sprintf("%s cost %s%s", capcli.Agree(len(all)-1, "Both plans", fmt.Sprintf("All %d plans", len(all))), usdText(*all[0].Cost), inLength(all[0].Length, *all[0].Cost))
	default:
		text = fmt.Sprintf("Cheapest of %d plans: %s, %s%s%s", len(all), c.Name, usdText(*c.Cost), inLength(c.Length, *c.Cost), moreUndone(c, first.Fullest))
	}
	if least != "" {
		text += "; " + least
	}
	return text + "."
}

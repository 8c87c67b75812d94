package play

import (
	"fmt"

	"capcli"
)

// speedNotes say what each entry of the speed block changed in the first run of a case. They warn of an
// entry that matches no job.
func speedNotes(runs []*Run) []string {
	var out []string
	s := runs[0].Case.Scenario
	for i := range runs[0].Speed {
		t, title := &runs[0].Speed[i], s.Speed[i].Title()
		switch {
		case t.Off:
		case t.Jobs == 0:
			out = append(out, fmt.Sprintf("speed: %s: no job is of that kind, so nothing changes", title))
		case t.After == t.Before:
			out = append(out, fmt.Sprintf("speed: %s: %s keep their run times", title, jobsOf(t.Jobs)))
		default:
			out = append(out, fmt.Sprintf("speed: %s: the work of %s goes from %s to %s GPU-hours", title, jobsOf(t.Jobs),
				capcli.BriefNumber(t.Before.Hours()), capcli.BriefNumber(t.After.Hours())))
		}
	}
	return out
}

// jobsOf returns 1 job, or 1,234 jobs.
func jobsOf(n int64) string { return capcli.Grouped(n) + " " + capcli.Plural(n, "job") }

// campaignNotes say what became of the planned training runs in the first run of a case.
func campaignNotes(runs []*Run) []string {
	var out []string
	for i := range runs[0].Campaigns {
		c := &runs[0].Campaigns[i]
		text := fmt.Sprintf("campaign %s: ", c.Name)
		switch {
		case !c.Happens:
			text += "does not happen"
		case c.Outside:
			text += fmt.Sprintf("comes on %s, after the end of the period, and is left out", c.Start.Date())
		default:
			text += fmt.Sprintf("%d GPUs for %s from %s on, %s GPU-hours in %s", c.GPUs, c.Length, c.Start.Date(), capcli.BriefNumber(c.Work.Hours()), jobsOf(int64(c.Jobs)))
		}
		if c.Happens && c.Delay > 0 {
			text += fmt.Sprintf(", %s late", c.Delay)
		}
		if len(runs) > 1 {
			text += " (first run)"
		}
		out = append(out, text)
	}
	return out
}

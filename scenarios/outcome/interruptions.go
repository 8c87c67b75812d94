package outcome

import (
	"fmt"

	"capcli"
	"capcli/simulate"
)

// Interruptions is what interruptions did to a run, with what storing checkpoints cost.
type Interruptions struct {
	simulate.Interruptions
	Storage *capcli.USD `json:"checkpoint_storage_usd,omitempty"` // not part of the total cost; nil without a price
}

// hoursOfMonth is a month of storage, a twelfth of 365 days.
const hoursOfMonth = 730

// InterruptionsOf returns the interruptions of a run; nil if there is nothing to tell. perGB is the
// price of a GB of checkpoints for a month, 0 if it is not known.
func InterruptionsOf(i simulate.Interruptions, perGB capcli.USD) *Interruptions {
	if i.IsEmpty() {
		return nil
	}
	out := &Interruptions{Interruptions: i}
	if perGB > 0 {
		cost := capcli.USDOf(float64(i.StoredMB) / 1000 / hoursOfMonth * perGB.Float())
		out.Storage = &cost
	}
	return out
}

// mostSavings is the most checkpoint intervals that the notes name.
const mostSavings = 4

// Notes tells what a reader of one run must know.
func (i *Interruptions) Notes() []string {
	if i == nil {
		return nil
	}
	var out []string
	for k := range i.Savings {
		s := &i.Savings[k]
		if k == mostSavings {
			out = append(out, fmt.Sprintf("* checkpoints: and %d more kinds of jobs (-o json has them all)", len(i.Savings)-k))
			break
		}
		out = append(out, "* "+savingText(s))
	}
	if i.Stopped > 0 {
		out = append(out, fmt.Sprintf("* maintenance stopped running jobs %s (mode: kill)", timesText(i.Stopped)))
	}
	if m := i.Moves; m != nil {
		out = append(out, fmt.Sprintf("* defragment: %s %s moved so that %s waiting could start, at %.1f GPU-hours of checkpoints and restarts",
			capcli.Grouped(m.Jobs), capcli.Plural(m.Jobs, "job"), capcli.Grouped(m.Gangs), m.Paused.Hours()))
	}
	if i.Failed > 0 {
		out = append(out, fmt.Sprintf("%s %s failed for good after too many failures (retries.most); what %s did is lost", capcli.Grouped(i.Failed), capcli.Plural(i.Failed, "job"), capcli.Agree(i.Failed, "it", "they")))
	}
	if i.Skipped > 0 {
		out = append(out, fmt.Sprintf("%s failures of single GPUs are left out: jobs share GPUs there", capcli.Grouped(i.Skipped)))
	}
	if i.Grace > 0 {
		out = append(out, fmt.Sprintf("* preempted jobs held their GPUs for %.1f GPU-hours more, their grace", i.Grace.Hours()))
	}
	if i.Storage != nil {
		out = append(out, fmt.Sprintf("* checkpoints in storage cost %s, which is not in the total", *i.Storage))
	}
	return out
}

// savingText says how jobs of one kind saved their work.
func savingText(s *simulate.Saving) string {
	who := fmt.Sprintf("jobs of %d %s in %s", s.GPUs, capcli.Plural(int64(s.GPUs), "GPU"), s.Pool)
	if s.Class != "" {
		who = s.Class + ", " + who
	}
	if s.Interval == 0 && s.Noticed {
		return fmt.Sprintf("%s: a checkpoint on the notice of a loss alone, %s of the notice; a loss each %s", who, s.Cost+s.Write, s.MTBF)
	}
	if s.Interval == 0 {
		return who + ": no checkpoints, for nothing is known to take their GPUs away"
	}
	pause := fmt.Sprintf("a pause of %s", s.Cost)
	if s.Write > 0 {
		pause += fmt.Sprintf(" and %s in the background", s.Write)
	}
	text := fmt.Sprintf("%s: a checkpoint after each %s of work, %s", who, s.Interval, pause)
	if s.MTBF > 0 {
		text += fmt.Sprintf(", for a failure each %s", s.MTBF)
	}
	if s.Noticed {
		text += ", of which announced ones are saved on notice"
	}
	return text
}

// timesText returns "once" or "3 times".
func timesText(n int64) string {
	if n == 1 {
		return "once"
	}
	return capcli.Grouped(n) + " times"
}

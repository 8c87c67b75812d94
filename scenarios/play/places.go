package play

import (
	"fmt"

	"capcli"
	"capcli/scenarios/outcome"
	"capcli/simulate"
	"capcli/simulate/shift"
)

// shifted returns what the rules of shifting did in a run.
func (r *Run) shifted(d simulate.Delayer) []outcome.Shift {
	by, is := d.(*shift.Delayer)
	if !is {
		return nil
	}
	var out []outcome.Shift
	for i, s := range by.Savings() {
		rule := &r.Case.Scenario.Shift[i]
		x := outcome.Shift{Rule: rule.Text(), By: rule.By, Policy: rule.Policy, Jobs: s.Jobs}
		x.SetAmounts(s.AtOnce, s.Chosen, s.Least, s.Done)
		out = append(out, x)
	}
	return out
}

// PlaceNotes say what residency and latency kept jobs out of, and what starts that were put off saved.
func (r *Run) PlaceNotes() (out []string) {
	if p := r.Places; p != nil {
		for _, b := range p.Kept {
			if b.Residency > 0 {
				out = append(out, fmt.Sprintf("residency kept %s out of %s (%s)", outcome.JobsText(float64(b.Residency)), b.Pool, b.Place))
			}
			if b.Latency > 0 {
				out = append(out, fmt.Sprintf("the latency to their users kept %s out of %s (%s)", outcome.JobsText(float64(b.Latency)), b.Pool, b.Place))
			}
		}
		if p.Cost != nil && *p.Cost > 0 {
			out = append(out, fmt.Sprintf("data that moved between regions and copies that stayed cost %s; jobs held GPUs for %s while it moved", *p.Cost, p.Time))
		}
	}
	d := r.PutOff
	if d == nil {
		return out
	}
	for i := range d.Rules {
		if s := &d.Rules[i]; s.Saved != nil {
			out = append(out, shiftNote(s))
		}
	}
	if d.Mean != nil {
		out = append(out, fmt.Sprintf("%s were put off, by %s on average and %s at most; waits count from the chosen start", outcome.JobsText(float64(d.Jobs)), capcli.Seconds(*d.Mean), d.Longest))
	}
	return out
}

// shiftNote says what the starts that a rule put off saved.
func shiftNote(s *outcome.Shift) string {
	what := "carbon"
	if s.By != "carbon" {
		what = "dollars for the GPUs"
	}
	did := fmt.Sprintf("saved %.1f%% of the %s", 100**s.Saved, what)
	if *s.Saved < 0 {
		did = fmt.Sprintf("took %.1f%% more than at once, because waits for capacity came after the chosen start, of the %s", -100**s.Saved, what)
	}
	return fmt.Sprintf("starts put off for %s %s of %s; no schedule within their slack saves more than %.1f%% where they ran",
		s.Rule, did, outcome.JobsText(float64(s.Jobs)), 100**s.Bound)
}

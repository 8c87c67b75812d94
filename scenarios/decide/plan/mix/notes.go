package mix

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
)

// allNotes returns the notes that a reader needs beside the figures.
func (s *study) allNotes() []string {
	notes := append(slices.Clone(s.notes), s.aheadNotes(s.out.Futures)...)
	if past := s.out.OwnPast; past != nil {
		notes = append(notes, past.Headline(), past.Sentence, past.WidenedText()+"; limits are judged on waits as simulated")
	}
	notes = append(notes, billing.YearNote)
	if s.req.PriceUnserved {
		notes = append(notes, "the cost includes unserved work at the on-demand price; break-even prices and the sensitivity to prices keep that part unchanged")
	}
	if note := s.out.WaitNote(); note != "" {
		notes = append(notes, note)
	}
	notes = append(notes, s.owed...)
	notes = append(notes, s.serviceNotes()...)
	if s.best != nil && s.out.Partial == "" {
		notes = append(notes, s.bound.Says)
		if s.bound.Why != "" && s.bound.Service() {
			notes = append(notes, "the lower bound covers mixes that serve as well as the plan, because "+s.bound.Why)
		}
	}
	if n := s.problem.Runs; n > 1 {
		notes = append(notes, capcli.RangeNote(n, "runs")+"; the figure before a range is their mean; all mixes run the same jobs and failures")
	}
	notes = append(notes, s.countNotes()...)
	if s.outside > 0 {
		notes = append(notes, "left out, because they are outside the period: "+capcli.Grouped(s.outside)+" "+capcli.Plural(s.outside, "job"))
	}
	if a := s.out.Approval; a != nil {
		notes = append(notes, "approval: "+s.req.Case.Scenario.Approvals.Say(a.GPUs))
	}
	return append(notes, s.brokenNote()...)
}

// countNotes returns notes on the mixes that are not listed.
func (s *study) countNotes() []string {
	var notes []string
	f, c := s.found, s.found.Counts()
	if c.Tried < f.Size-f.Invalid {
		notes = append(notes, fmt.Sprintf("%s of %s mixes were tried: a coarse grid, then finer around the best; %s", grouped(c.Tried), grouped(f.Size), s.passedOverText()))
	}
	if f.Invalid > 0 {
		notes = append(notes, fmt.Sprintf("left out: %s %s of values that %s no valid scenario", grouped(f.Invalid), capcli.Plural(int64(f.Invalid), "combination"), capcli.Agree(f.Invalid, "is", "are")))
	}
	if n := c.ByFault; n > 0 {
		notes = append(notes, fmt.Sprintf("%s %s could not be priced and %s no part in the choice; the table says why", grouped(n), capcli.Plural(int64(n), "mix"), capcli.Agree(n, "has", "have")))
	}
	if c.Starved > 0 {
		notes = append(notes, c.StarvedText())
	}
	if c.ByRace > 0 {
		notes = append(notes, fmt.Sprintf("%s mixes were dropped before their last run, with %s confidence over all of them together", grouped(c.ByRace), PercentText(s.Search.Confidence)))
	}
	return notes
}

func grouped(n int) string { return capcli.Grouped(int64(n)) }

// StarvedText returns a sentence on how many mixes are too small for the work.
func (c *Counts) StarvedText() string {
	return fmt.Sprintf("%s %s so little capacity that no schedule can do the work in the period: the limit on unserved work excludes %s",
		grouped(c.Starved), capcli.Agree(c.Starved, "mix has", "mixes have"), capcli.Agree(c.Starved, "it", "them"))
}

// passedOverText says how much cheaper the mixes that were not tried may be.
func (s *study) passedOverText() string {
	f := s.found
	switch {
	case f.Partial:
		return "--search exhaustive tries all"
	case f.Unweighed:
		return "the others are too many to bound, so their possible savings are unknown; --search exhaustive tries all"
	case f.Open > 0 && s.best == nil:
		return fmt.Sprintf("of the others %s may hold the limits; --search exhaustive tries all", grouped(f.Open))
	case f.Open > 0:
		return fmt.Sprintf("of the others %s may cost less, by their lower bounds up to %s (%.1f%%): the possible loss; --search exhaustive tries all", grouped(f.Open), f.Loss, 100*f.Loss.Float()/max(1e-9, s.best.Cost().Float()))
	}
	return "lower bounds prove that no other that holds the limits is cheaper"
}

// brokenNote says how often the mix that is cheapest on the mean breaks the limits, and what the
// best mix costs more.
func (s *study) brokenNote() []string {
	mean := s.found.bestOnMean()
	if s.best == nil || mean == nil || mean == s.best || s.problem.Runs == 1 {
		return nil
	}
	runs := s.problem.Runs
	count := func(e *Entry) int { return runs - int(math.Round(e.HeldShare()*float64(runs))) }
	return []string{fmt.Sprintf("mix %d breaks a limit in %d of %d runs; mix %d costs %s more and breaks one in %d",
		mean.Index, count(mean), runs, s.best.Index, s.best.Cost()-mean.Cost(), count(s.best))}
}

// assumptions returns what the figures assume.
func (s *study) assumptions() []string {
	var out []string
	x := s.req.Case.Scenario
	for _, a := range x.Assumptions() {
		out = append(out, a.Text)
	}
	for i := range x.Capacity {
		c := &x.Capacity[i]
		if c.Hazard != nil {
			out = append(out, fmt.Sprintf("%s: nodes stay for %s on average, and are gone for %s", c.Name, c.Hazard.MeanUp, c.Hazard.MeanDown))
		}
		if c.Failures != nil {
			out = append(out, fmt.Sprintf("%s: a node fails every %s on average and is repaired in %s", c.Name, c.Failures.MTBF, c.Failures.Repair))
		}
	}
	if !s.req.Case.FromLog() {
		out = append(out, "the jobs are made up by the scenario's generator")
	}
	return out
}

// roles returns the roles of a mix: cheapest, the scenario's own, and so on.
func (s *study) roles(e *Entry) []string {
	var out []string
	if e == s.best {
		if s.problem.Runs == 1 || len(s.Search.Limits) == 0 {
			out = append(out, "cheapest")
		} else {
			out = append(out, "cheapest at "+PercentText(s.Search.Hold))
		}
	} else if e == s.found.bestOnMean() {
		out = append(out, "cheapest on the mean")
	}
	if e == s.ownEntry() {
		out = append(out, s.req.Case.Scenario.Name)
	}
	if !e.Serves() && e.Fate == Full {
		out = append(out, "leaves "+e.UndoneText()+" of the work undone")
	}
	if why := e.fault(); why != "" {
		out = append(out, "cannot be priced: "+why)
	}
	return out
}

// UndoneText returns the share of the work that a mix leaves undone: the mean, and the most of any
// run.
func (e *Entry) UndoneText() string {
	mean, most := e.undoneShare(), 0.0
	for i := range e.Outcomes {
		most = math.Max(most, e.Outcomes[i].UnservedShare())
	}
	if len(e.Outcomes) > 1 && most > mean {
		return fmt.Sprintf("%s (%s in the worst run)", outcome.ShareText(mean), outcome.ShareText(most))
	}
	return outcome.ShareText(mean)
}

// PercentText writes a share as 95% or 99.5%.
func PercentText(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e6)/1e4, 'f', -1, 64) + "%"
}

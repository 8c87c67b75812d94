package play

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/outcome"
)

// Document returns the document of the runs of several cases, without notes.
func Document(runs [][]*Run) *outcome.Document {
	out := outcome.NewDocument()
	for _, r := range slices.Concat(runs...) {
		out.Runs = append(out.Runs, r.Outcome)
	}
	return out
}

// Notes returns what a reader must know about the runs of one case: warnings, and the assumptions
// behind the figures. Case.Notes is not included.
func Notes(runs []*Run) []string {
	r, s := runs[0], runs[0].Case.Scenario
	out := Warnings(runs)
	var starred []string
	for _, a := range s.Assumptions() {
		starred = append(starred, "* "+a.Text)
	}
	out = slices.Concat(out, slices.Compact(starred), r.owedNotes())
	if s.Budget != nil && s.Budget.Cash && s.HasContracts() {
		out = append(out, "* the budget counts amortised cost: an upfront payment is spread over its term")
	}
	out = append(out, s.Approvals.Notes(r.CommittedGPUs())...)
	if len(runs) > 1 { // notes on chance outcomes describe no single run
		return out
	}
	return slices.Concat(out, s.Budget.Notes(r.Budget, true), r.Energy.Notes(), r.Interruptions.Notes(), r.Near.Notes(), r.Shared.Notes(), r.Stages.Notes(), r.BoughtNotes(), r.PlaceNotes())
}

// owedNotes describe the commitments that outlast the run: only the time of the run is charged, and
// the note says what remains.
func (r *Run) owedNotes() []string {
	var out []string
	end := r.Start + capcli.Time(r.Ended)
	for i := range r.Owed {
		c := &r.Owed[i]
		if c.End <= end || c.Unexpired == 0 {
			continue
		}
		text := fmt.Sprintf("%s (%s) runs until %s and is charged here for the length of the run only: ", c.Name, c.Kind, c.End.Date())
		switch c.Unpaid {
		case c.Unexpired:
			text += fmt.Sprintf("%s remains to be paid after it", c.Unpaid)
		case 0:
			text += fmt.Sprintf("%s of what is paid is for the time after it", c.Unexpired)
		default:
			text += fmt.Sprintf("%s is for the time after it, of which %s remains to be paid", c.Unexpired, c.Unpaid)
		}
		out = append(out, text)
	}
	return out
}

// CommonLimits returns the limits of the cases if all cases state the same; else nil.
func CommonLimits(cases []*Case) []string {
	var out []string
	for i, c := range cases {
		limits := capcli.Map(c.Scenario.Limits, func(l outcome.Check) string { return l.String() })
		if i > 0 && !slices.Equal(limits, out) {
			return nil
		}
		out = limits
	}
	return out
}

// HeldShare returns the share of the runs of one case in which limit k held. An unknown limit
// counts as not held. known is false if the limit is unknown in every run.
func HeldShare(runs []*Run, k int) (share float64, known bool) {
	held := 0
	for _, r := range runs {
		holds, sure := r.Case.Scenario.Limits[k].Holds(&r.Outcome)
		if holds {
			held++
		}
		known = known || sure
	}
	return float64(held) / float64(len(runs)), known
}

package paper

import (
	"fmt"

	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// mostUndone is the share of the work that a plan may leave undone before the paper says so first.
// It is the limit that a plan of mixes has by default.
const mostUndone = 0.005

// spoilers says what a reader must know before the answer, in a few words each: a paper without it
// could lead to a wrong order. The notes say more.
func (m *material) spoilers() []string {
	var out []string
	for _, x := range m.mixes {
		if x.Doc.Partial != "" {
			out = append(out, "PARTIAL: "+x.Doc.Partial)
		}
		if b := x.Doc.Best; b != nil && b.Unserved != nil && *b.Unserved > mostUndone {
			out = append(out, fmt.Sprintf("NOT SERVED: the plan leaves %s of the work undone", outcome.ShareText(*b.Unserved)))
		}
	}
	for i := range m.trials {
		t := &m.trials[i]
		if p := t.partial; p != nil {
			out = append(out, fmt.Sprintf("PARTIAL: %s has %d of %d runs (%s)", m.name(t), p.Done, p.Asked, p.Why))
		}
		if v, _, _, _ := t.spread("unserved_share"); v > mostUndone {
			out = append(out, fmt.Sprintf("NOT SERVED: %s leaves %s of the work undone", m.name(t), outcome.ShareText(float64(v))))
		}
		if o := &t.Runs[0]; o.Cost.Total == nil {
			out = append(out, fmt.Sprintf("NO PRICE: the cost of %s is not known", m.name(t)))
		}
	}
	out = append(out, m.serviceSpoilers()...)
	out = append(out, m.mismatches()...)
	for _, f := range m.changedFiles() {
		out = append(out, fmt.Sprintf("CHANGED: an input of %s is not what it was", f.Name))
	}
	return out
}

// mismatches says which results do not belong together.
func (m *material) mismatches() []string {
	var out []string
	if why := m.foreign(); why != "" {
		out = append(out, "DIFFERENT JOBS: "+why)
	} else if len(m.mixes) > 0 {
		if why := m.foreignTo(m.mixes[0].Doc); why != "" {
			out = append(out, "DIFFERENT JOBS: "+why)
		}
	}
	for _, x := range m.mixes[min(1, len(m.mixes)):] {
		if a := m.mixes[0].Doc; a.Trace != x.Doc.Trace || a.Scenario != x.Doc.Scenario {
			out = append(out, fmt.Sprintf("DIFFERENT PLANS: %s is of %s on %s, and %s of %s on %s", m.mixes[0].Name, a.Scenario, a.Trace, x.Name, x.Doc.Scenario, x.Doc.Trace))
		}
	}
	if least, most := m.lengths(); most > least+least/50 { // by more than jobs that end late
		out = append(out, fmt.Sprintf("DIFFERENT LENGTHS: the runs last %s to %s, so amounts are of a year", lengthText(least), lengthText(most)))
	}
	return out
}

// changedFiles returns the results of which an input has changed or is gone.
func (m *material) changedFiles() []*File {
	var out []*File
	seen := map[*File]bool{}
	for i := range m.trials {
		if f := m.trials[i].file; len(f.Changed) > 0 && !seen[f] {
			seen[f], out = true, append(out, f)
		}
	}
	return out
}

// warnings are the notes that come first.
func (m *material) warnings() []string {
	out := []string{}
	for _, x := range m.decisions {
		out = append(out, x.Doc.Warnings...)
	}
	for _, f := range m.changedFiles() {
		for _, text := range f.Changed {
			out = append(out, f.Name+": "+text)
		}
	}
	for i := range m.trials {
		t := &m.trials[i]
		if why := t.Runs[0].Cost.WhyNoTotal; why != "" {
			out = append(out, m.name(t)+": "+why)
		}
		if text := t.broken(); text != "" {
			out = append(out, fmt.Sprintf("%s breaks %s in a run or more", m.name(t), text))
		}
	}
	if len(m.mixes) > 1 {
		out = append(out, fmt.Sprintf("the answer is that of %s, the first of %d plans", m.mixes[0].Name, len(m.mixes)))
	}
	if len(m.mixes) > 0 && len(m.futures) > 0 && len(m.decisions) == 0 {
		out = append(out, meetingText(m))
	}
	return out
}

// meetingText sets the plan by waiting beside the plan by futures.
func meetingText(m *material) string {
	var gpus, other figure.Number
	for _, b := range m.mixes[0].Doc.Buys {
		gpus += figure.Number(b.GPUs)
	}
	f := m.futures[0].Doc
	for _, c := range f.Calendar {
		if figure.Number(c.GPUs) > other {
			other = figure.Number(c.GPUs)
		}
	}
	return fmt.Sprintf("the plan with waits commits to %s GPUs; the plan over futures, which lets nobody wait, commits to %s at most at once", count(gpus), count(other))
}

// remarks are the notes of the results themselves.
func (m *material) remarks() []string {
	var out []string
	seen := map[string]bool{}
	put := func(list ...string) {
		for _, n := range list {
			if n != "" && !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	for _, x := range m.decisions {
		put(x.Doc.Notes...)
	}
	for _, x := range m.mixes {
		put(x.Doc.Notes...)
	}
	for _, x := range m.futures {
		put(x.Doc.Notes...)
	}
	for _, x := range m.services {
		put(x.Doc.Notes...)
	}
	for _, x := range m.curves {
		put(x.Doc.Notes...)
	}
	for _, x := range m.joints {
		put(x.Doc.Notes...)
	}
	for _, x := range m.forecasts {
		put(x.Doc.Warnings...)
	}
	for _, x := range m.checks {
		put(x.Doc.Notes...)
	}
	put(m.notes...)
	return out
}

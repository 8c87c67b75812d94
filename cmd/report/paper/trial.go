package paper

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// committed returns the mean number of committed GPUs over the first run: of its timeline the most,
// else the GPU time offered over the length.
func (t *trial) committed() figure.Number {
	o := &t.Runs[0]
	if line := o.Timeline; line != nil && len(line.Committed) > 0 {
		return figure.Number(slices.Max(line.Committed))
	}
	var gpus float64
	for i := range o.Pools {
		if p := &o.Pools[i]; p.Terms != "on_demand" && p.Terms != "spot" {
			gpus += p.Offered.Hours() / o.Ended.Hours()
		}
	}
	return figure.Number(gpus)
}

// broken returns the limits of the scenario that a run breaks; "" where all hold.
func (t *trial) broken() string {
	var out []string
	for i := range t.Runs {
		for _, l := range t.Runs[i].Limits {
			if (l.Held == nil || !*l.Held) && !slices.Contains(out, l.Limit) {
				out = append(out, l.Limit)
			}
		}
	}
	return strings.Join(out, ", ")
}

// heldShare returns the share of the runs in which all limits held; unknown without limits.
func (t *trial) heldShare() figure.Number {
	n := 0
	for i := range t.Runs {
		limits := t.Runs[i].Limits
		if len(limits) == 0 {
			return unknown
		}
		if !slices.ContainsFunc(limits, func(l outcome.Limit) bool { return l.Held == nil || !*l.Held }) {
			n++
		}
	}
	return figure.Number(n) / figure.Number(len(t.Runs))
}

// limitHeld returns the share of the runs in which limit k of the scenario held.
func (t *trial) limitHeld(k int) figure.Number {
	held := 0
	for i := range t.Runs {
		if l := t.Runs[i].Limits; k < len(l) && l[k].Held != nil && *l[k].Held {
			held++
		}
	}
	return figure.Number(held) / figure.Number(len(t.Runs))
}

// spread returns the mean of a metric and its range over the runs. atLeast says that they are lower
// bounds. An unknown metric gives unknown values.
func (t *trial) spread(metric string) (mean, lo, hi figure.Number, atLeast bool) {
	s, ok := outcome.SpreadOf(t.runs(), metric)
	if !ok {
		return unknown, unknown, unknown, false
	}
	return figure.Number(s.Mean.Value), figure.Number(s.Lo.Value), figure.Number(s.Hi.Value), s.Mean.AtLeast
}

func (t *trial) runs() []*outcome.Outcome {
	out := make([]*outcome.Outcome, len(t.Runs))
	for i := range t.Runs {
		out[i] = &t.Runs[i]
	}
	return out
}

// meanUSD returns the mean of an amount over the runs; false where a run does not have it.
func (t *trial) meanUSD(amount func(o *outcome.Outcome) *capcli.USD) (capcli.USD, bool) {
	for i := range t.Runs {
		if amount(&t.Runs[i]) == nil {
			return 0, false
		}
	}
	return capcli.MeanUSD(len(t.Runs), true, func(i int) capcli.USD { return *amount(&t.Runs[i]) }), true
}

// foreign says how the simulated plans differ in their jobs or their time, so that they cannot be
// compared; "" where they do not.
func (m *material) foreign() string {
	for i := range m.trials {
		a, b := &m.trials[0].Runs[0], &m.trials[i].Runs[0]
		x, y := m.name(&m.trials[0]), m.name(&m.trials[i])
		switch {
		case a.Trace != b.Trace:
			return fmt.Sprintf("%s replays %s and %s replays %s", x, a.Trace, y, b.Trace)
		case a.Start != b.Start:
			return fmt.Sprintf("%s begins on %s and %s on %s", x, a.Start.Date(), y, b.Start.Date())
		case a.Seed == b.Seed && a.Jobs.Read != b.Jobs.Read:
			return fmt.Sprintf("%s has %s jobs and %s has %s", x, capcli.Grouped(a.Jobs.Read), y, capcli.Grouped(b.Jobs.Read))
		}
	}
	return ""
}

// foreignTo says how the runs differ in their jobs from those of a plan; "" where they do not.
func (m *material) foreignTo(r *mix.Result) string {
	if why := m.foreign(); why != "" {
		return why
	}
	for i := range m.trials {
		o := &m.trials[i].Runs[0]
		switch {
		case r.Trace != "" && o.Trace != r.Trace:
			return fmt.Sprintf("the plan is for the jobs of %s and %s replays %s", r.Trace, m.name(&m.trials[i]), o.Trace)
		case r.Futures != nil:
			return fmt.Sprintf("the plan is for futures and %s replays the past", m.name(&m.trials[i]))
		case len(r.BestRuns) > 0 && r.BestRuns[0].Run == o.Run && r.BestRuns[0].Seed == o.Seed && r.BestRuns[0].Jobs != o.Jobs.Read:
			return fmt.Sprintf("the plan is for %s jobs and %s has %s", capcli.Grouped(r.BestRuns[0].Jobs), m.name(&m.trials[i]), capcli.Grouped(o.Jobs.Read))
		}
	}
	return ""
}

// lengths returns the shortest and the longest run of all plans.
func (m *material) lengths() (least, most capcli.Seconds) {
	for i := range m.trials {
		for k := range m.trials[i].Runs {
			n := m.trials[i].Runs[k].Ended
			if least == 0 || n < least {
				least = n
			}
			most = max(most, n)
		}
	}
	return least, most
}

// timeline returns the first timeline of a plan's runs; nil where none has one.
func (t *trial) timeline() (*outcome.Timeline, *outcome.Outcome) {
	for i := range t.Runs {
		if line := t.Runs[i].Timeline; line != nil && line.Step > 0 {
			return line, &t.Runs[i]
		}
	}
	return nil, nil
}

// mostPlans is the most plans that have a figure of their own of one kind.
const mostPlans = 4

// eachTimeline draws a figure of each plan with a timeline, of the first plans.
func (m *material) eachTimeline(draw func(line *outcome.Timeline, o *outcome.Outcome) (figure.Figure, bool)) ([]figure.Figure, string) {
	var out []figure.Figure
	left := 0
	for i := range m.trials {
		t := &m.trials[i]
		line, o := t.timeline()
		if line == nil {
			continue
		}
		if len(out) == mostPlans {
			left++
			continue
		}
		f, ok := draw(line, o)
		if !ok {
			continue
		}
		if len(m.trials) > 1 {
			f.Title += ": " + m.name(t)
		}
		if len(t.Runs) > 1 {
			f.Notes = append(f.Notes, fmt.Sprintf("of run %d of %d", o.Run, len(t.Runs)))
		}
		out = append(out, f)
	}
	why := ""
	if left > 0 {
		why = fmt.Sprintf("%d more plans have no picture of their own", left)
	}
	return number1(out), why
}

// number1 gives the figures after the first an ID with their number.
func number1(list []figure.Figure) []figure.Figure {
	for i := range list {
		if i > 0 {
			list[i].ID += fmt.Sprintf("-%d", i+1)
		}
	}
	return list
}

// sentence joins clauses to one sentence. It returns "" without any.
func sentence(parts ...string) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" })
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// times returns the moments at which the steps of a timeline start, for n steps.
func times(line *outcome.Timeline, n int) []figure.Number {
	out := make([]figure.Number, n)
	for i := range out {
		out[i] = figure.Number(int64(line.Start) + int64(i)*int64(line.Step))
	}
	return out
}

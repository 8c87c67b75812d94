package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/simulate"
	"capcli/simulate/billing"
	"capcli/simulate/outcome"
	planning "capcli/simulate/plan"
	"capcli/simulate/plan/mix"
)

// lead is the answer in a sentence: what to buy, for how much in the period and a
// year, whether the limits hold, and what is left undone.
func (r *mixResult) lead() string {
	if r.stopped != "" {
		return "PARTIAL (" + r.stopped + "). Best so far: " + r.answer()
	}
	return r.answer()
}

// answer is the lead but for what was stopped.
func (r *mixResult) answer() string {
	if r.best == nil {
		return fmt.Sprintf("No mix holds the limits in %s of runs%s.", shareText(r.search.Hold), r.eachRun())
	}
	e := r.best
	text := fmt.Sprintf("%s: %s%s for %s, ~%s a year; %s; %s", r.buy(), r.riskOf(), e.Cost(), lengthText(e.Length()), perYear(e.Cost(), e.Length()), r.limitsHeld(e), r.undone(e))
	switch {
	case r.bound.Cost <= 0:
	case r.bound.Service:
		text += fmt.Sprintf("; at most %.1f%% above any mix that does the work as soon (%s)", 100*r.bound.Gap, r.bound.Cost)
	default:
		text += fmt.Sprintf("; at most %.1f%% above the least that is possible (%s)", 100*r.bound.Gap, r.bound.Cost)
	}
	return text + "."
}

// riskOf names what of the costs over the runs is made least, where it is not the
// mean.
func (r *mixResult) riskOf() string {
	if r.search.Risk.Kind == planning.Mean {
		return ""
	}
	return riskWords(r.search.Risk) + " of the cost "
}

// eachRun says that limits of each run are limits of each run.
func (r *mixResult) eachRun() string {
	if r.problem.Runs > 1 && slices.ContainsFunc(r.search.Limits, func(l mix.Limit) bool { return l.Each }) {
		return " and does the work in each"
	}
	return ""
}

// buy says what the best mix commits to, and by which rules it runs.
func (r *mixResult) buy() string {
	s, err := r.scenarioOf()
	if err != nil {
		return "Cheapest mix: " + r.named(r.best)
	}
	var pools []string
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if !c.Kind.Committed() {
			continue
		}
		what := fmt.Sprintf("%s GPUs of %s", grouped(int64(poolSize(c))), c.Name)
		if c.NodesFile != "" {
			what = c.Name + " as in " + c.NodesFile
		}
		terms := c.KindName()
		if c.Term != "" {
			terms += " for " + c.Term
		}
		pools = append(pools, fmt.Sprintf("%s (%s)", what, terms))
	}
	text := "Buy nothing ahead"
	if len(pools) > 0 {
		text = "Buy " + strings.Join(pools, " and ")
	}
	var rules []string
	for a, v := range r.best.Values {
		if path := r.problem.Space.Axes[a].Path; !sizesPool(path) || !committedAxis(s, path) {
			rules = append(rules, r.axisName(a)+" "+v)
		}
	}
	if len(rules) > 0 {
		text += ", with " + strings.Join(rules, ", ")
	}
	return text
}

// sizesPool tells whether a path is the size of a pool.
func sizesPool(path string) bool {
	return strings.HasPrefix(path, "capacity") && (strings.HasSuffix(path, ".gpus") || strings.HasSuffix(path, ".nodes"))
}

// committedAxis tells whether a path is of a committed pool that the sentence names:
// one of those of s, or one that is gone, for 0 GPUs of it are bought.
func committedAxis(s *scenarios.Scenario, path string) bool {
	name := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(path, ".gpus"), ".nodes"), "capacity.")
	i := slices.IndexFunc(s.Capacity, func(c scenarios.Capacity) bool { return c.Name == name })
	return i < 0 && !strings.Contains(name, "[") || i >= 0 && s.Capacity[i].Kind.Committed()
}

// asked tells whether the user or the scenario sets a limit: beside that which each
// plan has on the work left undone.
func (r *mixResult) asked() bool {
	return slices.ContainsFunc(r.search.Limits, func(l mix.Limit) bool { return !l.Each })
}

// limitsHeld says whether the limits hold, and in what share of the runs.
func (r *mixResult) limitsHeld(e *mix.Entry) string {
	what := "the limits hold"
	switch len(r.limits) {
	case 0:
		return "no limit is set"
	case 1:
		what = r.limits[0].String() + " holds"
	}
	if n := r.problem.Runs; n > 1 {
		return fmt.Sprintf("%s in %s of %d runs", what, shareText(e.Held()), n)
	}
	return what
}

// undone says how much of the work that could be done by the end a mix leaves
// undone, and what that adds to its cost.
func (r *mixResult) undone(e *mix.Entry) string {
	share, _ := e.Mean("unserved_share")
	if share == 0 {
		return "all work that could be done by the end is done"
	}
	text := undoneText(e) + " of the work is left undone"
	if p := e.Penalty(); p > 0 {
		text += fmt.Sprintf(", of the cost %s", p)
	}
	return text
}

// undoneText is the share of the work that a mix leaves undone: the mean, and the
// most of any run.
func undoneText(e *mix.Entry) string {
	mean, _ := e.Mean("unserved_share")
	most := 0.0
	for i := range e.Outcomes {
		most = math.Max(most, e.Outcomes[i].UnservedShare())
	}
	if len(e.Outcomes) > 1 && most > mean {
		return fmt.Sprintf("%s (%s in the worst run)", smallShare(mean), smallShare(most))
	}
	return smallShare(mean)
}

// smallShare writes a share with two significant digits below one percent.
func smallShare(v float64) string {
	switch {
	case v > 0 && v < 0.0001:
		return "under 0.01%"
	case v < 0.01:
		return fmt.Sprintf("%.2f%%", 100*v)
	}
	return fmt.Sprintf("%.1f%%", 100*v)
}

// lengthText is a length of time in words: whole days as such.
func lengthText(s capcli.Seconds) string {
	if s > 0 && s%capcli.Day == 0 {
		return fmt.Sprintf("%d %s", s/capcli.Day, plural(int64(s/capcli.Day), "day"))
	}
	return s.String()
}

// perYear is an amount of a length of time as that of a year of 365.25 days, for
// comparison; 0 where there is no time.
func perYear(u capcli.USD, length capcli.Seconds) capcli.USD {
	v, _ := billing.PerYear(u, length)
	return v
}

// yearCell is the cost of a mix as that of a year.
func yearCell(e *mix.Entry) any {
	if e.Fault() != "" || e.Length() <= 0 {
		return nil
	}
	return perYear(e.Cost(), e.Length())
}

// forLength says in a title over what time amounts are.
func (r *mixResult) forLength() string {
	for _, e := range r.found.Entries {
		if e.Fate == mix.Full && r.base.Scenario.Period.Known() {
			return fmt.Sprintf("; amounts are for %s", lengthText(e.Length()))
		}
	}
	return "; amounts are for the time that each takes for its jobs"
}

// moneyNotes say over what time amounts are, and what is owed beyond it.
func (r *mixResult) moneyNotes() []string {
	notes := []string{yearNote}
	if r.o.mix.priceUnserved {
		notes = append(notes, "the cost has the work that could have been done by the end and was not, at the on-demand price; break-even prices and the sensitivity to prices leave that part as it is")
	}
	if r.best != nil {
		for _, c := range r.owed {
			notes = append(notes, fmt.Sprintf("%s (%s) runs to %s and is charged here for its time up to %s: %s; %s of it is for the time after that, of which %s is yet to be paid",
				c.Name, c.Kind, day(c.End), day(c.at), c.UsedUp, c.Unexpired, c.Unpaid))
		}
	}
	return notes
}

// owedContract is a commitment of the best mix that lasts beyond the runs.
type owedContract struct {
	outcome.Contract
	at capcli.Time // the end of the runs
}

// owe finds what of the commitments of the best mix lies after the runs.
func (r *mixResult) owe() error {
	s, err := r.scenarioOf()
	if err != nil {
		return err
	}
	cfg, err := r.best.Config(0)
	if err != nil {
		return err
	}
	rec := &simulate.Record{Start: cfg.Start, Pools: cfg.Pools}
	if !rec.Start.Known() {
		jobs, err := r.problem.Jobs(0)
		if err != nil || len(jobs) == 0 {
			return err
		}
		rec.Start = jobs[0].Submit
	}
	ended := r.best.Outcomes[0].Length
	list, err := s.Contracts(rec, ended, r.options(0))
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.Unexpired > 0 {
			r.owed = append(r.owed, owedContract{c, rec.Start + capcli.Time(ended)})
		}
	}
	return nil
}

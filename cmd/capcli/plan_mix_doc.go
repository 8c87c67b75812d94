package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli/cmd/report"
	"capcli/simulate/plan/mix"
)

// doc says the plan: the best mix in a sentence, then tables.
func (r *mixResult) doc(form string) report.Doc {
	d := report.Doc{Lead: r.lead(), Notes: r.allNotes(), Data: r.json()}
	d.Tables = append(d.Tables, r.plansTable())
	if r.best == nil {
		d.Tables = append(d.Tables, r.distanceTable())
	}
	d.Tables = append(d.Tables, r.frontierTable())
	if r.best != nil && r.stopped == "" {
		d.Tables = append(d.Tables, r.marginalTable(), r.tieTable(), r.tornadoTable())
	}
	if r.ahead != nil {
		d.Tables = append(d.Tables, r.futureTable())
	}
	if c, ok := r.chart(); ok && (form == "table" || form == "md") {
		d.Charts = append(d.Charts, c)
	}
	return d
}

// boundSays says what the bound is over.
func (r *mixResult) boundSays() string {
	if r.bound.Cost == 0 {
		return "no lower bound on the cost is known here"
	}
	if r.bound.Service {
		return fmt.Sprintf("no mix of these pools, in any sizes and under any policy, that has no job's work done later than this plan does can cost less than %s", r.bound.Cost)
	}
	return fmt.Sprintf("no mix of these pools, in any sizes and under any policy, in which every job starts within its patience (%s at most) can cost less than %s",
		r.bound.MaxWait, r.bound.Cost)
}

// allNotes are what must be known beside the figures.
func (r *mixResult) allNotes() []string {
	notes := slices.Clone(r.notes)
	notes = append(notes, r.futureNotes()...)
	notes = append(notes, r.moneyNotes()...)
	if r.best != nil && r.stopped == "" {
		notes = append(notes, r.boundSays())
		if r.bound.Why != "" && r.bound.Service {
			notes = append(notes, "the bound is over mixes that serve as well as the plan, for "+r.bound.Why)
		}
	}
	if n := r.problem.Runs; n > 1 {
		notes = append(notes, fmt.Sprintf("ranges hold 90%% of the %d runs; the figure before a range is their mean; all mixes meet the same runs", n))
	}
	c := r.found.Counts()
	if c.Tried < r.found.Size-r.found.Invalid {
		notes = append(notes, fmt.Sprintf("%s of %s mixes were tried: a coarse grid, then finer around the best; %s", grouped(int64(c.Tried)), grouped(int64(r.found.Size)), r.passedOver()))
	}
	if r.found.Invalid > 0 {
		notes = append(notes, fmt.Sprintf("left out: %s %s of values that %s no valid scenario", grouped(int64(r.found.Invalid)), plural(int64(r.found.Invalid), "combination"), isAre(r.found.Invalid)))
	}
	if c.ByFault > 0 {
		notes = append(notes, fmt.Sprintf("%s %s could not be priced and %s no part in the choice; the table says why", grouped(int64(c.ByFault)), plural(int64(c.ByFault), "mix"), map[bool]string{true: "has", false: "have"}[c.ByFault == 1]))
	}
	if c.Starved > 0 {
		notes = append(notes, starvedText(c.Starved))
	}
	if c.ByRace > 0 {
		notes = append(notes, fmt.Sprintf("%s mixes were dropped before their last run, with %s confidence over all of them together", grouped(int64(c.ByRace)), shareText(r.search.Confidence)))
	}
	if r.outside > 0 {
		notes = append(notes, "left out, for they are outside the period: "+jobCount(r.outside))
	}
	notes = append(notes, r.approvalNotes()...)
	return append(notes, r.broken()...)
}

// starvedText says that mixes are too small for the work.
func starvedText(n int) string {
	return fmt.Sprintf("%s %s so little capacity that no schedule can do the work in the period: the limit on work left undone keeps %s out", grouped(int64(n)), map[bool]string{true: "mix has", false: "mixes have"}[n == 1], map[bool]string{true: "it", false: "them"}[n == 1])
}

// passedOver says what may be lost by the mixes that were not tried.
func (r *mixResult) passedOver() string {
	f := r.found
	switch {
	case f.Partial:
		return "--exhaustive tries all"
	case f.Unweighed:
		return "the others are too many to be weighed, so what they may save is not known; --exhaustive tries all"
	case f.Open > 0 && r.best == nil:
		return fmt.Sprintf("of the others %s may hold the limits; --exhaustive tries all", grouped(int64(f.Open)))
	case f.Open > 0:
		return fmt.Sprintf("of the others %s may cost less, by their lower bounds up to %s (%.1f%%): the possible loss; --exhaustive tries all", grouped(int64(f.Open)), f.Loss, 100*f.Loss.Float()/max(1e-9, r.best.Cost().Float()))
	}
	return "lower bounds prove that no other that holds the limits is cheaper"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// broken says of the cheapest listed mix how often it breaks the limits, and what
// the one that holds them costs more.
func (r *mixResult) broken() []string {
	mean := r.found.Mean()
	if r.best == nil || mean == nil || mean == r.best || r.problem.Runs == 1 {
		return nil
	}
	runs := r.problem.Runs
	count := func(e *mix.Entry) int { return runs - int(math.Round(e.Held()*float64(runs))) }
	return []string{fmt.Sprintf("mix %d breaks a limit in %d of %d runs; mix %d costs %s more and breaks one in %d",
		mean.Index, count(mean), runs, r.best.Index, r.best.Cost()-mean.Cost(), count(r.best))}
}

// assumptions are what the figures rest on.
func (r *mixResult) assumptions() []string {
	var out []string
	s := r.base.Scenario
	for _, a := range s.Assumptions() {
		out = append(out, a.Text)
	}
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if c.Hazard != nil {
			out = append(out, fmt.Sprintf("%s: nodes stay for %s on average, and are gone for %s", c.Name, c.Hazard.MeanUp, c.Hazard.MeanDown))
		}
		if c.Failures != nil {
			out = append(out, fmt.Sprintf("%s: a node fails every %s on average and is repaired in %s", c.Name, c.Failures.MTBF, c.Failures.Repair))
		}
	}
	if r.base.Source.Name == "generated" {
		out = append(out, "the jobs are made up by the scenario's generator")
	}
	return out
}

// roles are what a mix is called.
func (r *mixResult) roles(e *mix.Entry) []string {
	var out []string
	if e == r.best {
		switch {
		case r.problem.Runs == 1 || !r.asked():
			out = append(out, "cheapest")
		default:
			out = append(out, "cheapest at "+shareText(r.search.Hold))
		}
	} else if e == r.found.Mean() {
		out = append(out, "cheapest on the mean")
	}
	if e == r.ownEntry() {
		out = append(out, r.base.Scenario.Name)
	}
	if !e.Serves() && e.Fate == mix.Full {
		out = append(out, "leaves "+undoneText(e)+" of the work undone")
	}
	if why := e.Fault(); why != "" {
		out = append(out, "cannot be priced: "+why)
	}
	return out
}

// ownEntry is the scenario's own mix, if it was tried.
func (r *mixResult) ownEntry() *mix.Entry {
	if len(r.search.Include) == 0 {
		return nil
	}
	i := slices.IndexFunc(r.found.Entries, func(e *mix.Entry) bool { return e.Index == r.search.Include[0] })
	if i < 0 {
		return nil
	}
	return r.found.Entries[i]
}

// named is a mix in words: what it has on each axis.
func (r *mixResult) named(e *mix.Entry) string {
	var parts []string
	for a, v := range e.Values {
		parts = append(parts, r.axisName(a)+" "+v)
	}
	if len(parts) == 0 {
		return r.base.Scenario.Name
	}
	return strings.Join(parts, ", ")
}

// axisName is an axis for people: "base gpus", "patience", "policy".
func (r *mixResult) axisName(a int) string {
	path := r.problem.Space.Axes[a].Path
	switch path {
	case "policy.name":
		return "policy"
	case "overflow.patience":
		return "patience"
	}
	for _, prefix := range []string{"capacity.", "capacity", "overflow.", "policy."} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			path = rest
			break
		}
	}
	return strings.ReplaceAll(path, ".", " ")
}

// shareText is 95% or 99.5%.
func shareText(v float64) string { return figureText(math.Round(v*1e6)/1e4) + "%" }

// listed are the mixes of the plans table.
func (r *mixResult) listed() []*mix.Entry {
	ranked, _ := r.found.Ranked()
	out := slices.Clone(ranked)
	add := func(e *mix.Entry) {
		if e != nil && e.Fate == mix.Full && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	add(r.ownEntry())
	if r.best == nil {
		add(r.found.Nearest())
	}
	if r.o.mix.all {
		for _, e := range r.found.Entries {
			add(e)
		}
	}
	slices.SortStableFunc(out, func(a, b *mix.Entry) int {
		if a.Serves() != b.Serves() { // what leaves too much undone is not the cheaper one
			return map[bool]int{true: -1, false: 1}[a.Serves()]
		}
		return int(max(-1, min(1, a.Cost()-b.Cost())))
	})
	return append(out, r.unpriced()...)
}

// unpriced are the mixes that have no price, in order of their numbers: none of
// them can be weighed against others.
func (r *mixResult) unpriced() []*mix.Entry {
	var out []*mix.Entry
	for _, e := range r.found.Entries {
		if e.Fate == mix.ByFault {
			out = append(out, e)
		}
	}
	return out
}

// overRun is a figure of a mix as a cell: with its range where there are runs.
func overRun(e *mix.Entry, metric string, cell func(float64) any) any {
	v, ok := e.Mean(metric)
	if !ok {
		return nil
	}
	if len(e.Outcomes) == 1 {
		return cell(v)
	}
	lo, hi, _ := e.Range(metric)
	return report.Range{Mid: cell(v), Lo: cell(lo), Hi: cell(hi)}
}

func (r *mixResult) plansTable() report.Table {
	t := report.Table{Name: "plans", Title: "Mixes, cheapest first" + r.forLength(), Most: 12, Columns: []report.Column{{Name: "mix", Align: report.Right}}}
	for a, axis := range r.problem.Space.Axes {
		t.Columns = append(t.Columns, report.Column{Name: axis.Path, Head: r.axisName(a), Align: report.Right})
	}
	t.Columns = append(t.Columns, report.Column{Name: "cost_usd", Head: "cost"}, report.Column{Name: "cost_per_year_usd", Head: "~ a year", Priority: 4},
		report.Column{Name: "unserved_share", Head: "not done"}, report.Column{Name: "wait_p95_s", Head: "wait p95"},
		report.Column{Name: "stranded_usd", Head: "stranded", Priority: 2}, report.Column{Name: "availability", Head: "available", Priority: 3},
		report.Column{Name: "held_share", Head: "limits held"}, report.Column{Name: "is", Head: " ", Align: report.Left, Priority: 1})
	for _, e := range r.listed() {
		row := []any{int64(e.Index)}
		for _, v := range e.Values {
			row = append(row, v)
		}
		row = append(row, overRun(e, "cost", moneyCell), yearCell(e), overRun(e, "unserved_share", percentCell), overRun(e, "wait_p95", secondsCell), overRun(e, "stranded", moneyCell),
			overRun(e, "availability", percentCell), report.Percent(e.Held()), strings.Join(r.roles(e), ", "))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// distanceTable says of the mix that comes nearest how far it is from each limit.
func (r *mixResult) distanceTable() report.Table {
	t := report.Table{Name: "limits", Title: "The mix that comes nearest", Columns: []report.Column{
		{Name: "limit"}, {Name: "found", Align: report.Right}, {Name: "beyond_by", Head: "beyond by", Align: report.Right}, {Name: "held_share", Head: "held"}, {Name: "binds"},
	}}
	near := r.found.Nearest()
	if near == nil {
		return t
	}
	for i, d := range r.found.Distances(near) {
		found, beyond, binds := any(nil), any(nil), ""
		if d.Known {
			found = r.limits[i].Metric.Text(d.Mean)
			if d.Miss > 0 {
				beyond = r.limits[i].Metric.Text(d.Miss)
			}
		}
		if i == r.found.Binding() {
			binds = "yes"
		}
		t.Rows = append(t.Rows, []any{r.limits[i].String(), found, beyond, report.Percent(d.Held), binds})
	}
	return t
}

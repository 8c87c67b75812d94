package main

import (
	"fmt"
	"math"
	"strings"

	"capcli"
	"capcli/profile/demand"
	"capcli/profile/series"
)

// maxFine is how many fine steps a history may have; a longer one is taken by
// the hour, so that telling demand takes seconds.
const maxFine = 50_000

// attach gives the histories of a table their past on the finest steps, with the
// columns that stand beside the values.
func (o *historyOptions) attach(table *series.Table, hs *demand.Histories) error {
	c := &o.censor
	if !c.asked() {
		return nil
	}
	fine, err := o.fine(table, hs)
	if err != nil {
		return err
	}
	more := table.More
	if len(more) > 0 && c.capacityCol != "" && c.limit.file == "" {
		if err := notNegative(more[0], o); err != nil {
			return err
		}
		for _, h := range fine {
			h.Censoring.Limit = more[0].On(&h.Censoring.Fine, h.Name)
		}
		more = more[1:]
	}
	if len(more) > 0 {
		if err := notNegative(more[0], o); err != nil {
			return err
		}
		for _, h := range fine {
			h.Censoring.Pending = more[0].On(&h.Censoring.Fine, h.Name)
		}
	}
	return nil
}

// fine finds the finest steps on which usage and queue are both known.
func (o *historyOptions) fine(table *series.Table, hs *demand.Histories) ([]*demand.History, error) {
	for _, h := range hs.List {
		h.Censoring = &demand.Censoring{Fine: h.Regular, Combine: series.Combine(o.agg)}
	}
	native := table.Native(o.zone)
	rules := series.Rules{Combine: series.Combine(o.agg), Zone: o.zone}
	if rules.Combine == "" {
		rules.Combine = series.Mean
	}
	if t := o.censor.waiting; t != nil && hs.Clock {
		if other := t.Native(o.zone); other.Length() > native.Length() {
			native, rules.Step = other, other
		}
		if native.Length() > hs.Step.Length() {
			return nil, &capcli.InputError{
				File: t.File, Field: "ds", Text: fmt.Sprintf("its stamps are %s apart, the steps of the history %s", native, hs.Step), Hint: "ask for a coarser --step: --step " + native.String(),
			}
		}
	}
	if native.Length() >= hs.Step.Length() || native.Length() == 0 || rules.Combine == series.Sum && rules.Step != (capcli.Step{}) {
		if rules.Combine == series.Sum && o.step != "" && native.Length() != hs.Step.Length() {
			return nil, &capcli.InputError{File: table.File, Text: "sums of a step cannot be held against a capacity, and the stamps come at no one distance", Hint: "leave --agg sum out"}
		}
		return hs.List, nil
	}
	fine, err := table.Regular(rules)
	if err != nil {
		return nil, err
	}
	if hour := (capcli.Step{Seconds: capcli.Hour}); rules.Combine == series.Mean && longest(fine) > maxFine && native.Length() < hour.Length() && hour.Length() < hs.Step.Length() {
		native, rules.Step = hour, hour
		if fine, err = table.Regular(rules); err != nil {
			return nil, err
		}
	}
	for i, h := range hs.List {
		h.Censoring.Fine, h.Censoring.FineStep = fine[i], native
		h.Censoring.Into = make([]int, len(fine[i].Values))
		for k := range h.Censoring.Into {
			h.Censoring.Into[k] = h.Grid.Index(capcli.Time(fine[i].Stamp(k)))
		}
	}
	return hs.List, nil
}

func longest(list []series.Regular) int {
	n := 0
	for i := range list {
		n = max(n, len(list[i].Values))
	}
	return n
}

// settle puts the tables beside the history to its series, once all are there,
// and says what does not fit.
func (o *historyOptions) settle(hs *demand.Histories) error {
	c := &o.censor
	if err := o.settleBound(hs); err != nil {
		return err
	}
	if !c.asked() {
		return nil
	}
	for _, h := range hs.List {
		if h.Censoring == nil {
			continue
		}
		if err := h.CheckUsage(); err != nil {
			return err
		}
	}
	if err := o.settleLimit(hs); err != nil {
		return err
	}
	if t := c.waiting; t != nil {
		if err := fits(hs, t.Stamp, false, t.File); err != nil {
			return err
		}
		found, err := pair(hs, t.File, namesOf(t), o.prom.address != "")
		if err != nil {
			return err
		}
		for i, h := range hs.List {
			if found[i] == "" {
				h.Warnings = append(h.Warnings, "no queue in "+t.File)
				continue
			}
			h.Censoring.Pending = t.On(&h.Censoring.Fine, found[i])
		}
	}
	for _, h := range hs.List {
		if h.Censoring != nil {
			notKnown(h)
		}
	}
	return nil
}

// settleBound sees that the caps are those of series that are there.
func (o *historyOptions) settleBound(hs *demand.Histories) error {
	l := &o.censor.bound
	if l.levels == nil {
		return nil
	}
	found, err := o.pairLevels(hs, l)
	if err != nil {
		return err
	}
	for i, h := range hs.List {
		if found[i] == "" {
			h.Warnings = append(h.Warnings, "no cap in "+l.file+": nothing bounds it")
		}
	}
	return nil
}

// pairLevels finds for each history its levels in l, by name; "" is none.
func (o *historyOptions) pairLevels(hs *demand.Histories, l *levelSource) ([]string, error) {
	if err := fits(hs, l.levels.Stamp(), l.levels.Constant(), l.file); err != nil {
		return nil, err
	}
	return pair(hs, l.file, l.levels.Names(), o.prom.address != "")
}

func (o *historyOptions) settleLimit(hs *demand.Histories) error {
	l := &o.censor.limit
	if l.file == "" && l.given() && !l.measured {
		for _, h := range hs.List {
			if h.Censoring == nil {
				continue
			}
			h.Censoring.Limit = make([]float64, len(h.Censoring.Fine.Values))
			for k := range h.Censoring.Limit {
				h.Censoring.Limit[k] = l.one
			}
		}
	}
	if l.levels == nil {
		return nil
	}
	found, err := o.pairLevels(hs, l)
	if err != nil {
		return err
	}
	for i, h := range hs.List {
		if found[i] == "" {
			h.Warnings = append(h.Warnings, "no capacity in "+l.file)
			continue
		}
		if h.Censoring == nil {
			continue
		}
		h.Censoring.Limit = l.levels.Over(found[i], &h.Censoring.Fine, 0, len(h.Censoring.Fine.Values))
	}
	return nil
}

// fits refuses a table whose stamps are of another kind than the history's.
func fits(hs *demand.Histories, stamp series.Stamp, always bool, file string) error {
	if always || (stamp == series.Instant) == hs.Clock {
		return nil
	}
	kinds := map[bool]string{true: "times", false: "whole numbers"}
	return &capcli.InputError{
		File: file, Field: "ds", Text: fmt.Sprintf("its stamps are %s, those of the history %s", kinds[!hs.Clock], kinds[hs.Clock]),
		Hint: "write them as in the history, or leave them out where the figure never changed",
	}
}

func namesOf(t *series.Table) []string {
	var out []string
	for _, s := range t.Series {
		out = append(out, s.Name)
	}
	return out
}

// pair gives the name in a table of each series of the history, "" where it is
// not there. A table that has none of them is an error; what it has beside them
// is said.
func pair(hs *demand.Histories, file string, have []string, prom bool) ([]string, error) {
	out := make([]string, len(hs.List))
	used, mine := map[string]bool{}, []string{}
	for i, h := range hs.List {
		name, ok := matching(h.Name, len(hs.List), have, prom)
		if ok {
			out[i], used[name] = name, true
		}
		mine = append(mine, h.Name)
	}
	if len(used) == 0 {
		return nil, &capcli.InputError{
			File: file, Field: "unique_id", Text: fmt.Sprintf("none of its series is in the history: found %s; the history has %s", strings.Join(capcli.Abridge(have, 3), ", "), strings.Join(capcli.Abridge(mine, 3), ", ")),
			Hint: "name them in both alike (unique_id)",
		}
	}
	var other []string
	for _, h := range have {
		if !used[h] {
			other = append(other, h)
		}
	}
	if len(other) > 0 {
		hs.Notes = append(hs.Notes, fmt.Sprintf("%s: %d series that the history does not have: %s", file, len(other), strings.Join(capcli.Abridge(other, 3), ", ")))
	}
	return out, nil
}

// notKnown says in how many steps neither queue nor capacity is known, and where
// usage was over the capacity.
func notKnown(h *demand.History) {
	p := h.Censoring
	steps, unknown, over, worst := 0, 0, 0, -1
	for k, v := range p.Fine.Values {
		if math.IsNaN(v) {
			continue
		}
		steps++
		if !p.QueueKnown(k) && !p.LimitKnown(k) {
			unknown++
		}
		if p.LimitKnown(k) && v > p.Limit[k]*(1+1e-9) {
			if over++; worst < 0 || v-p.Limit[k] > p.Fine.Values[worst]-p.Limit[worst] {
				worst = k
			}
		}
	}
	if unknown > 0 {
		what := "capacity"
		if p.Pending != nil {
			what = "queue nor capacity"
		}
		h.Warnings = append(h.Warnings, fmt.Sprintf("no %s known in %s of %s steps: usage is taken for demand there", what, grouped(int64(unknown)), grouped(int64(steps))))
	}
	if over > 0 {
		h.Warnings = append(h.Warnings, fmt.Sprintf("usage is over the capacity in %s of %s steps, most at %s (%.6g of %.6g): is the capacity right? They count as at it",
			grouped(int64(over)), grouped(int64(steps)), h.Set.FormatStamp(p.Fine.Stamp(worst)), p.Fine.Values[worst], p.Limit[worst]))
	}
}

// bound gives the most that may be forecast of h in each of its first steps; nil
// where nothing bounds it.
func (o *historyOptions) bound(hs *demand.Histories, h *demand.History, steps int) []float64 {
	l := &o.censor.bound
	if !l.given() {
		return nil
	}
	var out []float64
	if l.levels == nil {
		out = make([]float64, steps)
		for i := range out {
			out[i] = l.one
		}
		return out
	}
	name, ok := matching(h.Name, len(hs.List), l.levels.Names(), o.prom.address != "")
	if !ok {
		return nil
	}
	out = l.levels.Over(name, &h.Regular, 0, steps)
	for i, v := range out {
		if math.IsNaN(v) {
			out[i] = math.Inf(1)
		}
	}
	return out
}

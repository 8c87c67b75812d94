package main

import (
	"fmt"
	"math"
	"strings"

	"capcli"
	"capcli/profile/series"
)

// maxFine is how many fine steps a history may have; a longer one is taken by
// the hour, so that telling demand takes seconds.
const maxFine = 50_000

// attach gives the histories of a table their past on the finest steps, with the
// columns that stand beside the values.
func (o *historyOptions) attach(table *series.Table, hs *histories) error {
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
			h.past.limit = more[0].On(&h.past.fine, h.Name)
		}
		more = more[1:]
	}
	if len(more) > 0 {
		if err := notNegative(more[0], o); err != nil {
			return err
		}
		for _, h := range fine {
			h.past.pending = more[0].On(&h.past.fine, h.Name)
		}
	}
	return nil
}

// fine finds the finest steps on which usage and queue are both known.
func (o *historyOptions) fine(table *series.Table, hs *histories) ([]*history, error) {
	for _, h := range hs.list {
		h.past = &past{fine: h.Regular, combine: series.Combine(o.agg)}
	}
	native := table.Native(o.zone)
	rules := series.Rules{Combine: series.Combine(o.agg), Zone: o.zone}
	if rules.Combine == "" {
		rules.Combine = series.Mean
	}
	if t := o.censor.waiting; t != nil && hs.clock {
		if other := t.Native(o.zone); other.Length() > native.Length() {
			native, rules.Step = other, other
		}
		if native.Length() > hs.step.Length() {
			return nil, &capcli.InputError{
				File: t.File, Field: "ds", Text: fmt.Sprintf("its stamps are %s apart, the steps of the history %s", native, hs.step), Hint: "ask for a coarser --step: --step " + native.String(),
			}
		}
	}
	if native.Length() >= hs.step.Length() || native.Length() == 0 || rules.Combine == series.Sum && rules.Step != (capcli.Step{}) {
		if rules.Combine == series.Sum && o.step != "" && native.Length() != hs.step.Length() {
			return nil, &capcli.InputError{File: table.File, Text: "sums of a step cannot be held against a capacity, and the stamps come at no one distance", Hint: "leave --agg sum out"}
		}
		return hs.list, nil
	}
	fine, err := table.Regular(rules)
	if err != nil {
		return nil, err
	}
	if hour := (capcli.Step{Seconds: capcli.Hour}); rules.Combine == series.Mean && longest(fine) > maxFine && native.Length() < hour.Length() && hour.Length() < hs.step.Length() {
		native, rules.Step = hour, hour
		if fine, err = table.Regular(rules); err != nil {
			return nil, err
		}
	}
	for i, h := range hs.list {
		h.past.fine, h.past.seasons = fine[i], usualSeasons(native)
		h.past.into = make([]int, len(fine[i].Values))
		for k := range h.past.into {
			h.past.into[k] = h.Grid.Index(capcli.Time(fine[i].Stamp(k)))
		}
	}
	return hs.list, nil
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
func (o *historyOptions) settle(hs *histories) error {
	c := &o.censor
	if err := o.settleBound(hs); err != nil {
		return err
	}
	if !c.asked() {
		return nil
	}
	for _, h := range hs.list {
		if h.past == nil {
			continue
		}
		if err := h.past.check(h); err != nil {
			return err
		}
	}
	if err := o.settleLimit(hs); err != nil {
		return err
	}
	if t := c.waiting; t != nil {
		if err := hs.fits(t.Stamp, false, t.File); err != nil {
			return err
		}
		found, err := hs.pair(t.File, namesOf(t), o.prom.address != "")
		if err != nil {
			return err
		}
		for i, h := range hs.list {
			if found[i] == "" {
				h.warnings = append(h.warnings, "no queue in "+t.File)
				continue
			}
			h.past.pending = t.On(&h.past.fine, found[i])
		}
	}
	for _, h := range hs.list {
		if h.past != nil {
			h.notKnown()
		}
	}
	return nil
}

// settleBound sees that the caps are those of series that are there.
func (o *historyOptions) settleBound(hs *histories) error {
	l := &o.censor.bound
	if l.levels == nil {
		return nil
	}
	found, err := o.pairLevels(hs, l)
	if err != nil {
		return err
	}
	for i, h := range hs.list {
		if found[i] == "" {
			h.warnings = append(h.warnings, "no cap in "+l.file+": nothing bounds it")
		}
	}
	return nil
}

// pairLevels finds for each history its levels in l, by name; "" is none.
func (o *historyOptions) pairLevels(hs *histories, l *levelSource) ([]string, error) {
	if err := hs.fits(l.levels.Stamp(), l.levels.Constant(), l.file); err != nil {
		return nil, err
	}
	return hs.pair(l.file, l.levels.Names(), o.prom.address != "")
}

func (o *historyOptions) settleLimit(hs *histories) error {
	l := &o.censor.limit
	if l.file == "" && l.given() && !l.measured {
		for _, h := range hs.list {
			if h.past == nil {
				continue
			}
			h.past.limit = make([]float64, len(h.past.fine.Values))
			for k := range h.past.limit {
				h.past.limit[k] = l.one
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
	for i, h := range hs.list {
		if found[i] == "" {
			h.warnings = append(h.warnings, "no capacity in "+l.file)
			continue
		}
		if h.past == nil {
			continue
		}
		h.past.limit = l.levels.Over(found[i], &h.past.fine, 0, len(h.past.fine.Values))
	}
	return nil
}

// fits refuses a table whose stamps are of another kind than the history's.
func (hs *histories) fits(stamp series.Stamp, always bool, file string) error {
	if always || (stamp == series.Instant) == hs.clock {
		return nil
	}
	kinds := map[bool]string{true: "times", false: "whole numbers"}
	return &capcli.InputError{
		File: file, Field: "ds", Text: fmt.Sprintf("its stamps are %s, those of the history %s", kinds[!hs.clock], kinds[hs.clock]),
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
func (hs *histories) pair(file string, have []string, prom bool) ([]string, error) {
	out := make([]string, len(hs.list))
	used, mine := map[string]bool{}, []string{}
	for i, h := range hs.list {
		name, ok := matching(h.Name, len(hs.list), have, prom)
		if ok {
			out[i], used[name] = name, true
		}
		mine = append(mine, h.Name)
	}
	if len(used) == 0 {
		return nil, &capcli.InputError{
			File: file, Field: "unique_id", Text: fmt.Sprintf("none of its series is in the history: found %s; the history has %s", strings.Join(few(have, 3), ", "), strings.Join(few(mine, 3), ", ")),
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
		hs.notes = append(hs.notes, fmt.Sprintf("%s: %d series that the history does not have: %s", file, len(other), strings.Join(few(other, 3), ", ")))
	}
	return out, nil
}

// notKnown says in how many steps neither queue nor capacity is known, and where
// usage was over the capacity.
func (h *history) notKnown() {
	p := h.past
	steps, unknown, over, worst := 0, 0, 0, -1
	for k, v := range p.fine.Values {
		if math.IsNaN(v) {
			continue
		}
		steps++
		if !p.queueKnown(k) && !p.limitKnown(k) {
			unknown++
		}
		if p.limitKnown(k) && v > p.limit[k]*(1+1e-9) {
			if over++; worst < 0 || v-p.limit[k] > p.fine.Values[worst]-p.limit[worst] {
				worst = k
			}
		}
	}
	if unknown > 0 {
		what := "capacity"
		if p.pending != nil {
			what = "queue nor capacity"
		}
		h.warnings = append(h.warnings, fmt.Sprintf("no %s known in %s of %s steps: usage is taken for demand there", what, grouped(int64(unknown)), grouped(int64(steps))))
	}
	if over > 0 {
		h.warnings = append(h.warnings, fmt.Sprintf("usage is over the capacity in %s of %s steps, most at %s (%.6g of %.6g): is the capacity right? They count as at it",
			grouped(int64(over)), grouped(int64(steps)), h.hs.text(p.fine.Stamp(worst)), p.fine.Values[worst], p.limit[worst]))
	}
}

// bound gives the most that may be forecast of h in each of its first steps; nil
// where nothing bounds it.
func (o *historyOptions) bound(hs *histories, h *history, steps int) []float64 {
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
	name, ok := matching(h.Name, len(hs.list), l.levels.Names(), o.prom.address != "")
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

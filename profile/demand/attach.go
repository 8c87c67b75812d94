package demand

import (
	"fmt"

	"capcli"
	"capcli/profile/series"
)

// maxFine is how many fine steps a history may have; a longer one is taken by
// the hour, so that telling demand takes seconds.
const maxFine = 50_000

// attach gives the histories of a table their past on the finest steps, with the
// columns that stand beside the values.
func (r *reader) attach(table *series.Table, hs *Histories) error {
	if !r.censored() {
		return nil
	}
	fine, err := r.attachFine(table, hs)
	if err != nil {
		return err
	}
	more := table.More
	if len(more) > 0 && r.CapacityColumn != "" && r.Past.File == "" {
		if err := checkNotNegative(more[0], r.Trace.TZ); err != nil {
			return err
		}
		for _, h := range fine {
			h.Censoring.Limit = more[0].On(&h.Censoring.Fine, h.Name)
		}
		more = more[1:]
	}
	if len(more) > 0 {
		if err := checkNotNegative(more[0], r.Trace.TZ); err != nil {
			return err
		}
		for _, h := range fine {
			h.Censoring.Pending = more[0].On(&h.Censoring.Fine, h.Name)
		}
	}
	return nil
}

// attachFine gives each history its usage on the finest steps on which usage and queue
// are both known.
func (r *reader) attachFine(table *series.Table, hs *Histories) ([]*History, error) {
	for _, h := range hs.List {
		h.Censoring = &Censoring{Fine: h.Regular, Combine: r.Combine}
	}
	native := table.Native(r.Trace.TZ)
	rules := series.Rules{Combine: r.Combine, Zone: r.Trace.TZ}
	if rules.Combine == "" {
		rules.Combine = series.Mean
	}
	if t := r.waiting; t != nil && hs.Clock {
		if other := t.Native(r.Trace.TZ); other.Length() > native.Length() {
			native, rules.Step = other, other
		}
		if native.Length() > hs.Step.Length() {
			return nil, &capcli.InputError{
				File: t.File, Field: "ds", Text: fmt.Sprintf("its stamps are %s apart, the steps of the history %s", native, hs.Step), Hint: "ask for a coarser --step: --step " + native.String(),
			}
		}
	}
	if native.Length() >= hs.Step.Length() || native.Length() == 0 || rules.Combine == series.Sum && rules.Step != (capcli.Step{}) {
		if rules.Combine == series.Sum && r.stepped() && native.Length() != hs.Step.Length() {
			return nil, &capcli.InputError{File: table.File, Text: "sums of a step cannot be held against a capacity, and the stamps come at no one distance", Hint: "leave --agg sum out"}
		}
		return hs.List, nil
	}
	fine, err := table.Regular(rules)
	if err != nil {
		return nil, err
	}
	if hour := (capcli.Step{Seconds: capcli.Hour}); rules.Combine == series.Mean && longestLength(fine) > maxFine && native.Length() < hour.Length() && hour.Length() < hs.Step.Length() {
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

// longestLength returns the number of values of the longest series.
func longestLength(list []series.Regular) int {
	n := 0
	for i := range list {
		n = max(n, len(list[i].Values))
	}
	return n
}

package demand

import (
	"fmt"
	"math"
	"sort"

	"capcli"
	"capcli/profile/logs/series"
)

// Censoring holds the capacity and the queue that limited the usage of a history, on the finest
// known steps: a mean over a day would hide the hours in which all capacity was in use.
type Censoring struct {
	Fine     series.Regular // usage, in GPUs
	Pending  []float64      // GPUs that waited in each fine step, NaN if unknown; nil if no queue is known
	Limit    []float64      // capacity in each fine step, in GPUs, NaN if unknown; nil if no capacity is known
	Into     []int          // index of the history's step that holds each fine step, negative for none; nil if the steps are the same
	Combine  series.Combine // how the history combines fine steps
	FineStep capcli.Step    // step of Fine; zero where Into is nil
}

// FineSteps returns the number of fine steps in the first n steps of the history.
func (c *Censoring) FineSteps(n int) int {
	if c.Into == nil {
		return min(n, len(c.Fine.Values))
	}
	return sort.SearchInts(c.Into, n)
}

// Fold returns usage, which is on the steps of the history, raised to demand, which is on the fine
// steps. It adds the sum or the mean of the difference between demand and usage on the fine steps,
// or takes the highest demand, as Combine says. Steps without known demand keep their usage.
func (c *Censoring) Fold(usage, demand []float64) []float64 {
	out := append([]float64(nil), usage...)
	if c.Into == nil {
		for i, v := range demand {
			if !math.IsNaN(v) {
				out[i] = v
			}
		}
		return out
	}
	more, counts := make([]float64, len(out)), make([]float64, len(out))
	for k, v := range demand {
		i := c.Into[k]
		if i < 0 || math.IsNaN(v) {
			continue
		}
		counts[i]++
		if c.Combine == series.Max {
			more[i] = max(more[i], v)
		} else {
			more[i] += v - c.Fine.Values[k]
		}
	}
	for i := range out {
		switch {
		case counts[i] == 0:
		case c.Combine == series.Max:
			out[i] = max(out[i], more[i])
		case c.Combine == series.Sum:
			out[i] += more[i]
		default:
			out[i] += more[i] / counts[i]
		}
	}
	return out
}

// QueueKnown reports whether the queue in fine step k is known.
func (c *Censoring) QueueKnown(k int) bool { return c.Pending != nil && !math.IsNaN(c.Pending[k]) }

// LimitKnown reports whether the capacity in fine step k is known.
func (c *Censoring) LimitKnown(k int) bool { return c.Limit != nil && !math.IsNaN(c.Limit[k]) }

// forget drops the first k steps of the history.
func (c *Censoring) forget(k int) {
	j := k
	if c.Into != nil {
		j = sort.SearchInts(c.Into, k)
		c.Into = append([]int(nil), c.Into[j:]...)
		for i := range c.Into {
			c.Into[i] -= k
		}
	}
	c.Fine.Values = c.Fine.Values[j:]
	if c.Pending != nil {
		c.Pending = c.Pending[j:]
	}
	if c.Limit != nil {
		c.Limit = c.Limit[j:]
	}
	c.Fine.First += int64(j) * c.Fine.Stride
	if c.Fine.Stride == 0 {
		c.Fine.Grid.Origin = c.Fine.Grid.At(j)
		c.Fine.Start = c.Fine.Grid.Origin
	}
}

// checkUsage returns an error for the first negative usage.
func (h *History) checkUsage() error {
	c := h.Censoring
	for k, v := range c.Fine.Values {
		if v < 0 {
			return &capcli.InputError{
				File: h.Set.Inputs[0], Text: fmt.Sprintf("%s, %s: expected 0 or more GPUs held, found %g", h.Name, h.Set.FormatStamp(c.Fine.Stamp(k)), v),
				Hint: "usage is not negative; leave it empty where it is not known",
			}
		}
	}
	return nil
}

// warnUnknown adds warnings: the number of steps in which neither queue nor capacity is known, and
// the number of steps in which usage was over the capacity.
func (h *History) warnUnknown() {
	c := h.Censoring
	steps, unknown, over, worst := 0, 0, 0, -1
	for k, v := range c.Fine.Values {
		if math.IsNaN(v) {
			continue
		}
		steps++
		if !c.QueueKnown(k) && !c.LimitKnown(k) {
			unknown++
		}
		if c.LimitKnown(k) && v > c.Limit[k]*(1+1e-9) {
			if over++; worst < 0 || v-c.Limit[k] > c.Fine.Values[worst]-c.Limit[worst] {
				worst = k
			}
		}
	}
	if unknown > 0 {
		what := "capacity"
		if c.Pending != nil {
			what = "queue nor capacity"
		}
		h.Warnings = append(h.Warnings, fmt.Sprintf("no %s known in %s of %s steps: usage is used as demand there", what, capcli.Grouped(int64(unknown)), capcli.Grouped(int64(steps))))
	}
	if over > 0 {
		h.Warnings = append(h.Warnings, fmt.Sprintf("usage exceeds the capacity in %s of %s steps, most at %s (%.6g of %.6g): check the capacity. These steps count as full",
			capcli.Grouped(int64(over)), capcli.Grouped(int64(steps)), h.Set.FormatStamp(c.Fine.Stamp(worst)), c.Fine.Values[worst], c.Limit[worst]))
	}
}

// maxFine is the most fine steps of a history. A longer history uses hours, so that estimating
// its demand takes only seconds.
const maxFine = 50_000

// attach sets the Censoring of the histories of a table, from the table's columns of capacity and
// queue.
func (r *reader) attach(table *series.Table, hs *Histories) error {
	more := table.More[:len(table.More)-len(r.Further)]
	for _, t := range table.More[len(more):] {
		for _, h := range hs.List {
			h.Further = append(h.Further, t.MeansOn(&h.Regular, h.Name))
		}
	}
	if !r.censored() {
		return nil
	}
	fine, err := r.attachFine(table, hs)
	if err != nil {
		return err
	}
	if len(more) > 0 && r.CapacityColumn != "" && r.Past.File == "" {
		if err := checkNotNegative(more[0], r.Trace.TZ); err != nil {
			return err
		}
		for _, h := range fine {
			h.Censoring.Limit = more[0].MeansOn(&h.Censoring.Fine, h.Name)
		}
		more = more[1:]
	}
	if len(more) > 0 {
		if err := checkNotNegative(more[0], r.Trace.TZ); err != nil {
			return err
		}
		for _, h := range fine {
			h.Censoring.Pending = more[0].MeansOn(&h.Censoring.Fine, h.Name)
		}
	}
	return nil
}

// attachFine sets the usage in each history's Censoring, on the finest steps on which both usage
// and queue are known. It returns the histories.
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

func longestLength(list []series.Regular) int {
	n := 0
	for i := range list {
		n = max(n, len(list[i].Values))
	}
	return n
}

package demand

import (
	"fmt"
	"math"
	"sort"

	"capcli"
	"capcli/profile/series"
)

// Censoring is what is known of what held the usage of a history down, on the
// finest steps that there are: a mean over a day hides the hours in which all was
// taken.
type Censoring struct {
	Fine     series.Regular // usage
	Pending  []float64      // nil where no queue is known
	Limit    []float64      // nil where no capacity is known
	Into     []int          // the step of the history that holds each fine step, negative for none; nil where they are the same
	Combine  series.Combine // of fine steps into one of the history
	FineStep capcli.Step    // of Fine, where Into is not nil
}

// FineSteps returns how many fine steps lie in the first n steps of the history.
func (c *Censoring) FineSteps(n int) int {
	if c.Into == nil {
		return min(n, len(c.Fine.Values))
	}
	return sort.SearchInts(c.Into, n)
}

// Fold returns usage, which is on the steps of the history, with the amount added
// by which demand was over it on the fine steps.
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

// QueueKnown reports whether it is known what waited in fine step k.
func (c *Censoring) QueueKnown(k int) bool { return c.Pending != nil && !math.IsNaN(c.Pending[k]) }

// LimitKnown reports whether the capacity in fine step k is known.
func (c *Censoring) LimitKnown(k int) bool { return c.Limit != nil && !math.IsNaN(c.Limit[k]) }

// forget leaves out the first k steps of the history.
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

// checkUsage refuses usage under 0.
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

// warnUnknown says in how many steps neither queue nor capacity is known, and where
// usage was over the capacity.
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
		h.Warnings = append(h.Warnings, fmt.Sprintf("no %s known in %s of %s steps: usage is taken for demand there", what, capcli.Grouped(int64(unknown)), capcli.Grouped(int64(steps))))
	}
	if over > 0 {
		h.Warnings = append(h.Warnings, fmt.Sprintf("usage is over the capacity in %s of %s steps, most at %s (%.6g of %.6g): is the capacity right? They count as at it",
			capcli.Grouped(int64(over)), capcli.Grouped(int64(steps)), h.Set.FormatStamp(c.Fine.Stamp(worst)), c.Fine.Values[worst], c.Limit[worst]))
	}
}

package main

import (
	"cmp"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios"
)

// found is a figure of a run, or a lower bound where only that is known.
type found struct {
	v    float64
	over bool // the figure is v or more
}

// cell is the figure for a table.
func (r found) cell(of func(float64) any) any {
	if r.over {
		return report.AtLeast{Of: of(r.v)}
	}
	return of(r.v)
}

// text is the figure in a sentence.
func (r found) text(of func(float64) string) string {
	if r.over {
		return "over " + of(r.v)
	}
	return of(r.v)
}

// read gives a metric of the run; false where nothing is known of it.
func (r *outcome) read(metric string) (found, bool) {
	if v, ok := r.metric(metric); ok {
		return found{v: v}, true
	}
	v, ok := r.atLeast(metric)
	return found{v, true}, ok
}

// holds tells whether a condition is true of the run, as far as its figure, or a
// lower bound of it, tells.
func (r *outcome) holds(c scenarios.Check) (holds, known bool) {
	if holds, known = c.Holds(r.metric); known {
		return holds, known
	}
	if least, ok := r.atLeast(c.Metric.Name); ok {
		return c.HoldsFrom(least)
	}
	return false, false
}

// runSpread is a figure over replications: the mean and the range that holds 90% of
// them (nearest rank).
type runSpread struct {
	runs         int
	mean, lo, hi found
}

// runSpreadOf is a figure over those runs that have one; false where none has. A
// mean with a lower bound among its terms is one itself, and so is a rank with one
// at or below it.
func runSpreadOf(runs []*outcome, metric string) (runSpread, bool) {
	var all []found
	for _, r := range runs {
		if v, ok := r.read(metric); ok {
			all = append(all, v)
		}
	}
	return runSpreadOver(all)
}

func runSpreadOver(all []found) (runSpread, bool) {
	n := len(all)
	if n == 0 {
		return runSpread{}, false
	}
	s := runSpread{runs: n}
	for _, x := range all {
		s.mean.v += x.v
		s.mean.over = s.mean.over || x.over
	}
	s.mean.v /= float64(n)
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.v, b.v) })
	rank := func(percent int) found {
		k := (percent*n + 99) / 100
		return found{all[k-1].v, slices.ContainsFunc(all[:k], func(x found) bool { return x.over })}
	}
	s.lo, s.hi = rank(5), rank(95)
	return s, true
}

// cell is the mean with its range, or the figure of a single run.
func (s runSpread) cell(of func(float64) any) any {
	if s.runs == 1 {
		return s.mean.cell(of)
	}
	return report.Range{Mid: s.mean.cell(of), Lo: s.lo.cell(of), Hi: s.hi.cell(of)}
}

// meanOf is the mean of a metric over the runs that have it, or have a lower
// bound of it.
func meanOf(runs []*outcome, metric string) float64 {
	s, _ := runSpreadOf(runs, metric)
	return s.mean.v
}

// overRuns is a figure over replications for a table.
func overRuns(runs []*outcome, metric string, cell func(float64) any) any {
	s, ok := runSpreadOf(runs, metric)
	if !ok {
		return nil
	}
	return s.cell(cell)
}

// cellOf is a cell of a run as it is, and of several runs their mean with its
// range; nil where no run knows it.
func cellOf(runs []*outcome, get func(*outcome) any) any {
	if len(runs) == 1 {
		return get(runs[0])
	}
	var all []found
	var of func(float64) any
	for _, r := range runs {
		if v, cell := numberOf(get(r)); cell != nil {
			all, of = append(all, v), cell
		}
	}
	s, known := runSpreadOver(all)
	if !known {
		return nil
	}
	return s.cell(func(v float64) any { return signed(of, v) })
}

// numberOf takes a cell apart: its figure, and how to write such figures; nil for
// what is not known.
func numberOf(v any) (found, func(float64) any) {
	switch v := v.(type) {
	case report.AtLeast:
		n, cell := numberOf(v.Of)
		n.over = true
		return n, cell
	case capcli.USD:
		return found{v: v.Float()}, moneyCell
	case capcli.GPUTime:
		return found{v: v.Hours()}, hoursCell
	case capcli.Seconds:
		return found{v: float64(v)}, secondsCell
	case int64:
		return found{v: float64(v)}, countCell
	case float64:
		return found{v: v}, func(v float64) any { return v }
	case report.Percent:
		return found{v: float64(v)}, percentCell
	case report.Ratio:
		return found{v: float64(v)}, ratioCell
	case report.MeanTime:
		return found{v: float64(v)}, secondsCell
	}
	return found{}, nil
}

// boundOver is the lower bound of a mean over replications, nil where the mean is
// known.
func boundOver(runs []*outcome, metric string) any {
	if s, ok := runSpreadOf(runs, metric); ok && s.mean.over {
		return secondsCell(s.mean.v)
	}
	return nil
}

// cells of figures that come as floats.
func secondsCell(v float64) any { return report.MeanTime(v) }
func moneyCell(v float64) any   { return capcli.USD(v*1e6 + 0.5) }
func hoursCell(v float64) any   { return capcli.GPUTime(v*3.6e6 + 0.5) }
func percentCell(v float64) any { return report.Percent(v) }
func ratioCell(v float64) any   { return report.Ratio(v) }
func countCell(v float64) any   { return int64(v + 0.5) }

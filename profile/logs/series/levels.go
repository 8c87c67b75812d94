package series

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"capcli"
)

// Levels are series whose values hold from their stamp until the next stamp, such as the GPUs
// of a pool as it grew. Before the first stamp the level is unknown, and after a missing value
// it is unknown until the next stamp.
type Levels struct {
	table  *Table
	byName map[string][]Row
}

// Levels converts t, which was read with Options.Levels or from Prometheus, to levels. It fails
// where a level is negative, or where a series has two levels for one stamp.
func (t *Table) Levels(zone *time.Location) (*Levels, error) {
	l := &Levels{table: t, byName: map[string][]Row{}}
	for _, s := range t.Series {
		rows := slices.Clone(s.Rows)
		slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.At, b.At) })
		for k, row := range rows {
			if row.Value < 0 {
				return nil, t.fault(row.Line, t.value, fmt.Sprintf("%s: expected 0 or more, found %g", s.Name, row.Value), "leave it empty where it is not known")
			}
			if k == 0 || rows[k-1].At != row.At {
				continue
			}
			before := rows[k-1]
			if t.Always {
				return nil, t.fault(row.Line, "", fmt.Sprintf("%s is there twice, also at line %d", s.Name, before.Line), "say from when each holds: a column ds")
			}
			return nil, t.fault(row.Line, "ds", fmt.Sprintf("%s: two figures for %s, also at line %d", s.Name, t.Text(row.At, zone), before.Line), "leave one of them out")
		}
		l.byName[s.Name] = rows
	}
	return l, nil
}

// Constant reports whether each level holds always: the table has no column of stamps, or it
// is a single value.
func (l *Levels) Constant() bool {
	t := l.table
	return t.Always || t.Stamp == None && len(t.Series) == 1 && len(t.Series[0].Rows) == 1
}

// Names returns the names of the series, in the order of the table.
func (l *Levels) Names() []string { return l.table.Names() }

// Names returns the names of the series, in the order of the table.
func (t *Table) Names() []string {
	var out []string
	for _, s := range t.Series {
		out = append(out, s.Name)
	}
	return out
}

// Stamp returns the kind of the table's stamps.
func (l *Levels) Stamp() Stamp { return l.table.Stamp }

// MeanOver returns the mean level of the series called name, over time, in each step of r from
// index from up to, but not including, index to. Steps may lie beyond the end of r. The mean is
// NaN where the level is not known for the whole step.
func (l *Levels) MeanOver(name string, r *Regular, from, to int) []float64 {
	rows := l.byName[name]
	out := make([]float64, max(0, to-from))
	if l.Constant() {
		for i := range out {
			out[i] = rows[0].Value
		}
		return out
	}
	next := 0 // index of the first row after the start of the step
	for i := range out {
		begin, end := r.Stamp(from+i), r.Stamp(from+i+1)
		for next < len(rows) && rows[next].At <= begin {
			next++
		}
		level, at, sum := math.NaN(), begin, 0.0
		if next > 0 {
			level = rows[next-1].Value
		}
		steady := level
		for k := next; k < len(rows) && rows[k].At < end; k++ {
			sum += level * float64(rows[k].At-at)
			level, at, steady = rows[k].Value, rows[k].At, math.NaN()
		}
		if out[i] = steady; math.IsNaN(steady) {
			out[i] = (sum + level*float64(end-at)) / float64(end-begin)
		}
	}
	return out
}

// MeansOn returns the mean of the values of the series called name in each step of r, or NaN
// for a step without a value.
func (t *Table) MeansOn(r *Regular, name string) []float64 {
	out, counts := make([]float64, len(r.Values)), make([]int, len(r.Values))
	i, known := t.byID[name]
	if known {
		for _, row := range t.Series[i].Rows {
			if k := r.index(row.At); k >= 0 && k < len(out) && !math.IsNaN(row.Value) {
				out[k] += row.Value
				counts[k]++
			}
		}
	}
	for k := range out {
		out[k] /= float64(counts[k]) // 0/0 is missing
	}
	return out
}

// index returns the index of the step that holds stamp. It may be negative, or beyond the end.
func (r *Regular) index(stamp int64) int {
	if r.Stride == 0 {
		return r.Grid.Index(capcli.Time(stamp))
	}
	gap := stamp - r.First
	if gap < 0 {
		return -1
	}
	return int(gap / r.Stride)
}

// Native returns the step between the stamps of t. It is zero where the stamps are not times or
// have no common step. It sorts the rows of t by time.
func (t *Table) Native(zone *time.Location) capcli.Step {
	if t.Stamp != Instant {
		return capcli.Step{}
	}
	for i := range t.Series {
		rows := t.Series[i].Rows
		if !slices.IsSortedFunc(rows, func(a, b Row) int { return cmp.Compare(a.At, b.At) }) {
			slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.At, b.At) })
		}
	}
	s, err := t.step(zone)
	if err != nil {
		return capcli.Step{}
	}
	return s.times
}

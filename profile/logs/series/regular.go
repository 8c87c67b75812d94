package series

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"capcli"
)

// Combine is how several values in one step are combined to one; "" combines none.
type Combine string

// The ways to combine values.
const (
	Mean Combine = "mean"
	Sum  Combine = "sum"
	Max  Combine = "max"
)

// Gaps is how steps without a value are treated.
type Gaps string

// The ways to treat gaps. Leave keeps them missing, and Refuse makes them an error. The others
// fill them: Zero with 0, Linear with Interpolate, Previous with the value before.
const (
	Leave    Gaps = "missing"
	Refuse   Gaps = "error"
	Zero     Gaps = "zero"
	Linear   Gaps = "linear"
	Previous Gaps = "previous"
)

// Rules say how to make regular series of a table.
type Rules struct {
	Step      capcli.Step    // step of the result, at least as long as that of the stamps; zero is the step of the stamps
	Combine   Combine        // how to combine values in one step; "" is the mean where Step is set, and otherwise makes duplicates an error
	Gaps      Gaps           // how to treat gaps; "" is Leave
	Zone      *time.Location // zone of days and months; nil is UTC
	MaxPoints int            // most steps of all series together; 0 is 50 million
}

// Regular is a series on equal steps, with a report of what was not regular.
type Regular struct {
	capcli.Series
	Grid          capcli.Grid // the steps, where stamps are times
	First, Stride int64       // first stamp and step, where stamps are whole numbers; else 0
	Gaps          int         // steps without a value, before gaps were treated
	Filled        int         // gaps that were filled
	Combined      int         // rows with the same stamp as the row before
	Notes         []string    // gaps, fills and combined rows in words, with dates
}

// Stamp returns the stamp of value i, which may lie beyond the end.
func (r *Regular) Stamp(i int) int64 {
	if r.Stride != 0 {
		return r.First + int64(i)*r.Stride
	}
	return int64(r.Grid.At(i))
}

// step is the common step between a table's stamps.
type step struct {
	stamps   int64       // step of stamps that are whole numbers
	times    capcli.Step // step of stamps that are times
	monthEnd bool        // stamps are the last days of their months
}

// Regular puts each series of t on a grid. It fails with a *capcli.InputError where the data
// breaks a rule; the error gives the number of such rows and the first of them.
func (t *Table) Regular(r Rules) ([]Regular, error) {
	if t.Stamp != Instant && r.Step != (capcli.Step{}) {
		return nil, t.fault(0, "", "a step of "+r.Step.String()+" needs stamps that are times, found whole numbers", "leave --step out, or give times in the column ds")
	}
	combined := make([]int, len(t.Series))
	combine := r.Step != (capcli.Step{}) || r.Combine != ""
	for i := range t.Series {
		rows := t.Series[i].Rows
		byTime := func(a, b Row) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Line, b.Line)) }
		if !slices.IsSortedFunc(rows, byTime) {
			slices.SortFunc(rows, byTime)
		}
		if combined[i] = duplicates(rows); combined[i] > 0 && !combine {
			return nil, t.duplicate(&t.Series[i], combined[i], r.Zone)
		}
	}
	native, err := t.nativeStep(r)
	if err != nil {
		return nil, err
	}
	left := r.MaxPoints
	left = cmp.Or(left, defaultRows)
	out := make([]Regular, len(t.Series))
	for i := range t.Series {
		g := gridder{t: t, r: r, raw: &t.Series[i], native: native}
		if out[i], err = g.regular(&left); err != nil {
			return nil, err
		}
		if out[i].Combined = combined[i]; combined[i] > 0 && r.Step == (capcli.Step{}) {
			out[i].Notes = append(out[i].Notes, fmt.Sprintf("%s %s with a stamp that was there already: combined by %s", capcli.Grouped(int64(combined[i])), capcli.Plural(int64(combined[i]), "row"), r.Combine))
		}
	}
	return out, nil
}

// nativeStep returns the step of the stamps; zero where rows of several steps are combined to r.Step,
// so that the number of rows in a full step is unknown. It fails where the stamps do not fit r.
func (t *Table) nativeStep(r Rules) (step, error) {
	native, err := t.step(r.Zone)
	switch {
	case err != nil && r.Step == (capcli.Step{}):
		return native, err
	case err != nil:
		return step{}, nil
	}
	if r.Gaps == "" {
		if coarse, changed := t.changedStep(native, r.Zone); changed != nil {
			if r.Step.Length() < coarse {
				return native, changed
			}
			return step{}, nil
		}
	}
	if r.Step != (capcli.Step{}) && native.times.Length() > r.Step.Length() {
		return native, t.fault(0, "", fmt.Sprintf("the stamps are %s apart, which cannot be cut into steps of %s", native.times, r.Step), "ask for a coarser --step")
	}
	return native, nil
}

// duplicates returns the number of rows with the same stamp as the row before.
func duplicates(rows []Row) int {
	n := 0
	for i := 1; i < len(rows); i++ {
		if rows[i].At == rows[i-1].At {
			n++
		}
	}
	return n
}

// duplicate returns the error for a series with n duplicate stamps.
func (t *Table) duplicate(s *Raw, n int, zone *time.Location) error {
	for i := 1; ; i++ {
		if a, b := s.Rows[i-1], s.Rows[i]; a.At == b.At {
			return t.fault(b.Line, "ds", fmt.Sprintf("%s: %d duplicate %s, the first %s, also at line %d", s.Name, n, capcli.Plural(int64(n), "stamp"), t.Text(b.At, zone), a.Line),
				"say how to combine them: --agg mean, sum or max")
		}
	}
}

// gridder makes one series regular.
type gridder struct {
	t      *Table
	r      Rules
	raw    *Raw
	native step
}

// regular returns the series on its grid, and subtracts its number of steps from left. It fails
// where the series has more than left steps, or gaps that the rules forbid.
func (g *gridder) regular(left *int) (Regular, error) {
	rows := g.raw.Rows
	out := Regular{Series: capcli.Series{Name: g.raw.Name, Start: capcli.NoTime}}
	var at func(stamp int64) int
	first, last := rows[0].At, rows[len(rows)-1].At
	switch {
	case g.t.Stamp != Instant:
		out.First, out.Stride, out.Step = first, g.native.stamps, 1
		at = func(stamp int64) int { return int((stamp - first) / g.native.stamps) }
	case g.r.Step != (capcli.Step{}):
		out.Grid = g.r.Step.Grid(capcli.Time(first), g.r.Zone)
	default:
		out.Grid = capcli.Grid{Origin: capcli.Time(first), Step: g.native.times, Zone: g.r.Zone, MonthEnd: g.native.monthEnd}
	}
	if at == nil {
		out.Start, out.Step = out.Grid.Origin, out.Grid.Step.Length()
		at = func(stamp int64) int { return out.Grid.Index(capcli.Time(stamp)) }
	}
	n := at(last) + 1
	if n > *left || n < 1 {
		return out, g.t.fault(0, "", fmt.Sprintf("%s reaches from %s to %s: more steps than the limit of %s", g.raw.Name, g.t.Text(first, g.r.Zone), g.t.Text(last, g.r.Zone), capcli.Grouped(int64(cmp.Or(g.r.MaxPoints, defaultRows)))),
			"check the stamps, or ask for a coarser --step")
	}
	*left -= n
	out.Values = make([]float64, n)
	counts := g.fill(out.Values, at)
	if g.r.Step != (capcli.Step{}) {
		g.trim(&out, counts)
	}
	return out, g.treat(&out)
}

// fill sets values to the combined rows of each step, and returns the number of rows in each
// step. at returns the index of the step that holds a stamp.
func (g *gridder) fill(values []float64, at func(int64) int) []int32 {
	rows := make([]int32, len(values))
	known := make([]int32, len(values))
	for _, row := range g.raw.Rows {
		i := at(row.At)
		rows[i]++
		if math.IsNaN(row.Value) {
			continue
		}
		if known[i]++; known[i] == 1 {
			values[i] = row.Value
			continue
		}
		if g.r.Combine == Max {
			values[i] = max(values[i], row.Value)
		} else {
			values[i] += row.Value
		}
	}
	for i := range values {
		switch {
		case known[i] == 0:
			values[i] = math.NaN()
		case g.r.Combine != Sum && g.r.Combine != Max:
			values[i] /= float64(known[i])
		}
	}
	return rows
}

// trim drops the first and the last step where the rows cover less than 19/20 of the step.
func (g *gridder) trim(out *Regular, counts []int32) {
	part := func(i int) bool {
		if g.native.times == (capcli.Step{}) { // mixed steps: the number of rows in a full step is unknown
			return false
		}
		whole := int64(out.Grid.At(i+1)-out.Grid.At(i)) * 19
		return int64(counts[i])*20*int64(g.native.times.Length()) < whole
	}
	if n := len(out.Values); n > 2 && part(n-1) {
		out.Notes = append(out.Notes, "the last step, "+g.t.Text(out.Stamp(n-1), g.r.Zone)+", is covered only in part: left out")
		out.Values = out.Values[:n-1]
	}
	if len(out.Values) > 2 && part(0) {
		out.Notes = append(out.Notes, "the first step, "+g.t.Text(out.Stamp(0), g.r.Zone)+", is covered only in part: left out")
		out.Values = out.Values[1:]
		out.Grid.Origin = out.Grid.At(1)
		out.Start = out.Grid.Origin
	}
}

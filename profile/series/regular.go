package series

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"capcli"
)

// Combine is how several values become one; "" combines nothing.
type Combine string

// The ways to combine.
const (
	Mean Combine = "mean"
	Sum  Combine = "sum"
	Max  Combine = "max"
)

// Gaps is what becomes of steps without a value.
type Gaps string

// The ways to treat gaps. Leave keeps them missing.
const (
	Leave    Gaps = "missing"
	Refuse   Gaps = "error"
	Zero     Gaps = "zero"
	Linear   Gaps = "linear"
	Previous Gaps = "previous"
)

// Rules say how a table becomes regular series.
type Rules struct {
	Step      capcli.Step // coarser steps to combine into; zero is told from the stamps
	Combine   Combine     // of values in one step; "" refuses duplicates and takes the mean where Step is set
	Gaps      Gaps        // "" is Leave
	Zone      *time.Location
	MaxPoints int // most steps of all series; 0 is 50 million
}

// Regular is a series on equal steps, and what was not regular about it.
type Regular struct {
	capcli.Series
	Grid          capcli.Grid // of stamps that are times
	First, Stride int64       // of stamps that are whole numbers
	Gaps          int         // steps without a value, before they were treated
	Filled        int         // of them, given a value
	Combined      int         // rows that share a step with another, where no Step was asked for
	Notes         []string    // the same in words, with dates
}

// Stamp is the stamp of value i, which may lie beyond the end.
func (r *Regular) Stamp(i int) int64 {
	if r.Stride != 0 {
		return r.First + int64(i)*r.Stride
	}
	return int64(r.Grid.At(i))
}

// step is the common distance of a table's stamps.
type step struct {
	stamps   int64 // of whole numbers
	times    capcli.Step
	monthEnd bool
}

// Regular puts each series of t on a grid. What a rule forbids is an InputError
// with the count and the first place.
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
	native, err := t.step(r.Zone)
	if err != nil && r.Step == (capcli.Step{}) {
		return nil, err
	}
	if err == nil && r.Step != (capcli.Step{}) && native.times.Length() > r.Step.Length() {
		return nil, t.fault(0, "", fmt.Sprintf("the stamps are %s apart, which cannot be cut into steps of %s", native.times, r.Step), "ask for a coarser --step")
	}
	left := r.MaxPoints
	if left == 0 {
		left = defaultRows
	}
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

func duplicates(rows []Row) int {
	n := 0
	for i := 1; i < len(rows); i++ {
		if rows[i].At == rows[i-1].At {
			n++
		}
	}
	return n
}

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

// fill combines the rows into the steps and gives how many each had.
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

// trim leaves out a first and a last step of which the rows cover under nineteen
// twentieths.
func (g *gridder) trim(out *Regular, counts []int32) {
	part := func(i int) bool {
		if g.native.times == (capcli.Step{}) { // mixed steps: nobody knows how many rows make a step
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

package figure

import (
	"cmp"
	"math"
	"slices"
)

// Table is a picture's data as a table. A cell is a string, a Number, or nil where the series has
// no point.
type Table struct {
	Columns []Column `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// Column is a column of a Table.
type Column struct {
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
}

// Table returns the data of f. Lines and areas have a row for each value of X and columns for each
// series, in the order of X. So have bars and heat, with a row for each name. Points, spans, and
// lines in which a value of X comes twice have a row for each point. f has passed Check.
func (f *Figure) Table() Table {
	switch {
	case f.Kind == Spans:
		return f.spanRows()
	case f.Kind == Tornado:
		return f.tornadoRows()
	case f.Kind.HasNames() || len(f.X.Names) > 0:
		return f.nameRows()
	case f.Kind == Points || f.hasTwice():
		return f.pointRows()
	}
	return f.commonRows()
}

// hasTwice reports whether a series has a value of X twice, or an unknown one.
func (f *Figure) hasTwice() bool {
	for i := range f.Series {
		seen := make(map[Number]bool, len(f.Series[i].X))
		for _, x := range f.Series[i].X {
			if seen[x] || !x.IsKnown() {
				return true
			}
			seen[x] = true
		}
	}
	return false
}

// axisName returns the label of an axis, or other where it has none.
func axisName(a Axis, other string) string {
	if a.Label == "" {
		return other
	}
	return a.Label
}

// valueColumns returns the columns of each series: its value, and its range where it has one.
func (f *Figure) valueColumns() []Column {
	var out []Column
	for i := range f.Series {
		s := &f.Series[i]
		name := s.Name
		name = cmp.Or(name, axisName(f.Y, "value"))
		out = append(out, Column{name, f.Y.Unit})
		if len(s.Lo) > 0 {
			out = append(out, Column{name + ", low", f.Y.Unit}, Column{name + ", high", f.Y.Unit})
		}
		if len(s.Labels) > 0 {
			out = append(out, Column{name + ", label", Name})
		}
	}
	return out
}

// appendPoint appends the cells of point i of s to row; nil for each where i is negative.
func appendPoint(row []any, s *Series, i int) []any {
	add := func(list []Number) {
		if i < 0 {
			row = append(row, nil)
		} else {
			row = append(row, list[i])
		}
	}
	add(s.Y)
	if len(s.Lo) > 0 {
		add(s.Lo)
		add(s.Hi)
	}
	if len(s.Labels) > 0 {
		if i < 0 {
			row = append(row, nil)
		} else {
			row = append(row, s.Labels[i])
		}
	}
	return row
}

func (f *Figure) nameRows() Table {
	t := Table{Columns: append([]Column{{axisName(f.X, "name"), Name}}, f.valueColumns()...)}
	for i, name := range f.X.Names {
		row := []any{name}
		for j := range f.Series {
			row = appendPoint(row, &f.Series[j], i)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (f *Figure) commonRows() Table {
	t := Table{Columns: append([]Column{{axisName(f.X, "x"), f.X.Unit}}, f.valueColumns()...)}
	var xs []Number
	at := make([]map[Number]int, len(f.Series))
	for j := range f.Series {
		at[j] = make(map[Number]int, len(f.Series[j].X))
		for i, x := range f.Series[j].X {
			at[j][x] = i
		}
		xs = append(xs, f.Series[j].X...)
	}
	slices.Sort(xs)
	for _, x := range slices.Compact(xs) {
		row := []any{x}
		for j := range f.Series {
			i, ok := at[j][x]
			if !ok {
				i = -1
			}
			row = appendPoint(row, &f.Series[j], i)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (f *Figure) hasAny(length func(s *Series) int) bool {
	return slices.ContainsFunc(f.Series, func(s Series) bool { return length(&s) > 0 })
}

func (f *Figure) pointRows() Table {
	ranges := f.hasAny(func(s *Series) int { return len(s.Lo) })
	labels := f.hasAny(func(s *Series) int { return len(s.Labels) })
	y := axisName(f.Y, "y")
	t := Table{Columns: []Column{{"series", Name}}}
	if labels {
		t.Columns = append(t.Columns, Column{"label", Name})
	}
	t.Columns = append(t.Columns, Column{axisName(f.X, "x"), f.X.Unit}, Column{y, f.Y.Unit})
	if ranges {
		t.Columns = append(t.Columns, Column{y + ", low", f.Y.Unit}, Column{y + ", high", f.Y.Unit})
	}
	for j := range f.Series {
		s := &f.Series[j]
		for i := range s.X {
			row := []any{s.Name}
			if labels {
				row = append(row, labelAt(s, i))
			}
			row = append(row, s.X[i], s.Y[i])
			switch {
			case len(s.Lo) > 0:
				row = append(row, s.Lo[i], s.Hi[i])
			case ranges:
				row = append(row, nil, nil)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// labelAt returns the label of point i of s, nil where it has none.
func labelAt(s *Series, i int) any {
	if len(s.Labels) == 0 {
		return nil
	}
	return s.Labels[i]
}

func (f *Figure) spanRows() Table {
	labels := f.hasAny(func(s *Series) int { return len(s.Labels) })
	values := f.hasAny(func(s *Series) int { return len(s.Y) })
	t := Table{Columns: []Column{{axisName(f.Y, "row"), Name}}}
	if labels {
		t.Columns = append(t.Columns, Column{"label", Name})
	}
	t.Columns = append(t.Columns, Column{"from", f.X.Unit}, Column{"to", f.X.Unit})
	if values {
		t.Columns = append(t.Columns, Column{"value", f.Y.Unit})
	}
	for j := range f.Series {
		s := &f.Series[j]
		for i := range s.Lo {
			row := []any{s.Name}
			if labels {
				row = append(row, labelAt(s, i))
			}
			row = append(row, s.Lo[i], s.Hi[i])
			switch {
			case len(s.Y) > 0:
				row = append(row, s.Y[i])
			case values:
				row = append(row, nil)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func (f *Figure) tornadoRows() Table {
	s := &f.Series[0]
	y := axisName(f.Y, "value")
	t := Table{Columns: []Column{{axisName(f.X, "name"), Name}, {y + ", low", f.Y.Unit}, {y + ", high", f.Y.Unit}, {"difference", f.Y.Unit}}}
	for i, name := range f.X.Names {
		t.Rows = append(t.Rows, []any{name, s.Lo[i], s.Hi[i], Number(math.Abs(float64(s.Hi[i] - s.Lo[i])))})
	}
	return t
}

package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"capcli"
)

// Field is a column of a table whose rows are all of type R: what stands over it, and
// what a row has in it.
type Field[R any] struct {
	Name     string // for programs, with its unit; see Column
	Head     string
	Align    Align
	Priority int
	Picture  bool

	// Cell returns the cell of a row. A nil Cell takes the field of the row whose JSON
	// name is Name.
	Cell func(R) any
	// As makes the cell of a float64 and of a capcli.Figure that is known. A nil As
	// leaves it a number without a unit.
	As func(float64) any
}

// Fill returns t with a column for each of fields after those that it has, and with a row
// for each of rows.
func Fill[R any](t Table, rows []R, fields []Field[R]) Table {
	t.Columns = slices.Clip(t.Columns)
	for i := range fields {
		f := &fields[i]
		if f.Cell == nil {
			f.Cell = fieldNamed[R](f.Name)
		}
		t.Columns = append(t.Columns, Column{f.Name, f.Head, f.Align, f.Priority, f.Picture})
	}
	for _, row := range rows {
		cells := make([]any, len(fields))
		for i := range fields {
			cells[i] = fields[i].Value(row)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// Figures returns a table of single figures, one in a row: what it is, and how much.
func Figures[R any](name string, of R, fields []Field[R]) Table {
	t := Table{Name: name, Columns: []Column{{Name: "figure"}, {Name: "value", Align: Right}}}
	for i := range fields {
		t.Rows = append(t.Rows, []any{Label{Name: fields[i].Name, Head: fields[i].Head}, fields[i].Value(of)})
	}
	return t
}

// Value returns the cell of a row: what a pointer points to, and nil for a nil pointer.
func (f *Field[R]) Value(row R) any {
	cell := f.Cell
	if cell == nil {
		cell = fieldNamed[R](f.Name)
	}
	v := cell(row)
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer {
		if p.IsNil() {
			return nil
		}
		v = p.Elem().Interface()
	}
	switch x := v.(type) {
	case float64:
		if f.As != nil {
			return f.As(x)
		}
	case capcli.Figure:
		switch {
		case !finite(float64(x)):
			return nil
		case f.As != nil:
			return f.As(float64(x))
		}
		return float64(x)
	case interface{ Cell() any }:
		return x.Cell()
	}
	return v
}

// fieldNamed returns what reads the field of R, or of what R points to, that has a JSON
// name. It panics where there is none.
func fieldNamed[R any](name string) func(R) any {
	row := reflect.TypeFor[R]()
	if row.Kind() == reflect.Pointer {
		row = row.Elem()
	}
	for _, field := range reflect.VisibleFields(row) {
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag == name {
			return func(r R) any { return reflect.Indirect(reflect.ValueOf(r)).FieldByIndex(field.Index).Interface() }
		}
	}
	panic(fmt.Sprintf("%s has no field whose JSON name is %q", row, name))
}

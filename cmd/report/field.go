package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"capcli"
)

// Field is a column of a table whose rows are all of type R: its description, as in Column, and
// how to get the cell of a row.
type Field[R any] struct {
	Name     string // name for programs, with its unit; see Column
	Head     string
	Align    Align
	Priority int
	Picture  bool

	// Cell returns the cell of a row. Where it is nil, the cell is the field of R with the JSON
	// name Name.
	Cell func(R) any
	// As makes the cell of a float64 or of a known capcli.Figure. Where it is nil, the cell is a
	// number without a unit.
	As func(float64) any
	// Omit leaves the field out of a table.
	Omit bool
}

// Fill returns t with a column added for each of fields, and a row added for each of rows.
func Fill[R any](t Table, rows []R, fields []Field[R]) Table {
	t.Columns = slices.Clip(t.Columns)
	fields = slices.DeleteFunc(slices.Clone(fields), func(f Field[R]) bool { return f.Omit })
	for i := range fields {
		f := &fields[i]
		if f.Cell == nil {
			f.Cell = fieldNamed[R](f.Name)
		}
		t.Columns = append(t.Columns, Column{f.Name, f.Head, f.Align, f.Priority, f.Picture})
	}
	for _, row := range rows {
		cells := capcli.Map(fields, func(x Field[R]) any { return x.Value(row) })
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// Figures returns a table with a row for each of fields: its label and its value in of.
func Figures[R any](name string, of R, fields []Field[R]) Table {
	t := Table{Name: name, Columns: []Column{{Name: "figure"}, {Name: "value", Align: Right}}}
	for i := range fields {
		t.Rows = append(t.Rows, []any{Label{Name: fields[i].Name, Head: fields[i].Head}, fields[i].Value(of)})
	}
	return t
}

// Value returns the cell of a row. It follows a pointer, converts numbers with As, and returns
// nil for a nil pointer and an unknown Figure.
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

// fieldNamed returns a function that reads the field with a JSON name from an R, a struct or a
// pointer to one. It panics where there is no such field.
func fieldNamed[R any](name string) func(R) any {
	row := reflect.TypeFor[R]()
	if row.Kind() == reflect.Pointer {
		row = row.Elem()
	}
	for _, field := range reflect.VisibleFields(row) {
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag == name {
			return func(r R) any { // by the address: Interface then copies the field, and the cell does not keep all of r
				return reflect.Indirect(reflect.ValueOf(&r).Elem()).FieldByIndex(field.Index).Interface()
			}
		}
	}
	panic(fmt.Sprintf("%s has no field whose JSON name is %q", row, name))
}

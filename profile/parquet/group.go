package parquet

import (
	"errors"
	"fmt"
	"math"

	pq "github.com/parquet-go/parquet-go"
)

// Vector is some rows of one column. Null has an entry for each row; of the
// other three the one that the column's kind calls for has one too, of any
// value where the row is null: Ints for Int32, Int64 and Instant (microseconds
// since 1970), Floats for Float32 and Float64, Texts for Text.
type Vector struct {
	Null   []bool
	Ints   []int64
	Floats []float64
	Texts  []string
}

// NewVector makes a vector of n rows for a column of kind k.
func NewVector(k Kind, n int) Vector {
	v := Vector{Null: make([]bool, n)}
	switch k {
	case Text:
		v.Texts = make([]string, n)
	case Float32, Float64:
		v.Floats = make([]float64, n)
	default:
		v.Ints = make([]int64, n)
	}
	return v
}

// Resize gives v n rows, in its own memory where that is large enough.
func (v *Vector) Resize(n int) {
	v.Null = resized(v.Null, n)
	switch {
	case v.Texts != nil:
		v.Texts = resized(v.Texts, n)
	case v.Floats != nil:
		v.Floats = resized(v.Floats, n)
	default:
		v.Ints = resized(v.Ints, n)
	}
}

func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return append(s[:cap(s)], make([]T, n-cap(s))...)
	}
	return s[:n]
}

// Group writes rows as a row group of their own: columns[i][order[k]] is the
// cell of column i in row k. A nil order is the order of the vectors.
func (t *Table) Group(columns []Vector, order []int32) error {
	if t.err != nil {
		return t.err
	}
	if len(columns) != len(t.columns) {
		return fmt.Errorf("writing parquet: %d columns, expected %d", len(columns), len(t.columns))
	}
	if t.rows > 0 {
		if t.err = t.flush(); t.err != nil {
			return t.err
		}
	}
	if t.group > 0 {
		if t.err = t.endGroup(); t.err != nil {
			return t.err
		}
	}
	for i := range columns {
		if t.err = t.column(i, &columns[i], order); t.err != nil {
			return t.err
		}
	}
	t.err = t.endGroup()
	return t.err
}

// column hands one column of a group to parquet-go.
func (t *Table) column(col int, v *Vector, order []int32) error {
	n := len(v.Null)
	if order != nil {
		n = len(order)
	}
	w := t.pw.ColumnWriters()[col]
	cells := t.cells[col][:0]
	for k := range n {
		row := k
		if order != nil {
			row = int(order[k])
		}
		cell, err := t.cell(col, v, row)
		if err != nil {
			return fmt.Errorf("writing parquet: column %q: %w", t.columns[col].Name, err)
		}
		if cells = append(cells, cell); len(cells) < batchRows && k < n-1 {
			continue
		}
		if _, err := w.WriteRowValues(cells); err != nil {
			return fmt.Errorf("writing parquet: column %q: %w", t.columns[col].Name, err)
		}
		cells, t.texts[col] = cells[:0], t.texts[col][:0]
	}
	return nil
}

func (t *Table) cell(col int, v *Vector, row int) (cell pq.Value, err error) {
	c := &t.columns[col]
	level := 0
	if c.Nullable {
		level = 1
	}
	if v.Null[row] {
		if !c.Nullable {
			return cell, errors.New("null in a column that must be known")
		}
		return pq.NullValue().Level(0, 0, col), nil
	}
	switch c.Kind {
	case Text:
		s := v.Texts[row]
		if len(s) > maxText {
			return cell, fmt.Errorf("text of %d bytes, over the limit of %d", len(s), maxText)
		}
		b := t.texts[col]
		from := len(b)
		b = append(b, s...) // where this moves, earlier cells keep the old bytes
		t.texts[col] = b
		cell = pq.ByteArrayValue(b[from:len(b):len(b)])
	case Int32:
		i := v.Ints[row]
		if i != int64(int32(i)) {
			return cell, fmt.Errorf("%d does not fit into 32 bits", i)
		}
		cell = pq.Int32Value(int32(i))
	case Int64, Instant:
		cell = pq.Int64Value(v.Ints[row])
	default:
		f := v.Floats[row]
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return cell, fmt.Errorf("%v is not a number to write; unknown is null", f)
		}
		if cell = pq.DoubleValue(f); c.Kind == Float32 {
			cell = pq.FloatValue(float32(f))
		}
	}
	return cell.Level(0, level, col), nil
}

// Note adds to the metadata what is known only once the rows are.
func (t *Table) Note(key, value string) { t.pw.SetKeyValueMetadata(key, value) }

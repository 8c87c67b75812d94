package parquet

import (
	"errors"
	"fmt"
	"math"
	"slices"

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
	if n > len(s) {
		s = slices.Grow(s, n-len(s))
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
	var err error
	for from := 0; from < n && err == nil; from += batchRows {
		rows := t.rowsOf(order, from, min(from+batchRows, n))
		cells := t.room[:0]
		switch t.columns[col].Kind {
		case Text:
			cells, err = t.textCells(cells, col, v, rows)
		case Float32, Float64:
			cells, err = t.floatCells(cells, col, v, rows)
		default:
			cells, err = t.intCells(cells, col, v, rows)
		}
		t.room = cells
		if err == nil {
			_, err = w.WriteRowValues(cells)
		}
	}
	if err != nil {
		return fmt.Errorf("writing parquet: column %q: %w", t.columns[col].Name, err)
	}
	return nil
}

// rowsOf gives the rows from to to of an order; nil is that of the vectors.
func (t *Table) rowsOf(order []int32, from, to int) []int32 {
	if order != nil {
		return order[from:to]
	}
	t.plainOrder = t.plainOrder[:0]
	for k := from; k < to; k++ {
		t.plainOrder = append(t.plainOrder, int32(k))
	}
	return t.plainOrder
}

var errNull = errors.New("null in a column that must be known")

// levels gives the null of a column and the definition level of what is none.
func (t *Table) levels(col int) (null pq.Value, level int, nullable bool) {
	if t.columns[col].Nullable {
		return pq.NullValue().Level(0, 0, col), 1, true
	}
	return null, 0, false
}

func (t *Table) intCells(cells []pq.Value, col int, v *Vector, rows []int32) ([]pq.Value, error) {
	null, level, nullable := t.levels(col)
	narrow := t.columns[col].Kind == Int32
	for _, row := range rows {
		i := v.Ints[row]
		switch {
		case v.Null[row] && nullable:
			cells = append(cells, null)
		case v.Null[row]:
			return cells, errNull
		case !narrow:
			cells = append(cells, pq.Int64Value(i).Level(0, level, col))
		case i == int64(int32(i)):
			cells = append(cells, pq.Int32Value(int32(i)).Level(0, level, col))
		default:
			return cells, fmt.Errorf("%d does not fit into 32 bits", i)
		}
	}
	return cells, nil
}

func (t *Table) floatCells(cells []pq.Value, col int, v *Vector, rows []int32) ([]pq.Value, error) {
	null, level, nullable := t.levels(col)
	narrow := t.columns[col].Kind == Float32
	for _, row := range rows {
		f := v.Floats[row]
		switch {
		case v.Null[row] && nullable:
			cells = append(cells, null)
		case v.Null[row]:
			return cells, errNull
		case math.IsNaN(f) || math.IsInf(f, 0):
			return cells, fmt.Errorf("%v is not a number to write; unknown is null", f)
		case narrow:
			cells = append(cells, pq.FloatValue(float32(f)).Level(0, level, col))
		default:
			cells = append(cells, pq.DoubleValue(f).Level(0, level, col))
		}
	}
	return cells, nil
}

// textCells copies texts once for a batch; parquet-go takes copies of its own.
func (t *Table) textCells(cells []pq.Value, col int, v *Vector, rows []int32) ([]pq.Value, error) {
	null, level, nullable := t.levels(col)
	b := t.letters[:0]
	for _, row := range rows {
		s := v.Texts[row]
		switch {
		case v.Null[row] && nullable:
			cells = append(cells, null)
		case v.Null[row]:
			return cells, errNull
		case len(s) > maxText:
			return cells, fmt.Errorf("text of %d bytes, over the limit of %d", len(s), maxText)
		default:
			from := len(b)
			b = append(b, s...) // where this moves, earlier cells keep the old bytes
			cells = append(cells, pq.ByteArrayValue(b[from:len(b):len(b)]).Level(0, level, col))
		}
	}
	t.letters = b
	return cells, nil
}

// Note adds to the metadata what is known only once the rows are.
func (t *Table) Note(key, value string) { t.pw.SetKeyValueMetadata(key, value) }

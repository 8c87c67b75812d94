package parquet

import (
	"errors"
	"fmt"
	"math"

	pq "github.com/parquet-go/parquet-go"
)

// Group writes rows as one row group: columns[i][order[k]] is the cell of column i in row k. A
// nil order is the order of the vectors. Pending rows of Next are written first, as another row
// group.
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

// column hands the cells of one column to parquet-go, in the given order.
func (t *Table) column(col int, v *Vector, order []int32) error {
	n := len(v.Null)
	if order != nil {
		n = len(order)
	}
	w := t.pw.ColumnWriters()[col]
	var err error
	for from := 0; from < n && err == nil; from += batchRows {
		rows := t.rowsOf(order, from, min(from+batchRows, n))
		if t.room, err = t.appendCells(t.room[:0], col, v, rows); err == nil {
			_, err = w.WriteRowValues(t.room)
		}
	}
	if err != nil {
		return fmt.Errorf("writing parquet: column %q: %w", t.columns[col].Name, err)
	}
	return nil
}

// rowsOf returns order[from:to]; a nil order is that of the vectors.
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

// check returns an error where the cell of v in row cannot be written to column c.
func (c *Column) check(v *Vector, row int32) error {
	switch {
	case v.Null[row] && !c.Nullable:
		return errors.New("null in a column that must be known")
	case v.Null[row]:
	case c.Kind == Text && len(v.Texts[row]) > maxText:
		return fmt.Errorf("text of %d bytes, over the limit of %d", len(v.Texts[row]), maxText)
	case v.Floats != nil && (math.IsNaN(v.Floats[row]) || math.IsInf(v.Floats[row], 0)):
		return fmt.Errorf("%v is not a number to write; unknown is null", v.Floats[row])
	case c.Kind == Int32 && v.Ints[row] != int64(int32(v.Ints[row])):
		return fmt.Errorf("%d does not fit into 32 bits", v.Ints[row])
	}
	return nil
}

// appendCells appends the cells of the given rows of a column. It copies texts into t.letters;
// parquet-go then makes its own copies.
func (t *Table) appendCells(cells []pq.Value, col int, v *Vector, rows []int32) ([]pq.Value, error) {
	c := &t.columns[col]
	level := 0 // definition level of a cell that is not null
	if c.Nullable {
		level = 1
	}
	letters := t.letters[:0]
	for _, row := range rows {
		if err := c.check(v, row); err != nil {
			return cells, err
		}
		var value pq.Value
		switch {
		case v.Null[row]:
			cells = append(cells, pq.NullValue().Level(0, 0, col))
			continue
		case c.Kind == Text:
			from := len(letters)
			letters = append(letters, v.Texts[row]...) // after a reallocation, earlier cells keep the old array
			value = pq.ByteArrayValue(letters[from:len(letters):len(letters)])
		case c.Kind == Float32:
			value = pq.FloatValue(float32(v.Floats[row]))
		case c.Kind == Float64:
			value = pq.DoubleValue(v.Floats[row])
		case c.Kind == Int32:
			value = pq.Int32Value(int32(v.Ints[row]))
		default:
			value = pq.Int64Value(v.Ints[row])
		}
		cells = append(cells, value.Level(0, level, col))
	}
	t.letters = letters
	return cells, nil
}

// Note sets a key of the metadata. Call it before Close, for values that are known only after the
// rows.
func (t *Table) Note(key, value string) { t.pw.SetKeyValueMetadata(key, value) }

package demand

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile/logs/parquet"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
)

// parquetTable reads a Parquet file that is a long table. plain says that the file is not
// compressed as a whole. ok is false for a job log; in can then be read again from the start.
func (r *reader) parquetTable(in *trace.Input, plain bool, opts series.Options) (table *series.Table, ok bool, err error) {
	defer func() { err = capcli.NameFile(err, in.Name) }()
	if in.At == nil || !plain {
		if err := parquet.Hold(in); err != nil {
			return nil, false, err
		}
	}
	rows, err := parquet.NewRows(in.At, in.Size)
	if err != nil {
		return nil, false, err
	}
	names := capcli.Map(rows.Headers(), func(h parquet.Header) string { return h.Name })
	if r.isJobLog(names, opts) {
		return nil, false, nil
	}
	table, err = (&parquetReader{rows: rows}).read(names, opts)
	return table, true, err
}

// isJobLog reports whether names are the columns of a job log rather than of a table.
func (r *reader) isJobLog(names []string, opts series.Options) bool {
	if opts.ID != "" || opts.Time != "" || opts.Value != "" {
		return false
	}
	if len(r.Trace.Map) > 0 || slices.Contains(names, "submit") && slices.Contains(names, "gpus") {
		return true
	}
	_, err := series.Find(names, opts)
	return err != nil && (slices.Contains(names, "submit") || slices.Contains(names, "gpus") || slices.Contains(names, "job_id"))
}

// parquetReader reads the rows of a Parquet file into a table of series.
type parquetReader struct {
	rows  *parquet.Rows
	build *series.Builder
	heads []parquet.Header // headers of the picked columns: ids, stamp, value, further values
	more  int              // number of columns of further values
	id    []byte           // buffer for the id of a row
	row   int              // number of the current row, from 1
}

// read reads all rows. It fails where a column has the wrong type.
func (p *parquetReader) read(names []string, opts series.Options) (*series.Table, error) {
	columns, err := series.Find(names, opts)
	if err != nil {
		return nil, err
	}
	p.build = series.NewBuilder(opts, names, columns)
	p.more = len(columns.More)
	places := slices.Concat(columns.IDs, []int{columns.Time, columns.Value}, columns.More)
	heads := p.rows.Headers()
	for _, at := range places {
		p.heads = append(p.heads, heads[at])
	}
	for _, at := range append([]int{columns.Value}, columns.More...) {
		if t := heads[at].Type; t == parquet.Instants || t == parquet.Locals || t == parquet.Dates {
			return nil, p.build.Fault(0, names[at], fmt.Sprintf("expected numbers, found %s", t), "name the column of values with --value-col")
		}
	}
	if t := heads[columns.Time].Type; t == parquet.Truths {
		return nil, p.build.Fault(0, names[columns.Time], fmt.Sprintf("expected times or whole numbers, found %s", t), "name the column of times with --time-col")
	}
	if err := p.rows.Pick(places...); err != nil {
		return nil, err
	}
	for {
		cells, err := p.rows.Next()
		if errors.Is(err, io.EOF) {
			return p.build.Table()
		}
		if err != nil {
			return nil, err
		}
		for k := range cells[0].Null {
			if err := p.put(cells, k); err != nil {
				return nil, err
			}
		}
	}
}

// put adds row k of a batch.
func (p *parquetReader) put(cells []parquet.Vector, k int) error {
	p.row++
	ids := len(cells) - 2 - p.more
	p.id = p.id[:0]
	for i := range ids {
		if i > 0 {
			p.id = append(p.id, '/')
		}
		p.id = appendCell(p.id, &cells[i], k)
	}
	if ids == 0 {
		p.id = append(p.id, "series"...)
	}
	v, err := p.value(cells, ids+1, k)
	if err != nil {
		return err
	}
	for i := range p.more {
		w, err := p.value(cells, ids+2+i, k)
		if err != nil {
			return err
		}
		p.build.Beside(i, w)
	}
	return p.stamp(&cells[ids], &p.heads[ids], k, v)
}

// value returns the value of row k in a column; NaN for null.
func (p *parquetReader) value(cells []parquet.Vector, column, k int) (float64, error) {
	c := &cells[column]
	switch {
	case c.Null[k]:
		return math.NaN(), nil
	case c.Floats != nil:
		return c.Floats[k], nil
	case c.Ints != nil:
		return float64(c.Ints[k]), nil
	}
	v, wrong := series.Figure(strings.TrimSpace(c.Texts[k]))
	if wrong != "" {
		return 0, p.build.Fault(p.row, p.heads[column].Name, wrong, "leave it empty where it is missing")
	}
	return v, nil
}

// stamp adds row k, with the value v, under the stamp in column c.
func (p *parquetReader) stamp(c *parquet.Vector, head *parquet.Header, k int, v float64) error {
	if c.Null[k] {
		return p.build.Text(p.row, p.id, "", v)
	}
	switch head.Type {
	case parquet.Instants:
		return p.build.Instant(p.row, p.id, c.Ints[k], v)
	case parquet.Locals, parquet.Dates:
		return p.build.Local(p.row, p.id, c.Ints[k], v)
	case parquet.Integers:
		return p.build.Number(p.row, p.id, c.Ints[k], v)
	case parquet.Fractions: // pandas stores whole numbers as fractions in a column that once had a gap
		n := c.Floats[k]
		if n != math.Trunc(n) || math.Abs(n) > 1e15 {
			return p.build.Text(p.row, p.id, strconv.FormatFloat(n, 'g', -1, 64), v)
		}
		return p.build.Number(p.row, p.id, int64(n), v)
	case parquet.Texts, parquet.Truths:
	}
	return p.build.Text(p.row, p.id, strings.TrimSpace(c.Texts[k]), v)
}

// appendCell appends the cell of row k as text, or nothing for null.
func appendCell(b []byte, c *parquet.Vector, k int) []byte {
	switch {
	case c.Null[k]:
		return b
	case c.Texts != nil:
		return append(b, strings.TrimSpace(c.Texts[k])...)
	case c.Ints != nil:
		return strconv.AppendInt(b, c.Ints[k], 10)
	}
	return strconv.AppendFloat(b, c.Floats[k], 'f', -1, 64)
}

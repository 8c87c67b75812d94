package parquet

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"capcli"
)

// CSV reads a Parquet file as CSV text: a header, then a line for each row. Instants are in RFC
// 3339, numbers in the fewest digits that read back as the same value, null is an empty field.
type CSV struct {
	rows  *Rows
	heads []Header
	buf   bytes.Buffer
	out   *csv.Writer
	cells []string
}

// NewCSV returns the Parquet file at, of size bytes, as CSV text. It fails with
// *capcli.InputError where the file is damaged or has no column that can be read.
func NewCSV(at io.ReaderAt, size int64) (*CSV, error) {
	rows, err := NewRows(at, size)
	if err != nil {
		return nil, err
	}
	p := &CSV{rows: rows, heads: rows.Headers()}
	p.out = csv.NewWriter(&p.buf)
	places := make([]int, len(p.heads))
	for i, h := range p.heads {
		places[i] = i
		p.cells = append(p.cells, h.Name)
	}
	if len(places) == 0 {
		return nil, &capcli.InputError{Text: "the Parquet file has no columns that can be read", Hint: "columns that are lists or lie in groups are passed over"}
	}
	if err := rows.Pick(places...); err != nil {
		return nil, err
	}
	if err := p.out.Write(p.cells); err != nil {
		return nil, err
	}
	p.out.Flush()
	return p, nil
}

// Read implements io.Reader.
func (p *CSV) Read(b []byte) (int, error) {
	for p.buf.Len() == 0 {
		cells, err := p.rows.Next()
		if err != nil {
			return 0, err
		}
		for k := range cells[0].Null {
			for i := range cells {
				p.cells[i] = p.cell(&cells[i], p.heads[i].Type, k)
			}
			if err := p.out.Write(p.cells); err != nil {
				return 0, fmt.Errorf("read parquet: %w", err)
			}
		}
		p.out.Flush()
	}
	return p.buf.Read(b)
}

// cell returns cell k of c as text.
func (p *CSV) cell(c *Vector, t Type, k int) string {
	switch {
	case c.Null[k]:
		return ""
	case c.Floats != nil:
		return strconv.FormatFloat(c.Floats[k], 'f', -1, 64)
	case c.Ints == nil:
		return c.Texts[k]
	}
	switch t {
	case Instants, Locals, Dates: // FOCUS is in UTC, so a time without a zone is read as UTC
		return capcli.Time(c.Ints[k]).String()
	case Integers, Truths, Fractions, Texts:
	}
	return strconv.FormatInt(c.Ints[k], 10)
}

package parquet

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"capcli"
)

// CSV is a Parquet file as CSV: instants in RFC 3339, numbers in the fewest
// digits that tell them apart, null as an empty field. A line of the text is a row
// of the file, after the header.
type CSV struct {
	rows  *Rows
	heads []Header
	buf   bytes.Buffer
	out   *csv.Writer
	cells []string
}

// NewCSV opens the Parquet file of so many bytes at at as text. It fails with a
// *capcli.InputError where the file cannot be read or has no columns that can be.
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

// cell is one cell as text.
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
	case Instants, Locals, Dates: // FOCUS is in UTC, so a time without a zone is too
		return capcli.Time(c.Ints[k]).String()
	case Integers, Truths, Fractions, Texts:
	}
	return strconv.FormatInt(c.Ints[k], 10)
}

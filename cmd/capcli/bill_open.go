package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"capcli"
	"capcli/profile/parquet"
	"capcli/profile/trace"
)

// openText opens a bill or a file of use as CSV text: plain, gzip or zstd, and
// Parquet as the CSV that it would be.
func openText(e *env, name string) (io.Reader, string, io.Closer, error) {
	in, done, err := openInput(e, name)
	if err != nil {
		return nil, "", nil, err
	}
	r, err := textOf(&in)
	if err != nil {
		var fault *capcli.InputError
		if errors.As(err, &fault) && fault.File == "" {
			named := *fault
			named.File = in.Name
			err = &named
		}
		return nil, "", nil, errors.Join(err, done.Close())
	}
	return r, in.Name, done, nil
}

func textOf(in *trace.Input) (io.Reader, error) {
	var head []byte
	if in.At != nil {
		head = make([]byte, headBytes)
		n, err := in.At.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		head = head[:n]
	} else {
		head = make([]byte, 4)
		n, err := io.ReadFull(in.R, head)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		head = head[:n]
		in.R = io.MultiReader(bytes.NewReader(head), in.R)
	}
	if !parquet.IsParquet(head) && !parquet.IsParquet(plainHead(in.Name, head)) {
		return trace.Unpack(*in)
	}
	if in.At == nil || !parquet.IsParquet(head) {
		if err := heldWhole(in); err != nil {
			return nil, err
		}
	}
	return newParquetText(in.At, in.Size)
}

// parquetText is a Parquet file as CSV: instants in RFC 3339, numbers in the
// fewest digits that tell them apart, null as an empty field. A line of the text
// is a row of the file, after the header.
type parquetText struct {
	rows  *parquet.Rows
	heads []parquet.Header
	buf   bytes.Buffer
	out   *csv.Writer
	cells []string
}

func newParquetText(at io.ReaderAt, size int64) (*parquetText, error) {
	rows, err := parquet.NewRows(at, size)
	if err != nil {
		return nil, err
	}
	p := &parquetText{rows: rows, heads: rows.Headers()}
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

func (p *parquetText) Read(b []byte) (int, error) {
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
func (p *parquetText) cell(c *parquet.Cells, t parquet.Type, k int) string {
	switch {
	case c.Null[k]:
		return ""
	case c.Floats != nil:
		return strconv.FormatFloat(c.Floats[k], 'f', -1, 64)
	case c.Ints == nil:
		return c.Texts[k]
	}
	switch t {
	case parquet.Instants, parquet.Locals, parquet.Dates: // FOCUS is in UTC, so a time without a zone is too
		return capcli.Time(c.Ints[k]).String()
	case parquet.Integers, parquet.Truths, parquet.Fractions, parquet.Texts:
	}
	return strconv.FormatInt(c.Ints[k], 10)
}

package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
)

func init() {
	Forms.Add("csv", "one table for a spreadsheet or a program, unrounded", writeCSV)
	Forms.Add("excel", "csv that Excel opens as UTF-8", writeExcel)
	Forms.Add("tsv", "one table with tabs between, unrounded, for cut and awk", writeTSV)
}

func writeCSV(w io.Writer, d Doc, o Options) error {
	var buf bytes.Buffer
	return writeRows(&buf, w, d, o)
}

// writeExcel is writeCSV with a byte order mark, by which Excel recognises UTF-8.
func writeExcel(w io.Writer, d Doc, o Options) error {
	var buf bytes.Buffer
	buf.WriteString("\ufeff")
	return writeRows(&buf, w, d, o)
}

func writeRows(buf *bytes.Buffer, w io.Writer, d Doc, o Options) error {
	out := csv.NewWriter(buf)
	err := eachExact(d, o, func(fields []string) error {
		for i, f := range fields {
			fields[i] = Guard(f)
		}
		if err := out.Write(fields); err != nil {
			return err
		}
		return d.flush(o, buf, w)
	})
	if err != nil {
		return err
	}
	out.Flush()
	_, err = buf.WriteTo(w)
	return err
}

func writeTSV(w io.Writer, d Doc, o Options) error {
	var buf bytes.Buffer
	err := eachExact(d, o, func(fields []string) error {
		for i, f := range fields {
			fields[i] = Strip(f)
		}
		buf.WriteString(strings.Join(fields, "\t") + "\n")
		return d.flush(o, &buf, w)
	})
	if err != nil {
		return err
	}
	_, err = buf.WriteTo(w)
	return err
}

// written is the size of the buffer, in bytes, at which flush writes a streamed table.
const written = 64 << 10

// flush writes buf to w where the table is streamed and buf holds at least 64 KiB.
func (d *Doc) flush(o Options, buf *bytes.Buffer, w io.Writer) error {
	if buf.Len() < written {
		return nil
	}
	if t, err := d.One(o); err != nil || t.Each == nil {
		return err
	}
	_, err := buf.WriteTo(w)
	return err
}

// rows returns the rows, from Each where it is set.
func (t *Table) rows() iter.Seq[[]any] {
	if t.Each != nil {
		return t.Each
	}
	return slices.Values(t.Rows)
}

// eachExact calls line with the column names and then with each row of the selected table,
// unrounded. A column x with a Range in any row becomes three: x, x_lo, x_hi.
func eachExact(d Doc, o Options, line func(fields []string) error) error {
	t, err := d.One(o)
	if err != nil {
		return err
	}
	if t, err = t.figures(); err != nil {
		return err
	}
	ranges := t.ranges()
	var head []string
	for i, c := range t.Columns {
		head = append(head, c.Name)
		if ranges[i] {
			head = append(head, c.Name+"_lo", c.Name+"_hi")
		}
	}
	if err := line(head); err != nil {
		return err
	}
	n := 0
	for row := range t.rows() {
		n++
		fields := make([]string, 0, len(head))
		for i, cell := range row {
			for _, part := range parts(cell, ranges[i]) {
				text, err := exact(part)
				if err != nil {
					return fmt.Errorf("table %q, row %d, %s: %w", t.Name, n, t.Columns[i].Name, err)
				}
				fields = append(fields, text)
			}
		}
		if err := line(fields); err != nil {
			return err
		}
	}
	return nil
}

// ranges reports, for each column of t, whether any row has a Range there.
func (t *Table) ranges() []bool {
	out := make([]bool, len(t.Columns))
	for _, row := range t.Rows {
		for i, cell := range row {
			if _, ok := rangeOf(cell); ok {
				out[i] = true
			}
		}
	}
	return out
}

func rangeOf(cell any) (Range, bool) {
	if c, ok := cell.(Change); ok {
		cell = c.Of
	}
	r, ok := cell.(Range)
	return r, ok
}

func parts(cell any, three bool) []any {
	if !three {
		return []any{cell}
	}
	if r, ok := rangeOf(cell); ok {
		return []any{r.Mid, r.Lo, r.Hi}
	}
	return []any{cell, nil, nil}
}

// Guard returns field with a single quote in front where a spreadsheet would take it for a
// formula (OWASP ASVS 5.0, 1.2.10). Signed numbers stay as they are.
func Guard(field string) string {
	if field == "" || !strings.ContainsRune("=+-@\t\r", rune(field[0])) {
		return field
	}
	if _, err := strconv.ParseFloat(field, 64); err == nil {
		return field
	}
	return "'" + field
}

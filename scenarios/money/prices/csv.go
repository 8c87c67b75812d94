package prices

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"capcli"
	"capcli/scenarios/strict"
)

// readCSV reads a price file in CSV.
func readCSV(d *strict.Decoder, p *List, b []byte) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	r.Comment = '#'
	r.ReuseRecord = true
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		d.FaultFile("the file is empty; a price file begins with a header of columns such as %s", strings.Join(columnNames()[:6], ","))
		return
	}
	if err != nil {
		csvFault(d, err)
		return
	}
	line, _ := r.FieldPos(0)
	columns, ok := readHead(d, head, line)
	if !ok {
		return
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			csvFault(d, err)
			if errors.Is(err, csv.ErrFieldCount) {
				continue
			}
			return
		}
		if len(p.rows) == maxRows {
			d.FaultFile("over %d prices; give those that are wanted", maxRows)
			return
		}
		readLine(d, p, r, columns, row)
	}
	if len(p.rows) == 0 && d.FaultCount() == 0 {
		d.FaultFile("the file has a header and no prices")
	}
}

// readHead checks the header and returns the names of its columns in order. It reports false after
// a fault.
func readHead(d *strict.Decoder, head []string, line int) ([]string, bool) {
	names := columnNames()
	columns := make([]string, len(head))
	for i, h := range head {
		name := strings.ToLower(strings.TrimSpace(h))
		columns[i] = name
		switch {
		case !slices.Contains(names, name):
			hint := cmp.Or(capcli.DidYouMean(name, names), "; capcli prices import reads other price lists")
			d.FaultLine(line, "unknown column %s%s", capcli.Quoted(h), hint)
		case slices.Index(columns, name) < i:
			d.FaultLine(line, "column %s is there twice", capcli.Quoted(h))
		}
	}
	for _, need := range []string{"provider", "region", "machine", "gpu", "gpus", "term", "date", "source"} {
		if !slices.Contains(columns, need) && d.FaultCount() == 0 {
			d.FaultLine(line, "column %s is missing", need)
		}
	}
	if d.FaultCount() == 0 && !slices.Contains(columns, "usd_per_hour") && !slices.Contains(columns, "usd_per_gpu_hour") {
		d.FaultLine(line, "column usd_per_hour is missing, and so is usd_per_gpu_hour; one of them must be there")
	}
	return columns, d.FaultCount() == 0
}

func readLine(d *strict.Decoder, p *List, r *csv.Reader, columns, row []string) {
	line, _ := r.FieldPos(0)
	t := rowText{cells: make(map[string]string, len(columns)), line: line}
	for i, c := range columns {
		t.cells[c] = strings.TrimSpace(row[i])
	}
	t.fault = func(column, format string, args ...any) {
		f := strict.Fault{Line: line, Col: 1, Path: column, Text: fmt.Sprintf(format, args...)}
		if i := slices.Index(columns, column); i >= 0 {
			var col int
			f.Line, col = r.FieldPos(i)
			f.Col = characters(d, f.Line, col)
			f.Len = utf8.RuneCountInString(row[i])
		}
		d.AddFault(f)
	}
	if out, ok := t.row(); ok {
		p.rows = append(p.rows, out)
	}
}

// characters converts a column in bytes, as the CSV reader counts, into one in characters.
func characters(d *strict.Decoder, line, col int) int {
	if line < 1 || line > len(d.Lines) || col-1 > len(d.Lines[line-1]) {
		return 1
	}
	return utf8.RuneCountInString(d.Lines[line-1][:max(col-1, 0)]) + 1
}

// csvFault reports an error of the CSV reader as a fault.
func csvFault(d *strict.Decoder, err error) {
	at, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		d.FaultFile("not valid CSV: %v", err)
		return
	}
	f := strict.Fault{Line: min(at.Line, len(d.Lines)), Text: "not valid CSV: " + at.Err.Error()}
	if errors.Is(err, csv.ErrFieldCount) {
		f.Text = "the line has more or fewer columns than the header"
	}
	f.Col = characters(d, f.Line, at.Column)
	d.AddFault(f)
}

package series

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"capcli"
)

// Read reads a table of series in any of the forms that the package knows, and detects the form.
// It fails with a *capcli.InputError for input that is not such a table.
func Read(r io.Reader, o Options) (*Table, error) {
	const headBytes = 64 << 10
	text := capcli.NewLineReader(r)
	head := text.Head(headBytes)
	if err := text.Err(); err != nil && !errors.Is(err, io.EOF) && len(head) < headBytes {
		return nil, newTable(o, Instant).readError(1, err)
	}
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	if len(trimmed) == 0 {
		return nil, newTable(o, Instant).fault(0, "", "the file is empty: expected a table of series", "check how it was exported")
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil, newTable(o, Instant).fault(0, "", "expected text, found binary data", "export it as CSV with the columns unique_id, ds and y")
	}
	if o.Dates == capcli.UnknownOrder {
		o.Dates = findDates(text, head)
		head = text.Head(headBytes)
		trimmed = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	}
	first, rest, _ := bytes.Cut(trimmed, []byte{'\n'})
	plain := o.Time == "" && o.Value == "" && isPlain(bytes.TrimSpace(first), rest)
	if (plain || isProm(trimmed)) && len(o.More) > 0 {
		return nil, newTable(o, Instant).fault(0, o.More[0], "there is no such column: this is no table with columns", "give a table with the columns unique_id, ds and y")
	}
	switch {
	case isProm(trimmed):
		return ReadPrometheus(text, o)
	case trimmed[0] == '{', trimmed[0] == '[':
		return readJSONL(text, o)
	case plain:
		return readPlain(text, o)
	}
	return readCSV(text, o)
}

// findDates returns the order of dates whose year comes last. Only where head has such dates, and they do not
// tell, does it look at more of text.
func findDates(text *capcli.LineReader, head []byte) capcli.DateOrder {
	order, some := capcli.FindDateOrder(head, false)
	if some && order == capcli.UnknownOrder {
		order, _ = capcli.FindDateOrder(text.Head(capcli.MaxDates), false)
	}
	return order
}

// eachLine calls do with each line of text that is not blank, and its number.
func (t *Table) eachLine(text *capcli.LineReader, do func(line []byte, n int) error) error {
	for {
		line, ok := text.Next()
		switch {
		case !ok && errors.Is(text.Err(), io.EOF):
			return nil
		case !ok:
			return t.readError(text.Line(), text.Err())
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		if err := do(line, text.Line()); err != nil {
			return err
		}
	}
}

// readError returns the error for a text that ended with err after the given number of lines.
func (t *Table) readError(lines int, err error) error {
	switch {
	case errors.Is(err, capcli.ErrLongLine):
		return t.fault(lines+1, "", err.Error(), "check that this is a table of series")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return t.fault(0, "", fmt.Sprintf("is cut short: the packed data ends in the middle of line %d", lines), "check the copy")
	}
	return fmt.Errorf("reading %s: %w", t.File, err)
}

// readPlain reads one value on each line. A first line that is not a number is a header, which
// names the series.
func readPlain(text *capcli.LineReader, o Options) (*Table, error) {
	t := newTable(o, None)
	t.value, t.Dates = "value", false
	name := "series"
	begun := false
	err := t.eachLine(text, func(line []byte, n int) error {
		cell := strings.Trim(string(bytes.TrimSpace(line)), `"`)
		if bytes.TrimSpace(line)[0] == '#' {
			return nil
		}
		v, wrong := figure(cell)
		if wrong != "" && !begun && strings.HasPrefix(wrong, "expected a number, ") {
			name, begun = cell, true
			return nil
		}
		if wrong != "" {
			return t.fault(n, "value", wrong, "give one number on each line, NA where one is missing")
		}
		begun = true
		return t.add([]byte(name), Row{int64(t.rows) + 1, v, n})
	})
	if err != nil {
		return nil, err
	}
	return t, t.checkAny()
}

// checkAny returns an error if the table has no row.
func (t *Table) checkAny() error {
	if len(t.Series) == 0 {
		return t.fault(0, "", "there is no value in it: expected rows with a stamp and a figure", "check how it was exported")
	}
	return nil
}

// readCSV reads a table with a header.
func readCSV(text *capcli.LineReader, o Options) (*Table, error) {
	t := newTable(o, Instant)
	var f capcli.Fields
	var names []string
	var l layout
	put := newPutter(t, o)
	err := t.eachLine(text, func(line []byte, n int) (err error) {
		switch {
		case names != nil:
			return put.cells(&f, line, n, len(names), l)
		case line[0] == '#':
			return nil
		}
		if names = splitHead(line); names == nil || len(names) > capcli.MaxColumns {
			return t.fault(n, "", fmt.Sprintf("expected a head with at most %d columns, found %s", capcli.MaxColumns, quote(string(line))), "check the separator and the quotes")
		}
		f.Separator = capcli.FindSeparator(line, separators)
		if l, err = t.find(names, n, o); err == nil {
			put.begin(names, l, o)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if names == nil {
		return nil, t.fault(0, "", "the file is empty: expected a table of series", "check how it was exported")
	}
	return put.end()
}

// cells parses line n of a table, whose header has the given number of columns, and adds its row
// or rows.
func (p *putter) cells(f *capcli.Fields, line []byte, n, columns int, l layout) error {
	if f.Split(line) > capcli.QuoteInside {
		return p.t.fault(n, "", "a quote does not end", "close the quote")
	}
	if len(f.Row) != columns {
		return p.t.fault(n, "", fmt.Sprintf("expected %d columns as in the head, found %d", columns, len(f.Row)), "check the separator and the quotes")
	}
	text := func(column int) string { return string(bytes.TrimSpace(f.Row[column])) }
	stamp := ""
	if l.time >= 0 {
		stamp = text(l.time)
	}
	if len(l.wide) > 0 {
		return p.wideRow(n, stamp, l.wide, text)
	}
	for k, column := range l.more {
		p.more[k] = text(column)
	}
	return p.row(n, p.id(l.ids, func(i int) []byte { return bytes.TrimSpace(f.Row[i]) }), stamp, text(l.value))
}

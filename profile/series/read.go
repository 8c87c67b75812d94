package series

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Read reads a table of series in any of the forms that the package knows.
func Read(r io.Reader, o Options) (*Table, error) {
	buf := bufio.NewReaderSize(r, 256<<10)
	head, err := buf.Peek(64 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, newTable(o, Instant).readError(1, err)
	}
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	if len(trimmed) == 0 {
		return nil, newTable(o, Instant).fault(0, "", "the file is empty: expected a table of series", "check how it was exported")
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil, newTable(o, Instant).fault(0, "", "expected text, found binary data", "export it as CSV with the columns unique_id, ds and y")
	}
	first, rest, _ := bytes.Cut(trimmed, []byte{'\n'})
	plain := o.Time == "" && o.Value == "" && isPlain(bytes.TrimSpace(first), rest)
	if (plain || isProm(trimmed)) && len(o.More) > 0 {
		return nil, newTable(o, Instant).fault(0, o.More[0], "there is no such column: this is no table with columns", "give a table with the columns unique_id, ds and y")
	}
	switch {
	case isProm(trimmed):
		return ReadPrometheus(buf, o)
	case trimmed[0] == '{':
		return readJSONL(buf, o)
	case plain:
		return readPlain(buf, o)
	}
	return readCSV(buf, o)
}

func (t *Table) readError(line int, err error) error {
	if errors.Is(err, errLong) {
		return t.fault(line, "", errLong.Error(), "check that this is a table of series")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return t.fault(0, "", fmt.Sprintf("is cut short: the packed data ends in the middle of line %d", line), "check the copy")
	}
	return fmt.Errorf("reading %s: %w", t.File, err)
}

// readPlain reads one value a line. A first line that is no number is a head.
func readPlain(r io.Reader, o Options) (*Table, error) {
	t := newTable(o, None)
	t.value, t.Dates = "value", false
	src := newSource(r)
	name := "series"
	begun := false
	for {
		line, err := src.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, t.readError(src.line, err)
		}
		text := string(bytes.TrimSpace(line))
		if text == "" || text[0] == '#' {
			continue
		}
		v, wrong := figure(strings.Trim(text, `"`))
		if wrong != "" && !begun && strings.HasPrefix(wrong, "expected a number, ") {
			name, begun = strings.Trim(text, `"`), true
			continue
		}
		if wrong != "" {
			return nil, t.fault(src.line, "value", wrong, "give one number on each line, NA where one is missing")
		}
		begun = true
		if err := t.add([]byte(name), Row{int64(t.rows) + 1, v, src.line}); err != nil {
			return nil, err
		}
	}
	return t, t.checkAny()
}

func (t *Table) checkAny() error {
	if len(t.Series) == 0 {
		return t.fault(0, "", "there is no value in it: expected rows with a stamp and a figure", "check how it was exported")
	}
	return nil
}

// readCSV reads a long table with a head.
func readCSV(r io.Reader, o Options) (*Table, error) {
	t := newTable(o, Instant)
	src := newSource(r)
	var f fields
	var names []string
	var l layout
	put := putter{t: t, clock: clock{zone: o.Zone, later: o.DSTLater}}
	for {
		line, err := src.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, t.readError(src.line, err)
		}
		if len(bytes.TrimSpace(line)) == 0 || names == nil && line[0] == '#' {
			continue
		}
		if names == nil {
			if names = splitHead(line); names == nil || len(names) > maxColumns {
				return nil, t.fault(src.line, "", fmt.Sprintf("expected a head with at most %d columns, found %s", maxColumns, quote(string(line))), "check the separator and the quotes")
			}
			f.sep = separatorOf(line)
			if l, err = t.find(names, src.line, o); err != nil {
				return nil, err
			}
			put.begin(names, l, o)
			continue
		}
		if err := put.cells(&f, line, src.line, len(names), l); err != nil {
			return nil, err
		}
	}
	if names == nil {
		return nil, t.fault(0, "", "the file is empty: expected a table of series", "check how it was exported")
	}
	return put.end()
}

// cells puts one line of a table whose head has so many columns.
func (p *putter) cells(f *fields, line []byte, n, columns int, l layout) error {
	if !f.split(line) {
		return p.t.fault(n, "", "a quote does not end", "close the quote")
	}
	if len(f.cells) != columns {
		return p.t.fault(n, "", fmt.Sprintf("expected %d columns as in the head, found %d", columns, len(f.cells)), "check the separator and the quotes")
	}
	text := func(column int) string { return string(bytes.TrimSpace(f.cells[column])) }
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
	return p.row(n, p.id(l.ids, func(i int) []byte { return bytes.TrimSpace(f.cells[i]) }), stamp, text(l.value))
}

func separatorOf(head []byte) byte {
	sep, most := byte(','), 0
	for _, s := range []byte{',', '\t', ';', '|'} {
		if n := bytes.Count(head, []byte{s}); n > most {
			sep, most = s, n
		}
	}
	return sep
}

package series

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
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
	switch {
	case isProm(trimmed):
		return ReadPrometheus(buf, o)
	case trimmed[0] == '{':
		return readJSONL(buf, o)
	case o.Time == "" && o.Value == "" && isPlain(bytes.TrimSpace(first), rest):
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

// layout says which columns hold what; -1 is none. Of several columns of ids the
// series is named by all, joined by "/".
type layout struct {
	ids         []int
	time, value int
}

// find places the columns of a head. Without an id there is one series. With
// one more column than are known, that is the value.
func (t *Table) find(names []string, line int, o Options) (layout, error) {
	c := columnsOf(names)
	l := layout{c.ids(o.ID), c.find(o.Time, timeNames), c.find(o.Value, valueNames)}
	for _, want := range []struct {
		flag, name string
		at         int
	}{{"--id-col", o.ID, len(l.ids) - 1}, {"--time-col", o.Time, l.time}, {"--value-col", o.Value, l.value}} {
		if want.at >= 0 || want.name == "" {
			continue
		}
		return l, t.fault(line, want.name, fmt.Sprintf("there is no such column; have %s", strings.Join(names, ", ")), "name it with "+want.flag)
	}
	if l.time < 0 {
		return l, t.fault(line, "", fmt.Sprintf("there is no column of times: expected ds, found %s", strings.Join(names, ", ")), "name it with --time-col")
	}
	if l.value < 0 {
		rest := -1
		for i := range names {
			if !slices.Contains(l.ids, i) && i != l.time {
				if rest >= 0 {
					return l, t.fault(line, "", fmt.Sprintf("there is no column of values: expected y, found %s", strings.Join(names, ", ")), "name it with --value-col")
				}
				rest = i
			}
		}
		if l.value = rest; rest < 0 {
			return l, t.fault(line, "", fmt.Sprintf("there is no column of values: expected y, found %s", strings.Join(names, ", ")), "name it with --value-col")
		}
	}
	return l, nil
}

// readCSV reads a long table with a head.
func readCSV(r io.Reader, o Options) (*Table, error) {
	t := newTable(o, Instant)
	src := newSource(r)
	var f fields
	var names []string
	var l layout
	put := putter{t: t, clock: clock{o.Zone, o.DSTLater}}
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
			put.time, put.value = names[l.time], names[l.value]
			t.value = put.value
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
	return p.row(n, p.id(l.ids, func(i int) []byte { return bytes.TrimSpace(f.cells[i]) }), string(bytes.TrimSpace(f.cells[l.time])), string(bytes.TrimSpace(f.cells[l.value])))
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

// putter takes the texts of rows into a table, and sees that all stamps are of
// one kind.
type putter struct {
	t           *Table
	clock       clock
	time, value string // names of columns
	begun       bool
	last        string
	lastRead    reading
	held        []byte // of an id made of several cells
}

// id is the name of a row's series; cell gives the text in a column.
func (p *putter) id(columns []int, cell func(i int) []byte) []byte {
	switch len(columns) {
	case 0:
		return []byte("series")
	case 1:
		return cell(columns[0])
	}
	p.held = p.held[:0]
	for k, i := range columns {
		if k > 0 {
			p.held = append(p.held, '/')
		}
		p.held = append(p.held, cell(i)...)
	}
	return p.held
}

func (p *putter) row(line int, id []byte, stamp, value string) error {
	r, err := p.stamp(line, stamp)
	if err != nil {
		return err
	}
	v, wrong := figure(value)
	if wrong != "" {
		return p.t.fault(line, p.value, wrong, "leave it empty where it is missing")
	}
	return p.take(line, id, r, v)
}

// stamp reads a stamp; one that comes again is not read again.
func (p *putter) stamp(line int, text string) (reading, error) {
	if text == p.last && p.begun {
		return p.lastRead, nil
	}
	r, wrong := p.clock.read(text)
	if wrong != "" {
		return r, p.t.fault(line, p.time, wrong, "write times as 2026-11-20T13:00:00Z; a time without a zone is taken in the zone of --tz, else UTC")
	}
	p.last, p.lastRead = text, r
	return r, nil
}

// take puts a row that was read, and sees that its stamp is of the kind of the
// others.
func (p *putter) take(line int, id []byte, r reading, v float64) error {
	kind := Instant
	if r.number {
		kind = Index
	}
	if p.begun && kind != p.t.Stamp {
		return p.t.fault(line, p.time, "expected stamps of one kind, found times and whole numbers", "write all of them as times, or all as whole numbers")
	}
	p.t.Stamp, p.begun = kind, true
	if r.local && !r.date {
		p.t.Assumed++
	}
	p.t.Dates = p.t.Dates && r.date
	return p.t.add(id, Row{r.at, v, line})
}

func (p *putter) end() (*Table, error) {
	t := p.t
	if t.Assumed > 0 && p.clock.zone == nil {
		t.Notes = append(t.Notes, fmt.Sprintf("%s %s without a zone: taken as UTC (--tz to say otherwise)", group(t.Assumed), plural(t.Assumed, "stamp")))
	}
	return t, t.checkAny()
}

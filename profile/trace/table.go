package trace

import (
	"bytes"
	"fmt"
	"strings"

	"capcli"
)

// table is delimited text under a header line: RFC 4180 with any one-byte
// separator. A line without a quote is split in place and copies nothing.
type table struct {
	r      *Reader
	sep    byte
	quotes bool     // quotes quote (sacct's do not)
	names  []string // header, as it stands
	row    [][]byte
	line   int   // of row's first line
	rows   int64 // rows met, taken or not
	raw    []byte
	mend   func() bool // may put a row with too many columns together again
	held   []byte      // raw of a record over several lines, and unquoted fields
	fields []byte
}

// newTable takes the header line. Lines before it that begin with # or are
// blank are passed over; behind it only blank ones are.
func newTable(r *Reader, sep byte, quotes bool) (*table, error) {
	t := &table{r: r, sep: sep, quotes: quotes}
	for {
		line, n, ok := r.Line()
		if !ok {
			if err := r.endError(); err != nil {
				return nil, err
			}
			return nil, r.fault(n, "", "expected a header line, found none", "check how it was exported")
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(trim(line)) == 0 || line[0] == '#' {
			continue
		}
		return t, t.header(line, n)
	}
}

func (t *table) header(line []byte, n int) error {
	if t.sep == 0 {
		t.sep = separator(line)
	}
	t.line = n
	if !t.split(line) {
		return t.r.fault(n, "", "the header has a quote that does not end", "close the quote")
	}
	if len(t.row) > maxColumns {
		return t.r.fault(n, "", fmt.Sprintf("the header has %d columns, the limit is %d", len(t.row), maxColumns), "check the separator")
	}
	for _, f := range t.row {
		t.names = append(t.names, string(trim(f)))
	}
	return nil
}

// separator is the likeliest one in a header.
func separator(line []byte) byte {
	best, most := byte(','), 0
	for _, sep := range []byte{',', '\t', ';', '|', 0x1f} {
		if n := bytes.Count(line, []byte{sep}); n > most {
			best, most = sep, n
		}
	}
	return best
}

// col is the place of the first of names that the header has, in any case of
// letters, or -1.
func (t *table) col(names ...string) int {
	for _, want := range names {
		for i, have := range t.names {
			if strings.EqualFold(have, want) {
				return i
			}
		}
	}
	return -1
}

// cell is the value in column col, nil when there is no such column.
func (t *table) cell(col int) []byte {
	if col < 0 {
		return nil
	}
	return t.row[col]
}

// next takes the next row that has as many columns as the header; others are
// rejected. False is the end, or that the consumer stopped.
func (t *table) next() bool {
	for {
		line, n, ok := t.r.Line()
		if !ok {
			return false
		}
		t.line, t.raw = n, line
		if len(line) == 0 {
			continue
		}
		t.rows++
		whole := t.split(line)
		if !whole {
			if whole = t.joinLines(line); len(t.held) > maxLine {
				return false
			}
		}
		switch {
		case !whole:
			if !t.r.Reject(t.line, t.raw, "quote not closed") {
				return false
			}
		case len(t.row) != len(t.names) && !t.mendRow():
			if !t.r.Reject(t.line, t.raw, fmt.Sprintf("%d columns, the header has %d", len(t.row), len(t.names))) {
				return false
			}
		case t.isHeader():
			if !t.r.Reject(t.line, t.raw, "the header line again") {
				return false
			}
		default:
			return true
		}
	}
}

// isHeader tells whether the row says the header again, as files that were put
// one behind the other do.
func (t *table) isHeader() bool {
	for i, cell := range t.row {
		if string(cell) != t.names[i] {
			return false
		}
	}
	return true
}

// take gives out the job that the row at hand is, or rejects the row for what is
// wrong with a field; field "" is the row as a whole.
func (t *table) take(job *capcli.Job, field string, bad flaw) bool {
	switch {
	case bad == flawless:
		return t.r.Keep(t.line, t.raw, job)
	case field == "":
		return t.r.Reject(t.line, t.raw, string(bad))
	}
	return t.r.Reject(t.line, t.raw, field+": "+string(bad))
}

// mendRow tells whether a row with too many columns could be put right.
func (t *table) mendRow() bool {
	return len(t.row) > len(t.names) && t.mend != nil && t.mend()
}

// split cuts line into t.row; false when a quote stays open.
func (t *table) split(line []byte) bool {
	t.row = t.row[:0]
	if t.quotes && bytes.IndexByte(line, '"') >= 0 {
		return t.splitQuoted(line)
	}
	for len(t.row) <= maxColumns {
		i := bytes.IndexByte(line, t.sep)
		if i < 0 {
			break
		}
		t.row = append(t.row, line[:i])
		line = line[i+1:]
	}
	t.row = append(t.row, line)
	return true
}

// joinLines appends further lines to line until its quotes are closed.
func (t *table) joinLines(line []byte) bool {
	t.held = append(t.held[:0], line...)
	for {
		more, _, ok := t.r.Line()
		if !ok {
			t.raw = t.held
			return false
		}
		t.held = append(append(t.held, '\n'), more...)
		t.raw = t.held
		if len(t.held) > maxLine {
			t.r.text.err = errLongLine
			t.r.text.end = t.r.text.at
			t.r.text.line = t.line - 1
			return false
		}
		if !t.opens(more) {
			return t.split(t.held)
		}
	}
}

// opens tells whether a quote is still open behind line when one was open
// before it.
func (t *table) opens(line []byte) bool {
	for {
		i := bytes.IndexByte(line, '"')
		if i < 0 {
			return true
		}
		line = line[i+1:]
		if len(line) > 0 && line[0] == '"' {
			line = line[1:]
			continue
		}
		for len(line) == 0 || line[0] != '"' {
			if i = bytes.IndexByte(line, t.sep); i < 0 {
				return false
			}
			line = line[i+1:]
		}
		line = line[1:]
	}
}

// splitQuoted is split for a line with quotes in it: a field that begins with
// a quote ends at the next single one, and two stand for one. A quote inside a
// bare field is itself.
func (t *table) splitQuoted(line []byte) bool {
	t.fields = t.fields[:0]
	if cap(t.fields) < len(line) {
		t.fields = make([]byte, 0, 2*len(line))
	}
	for len(t.row) <= maxColumns {
		field, rest, more, ok := t.field(line)
		if !ok {
			return false
		}
		t.row = append(t.row, field)
		if !more {
			return true
		}
		line = rest
	}
	return true
}

// field takes one field off line; more tells that a separator followed it.
func (t *table) field(line []byte) (field, rest []byte, more, ok bool) {
	if len(line) == 0 || line[0] != '"' {
		i := bytes.IndexByte(line, t.sep)
		if i < 0 {
			return line, nil, false, true
		}
		return line[:i], line[i+1:], true, true
	}
	from := len(t.fields)
	line = line[1:]
	for {
		i := bytes.IndexByte(line, '"')
		if i < 0 {
			return nil, nil, false, false
		}
		t.fields = append(t.fields, line[:i]...)
		line = line[i+1:]
		if len(line) == 0 || line[0] != '"' {
			break
		}
		t.fields = append(t.fields, '"')
		line = line[1:]
	}
	// What stands between the closing quote and the separator is kept.
	i := bytes.IndexByte(line, t.sep)
	if i < 0 {
		t.fields = append(t.fields, line...)
		return t.fields[from:], nil, false, true
	}
	t.fields = append(t.fields, line[:i]...)
	return t.fields[from:], line[i+1:], true, true
}

// need finds columns that must be there and says in one error which are not.
func (t *table) need(names ...string) error {
	var gone []string
	for _, n := range names {
		if t.col(n) < 0 {
			gone = append(gone, n)
		}
	}
	if gone == nil {
		return nil
	}
	return t.r.fault(t.line, "", fmt.Sprintf("the header has no column %s; it has %s", strings.Join(gone, ", "), t.headerText()),
		"expected a header of format "+t.r.rep.Format+"; with --map our_name=their_name other headers can be read as csv")
}

// headerText is the header for a message.
func (t *table) headerText() string {
	const most = 20
	names := t.names[:min(len(t.names), most)]
	text := strings.Join(names, ", ")
	if len(t.names) > most {
		text += fmt.Sprintf(" and %d more", len(t.names)-most)
	}
	if len(text) > 400 {
		text = text[:400] + "…"
	}
	return text
}

// headHas tells whether the first line of head that is no comment has all of
// names as columns.
func headHas(head []byte, names ...string) bool {
	cols := headColumns(head)
	for _, n := range names {
		if !cols[n] {
			return false
		}
	}
	return true
}

func headColumns(head []byte) map[string]bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(trim(line)) > 0 && line[0] != '#' {
			cols := map[string]bool{}
			for _, f := range bytes.Split(line, []byte{separator(line)}) {
				cols[strings.ToLower(string(bytes.Trim(f, "\" ")))] = true
			}
			return cols
		}
		head = rest
	}
	return nil
}

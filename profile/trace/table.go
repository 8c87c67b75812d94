package trace

import (
	"bytes"
	"fmt"
	"strings"

	"capcli"
)

// table is delimited text under a header line.
type table struct {
	capcli.Fields
	r     *Reader
	names []string    // header, as it stands
	line  int         // of the row's first line
	rows  int64       // rows met, taken or not
	mend  func() bool // may put a row with too many columns together again
}

// newTable takes the header line. Lines before it that begin with # or are
// blank are passed over; behind it only blank ones are.
func newTable(r *Reader, f capcli.Fields) (*table, error) {
	t := &table{r: r, Fields: f}
	for {
		line, n, ok := r.Line()
		if !ok {
			if err := r.endError(); err != nil {
				return nil, err
			}
			return nil, r.fault(n, "", "expected a header line, found none", "check how it was exported")
		}
		if len(trim(line)) == 0 || line[0] == '#' {
			continue
		}
		return t, t.header(line, n)
	}
}

func (t *table) header(line []byte, n int) error {
	if t.Separator == 0 {
		t.Separator = capcli.FindSeparator(line, separators)
	}
	t.line = n
	if t.Split(line) == capcli.QuoteOpen {
		return t.r.fault(n, "", "the header has a quote that does not end", "close the quote")
	}
	if len(t.Row) > capcli.MaxColumns {
		return t.r.fault(n, "", fmt.Sprintf("the header has %d columns, the limit is %d", len(t.Row), capcli.MaxColumns), "check the separator")
	}
	for _, f := range t.Row {
		t.names = append(t.names, string(trim(f)))
	}
	return nil
}

// separators are those that a header is searched for.
const separators = ",\t;|\x1f"

// col is the place of the first of names that the header has, in any case of
// letters, or -1.
func (t *table) col(names ...string) int { return capcli.FindColumn(t.names, names...) }

// cell is the value in column col, nil when there is no such column.
func (t *table) cell(col int) []byte {
	if col < 0 {
		return nil
	}
	return t.Row[col]
}

// nextRow takes the next row that has as many columns as the header, and rejects the
// others. It reports false at the end, and where the consumer stopped.
func (t *table) nextRow() bool {
	for {
		line, n, ok := t.r.Line()
		if !ok {
			return false
		}
		if len(line) == 0 {
			continue
		}
		t.line = n
		t.rows++
		fault := t.SplitRecord(t.r.text, line)
		switch {
		case fault == capcli.QuoteOpen && len(t.Raw) > capcli.MaxLine:
			return false
		case fault == capcli.QuoteOpen:
			if !t.r.Reject(t.line, t.Raw, "quote not closed") {
				return false
			}
		case len(t.Row) != len(t.names) && !t.mendRow():
			if !t.r.Reject(t.line, t.Raw, fmt.Sprintf("%d columns, the header has %d", len(t.Row), len(t.names))) {
				return false
			}
		case t.isHeader():
			if !t.r.Reject(t.line, t.Raw, "the header line again") {
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
	for i, cell := range t.Row {
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
		return t.r.Keep(t.line, t.Raw, job)
	case field == "":
		return t.r.Reject(t.line, t.Raw, string(bad))
	}
	return t.r.Reject(t.line, t.Raw, field+": "+string(bad))
}

// mendRow tells whether a row with too many columns could be put right.
func (t *table) mendRow() bool {
	return len(t.Row) > len(t.names) && t.mend != nil && t.mend()
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
			for _, f := range bytes.Split(line, []byte{capcli.FindSeparator(line, separators)}) {
				cols[strings.ToLower(string(bytes.Trim(f, "\" ")))] = true
			}
			return cols
		}
		head = rest
	}
	return nil
}

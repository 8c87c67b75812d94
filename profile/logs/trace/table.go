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
	names []string    // names in the header, as written
	line  int         // number of the current row's first line
	rows  int64       // rows read, kept or not
	tags  *Tagger     // nil where the rows have no tags
	mend  func() bool // repairs a row with too many columns and reports success; nil repairs none
}

// newTable reads the header line and returns the table under it. It skips blank lines and
// lines that begin with # before the header. It fails where there is no valid header.
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

// findTags finds the columns of tags and marks them in used, which may be nil.
func (t *table) findTags(used []bool) (err error) {
	t.tags, err = t.r.Tagger(t.names, func(i int) {
		if used != nil {
			used[i] = true
		}
	})
	return err
}

// header sets the separator and the names from the header line, which is line n.
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

// separators are the separators that a header may use.
const separators = ",\t;|\x1f"

// col returns the index of the first of names that the header has, ignoring case, or -1.
func (t *table) col(names ...string) int { return capcli.FindColumn(t.names, names...) }

// cell returns the value in column col of the current row, or nil where col is -1.
func (t *table) cell(col int) []byte {
	if col < 0 {
		return nil
	}
	return t.Row[col]
}

// nextRow reads the next row that has as many columns as the header, and rejects the others.
// It skips empty lines. It returns false at the end, and where the consumer stopped.
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
		case len(t.Row) < len(t.names), len(t.Row) > len(t.names) && (t.mend == nil || !t.mend()):
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

// isHeader reports whether the row repeats the header, as in concatenated files.
func (t *table) isHeader() bool {
	for i, cell := range t.Row {
		if string(cell) != t.names[i] {
			return false
		}
	}
	return true
}

// take keeps job, which is the current row, or rejects the row for the flaw of a field; field
// "" is the whole row. It reports whether reading goes on.
func (t *table) take(job *capcli.Job, field string, bad flaw) bool {
	switch {
	case bad == flawless:
		return t.r.Keep(t.line, t.Raw, job)
	case field == "":
		return t.r.Reject(t.line, t.Raw, string(bad))
	}
	return t.r.Reject(t.line, t.Raw, field+": "+string(bad))
}

// need returns an error that lists those of names that the header lacks, or nil.
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

// headerText returns the header, shortened, for a message.
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

// headHas reports whether the header line in head has all of names, which are in lower case,
// as columns.
func headHas(head []byte, names ...string) bool {
	cols := headColumns(head)
	for _, n := range names {
		if !cols[n] {
			return false
		}
	}
	return true
}

// headColumns returns the columns, in lower case, of the first line of head that is neither
// blank nor a comment.
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

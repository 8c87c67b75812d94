package series

import (
	"bytes"
	"slices"
	"strings"

	"capcli"
)

// Common names of columns, in order of preference.
var (
	idNames    = []string{"unique_id", "id", "series", "series_id", "item_id"}
	timeNames  = []string{"ds", "timestamp", "time", "ts", "date", "datetime", "index", "t", "step", "month", "week", "day", "year"}
	valueNames = []string{"y", "value", "target", "v"}
)

// Sniff reports whether a file that begins with head is a table of series. It also accepts the
// column names in o.
func Sniff(head []byte, o Options) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(head, []byte{'\n'})
	for len(bytes.TrimSpace(first)) == 0 && len(rest) > 0 {
		first, rest, _ = bytes.Cut(rest, []byte{'\n'})
	}
	first = bytes.TrimSpace(first)
	switch {
	case len(first) == 0:
		return false
	case first[0] == '{':
		return sniffJSON(head, first, o)
	case first[0] == '[' && bytes.IndexByte(head, '{') > 0:
		return sniffJSON(nil, head[bytes.IndexByte(head, '{'):], o)
	case isPlain(first, rest):
		return true
	}
	c := columns(splitHead(first))
	if c.find(o.Time, timeNames) < 0 {
		return false
	}
	// A single column besides stamps and ids must hold the values; a job log has more columns.
	return c.find(o.Value, append(slices.Clone(o.Usual), valueNames...)) >= 0 || len(c)-len(c.ids(o.ID)) == 2
}

func sniffJSON(head, first []byte, o Options) bool {
	if isProm(head) {
		return true
	}
	names := jsonNames(first)
	c := columns(names)
	return c.find(o.Time, timeNames[:3]) >= 0 && c.find(o.Value, append(slices.Clone(o.Usual), valueNames...)) >= 0
}

// isPlain reports whether a file has one value on each line, possibly under a header. first is
// its first line, rest what follows.
func isPlain(first, rest []byte) bool {
	if bytes.ContainsAny(first, ",;\t|\x1f") {
		return false
	}
	if _, wrong := figure(string(first)); wrong == "" {
		return true
	}
	second, _, _ := bytes.Cut(bytes.TrimLeft(rest, "\r\n"), []byte{'\n'})
	second = bytes.TrimSpace(second)
	_, wrong := figure(string(second))
	return wrong == "" && len(second) > 0 || strings.HasPrefix(wrong, "expected a finite") || strings.HasPrefix(wrong, "expected a number under")
}

// separators are the separators that a header may use.
const separators = ",\t;|"

// splitHead returns the names in a header line, or nil where a quote does not end.
func splitHead(first []byte) []string {
	f := capcli.Fields{Separator: capcli.FindSeparator(first, separators)}
	if f.Split(first) > capcli.QuoteInside {
		return nil
	}
	var out []string
	for _, c := range f.Row {
		out = append(out, strings.TrimSpace(string(c)))
	}
	return out
}

// columns are the names in a header.
type columns []string

// find returns the index of the column called name, or, where name is "", of the first of usual
// that is in the header. It returns -1 where there is none.
func (c columns) find(name string, usual []string) int {
	if name != "" {
		return slices.Index(c, name)
	}
	return capcli.FindColumn(c, usual...)
}

// ids returns the indices of the columns that name a series: the column called name, or all
// columns of a list with commas. It returns nil where one of them is missing.
func (c columns) ids(name string) []int {
	if at := c.find(name, idNames); at >= 0 {
		return []int{at}
	}
	if !strings.Contains(name, ",") {
		return nil
	}
	var out []int
	for part := range strings.SplitSeq(name, ",") {
		at := slices.Index(c, strings.TrimSpace(part))
		if at < 0 || slices.Contains(out, at) {
			return nil
		}
		out = append(out, at)
	}
	return out
}

package series

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
)

// source gives lines with limits.
type source struct {
	r    *bufio.Reader
	line int
	held []byte
}

func newSource(r io.Reader) *source { return &source{r: bufio.NewReaderSize(r, 256<<10)} }

// next gives the next line without its end; io.EOF is the end.
func (s *source) next() ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		s.held = append(s.held[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) && len(s.held) <= maxLine {
			line, err = s.r.ReadSlice('\n')
			s.held = append(s.held, line...)
		}
		line = s.held
	}
	if len(line) == 0 && err != nil {
		return nil, err
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	s.line++
	if len(line) > maxLine {
		return nil, errLong
	}
	if s.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

var errLong = errors.New("the line is longer than 1 MiB")

// names in common use, in order of preference.
var (
	idNames    = []string{"unique_id", "id", "series", "series_id", "item_id"}
	timeNames  = []string{"ds", "timestamp", "time", "ts", "date", "datetime", "index", "t", "step", "month", "week", "day", "year"}
	valueNames = []string{"y", "value", "target", "v"}
)

// Sniff tells whether a file that begins with head is a table of series. Names
// in o count as well.
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
	case isPlain(first, rest):
		return true
	}
	c := columnsOf(splitHead(first))
	if c.find(o.Time, timeNames) < 0 {
		return false
	}
	// Of one column beside stamps and ids there is no doubt; a job log has more.
	return c.find(o.Value, append(slices.Clone(o.Usual), valueNames...)) >= 0 || len(c)-len(c.ids(o.ID)) == 2
}

func sniffJSON(head, first []byte, o Options) bool {
	if isProm(head) {
		return true
	}
	names := jsonNames(first)
	c := columnsOf(names)
	return c.find(o.Time, timeNames[:3]) >= 0 && c.find(o.Value, append(slices.Clone(o.Usual), valueNames...)) >= 0
}

// isPlain tells whether a file is one value a line, maybe under a head.
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

func splitHead(first []byte) []string {
	sep, most := byte(','), 0
	for _, s := range []byte{',', '\t', ';', '|'} {
		if n := bytes.Count(first, []byte{s}); n > most {
			sep, most = s, n
		}
	}
	f := fields{sep: sep}
	if !f.split(first) {
		return nil
	}
	var out []string
	for _, c := range f.cells {
		out = append(out, strings.TrimSpace(string(c)))
	}
	return out
}

// columns are the names of a head.
type columns []string

func columnsOf(names []string) columns { return names }

// find gives the place of the column called name, or where that is "" of the
// first of usual that is there; -1 is none.
func (c columns) find(name string, usual []string) int {
	if name != "" {
		return slices.Index(c, name)
	}
	for _, u := range usual {
		if i := slices.IndexFunc(c, func(have string) bool { return strings.EqualFold(have, u) }); i >= 0 {
			return i
		}
	}
	return -1
}

// ids gives the places of the columns that name a series: the one called name,
// or, where name is a list, all in it. None where one is not there.
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

// fields splits a line of delimited text (RFC 4180, without line breaks in a cell).
type fields struct {
	sep   byte
	cells [][]byte
	held  []byte
}

// split cuts line into cells, which live until the next call; false where a
// quote does not end.
func (f *fields) split(line []byte) bool {
	f.cells = f.cells[:0]
	if bytes.IndexByte(line, '"') < 0 {
		for {
			i := bytes.IndexByte(line, f.sep)
			if i < 0 || len(f.cells) > maxColumns {
				f.cells = append(f.cells, line)
				return true
			}
			f.cells = append(f.cells, line[:i])
			line = line[i+1:]
		}
	}
	if f.held = f.held[:0]; cap(f.held) < len(line) {
		f.held = make([]byte, 0, len(line)) // cells point into it, so it may not move
	}
	for {
		cell, rest, more, ok := f.cell(line)
		if !ok {
			return false
		}
		f.cells = append(f.cells, cell)
		if !more || len(f.cells) > maxColumns {
			return true
		}
		line = rest
	}
}

// cell takes one cell off the front of line.
func (f *fields) cell(line []byte) (cell, rest []byte, more, ok bool) {
	if len(line) == 0 || line[0] != '"' {
		cell, rest, more = bytes.Cut(line, []byte{f.sep})
		return cell, rest, more, true
	}
	from := len(f.held)
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] != '"':
			f.held = append(f.held, line[i])
		case i+1 < len(line) && line[i+1] == '"':
			f.held = append(f.held, '"')
			i++
		case i+1 == len(line):
			return f.held[from:], nil, false, true
		case line[i+1] == f.sep:
			return f.held[from:], line[i+2:], true, true
		default:
			return nil, nil, false, false
		}
	}
	return nil, nil, false, false
}

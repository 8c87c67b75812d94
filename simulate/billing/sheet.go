package billing

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"capcli"
)

// Limits of a table that is read.
const (
	maxLine    = 1 << 20 // bytes of a record
	maxColumns = 4096
)

// sheet reads a table with a header line as RFC 4180 has it. A record without a
// quote is split in place.
type sheet struct {
	name  string
	r     *bufio.Reader
	names []string
	row   [][]byte
	line  int // of row's first line
	lines int // read so far
	held  []byte
	field []byte
}

// newSheet takes the header line; lines before it that are blank or begin with
// # are passed over.
func newSheet(name string, r io.Reader) (*sheet, error) {
	s := &sheet{name: name, r: bufio.NewReaderSize(r, 1<<16)}
	ok, err := s.next()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, s.fault("", "expected a header line, found none", "is the file empty?")
	}
	if len(s.row) > maxColumns {
		return nil, s.fault("", fmt.Sprintf("the header has %d columns, the limit is %d", len(s.row), maxColumns), "is this a CSV file?")
	}
	for i, f := range s.row {
		text := string(bytes.TrimSpace(f))
		if i == 0 {
			text = strings.TrimPrefix(text, "\ufeff")
			text = strings.Trim(text, `"`)
		}
		if !utf8.ValidString(text) {
			return nil, s.fault("", "the header is not text in UTF-8", "is this a CSV file? Parquet files end in .parquet")
		}
		s.names = append(s.names, text)
	}
	return s, nil
}

// fault is an error at the record at hand.
func (s *sheet) fault(field, text, hint string) error {
	return &capcli.InputError{File: s.name, Line: s.line, Field: field, Text: text, Hint: hint}
}

// col is the place of the first of names in the header, in any case of letters,
// or -1.
func (s *sheet) col(names ...string) int {
	for _, want := range names {
		for i, have := range s.names {
			if strings.EqualFold(have, want) {
				return i
			}
		}
	}
	return -1
}

// next takes the next record. Blank lines are passed over; a record that has not
// as many fields as the header is an error, for nothing is dropped in silence.
func (s *sheet) next() (bool, error) {
	for {
		line, err := s.read()
		if err != nil || line == nil {
			return false, err
		}
		s.line = s.lines
		if len(bytes.TrimSpace(line)) == 0 || s.names == nil && line[0] == '#' {
			continue
		}
		if err := s.split(line); err != nil {
			return false, err
		}
		if s.names != nil && len(s.row) != len(s.names) {
			return false, s.fault("", fmt.Sprintf("expected %d fields as in the header, found %d", len(s.names), len(s.row)),
				"put a field with commas in quotes")
		}
		return true, nil
	}
}

// read takes one line without its end, nil at the end of the file. What it gives
// is good until the next call.
func (s *sheet) read() ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	s.lines++
	if err == nil || errors.Is(err, io.EOF) {
		if len(line) == 0 {
			return nil, nil
		}
		return trimEnd(line), nil
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = s.r.ReadSlice('\n')
		if long = append(long, line...); len(long) > maxLine {
			s.line = s.lines
			return nil, s.fault("", "the line is over 1 MiB long", "is this a CSV file?")
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s after line %d: %w", s.name, s.lines-1, err)
	}
	return trimEnd(long), nil
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// split cuts a record into its fields, with further lines where a quote is open:
// every quote of a well-formed record has its partner.
func (s *sheet) split(line []byte) error {
	s.row = s.row[:0]
	quotes := bytes.Count(line, []byte{'"'})
	if quotes == 0 {
		for {
			i := bytes.IndexByte(line, ',')
			if i < 0 || len(s.row) > maxColumns {
				break
			}
			s.row, line = append(s.row, line[:i]), line[i+1:]
		}
		s.row = append(s.row, line)
		return nil
	}
	s.held = append(s.held[:0], line...)
	for quotes%2 == 1 {
		more, err := s.read()
		switch {
		case err != nil:
			return err
		case more == nil:
			return s.fault("", "a quote is not closed", "close the quote; two quotes inside one stand for one")
		case len(s.held)+len(more) > maxLine:
			return s.fault("", "the record is over 1 MiB long", "is a quote not closed?")
		}
		quotes += bytes.Count(more, []byte{'"'})
		s.held = append(append(s.held, '\n'), more...)
	}
	if cap(s.field) < len(s.held) {
		s.field = make([]byte, 0, 2*len(s.held))
	}
	s.field = s.field[:0]
	return s.quoted(s.held)
}

// quoted splits a record in which quotes are paired.
func (s *sheet) quoted(rest []byte) error {
	for len(s.row) <= maxColumns {
		bare := len(rest) == 0 || rest[0] != '"'
		field := rest
		if bare {
			if i := bytes.IndexByte(rest, ','); i >= 0 {
				field = rest[:i]
			}
			rest = rest[len(field):]
		} else {
			field, rest = s.unquote(rest[1:])
		}
		s.row = append(s.row, field)
		switch {
		case bare && bytes.IndexByte(field, '"') >= 0:
			return s.fault("", "a quote stands inside a field that has none around it", "put quotes around the field, and two for each inside")
		case len(rest) == 0:
			return nil
		case rest[0] != ',':
			return s.fault("", "text stands behind a closing quote", "two quotes inside a quoted field stand for one")
		}
		rest = rest[1:]
	}
	return nil
}

// unquote takes a quoted field, whose first quote is gone, off rest.
func (s *sheet) unquote(rest []byte) (field, after []byte) {
	from := len(s.field)
	for {
		i := bytes.IndexByte(rest, '"')
		if i < 0 { // paired quotes make this the end
			return s.field[from:], nil
		}
		s.field, rest = append(s.field, rest[:i]...), rest[i+1:]
		if len(rest) == 0 || rest[0] != '"' {
			return s.field[from:], rest
		}
		s.field, rest = append(s.field, '"'), rest[1:]
	}
}

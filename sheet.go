package capcli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Sheet reads a table with a header line, as RFC 4180 defines CSV. Row holds the fields of the
// current record.
type Sheet struct {
	Fields
	File       string // name for error messages
	text       *LineReader
	separators string
	Names      []string          // column names of the header
	Line       int               // line of the file on which the current record begins
	texts      map[string]string // texts of cells seen so far, for Intern
}

// mostTexts is the most distinct texts that a Sheet keeps.
const mostTexts = 1 << 16

// NewSheet returns a sheet whose header has been read. Its separator is the most frequent of separators in the
// header. It skips blank lines and lines that begin with # before the header. It fails where there is no
// header, the header is not UTF-8, or it has more than MaxColumns columns.
func NewSheet(name string, r io.Reader, separators string) (*Sheet, error) {
	s := &Sheet{separators: separators, File: name, text: NewLineReader(r), texts: map[string]string{}}
	switch ok, err := s.Next(); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, s.Fault("", "expected a header line, found none", "is the file empty?")
	case len(s.Row) > MaxColumns:
		return nil, s.Fault("", fmt.Sprintf("the header has %d columns, the limit is %d", len(s.Row), MaxColumns), "is this a CSV file?")
	}
	for _, f := range s.Row {
		if !utf8.Valid(f) {
			return nil, s.Fault("", "the header is not text in UTF-8", "is this a CSV file? Parquet files end in .parquet")
		}
		s.Names = append(s.Names, string(bytes.TrimSpace(f)))
	}
	return s, nil
}

// Fault returns an error about a field of the current record.
func (s *Sheet) Fault(field, text, hint string) error {
	return &InputError{File: s.File, Line: s.Line, Field: field, Text: text, Hint: hint}
}

// FaultUnwanted returns an error about a field of the current record: what was expected and
// what was found.
func (s *Sheet) FaultUnwanted(field, want, found, hint string) error {
	return s.Fault(field, fmt.Sprintf("expected %s, found %s", want, Quoted(found)), hint)
}

// FindColumn returns the index of the first of names that the header has, in any case of
// letters, or -1.
func (s *Sheet) FindColumn(names ...string) int { return FindColumn(s.Names, names...) }

// Column returns the index of the first of names that the header has, in any case of letters, or an error that
// lists the columns.
func (s *Sheet) Column(names ...string) (int, error) {
	if i := s.FindColumn(names...); i >= 0 {
		return i, nil
	}
	return 0, &InputError{
		File: s.File, Line: 1, Field: names[0], Text: "the header has no such column",
		Hint: "its columns are " + strings.Join(Abridge(s.Names, 20), ", "),
	}
}

// Value returns the trimmed cell of a column in the current record. It is nil where the cell is
// empty or null, and for column -1.
func (s *Sheet) Value(col int) []byte {
	if col < 0 {
		return nil
	}
	b := bytes.TrimSpace(s.Row[col])
	if len(b) == 0 || len(b) == 4 && bytes.EqualFold(b, []byte("null")) {
		return nil
	}
	return b
}

// Cell returns the trimmed cell of a column in the current record as a text; "" where it is
// empty or null, and for column -1.
func (s *Sheet) Cell(col int) string { return s.Intern(s.Value(col)) }

// Intern returns b as a string and shares one string between equal cells, for up to mostTexts
// texts.
func (s *Sheet) Intern(b []byte) string {
	if text, ok := s.KnownText(b); ok {
		return text
	}
	text := string(b)
	if len(s.texts) < mostTexts {
		s.texts[text] = text
	}
	return text
}

// KnownText returns the string of cells equal to b, and whether Intern has one.
func (s *Sheet) KnownText(b []byte) (string, bool) {
	text, ok := s.texts[string(b)]
	return text, ok
}

// EachRow calls do for each remaining record. It stops at the first error and returns it.
func (s *Sheet) EachRow(do func() error) error {
	for {
		ok, err := s.Next()
		if err != nil || !ok {
			return err
		}
		if err := do(); err != nil {
			return err
		}
	}
}

// Next reads the next record into Row and reports false at the end. It skips blank lines. A
// record with more or fewer fields than the header is an error, so that no cell is dropped in
// silence.
func (s *Sheet) Next() (bool, error) {
	for {
		line, ok := s.text.Next()
		s.Line = s.text.Line()
		if !ok {
			return false, s.endError("the line is over 1 MiB long", "is this a CSV file?")
		}
		if len(bytes.TrimSpace(line)) == 0 || s.Names == nil && line[0] == '#' {
			continue
		}
		if s.Names == nil {
			s.Separator = FindSeparator(line, s.separators)
		}
		if err := s.quoteError(s.SplitRecord(s.text, line)); err != nil {
			return false, err
		}
		if s.Names != nil && len(s.Row) != len(s.Names) {
			return false, s.Fault("", fmt.Sprintf("expected %d fields as in the header, found %d", len(s.Names), len(s.Row)),
				"put a field with commas in quotes")
		}
		return true, nil
	}
}

// endError returns why the text ended, nil at its regular end. long is the message for a line
// that is too long.
func (s *Sheet) endError(long, hint string) error {
	switch err := s.text.Err(); {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, ErrLongLine):
		s.Line = s.text.Line() + 1
		return s.Fault("", long, hint)
	default:
		return fmt.Errorf("read %s after line %d: %w", s.File, s.text.Line(), err)
	}
}

// quoteError returns an error about the quotes of the current record, nil where they are sound.
func (s *Sheet) quoteError(fault QuoteFault) error {
	switch fault {
	case QuoteInside:
		return s.Fault("", "a quote stands inside a field that has none around it", "put quotes around the field, and two for each inside")
	case TextBehindQuote:
		return s.Fault("", "text stands behind a closing quote", "two quotes inside a quoted field stand for one")
	case QuoteOpen:
		if err := s.endError("the record is over 1 MiB long", "is a quote not closed?"); err != nil {
			return err
		}
		return s.Fault("", "a quote is not closed", "close the quote; two quotes inside one stand for one")
	case QuotesSound:
	}
	return nil
}

// QuotedNames returns the header in quotes, for a message.
func (s *Sheet) QuotedNames() string { return Quoted(strings.Join(s.Names, ",")) }

package focus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"capcli"
)

// Sheet reads a table with a header line as RFC 4180 has it.
type Sheet struct {
	capcli.Fields
	File  string
	text  *capcli.LineReader
	Names []string
	line  int               // of Row's first line
	texts map[string]string // of cells that came before
}

// mostTexts is how many different texts are kept, not to have each anew.
const mostTexts = 1 << 16

// NewSheet takes the header line; lines before it that are blank or begin with
// # are passed over.
func NewSheet(name string, r io.Reader) (*Sheet, error) {
	s := &Sheet{Fields: capcli.Fields{Separator: ','}, File: name, text: capcli.NewLineReader(r), texts: map[string]string{}}
	switch ok, err := s.next(); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, s.Fault("", "expected a header line, found none", "is the file empty?")
	case len(s.Row) > capcli.MaxColumns:
		return nil, s.Fault("", fmt.Sprintf("the header has %d columns, the limit is %d", len(s.Row), capcli.MaxColumns), "is this a CSV file?")
	}
	for _, f := range s.Row {
		if !utf8.Valid(f) {
			return nil, s.Fault("", "the header is not text in UTF-8", "is this a CSV file? Parquet files end in .parquet")
		}
		s.Names = append(s.Names, string(bytes.TrimSpace(f)))
	}
	return s, nil
}

// Fault is an error at the record at hand.
func (s *Sheet) Fault(field, text, hint string) error {
	return &capcli.InputError{File: s.File, Line: s.line, Field: field, Text: text, Hint: hint}
}

// FaultUnwanted is an error in a column of the record at hand: it wants one thing and
// has another.
func (s *Sheet) FaultUnwanted(field, want, found, hint string) error {
	return s.Fault(field, fmt.Sprintf("expected %s, found %s", want, capcli.Quoted(found)), hint)
}

// FindColumn is the place of the first of names in the header, in any case of letters,
// or -1.
func (s *Sheet) FindColumn(names ...string) int { return capcli.FindColumn(s.Names, names...) }

// value is what stands in a column of the record at hand, nil where that is nothing or
// null, and for column -1.
func (s *Sheet) value(col int) []byte {
	if col < 0 {
		return nil
	}
	b := bytes.TrimSpace(s.Row[col])
	if len(b) == 0 || len(b) == 4 && bytes.EqualFold(b, []byte("null")) {
		return nil
	}
	return b
}

// Cell is value as a text.
func (s *Sheet) Cell(col int) string { return s.intern(s.value(col)) }

// intern gives one string for equal bytes, as long as there are not too many.
func (s *Sheet) intern(b []byte) string {
	if text, ok := s.texts[string(b)]; ok {
		return text
	}
	text := string(b)
	if len(s.texts) < mostTexts {
		s.texts[text] = text
	}
	return text
}

// EachRow calls do for each record that is left.
func (s *Sheet) EachRow(do func() error) error {
	for {
		ok, err := s.next()
		if err != nil || !ok {
			return err
		}
		if err := do(); err != nil {
			return err
		}
	}
}

// next takes the next record. Blank lines are passed over; a record that has not
// as many fields as the header is an error, for nothing is dropped in silence.
func (s *Sheet) next() (bool, error) {
	for {
		line, ok := s.text.Next()
		s.line = s.text.Line()
		if !ok {
			return false, s.endError("the line is over 1 MiB long", "is this a CSV file?")
		}
		if len(bytes.TrimSpace(line)) == 0 || s.Names == nil && line[0] == '#' {
			continue
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

// endError says why the text ended, nil where it is all there; long says what is too
// long.
func (s *Sheet) endError(long, hint string) error {
	switch err := s.text.Err(); {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, capcli.ErrLongLine):
		s.line = s.text.Line() + 1
		return s.Fault("", long, hint)
	default:
		return fmt.Errorf("read %s after line %d: %w", s.File, s.text.Line(), err)
	}
}

// quoteError says what is wrong with the quotes of the record at hand.
func (s *Sheet) quoteError(fault capcli.QuoteFault) error {
	switch fault {
	case capcli.QuoteInside:
		return s.Fault("", "a quote stands inside a field that has none around it", "put quotes around the field, and two for each inside")
	case capcli.TextBehindQuote:
		return s.Fault("", "text stands behind a closing quote", "two quotes inside a quoted field stand for one")
	case capcli.QuoteOpen:
		if err := s.endError("the record is over 1 MiB long", "is a quote not closed?"); err != nil {
			return err
		}
		return s.Fault("", "a quote is not closed", "close the quote; two quotes inside one stand for one")
	case capcli.QuotesSound:
	}
	return nil
}

// Memo keeps what was worked out of texts, as long as there are not too many.
type Memo[V any] struct {
	of    func(text string) V
	known map[string]V
}

// NewMemo remembers the results of a function of a text.
func NewMemo[V any](of func(text string) V) *Memo[V] { return &Memo[V]{of, map[string]V{}} }

// Find returns the result for a text.
func (m *Memo[V]) Find(text string) V {
	v, ok := m.known[text]
	if !ok {
		if v = m.of(text); len(m.known) < mostTexts {
			m.known[text] = v
		}
	}
	return v
}

// QuotedNames shows the header in a message.
func (s *Sheet) QuotedNames() string { return capcli.Quoted(strings.Join(s.Names, ",")) }

// WantInstant is what a column of instants wants.
const WantInstant = "an instant such as 2027-01-01T00:00:00Z"

// ParseInstant reads an instant in the first of layouts that fits, NoTime where none
// does.
func ParseInstant(text string, layouts ...string) capcli.Time {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return capcli.TimeOf(t)
		}
	}
	return capcli.NoTime
}

package roofline

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"capcli"
)

// maxRows is the largest number of rows of a table.
const maxRows = 1 << 20

// sheet is a table of delimited text whose header names its columns.
type sheet struct {
	file   string
	text   *capcli.LineReader
	fields capcli.Fields
	header []string
	rows   int
}

// openSheet reads the header of a table.
func openSheet(file string, r io.Reader) (*sheet, error) {
	s := &sheet{file: file, text: capcli.NewLineReader(r)}
	head, ok := s.text.Next()
	if !ok {
		return nil, s.fault("", "the table is empty; its first line names its columns")
	}
	s.fields.Separator = capcli.FindSeparator(head, ",;\t")
	s.fields.Split(head)
	for _, f := range s.fields.Row {
		s.header = append(s.header, strings.ToLower(strings.TrimSpace(string(f))))
	}
	return s, nil
}

// column returns the place of the first of names that the header has, or an error that lists its columns.
func (s *sheet) column(names ...string) (int, error) {
	if i := capcli.FindColumn(s.header, names...); i >= 0 {
		return i, nil
	}
	return 0, &capcli.InputError{
		File: s.file, Line: 1, Field: names[0], Text: "the header has no such column",
		Hint: "its columns are " + strings.Join(capcli.Abridge(s.header, 20), ", "),
	}
}

func (s *sheet) fault(field, format string, args ...any) error {
	return &capcli.InputError{File: s.file, Line: s.text.Line(), Field: field, Text: fmt.Sprintf(format, args...)}
}

// next moves to the next row. It returns io.EOF after the last.
func (s *sheet) next() error {
	for {
		line, ok := s.text.Next()
		if !ok {
			break
		}
		if len(strings.TrimSpace(string(line))) == 0 {
			continue
		}
		if q := s.fields.Split(line); q == capcli.QuoteOpen {
			return s.fault("", "a quote is open at the end of the line")
		}
		if len(s.fields.Row) != len(s.header) {
			return s.fault("", "the row has %d columns, the header %d", len(s.fields.Row), len(s.header))
		}
		if s.rows++; s.rows > maxRows {
			return s.fault("", "more than %d rows", maxRows)
		}
		return nil
	}
	if err := s.text.Err(); err != nil && !errors.Is(err, io.EOF) {
		return &capcli.InputError{File: s.file, Line: s.text.Line() + 1, Text: err.Error(), Err: err}
	}
	if s.rows == 0 {
		return s.fault("", "the table has a header and no rows")
	}
	return io.EOF
}

func (s *sheet) word(i int) string { return strings.TrimSpace(string(s.fields.Row[i])) }

// number returns column i of the row, a number of 0 to 1e15.
func (s *sheet) number(i int) (float64, error) {
	v, err := strconv.ParseFloat(s.word(i), 64)
	if err != nil || v != v || v < 0 || v > 1e15 {
		return 0, s.fault(s.header[i], "wants a number of 0 to 1e15, found %s", capcli.Quoted(s.word(i)))
	}
	return v, nil
}

// positive returns column i of the row, a number above 0.
func (s *sheet) positive(i int) (float64, error) {
	v, err := s.number(i)
	if err == nil && v <= 0 {
		err = s.fault(s.header[i], "wants a number above 0, found %s", capcli.Quoted(s.word(i)))
	}
	return v, err
}

// positives returns columns of the row, each a number above 0.
func (s *sheet) positives(at []int) ([]float64, error) {
	out := make([]float64, len(at))
	for i, c := range at {
		v, err := s.positive(c)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// ended returns nil for the regular end of a table.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

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

// sheet is a table whose header names its columns.
type sheet struct {
	*capcli.Sheet
	rows int
}

// openSheet reads the header of a table.
func openSheet(file string, r io.Reader) (*sheet, error) {
	s, err := capcli.NewSheet(file, r, ",;\t")
	return &sheet{Sheet: s}, err
}

func (s *sheet) fault(field, format string, args ...any) error {
	return s.Fault(field, fmt.Sprintf(format, args...), "")
}

// next moves to the next row. It returns io.EOF after the last.
func (s *sheet) next() error {
	more, err := s.Next()
	switch {
	case err != nil:
		return err
	case !more && s.rows == 0:
		return s.fault("", "the table has a header and no rows")
	case !more:
		return io.EOF
	}
	if s.rows++; s.rows > maxRows {
		return s.fault("", "more than %d rows", maxRows)
	}
	return nil
}

func (s *sheet) word(i int) string { return strings.TrimSpace(string(s.Row[i])) }

// number returns column i of the row, a number of 0 to 1e15.
func (s *sheet) number(i int) (float64, error) {
	v, err := strconv.ParseFloat(s.word(i), 64)
	if err != nil || v != v || v < 0 || v > 1e15 {
		return 0, s.fault(s.Names[i], "wants a number of 0 to 1e15, found %s", capcli.Quoted(s.word(i)))
	}
	return v, nil
}

// positive returns column i of the row, a number above 0.
func (s *sheet) positive(i int) (float64, error) {
	v, err := s.number(i)
	if err == nil && v <= 0 {
		err = s.fault(s.Names[i], "wants a number above 0, found %s", capcli.Quoted(s.word(i)))
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

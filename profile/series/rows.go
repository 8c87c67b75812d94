package series

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"capcli"
)

// Options say how to read. The zero value uses the common names.
type Options struct {
	Name            string         // of the file, for messages
	ID, Time, Value string         // names of the columns; "" is unique_id, ds and y, or what is commonly used in their place
	Zone            *time.Location // of times that name none; nil is UTC
	DSTLater        bool           // in an hour that comes twice take the second pass
	MaxRows         int            // most rows; 0 is 50 million

	More   []string // further columns of figures, each of which makes a table of Table.More
	Usual  []string // names of the column of values that come before those commonly used
	Loose  bool     // ID and Time count only where the table has them: it lies beside another, whose names they are
	Levels bool     // what holds from a stamp on: stamps may be left out, and each series may have a column of its own
}

const defaultRows = 50_000_000

// Limits on outside text.
const (
	maxSeries = 1_000_000
	// A figure beyond this cannot be squared and summed.
	maxFigure = 1e100
)

// Stamp says what the stamps of a table are.
type Stamp uint8

// Instant stamps are times; Index stamps are whole numbers that only give the
// order; None has no stamps at all, each value follows the one before.
const (
	Instant Stamp = iota
	Index
	None
)

// Row is one figure of a series. A missing one is NaN.
type Row struct {
	At    int64 // seconds since 1970, or the number that stands there
	Value float64
	Line  int
}

// Raw is one series as it stands, in the order of the file.
type Raw struct {
	Name string
	Rows []Row
}

// Table is what a file holds: series in the order of their first row.
type Table struct {
	File    string
	Stamp   Stamp
	Series  []Raw
	Assumed int      // stamps without a zone, taken to be in Options.Zone
	Dates   bool     // every stamp is a date without a time of day
	Notes   []string // what was taken for granted
	More    []*Table // the same rows with the figures of Options.More
	Always  bool     // there is no stamp, each row holds always: Options.Levels

	value string // name of the column of values, for messages
	byID  map[string]int
	rows  int
	limit int
}

func newTable(o Options, stamp Stamp) *Table {
	t := &Table{File: o.Name, Stamp: stamp, byID: map[string]int{}, limit: o.MaxRows, Dates: true}
	if t.limit == 0 {
		t.limit = defaultRows
	}
	return t
}

func (t *Table) fault(line int, field, text, hint string) *capcli.InputError {
	return &capcli.InputError{File: t.File, Line: line, Field: field, Text: text, Hint: hint}
}

// add puts one row in the series called name.
func (t *Table) add(name []byte, row Row) error {
	if t.rows++; t.rows > t.limit {
		return t.fault(row.Line, "", "there are more rows than the limit of "+capcli.Grouped(int64(t.limit)), "aggregate it first, or give fewer series at once")
	}
	i, known := t.byID[string(name)]
	if !known {
		if i = len(t.Series); i == maxSeries {
			return t.fault(row.Line, "", "there are more series than the limit of "+capcli.Grouped(int64(maxSeries)), "give fewer series at once")
		}
		own := string(name)
		if !utf8.ValidString(own) { // JSON would make one name of two
			return t.fault(row.Line, "", "the name of the series is not valid UTF-8", "convert the file: iconv -t UTF-8")
		}
		t.byID[own] = i
		t.Series = append(t.Series, Raw{Name: own})
	}
	t.Series[i].Rows = append(t.Series[i].Rows, row)
	return nil
}

// Words for a value that is not there.
func isMissing(text string) bool {
	switch strings.ToLower(text) {
	case "", "na", "nan", "null", "none", "n/a", "-", "?", "<na>", "#n/a":
		return true
	}
	return false
}

// figure reads one value; what is wrong with it is said in words.
func figure(text string) (v float64, wrong string) {
	if isMissing(text) {
		return math.NaN(), ""
	}
	v, err := parseFloat(text)
	switch {
	case math.IsInf(v, 0):
		return 0, "expected a finite number, found " + quote(text)
	case err != nil:
		return 0, "expected a number, found " + quote(text)
	case math.IsNaN(v):
		return v, ""
	case math.Abs(v) > maxFigure:
		return 0, "expected a number under 1e100, found " + quote(text)
	}
	return v, ""
}

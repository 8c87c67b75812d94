package series

import (
	"cmp"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"capcli"
)

// Options say how to read a table. The zero value uses the common column names.
type Options struct {
	Name            string           // name of the file, for messages
	ID, Time, Value string           // column names; "" is unique_id, ds and y, or another common name
	Zone            *time.Location   // zone of times without a zone; nil is UTC
	DSTLater        bool             // a time in a repeated hour is in the second pass
	Dates           capcli.DateOrder // of dates whose year comes last; UnknownOrder tells it from the dates
	MaxRows         int              // most rows; 0 is 50 million

	More   []string // further columns of values, each of which becomes a table in Table.More
	Usual  []string // further common names of the column of values, tried first
	Loose  bool     // ignore ID and Time where the table lacks such columns: they name columns of another table
	Levels bool     // values hold from their stamp on: stamps may be missing, and each series may have its own column
}

// defaultRows is the most rows of a table, and the most steps of its series, by default.
const defaultRows = 50_000_000

// Limits on the input.
const (
	maxSeries = 1_000_000
	// Values up to maxFigure can be squared and summed without overflow.
	maxFigure = 1e100
)

// Stamp is the kind of a table's stamps.
type Stamp uint8

// Stamps of kind Instant are times. Stamps of kind Index are whole numbers that count steps. None
// means that there are no stamps: each value follows the one before.
const (
	Instant Stamp = iota
	Index
	None
)

// Row is one value of a series, with its stamp.
type Row struct {
	At    int64   // stamp: seconds since 1970, or the whole number
	Value float64 // NaN if missing
	Line  int     // line of the file, from 1; 0 if there are no lines
}

// Raw is one series before Regular, with its rows in the order of the file.
type Raw struct {
	Name string
	Rows []Row
}

// Table is the content of a file: series in the order of their first rows.
type Table struct {
	File    string // name of the file, for messages
	Stamp   Stamp
	Series  []Raw
	Assumed int      // stamps without a zone, read in Options.Zone
	Dates   bool     // every stamp is a date without a time of day
	Notes   []string // assumptions, in words
	More    []*Table // tables of the same rows with the values of Options.More
	Always  bool     // the table has no column of stamps: each value holds always (Options.Levels)

	value string         // name of the column of values, for messages
	byID  map[string]int // index in Series, by name
	rows  int            // rows added
	limit int            // most rows
}

func newTable(o Options, stamp Stamp) *Table {
	t := &Table{File: o.Name, Stamp: stamp, byID: map[string]int{}, limit: o.MaxRows, Dates: true}
	t.limit = cmp.Or(t.limit, defaultRows)
	return t
}

func (t *Table) fault(line int, field, text, hint string) *capcli.InputError {
	return &capcli.InputError{File: t.File, Line: line, Field: field, Text: text, Hint: hint}
}

// add adds a row to the series called name. It fails above the limits on rows and series, and
// for a new name that is not UTF-8.
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

func isMissing(text string) bool {
	switch strings.ToLower(text) {
	case "", "na", "nan", "null", "none", "n/a", "-", "?", "<na>", "#n/a":
		return true
	}
	return false
}

// Figure parses one value; a missing value is NaN. wrong says what is wrong with the text, or is
// "".
func Figure(text string) (v float64, wrong string) {
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

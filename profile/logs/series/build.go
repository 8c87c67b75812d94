package series

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Columns are the indices of a table's columns by their meaning.
type Columns struct {
	IDs         []int // columns of ids; none if the table is one series
	Time, Value int   // columns of stamps and of values
	More        []int // columns of Options.More
}

// Find returns the indices of the columns of a long table whose columns are called names. It
// uses the rules of Read for text, and fails where the column of stamps or values is missing.
func Find(names []string, o Options) (Columns, error) {
	l, err := newTable(o, Instant).find(names, 0, o)
	if err == nil && (l.time < 0 || l.value < 0) {
		err = newTable(o, Instant).fault(0, "", "expected the columns unique_id, ds and capacity, found "+strings.Join(names, ", "), "a table without stamps, or with a column for each series, is read from CSV")
	}
	return Columns{l.ids, l.time, l.value, l.more}, err
}

// Builder makes a Table from rows that another package reads, such as from Parquet. The caller
// adds each row with one call of Text, Number, Instant or Local, and then calls Table.
type Builder struct{ put *putter }

// NewBuilder returns a Builder for a table with columns called names; c is what Find returned
// for them.
func NewBuilder(o Options, names []string, c Columns) *Builder {
	b := &Builder{newPutter(newTable(o, Instant), o)}
	b.put.begin(names, layout{ids: c.IDs, time: c.Time, value: c.Value, more: c.More}, o)
	return b
}

// Beside sets the value of the next row in column k of Options.More.
func (b *Builder) Beside(k int, v float64) { b.put.beside[k] = v }

// Text adds a row whose stamp is text, as in a CSV file. Like Number, Instant and Local, it
// fails with a *capcli.InputError for a stamp or a value that is not valid.
func (b *Builder) Text(row int, id []byte, stamp string, v float64) error {
	r, err := b.put.stamp(row, stamp)
	if err != nil {
		return err
	}
	return b.add(row, id, r, v)
}

// Number adds a row whose stamp is a whole number.
func (b *Builder) Number(row int, id []byte, stamp int64, v float64) error {
	if (stamp > maxIndex || stamp < -maxIndex) && !b.put.clock.unix {
		return b.put.t.fault(row, b.put.time, fmt.Sprintf("expected a whole number under 1e15, found %d", stamp), "number the rows evenly, or give times")
	}
	return b.add(row, id, reading{at: stamp, number: true}, v)
}

// Instant adds a row whose stamp is a time in seconds since 1970.
func (b *Builder) Instant(row int, id []byte, at int64, v float64) error {
	return b.time(row, id, reading{at: at}, v)
}

// Local adds a row whose stamp is a time without a zone: at is what the seconds since 1970
// would be if the time were UTC. A stamp at midnight may be a date.
func (b *Builder) Local(row int, id []byte, at int64, v float64) error {
	return b.time(row, id, reading{at: at, local: true, date: at%86400 == 0}, v)
}

// time adds a row whose stamp is a time; it converts a local time to the zone of the options.
func (b *Builder) time(row int, id []byte, r reading, v float64) error {
	t := time.Unix(r.at, 0).UTC()
	if r.at > math.MaxInt64/4 || r.at < math.MinInt64/4 || !inRange(t) {
		return b.put.t.fault(row, b.put.time, "expected a time from 1600 to 2599", "check the unit in which times are stored")
	}
	if r.local {
		at, ok := b.put.clock.localSeconds(t)
		if !ok {
			return b.put.t.fault(row, b.put.time, quote(t.Format("2006-01-02T15:04:05"))+" lies in an hour that did not exist in "+b.put.clock.name()+": the clocks went over it", "check --tz")
		}
		r.at = at
	}
	return b.add(row, id, r, v)
}

// add adds a row. It fails where a value is infinite or over maxFigure.
func (b *Builder) add(row int, id []byte, r reading, v float64) error {
	for k, more := range b.put.t.More {
		if v := b.put.beside[k]; math.IsInf(v, 0) || math.Abs(v) > maxFigure {
			return b.put.t.fault(row, more.value, fmt.Sprintf("expected a finite number under 1e100, found %g", v), "leave it empty where it is missing")
		}
	}
	if math.IsInf(v, 0) || math.Abs(v) > maxFigure {
		return b.put.t.fault(row, b.put.value, fmt.Sprintf("expected a finite number under 1e100, found %g", v), "leave it empty where it is missing")
	}
	return b.put.take(row, id, r, v)
}

// Figure parses the text of one value. A missing value is NaN. wrong says what is wrong with
// the text, or is "".
func Figure(text string) (v float64, wrong string) { return figure(text) }

// Fault returns an InputError about a row of the table.
func (b *Builder) Fault(row int, field, text, hint string) error {
	return b.put.t.fault(row, field, text, hint)
}

// Table returns the completed table. It fails where no row was added.
func (b *Builder) Table() (*Table, error) { return b.put.end() }

package series

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Columns says which columns of a table hold what.
type Columns struct {
	IDs         []int // none where the table is one series
	Time, Value int
	More        []int // of Options.More
}

// Find places the columns of a long table whose columns have these names, as
// Read does for text.
func Find(names []string, o Options) (Columns, error) {
	l, err := newTable(o, Instant).find(names, 0, o)
	if err == nil && (l.time < 0 || l.value < 0) {
		err = newTable(o, Instant).fault(0, "", "expected the columns unique_id, ds and capacity, found "+strings.Join(names, ", "), "a table without stamps, or with a column for each series, is read from CSV")
	}
	return Columns{l.ids, l.time, l.value, l.more}, err
}

// Builder makes a Table of rows that were read elsewhere, such as from Parquet.
// Each row is one call; the table comes from Table.
type Builder struct{ put *putter }

// NewBuilder begins a table whose columns, called names, Find placed.
func NewBuilder(o Options, names []string, c Columns) *Builder {
	b := &Builder{newPutter(newTable(o, Instant), o)}
	b.put.begin(names, layout{ids: c.IDs, time: c.Time, value: c.Value, more: c.More}, o)
	return b
}

// Beside says the figure in column k of Options.More of the row that comes next.
func (b *Builder) Beside(k int, v float64) { b.put.beside[k] = v }

// Text adds a row whose stamp is text, as it stands in a CSV file.
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

// Instant adds a row at so many seconds since 1970.
func (b *Builder) Instant(row int, id []byte, at int64, v float64) error {
	return b.time(row, id, reading{at: at}, v)
}

// Local adds a row at a time that names no zone, as seconds since 1970 had it
// been UTC. One at midnight may be a date.
func (b *Builder) Local(row int, id []byte, at int64, v float64) error {
	return b.time(row, id, reading{at: at, local: true, date: at%86400 == 0}, v)
}

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

// Figure reads one value as it stands in a table; wrong says what is wrong with it.
func Figure(text string) (v float64, wrong string) { return figure(text) }

// Fault is an input error about row.
func (b *Builder) Fault(row int, field, text, hint string) error {
	return b.put.t.fault(row, field, text, hint)
}

// Table ends the table.
func (b *Builder) Table() (*Table, error) { return b.put.end() }

package series

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// putter parses the texts of rows and adds the rows to a table. It checks that all stamps are
// of one kind.
type putter struct {
	t           *Table
	clock       clock
	time, value string    // names of the columns of stamps and values
	wide        []string  // names of the columns that are a series each
	more        []string  // texts of the current row for Table.More
	beside      []float64 // values of the current row for Table.More
	begun       bool      // a row was added
	last        string    // text of the last parsed stamp
	lastRead    reading   // the last parsed stamp
	held        []byte    // buffer for an id of several cells
	unix        int64     // units per second of whole numbers that are times since 1970; 0 before the first stamp, -1 if they are not times
}

// newPutter returns a putter that adds rows to t.
func newPutter(t *Table, o Options) *putter {
	return &putter{t: t, clock: clock{zone: o.Zone, later: o.DSTLater, dates: o.Dates}}
}

// begin sets the columns of the table. names are all columns of the file.
func (p *putter) begin(names []string, l layout, o Options) {
	if p.t.Always = l.time < 0; !p.t.Always {
		p.time = names[l.time]
		p.clock.unix = slices.ContainsFunc(unixNames, func(n string) bool { return strings.EqualFold(n, p.time) })
	}
	if l.value >= 0 {
		p.value = names[l.value]
	}
	p.t.value = p.value
	for _, column := range l.wide {
		p.wide = append(p.wide, names[column])
	}
	for _, column := range l.more {
		more := newTable(o, Instant)
		more.value = names[column]
		p.t.More = append(p.t.More, more)
	}
	p.more, p.beside = make([]string, len(l.more)), make([]float64, len(l.more))
}

// id returns the name of a row's series: the cells in columns, joined by "/". cell returns the
// text in a column.
func (p *putter) id(columns []int, cell func(i int) []byte) []byte {
	switch len(columns) {
	case 0:
		return []byte("series")
	case 1:
		return cell(columns[0])
	}
	p.held = p.held[:0]
	for k, i := range columns {
		if k > 0 {
			p.held = append(p.held, '/')
		}
		p.held = append(p.held, cell(i)...)
	}
	return p.held
}

// row parses a stamp and a value and adds the row. It fails where one of them is not valid.
func (p *putter) row(line int, id []byte, stamp, value string) error {
	r, err := p.stamp(line, stamp)
	if err != nil {
		return err
	}
	v, wrong := Figure(value)
	if wrong != "" {
		return p.t.fault(line, p.value, wrong, "leave it empty where it is missing")
	}
	for k, more := range p.t.More {
		if p.beside[k], wrong = Figure(p.more[k]); wrong != "" {
			return p.t.fault(line, more.value, wrong, "leave it empty where it is missing")
		}
	}
	return p.take(line, id, r, v)
}

// wideRow adds the values of a row in which each column is a series.
func (p *putter) wideRow(line int, stamp string, columns []int, text func(column int) string) error {
	for k, column := range columns {
		p.value = p.wide[k]
		if err := p.row(line, []byte(p.wide[k]), stamp, text(column)); err != nil {
			return err
		}
	}
	return nil
}

// stamp parses a stamp. It reuses the result where the text is the same as before.
func (p *putter) stamp(line int, text string) (reading, error) {
	if p.t.Always {
		return reading{}, nil
	}
	if text == p.last && p.begun {
		return p.lastRead, nil
	}
	r, wrong := p.clock.read(text)
	if wrong != "" {
		return r, p.t.fault(line, p.time, wrong, stampHint)
	}
	p.last, p.lastRead = text, r
	return r, nil
}

// take adds a row. It fails where the stamp is of another kind than the stamps before.
func (p *putter) take(line int, id []byte, r reading, v float64) error {
	kind := Instant
	r, wrong := p.since1970(r)
	if wrong != "" {
		return p.t.fault(line, p.time, wrong, "write times as 2026-11-20T13:00:00Z, or all as whole seconds since 1970")
	}
	switch {
	case p.t.Always:
		kind = None
	case r.number:
		kind = Index
	}
	r = p.secondPass(id, r)
	if p.begun && kind != p.t.Stamp {
		return p.t.fault(line, p.time, "expected stamps of one kind, found times and whole numbers", "write all of them as times, or all as whole numbers")
	}
	p.t.Stamp, p.begun = kind, true
	if r.local && !r.date {
		p.t.Assumed++
	}
	p.t.Dates = p.t.Dates && r.date
	for k, more := range p.t.More {
		if err := more.add(id, Row{r.at, p.beside[k], line}); err != nil {
			return err
		}
	}
	return p.t.add(id, Row{r.at, v, line})
}

// secondPass returns a local time that does not follow the one before in its series, and lies in an
// hour that clocks show twice, as that of the second time.
func (p *putter) secondPass(id []byte, r reading) reading {
	if !r.local || r.date || p.clock.zone == nil || p.clock.later {
		return r
	}
	i, known := p.t.byID[string(id)]
	if !known || len(p.t.Series[i].Rows) == 0 {
		return r
	}
	rows := p.t.Series[i].Rows
	if last := rows[len(rows)-1].At; last >= r.at {
		if again, ok := p.clock.secondTime(r.at); ok && again > last {
			r.at = again
		}
	}
	return r
}

// unixNames are the columns in which whole numbers may be times: seconds, milliseconds,
// microseconds or nanoseconds since 1970.
var unixNames = []string{"timestamp", "time", "datetime", "ts"}

// unixFrom and unixUntil bound the seconds since 1970 that count as a time: from 1985 to 2286.
// Smaller numbers count steps.
const unixFrom, unixUntil = 500_000_000, 10_000_000_000

// fewestMillis is the least number that is a time in any column: nothing counts that many steps.
const fewestMillis = 100_000_000_000

// since1970 converts a whole number to a time, if the first number in the column looks like seconds since
// 1970 in some unit and the column is one of unixNames, or like milliseconds or a smaller unit. wrong says what is wrong
// with the number, or is "".
func (p *putter) since1970(r reading) (out reading, wrong string) {
	if !r.number {
		return r, ""
	}
	if p.unix == 0 {
		p.unix = -1
		for unit := int64(1); unit <= 1_000_000_000; unit *= 1000 {
			if s := r.at / unit; s >= unixFrom && s < unixUntil && (p.clock.unix || r.at >= fewestMillis) {
				p.unix = unit
			}
		}
	}
	switch s := r.at / max(1, p.unix); {
	case p.unix < 0 && (r.at > maxIndex || r.at < -maxIndex):
		return r, fmt.Sprintf("expected a time or a whole number under 1e15, found %d", r.at)
	case p.unix < 0:
		return r, ""
	case s < unixFrom || s >= unixUntil:
		return r, fmt.Sprintf("expected seconds since 1970 in the unit of the first stamp, found %d", r.at)
	default:
		return reading{at: s}, ""
	}
}

// end completes the table and adds its notes. It fails where the table has no value.
func (p *putter) end() (*Table, error) {
	t := p.t
	if p.unix > 0 {
		unit := map[int64]string{1: "seconds", 1_000: "milliseconds", 1_000_000: "microseconds", 1_000_000_000: "nanoseconds"}[p.unix]
		t.Notes = append(t.Notes, fmt.Sprintf("column %s: whole numbers are taken for %s since 1970, UTC", p.time, unit))
	}
	for _, more := range t.More {
		more.Stamp, more.Dates = t.Stamp, t.Dates
	}
	if t.Assumed > 0 && p.clock.zone == nil {
		t.Notes = append(t.Notes, fmt.Sprintf("%s %s without a zone: taken as UTC (--tz to say otherwise)", capcli.Grouped(int64(t.Assumed)), capcli.Plural(int64(t.Assumed), "stamp")))
	}
	return t, t.checkAny()
}

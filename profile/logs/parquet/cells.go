package parquet

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"capcli"
	"capcli/profile/logs/trace"
)

// want is a column of a job file and how a job holds it.
type want struct {
	name  string // name of the column in our files
	what  sort   // texts; or integers, for numbers and instants
	scale int64  // a number is held as an integer of 1/scale
	time  bool
}

// mark is the state of a cell beside its value.
type mark uint8

const (
	sound mark = iota
	empty
	rounded // the value was rounded to an integer
	endless
	large
)

// flaw returns the mark as the reason of a rejection; "" for a mark that is no fault.
func (m mark) flaw() string {
	switch m {
	case endless:
		return "not a finite number"
	case large:
		return "too large"
	default:
		return ""
	}
}

// field is a wanted column: its cursor, and the last batch of cells in the form that a job needs.
type field struct {
	want
	cur    *cursor // nil where the file lacks the column
	raw    Vector
	marks  [batch]mark
	num    [batch]int64
	text   [batch]string
	pow10  int64 // 10 to the number of places of a stored decimal
	perSec int64 // stored units per second, for instants
	told   int64 // the units per second that the user named, for plain numbers; 0 tells them from their size
	found  int64 // the units per second that were told from the size last; 0 for none
	room   [24]byte
}

func (d *field) open(f *file, l leaf) error {
	cur, err := newCursor(f, l, d.name == "job_id")
	if err != nil {
		return err
	}
	d.cur, d.raw = cur, newVector(cur.sort, batch)
	d.pow10, d.perSec = 1, max(l.unit, 1)
	if l.scale < 0 || l.scale > 18 {
		return refused("write it as a double", "column %q is a decimal with %d places", l.name, l.scale)
	}
	for range l.scale {
		d.pow10 *= 10
	}
	return nil
}

// isWorded reports whether a number or an instant is stored as text.
func (d *field) isWorded() bool {
	if d.cur == nil || d.what == texts {
		return false
	}
	return d.cur.sort == texts
}

// isLocal reports whether d is stored as an instant without a zone.
func (d *field) isLocal() bool {
	if d.cur == nil || !d.time {
		return false
	}
	t, ok := d.cur.l.logical.(*format.TimestampType)
	return ok && !t.IsAdjustedToUTC
}

// read reads the next n rows, at most batch.
func (d *field) read(n int) error {
	if d.cur == nil {
		for k := range n {
			d.marks[k] = empty
		}
		return nil
	}
	v := d.raw.Part(0, n)
	if err := d.cur.read(v); err != nil {
		return err
	}
	switch {
	case d.what == texts:
		d.texts(v)
	case d.cur.sort == fractions:
		d.fractions(v)
	case d.cur.sort == integers:
		d.integers(v)
	}
	return nil
}

func (d *field) texts(v Vector) {
	for k := range v.Len() {
		d.marks[k] = sound
		switch {
		case v.Null[k]:
			d.marks[k], d.text[k] = empty, ""
		case v.Texts != nil:
			d.text[k] = trim(v.Texts[k])
		case v.Ints != nil:
			d.text[k] = d.cur.names.intern(strconv.AppendInt(d.room[:0], v.Ints[k], 10))
		case v.Floats[k] != v.Floats[k]:
			d.marks[k], d.text[k] = empty, ""
		default:
			d.text[k] = d.cur.names.intern(strconv.AppendFloat(d.room[:0], v.Floats[k], 'f', -1, 64))
		}
	}
}

func trim(s string) string {
	if s != "" && (s[0] <= ' ' || s[len(s)-1] <= ' ') {
		return strings.Trim(s, " \t")
	}
	return s
}

// most is the largest number: far from 2^63, as in the text formats.
const most = 1_000_000_000_000_000

func (d *field) integers(v Vector) {
	for k, n := range v.Ints {
		m := sound
		switch {
		case v.Null[k]:
			m, n = empty, 0
		case d.time:
			n, m = d.instant(n)
		case d.pow10 > 1:
			n, m = portion(float64(n) / float64(d.pow10) * float64(d.scale))
		case n > most || n < -most:
			m = large
		default:
			n *= d.scale
		}
		d.num[k], d.marks[k] = n, m
	}
}

// instant returns n stored units as whole seconds, rounded to the nearest.
func (d *field) instant(n int64) (int64, mark) {
	if _, isDate := d.cur.l.logical.(*format.DateType); isDate {
		return n * 86400, sound
	}
	per := d.perSec
	if _, stamped := d.cur.l.logical.(*format.TimestampType); !stamped && per == 1 {
		if per = d.told; per == 0 {
			per = trace.EpochUnit(n)
			d.found = max(d.found, per)
		}
	}
	if per == 1 {
		return n, sound
	}
	q := floorDiv(n, per)
	rest := n - q*per
	if rest == 0 {
		return q, sound
	}
	if rest*2 >= per {
		q++
	}
	return q, rounded
}

// fractions reads floating-point cells. NaN is an empty cell: pandas writes one so.
func (d *field) fractions(v Vector) {
	for k, f := range v.Floats {
		switch {
		case v.Null[k], f != f:
			d.num[k], d.marks[k] = 0, empty
		case math.IsInf(f, 0):
			d.num[k], d.marks[k] = 0, endless
		case d.time && math.Abs(f) < math.MaxInt64 && (d.told > 1 || d.told == 0 && f >= 1e11):
			d.num[k], d.marks[k] = d.instant(int64(math.Round(f)))
		default:
			d.num[k], d.marks[k] = portion(f / float64(d.pow10) * float64(d.scale))
		}
	}
}

func portion(f float64) (int64, mark) {
	r := math.Round(f)
	switch {
	case math.Abs(f) > most*1024:
		return 0, large
	case r != f:
		return int64(r), rounded
	}
	return int64(r), sound
}

// instantOf returns the instant in row k; NoTime where the cell is empty.
func (d *field) instantOf(k int) capcli.Time {
	if d.marks[k] == empty {
		return capcli.NoTime
	}
	return capcli.Time(d.num[k])
}

// write appends the cell of row k as CSV. It writes an instant without a zone as a date and time
// without one.
func (d *field) write(b []byte, k int) []byte {
	switch {
	case d.cur == nil || d.raw.Null[k]:
		return b
	case d.what == texts:
		return quote(b, d.text[k])
	case d.cur.sort == texts:
		return quote(b, d.raw.Texts[k])
	case d.cur.sort == fractions:
		if f := d.raw.Floats[k]; f == f {
			b = strconv.AppendFloat(b, f/float64(d.pow10), 'f', -1, 64)
		}
		return b
	case d.isLocal():
		at := d.raw.Ints[k]
		sec := floorDiv(at, d.perSec)
		nano := (at - sec*d.perSec) * (1_000_000_000 / d.perSec)
		return time.Unix(sec, nano).UTC().AppendFormat(b, "2006-01-02T15:04:05.999999999")
	case d.time:
		return strconv.AppendInt(b, d.num[k], 10)
	case d.pow10 > 1:
		return strconv.AppendFloat(b, float64(d.raw.Ints[k])/float64(d.pow10), 'f', -1, 64)
	}
	return strconv.AppendInt(b, d.raw.Ints[k], 10)
}

// quote appends s as one CSV field (RFC 4180).
func quote(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\r\n") && !strings.HasPrefix(s, "#") {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}

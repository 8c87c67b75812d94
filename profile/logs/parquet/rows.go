package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Type is the type of the cells of a column in a file of any origin.
type Type uint8

// The types. Instants are seconds since 1970 in UTC. Locals are seconds since 1970 on a clock
// whose zone the file does not name. Dates are seconds since 1970 at midnight.
const (
	Texts Type = iota
	Integers
	Fractions // floating point and decimals
	Truths    // 0 and 1
	Instants
	Locals
	Dates
)

func (t Type) String() string {
	names := [...]string{"text", "whole numbers", "numbers", "true and false", "instants", "times without a zone", "dates"}
	if int(t) < len(names) {
		return names[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Header is one column of a file.
type Header struct {
	Name string
	Type Type
}

// Rows reads chosen columns of a Parquet file of any origin, a batch of rows at a time, with one
// page of each column in memory. A damaged file gives *capcli.InputError.
type Rows struct {
	f       *file
	headers []Header
	picked  []*pickedColumn
	row     int64
	micros  bool
}

// KeepMicros makes Next return Instants and Locals in microseconds, not in seconds. Those of the old type
// INT96 are to the second all the same.
func (r *Rows) KeepMicros() { r.micros = true }

type pickedColumn struct {
	head Header
	cur  *cursor
	raw  Vector
	out  Vector
}

// IsParquet reports whether head, the beginning of a file, is that of a Parquet file.
func IsParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }

// NewRows reads the footer of a file of size bytes and checks what can be checked without
// decoding pages. It skips columns that are lists, lie in groups or have no Type.
func NewRows(at io.ReaderAt, size int64) (*Rows, error) {
	f, err := open(at, size)
	if err != nil {
		return nil, err
	}
	r := &Rows{f: f}
	for i := range f.columns {
		if t, ok := typeOf(&f.columns[i]); ok {
			r.headers = append(r.headers, Header{f.columns[i].name, t})
		}
	}
	return r, nil
}

// typeOf returns the Type of a column; false where it has none.
func typeOf(l *leaf) (Type, bool) {
	held, ok := sortOf(l)
	if !ok {
		return 0, false
	}
	if l.kind == pq.Boolean {
		return Truths, true
	}
	if l.kind == pq.Int96 {
		return Instants, true
	}
	switch v := l.logical.(type) {
	case *format.DecimalType:
		return Fractions, l.scale >= 0 && l.scale <= 300
	case *format.DateType:
		return Dates, true
	case *format.TimestampType:
		if v.IsAdjustedToUTC {
			return Instants, true
		}
		return Locals, true
	}
	switch held {
	case integers:
		if l.unsigned && l.kind == pq.Int64 {
			return Fractions, true // values may be 2^63 or more
		}
		return Integers, true
	case fractions:
		return Fractions, true
	case texts:
	}
	return Texts, true
}

// Headers returns the columns of the file that can be read, in the order of the file.
func (r *Rows) Headers() []Header { return slices.Clone(r.headers) }

// Pick chooses the columns that Next reads, by their indexes in Headers. Call it once, before
// Next.
func (r *Rows) Pick(places ...int) error {
	for _, at := range places {
		if at < 0 || at >= len(r.headers) {
			return fmt.Errorf("reading parquet: there is no column %d of %d", at, len(r.headers))
		}
		l, ok := r.f.column(r.headers[at].Name)
		if !ok {
			return fmt.Errorf("reading parquet: there is no column %q", r.headers[at].Name)
		}
		cur, err := newCursor(r.f, l, false)
		if err != nil {
			return err
		}
		p := &pickedColumn{head: r.headers[at], cur: cur, raw: newVector(cur.sort, batch)}
		p.out.Null = make([]bool, 0, batch)
		if p.head.Type == Fractions && cur.sort != fractions {
			p.out.Floats = make([]float64, batch)
		}
		r.picked = append(r.picked, p)
	}
	return nil
}

// Next returns the next rows of the picked columns, in the order picked: Floats for Fractions,
// Texts for Texts, Ints for all other types. They are valid until the next call. At the end it
// returns io.EOF.
func (r *Rows) Next() ([]Vector, error) {
	n := int(min(batch, r.f.meta.NumRows-r.row))
	if n == 0 {
		return nil, io.EOF
	}
	out := make([]Vector, len(r.picked))
	for i, p := range r.picked {
		v := p.raw.Part(0, n)
		if err := p.cur.read(v); err != nil {
			return nil, err
		}
		out[i] = p.cells(v, r.micros)
	}
	r.row += int64(n)
	return out, nil
}

// cells converts the stored values to those of the type: seconds, or microseconds, for times, floats for
// Fractions.
func (p *pickedColumn) cells(v Vector, micros bool) Vector {
	l := &p.cur.l
	out := v
	switch p.head.Type {
	case Fractions:
		return p.fractions(out)
	case Dates:
		for k := range out.Ints {
			out.Ints[k] *= 86400
		}
	case Instants, Locals:
		if micros {
			p.toMicros(out.Ints)
		} else if l.unit > 1 && l.kind != pq.Int96 {
			for k, n := range out.Ints {
				out.Ints[k] = floorDiv(n, l.unit)
			}
		}
	case Texts, Integers, Truths:
	}
	return out
}

// toMicros converts stored times to microseconds.
func (p *pickedColumn) toMicros(times []int64) {
	const second = 1_000_000
	for k, n := range times {
		switch unit := p.cur.l.unit; {
		case p.cur.l.kind == pq.Int96 || unit <= 1:
			times[k] = n * second
		case unit > second:
			times[k] = floorDiv(n, unit/second)
		default:
			times[k] = n * (second / unit)
		}
	}
}

// fractions converts decimals, and unsigned integers of 64 bits, to floats.
func (p *pickedColumn) fractions(out Vector) Vector {
	l := &p.cur.l
	switch {
	case out.Ints != nil:
		floats := p.out.Floats[:len(out.Ints)]
		for k, n := range out.Ints {
			floats[k] = float64(n)
			if l.unsigned {
				floats[k] = float64(uint64(n))
			}
		}
		out.Floats, out.Ints = floats, nil
	case out.Texts != nil:
		floats := p.out.Floats[:len(out.Texts)]
		for k, s := range out.Texts {
			floats[k] = bigEndian(s)
		}
		out.Floats, out.Texts = floats, nil
	}
	if l.scale > 0 {
		by := math.Pow(10, float64(l.scale))
		for k := range out.Floats {
			out.Floats[k] /= by
		}
	}
	return out
}

// bigEndian returns the big-endian two's complement integer s, the form of a decimal of variable
// length.
func bigEndian(s string) float64 {
	if s == "" {
		return 0
	}
	f := float64(int8(s[0]))
	for i := 1; i < len(s); i++ {
		f = f*256 + float64(s[i])
	}
	return f
}

package parquet

import (
	"encoding/binary"
	"fmt"
	"math"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// vector is some rows of one column: of the three slices the one that the
// column's kind calls for is used.
type vector struct {
	null []bool
	i    []int64
	f    []float64
	s    []string
}

// sort of a column's values as they are held here.
type sort uint8

const (
	integers sort = iota
	fractions
	texts
)

func sortOf(l *leaf) (sort, bool) {
	switch l.kind {
	case pq.Int32, pq.Int64, pq.Int96, pq.Boolean:
		return integers, true
	case pq.Float, pq.Double:
		return fractions, true
	case pq.ByteArray:
		return texts, true
	case pq.FixedLenByteArray:
		switch l.logical.(type) {
		case *format.DecimalType:
			return fractions, l.width > 0
		case *format.UUIDType:
			return texts, l.width == 16
		}
	}
	return 0, false
}

func makeVector(s sort, n int) vector {
	v := vector{null: make([]bool, n)}
	switch s {
	case integers:
		v.i = make([]int64, n)
	case fractions:
		v.f = make([]float64, n)
	case texts:
		v.s = make([]string, n)
	}
	return v
}

// part is rows from to to of v.
func (v vector) part(from, to int) vector {
	p := vector{null: v.null[from:to]}
	switch {
	case v.i != nil:
		p.i = v.i[from:to]
	case v.f != nil:
		p.f = v.f[from:to]
	default:
		p.s = v.s[from:to]
	}
	return p
}

func (v vector) len() int { return len(v.null) }

// spread moves the values, which stand together at the front of v, to the rows
// that are not null.
func (v vector) spread(values int) {
	for row := v.len() - 1; row >= values; row-- {
		if v.null[row] {
			continue
		}
		values--
		switch {
		case v.i != nil:
			v.i[row] = v.i[values]
		case v.f != nil:
			v.f[row] = v.f[values]
		default:
			v.s[row] = v.s[values]
		}
	}
}

// decoder takes values from one page, in order, without nulls.
type decoder interface{ read(v vector) error }

// plain is the PLAIN encoding.
type plain struct {
	b     []byte
	l     *leaf
	bit   int // booleans
	names *names
}

func (p *plain) read(v vector) error {
	n := v.len()
	switch p.l.kind {
	case pq.ByteArray:
		return p.texts(v.s)
	case pq.Boolean:
		if p.bit+n > 8*len(p.b) {
			return errCut
		}
		for k := range v.i {
			v.i[k] = int64(bitsAt(p.b, p.bit, 1))
			p.bit++
		}
		return nil
	default:
	}
	width := p.l.bytes()
	if n > len(p.b)/width {
		return errCut
	}
	b := p.b[:n*width]
	p.b = p.b[n*width:]
	switch p.l.kind {
	case pq.Int32:
		for k := range v.i {
			v.i[k] = int32Of(binary.LittleEndian.Uint32(b[4*k:]), p.l.unsigned)
		}
	case pq.Int64:
		for k := range v.i {
			v.i[k] = int64(binary.LittleEndian.Uint64(b[8*k:]))
		}
	case pq.Int96:
		for k := range v.i {
			v.i[k] = int96Of(b[12*k:])
		}
	case pq.Float:
		for k := range v.f {
			v.f[k] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:])))
		}
	case pq.Double:
		for k := range v.f {
			v.f[k] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*k:]))
		}
	case pq.FixedLenByteArray:
		p.fixed(v, b, width)
	default:
		return errWire
	}
	return nil
}

// fixed reads decimals, which are big-endian integers, and UUIDs.
func (p *plain) fixed(v vector, b []byte, width int) {
	for k := range v.len() {
		cell := b[k*width : (k+1)*width]
		if v.s != nil {
			v.s[k] = p.names.intern(fmt.Appendf(nil, "%x-%x-%x-%x-%x", cell[:4], cell[4:6], cell[6:8], cell[8:10], cell[10:]))
			continue
		}
		f := float64(int8(cell[0]))
		for _, digit := range cell[1:] {
			f = f*256 + float64(digit)
		}
		v.f[k] = f
	}
}

// bytes is what a plain value takes, or for a text at least takes.
func (l *leaf) bytes() int {
	switch l.kind {
	case pq.Int32, pq.Float, pq.ByteArray:
		return 4
	case pq.Int96:
		return 12
	case pq.FixedLenByteArray:
		return l.width
	default:
		return 8
	}
}

func int32Of(u uint32, unsigned bool) int64 {
	if unsigned {
		return int64(u)
	}
	return int64(int32(u))
}

// int96Of is an instant as Impala wrote it, nanoseconds of the day and the
// Julian day, in whole seconds since 1970.
func int96Of(b []byte) int64 {
	const epoch = 2_440_588 // Julian day of 1970-01-01
	nanos := int64(binary.LittleEndian.Uint64(b))
	day := int64(int32(binary.LittleEndian.Uint32(b[8:])))
	return (day-epoch)*86400 + floorDiv(nanos, 1_000_000_000)
}

// floorDiv is a/b rounded down; b is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func (p *plain) texts(dst []string) error {
	const together = 128 // texts that come once share memory, few at a time
	for len(dst) > 0 {
		n := min(len(dst), together)
		from, at := p.b, 0
		for range n {
			if len(from)-at < 4 {
				return errCut
			}
			size := binary.LittleEndian.Uint32(from[at:])
			if size > maxText || int(size) > len(from)-at-4 {
				return errCut
			}
			at += 4 + int(size)
		}
		p.names.cut(dst[:n], from[:at])
		p.b, dst = from[at:], dst[n:]
	}
	return nil
}

// splits is BYTE_STREAM_SPLIT: all first bytes, then all second bytes, and so on.
type splits struct {
	b   []byte
	l   *leaf
	row int
}

func (s *splits) read(v vector) error {
	width := s.l.bytes()
	stride := len(s.b) / width
	if len(s.b)%width != 0 || v.len() > stride-s.row {
		return errCut
	}
	for k := range v.len() {
		var u uint64
		for j := range width {
			u |= uint64(s.b[j*stride+s.row]) << (8 * j)
		}
		s.row++
		switch s.l.kind {
		case pq.Int32:
			v.i[k] = int32Of(uint32(u), s.l.unsigned)
		case pq.Int64:
			v.i[k] = int64(u)
		case pq.Float:
			v.f[k] = float64(math.Float32frombits(uint32(u)))
		case pq.Double:
			v.f[k] = math.Float64frombits(u)
		default:
			return errWire
		}
	}
	return nil
}

// lookups is RLE_DICTIONARY: indexes into a dictionary.
type lookups struct {
	index runs
	dict  vector
	room  [batch]uint32
}

func (l *lookups) read(v vector) error {
	index := l.room[:v.len()]
	if err := l.index.read(index); err != nil {
		return err
	}
	n := uint32(l.dict.len())
	for k, at := range index {
		if at >= n {
			return errWire
		}
		switch {
		case v.i != nil:
			v.i[k] = l.dict.i[at]
		case v.f != nil:
			v.f[k] = l.dict.f[at]
		default:
			v.s[k] = l.dict.s[at]
		}
	}
	return nil
}

// truths is RLE of booleans.
type truths struct {
	bits runs
	room [batch]uint32
}

func (t *truths) read(v vector) error {
	if err := t.bits.read(t.room[:v.len()]); err != nil {
		return err
	}
	for k := range v.i {
		v.i[k] = int64(t.room[k])
	}
	return nil
}

// deltaInts is DELTA_BINARY_PACKED.
type deltaInts struct{ d deltas }

func (d *deltaInts) read(v vector) error { return d.d.read(v.i) }

// deltaTexts is DELTA_LENGTH_BYTE_ARRAY and, where each text also shares so
// many bytes with the one before, DELTA_BYTE_ARRAY.
type deltaTexts struct {
	shared, size deltas
	sharing      bool
	b            []byte
	last         []byte
	names        *names
}

func newDeltaTexts(b []byte, most int, sharing bool, in *names) (*deltaTexts, error) {
	t := &deltaTexts{sharing: sharing, names: in}
	var err error
	if sharing {
		if t.shared, err = newDeltas(b, most); err != nil {
			return nil, err
		}
		if b, err = t.shared.rest(); err != nil {
			return nil, err
		}
	}
	if t.size, err = newDeltas(b, most); err != nil {
		return nil, err
	}
	t.b, err = t.size.rest()
	return t, err
}

func (t *deltaTexts) read(v vector) error {
	room := int64(maxTexts) // a shared part costs nothing in the file
	for k := range v.s {
		var n, keep [1]int64
		if t.sharing {
			if err := t.shared.read(keep[:]); err != nil {
				return err
			}
		}
		if err := t.size.read(n[:]); err != nil {
			return err
		}
		if n[0] < 0 || n[0] > int64(len(t.b)) || keep[0] < 0 || keep[0] > int64(len(t.last)) || keep[0]+n[0] > min(maxText, room) {
			return errCut
		}
		room -= keep[0] + n[0]
		t.last = append(t.last[:keep[0]], t.b[:n[0]]...)
		t.b = t.b[n[0]:]
		v.s[k] = t.names.intern(t.last)
	}
	return nil
}

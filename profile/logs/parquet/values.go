package parquet

import (
	"encoding/binary"
	"fmt"
	"math"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// sort is the type in memory of the values of a column.
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

// decoder decodes the values of one page, in order; nulls have no value.
type decoder interface{ read(v Vector) error }

// plain decodes PLAIN.
type plain struct {
	b     []byte
	l     *leaf
	bit   int // next bit of a column of booleans
	names *names
}

func (p *plain) read(v Vector) error {
	n := v.Len()
	switch p.l.kind {
	case pq.ByteArray:
		return p.texts(v.Texts)
	case pq.Boolean:
		if p.bit+n > 8*len(p.b) {
			return errCut
		}
		for k := range v.Ints {
			v.Ints[k] = int64(bitsAt(p.b, p.bit, 1))
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
		for k := range v.Ints {
			v.Ints[k] = int32Of(binary.LittleEndian.Uint32(b[4*k:]), p.l.unsigned)
		}
	case pq.Int64:
		for k := range v.Ints {
			v.Ints[k] = int64(binary.LittleEndian.Uint64(b[8*k:]))
		}
	case pq.Int96:
		for k := range v.Ints {
			v.Ints[k] = int96Of(b[12*k:])
		}
	case pq.Float:
		for k := range v.Floats {
			v.Floats[k] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:])))
		}
	case pq.Double:
		for k := range v.Floats {
			v.Floats[k] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*k:]))
		}
	case pq.FixedLenByteArray:
		p.fixed(v, b, width)
	default:
		return errWire
	}
	return nil
}

// fixed reads decimals, which are big-endian integers, and UUIDs.
func (p *plain) fixed(v Vector, b []byte, width int) {
	for k := range v.Len() {
		cell := b[k*width : (k+1)*width]
		if v.Texts != nil {
			v.Texts[k] = p.names.intern(fmt.Appendf(nil, "%x-%x-%x-%x-%x", cell[:4], cell[4:6], cell[6:8], cell[8:10], cell[10:]))
			continue
		}
		f := float64(int8(cell[0]))
		for _, digit := range cell[1:] {
			f = f*256 + float64(digit)
		}
		v.Floats[k] = f
	}
}

// bytes returns the number of bytes of a plain value; for a text the least number.
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

// int96Of returns the instant b in whole seconds since 1970, rounded down. Impala's form is the
// nanoseconds of the day, then the Julian day.
func int96Of(b []byte) int64 {
	const epoch = 2_440_588 // Julian day of 1970-01-01
	nanos := int64(binary.LittleEndian.Uint64(b))
	day := int64(int32(binary.LittleEndian.Uint32(b[8:])))
	return (day-epoch)*86400 + floorDiv(nanos, 1_000_000_000)
}

// floorDiv returns a/b rounded down; b must be positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func (p *plain) texts(dst []string) error {
	const together = 128 // number of texts that share one copy of their bytes
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

// splits decodes BYTE_STREAM_SPLIT: the first bytes of all values, then all second bytes, and so
// on.
type splits struct {
	b   []byte
	l   *leaf
	row int
}

func (s *splits) read(v Vector) error {
	width := s.l.bytes()
	stride := len(s.b) / width
	if len(s.b)%width != 0 || v.Len() > stride-s.row {
		return errCut
	}
	for k := range v.Len() {
		var u uint64
		for j := range width {
			u |= uint64(s.b[j*stride+s.row]) << (8 * j)
		}
		s.row++
		switch s.l.kind {
		case pq.Int32:
			v.Ints[k] = int32Of(uint32(u), s.l.unsigned)
		case pq.Int64:
			v.Ints[k] = int64(u)
		case pq.Float:
			v.Floats[k] = float64(math.Float32frombits(uint32(u)))
		case pq.Double:
			v.Floats[k] = math.Float64frombits(u)
		default:
			return errWire
		}
	}
	return nil
}

// lookups decodes RLE_DICTIONARY: indexes into a dictionary.
type lookups struct {
	index runs
	dict  Vector
	room  [batch]uint32
}

func (l *lookups) read(v Vector) error {
	index := l.room[:v.Len()]
	if err := l.index.read(index); err != nil {
		return err
	}
	n := uint32(l.dict.Len())
	for k, at := range index {
		if at >= n {
			return errWire
		}
		switch {
		case v.Ints != nil:
			v.Ints[k] = l.dict.Ints[at]
		case v.Floats != nil:
			v.Floats[k] = l.dict.Floats[at]
		default:
			v.Texts[k] = l.dict.Texts[at]
		}
	}
	return nil
}

// truths decodes RLE of booleans.
type truths struct {
	bits runs
	room [batch]uint32
}

func (t *truths) read(v Vector) error {
	if err := t.bits.read(t.room[:v.Len()]); err != nil {
		return err
	}
	for k := range v.Ints {
		v.Ints[k] = int64(t.room[k])
	}
	return nil
}

// deltaInts decodes DELTA_BINARY_PACKED.
type deltaInts struct{ d deltas }

func (d *deltaInts) read(v Vector) error { return d.d.read(v.Ints) }

// deltaTexts decodes DELTA_LENGTH_BYTE_ARRAY and, where sharing is set, DELTA_BYTE_ARRAY: there
// each text begins with a number of bytes of the previous one.
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

func (t *deltaTexts) read(v Vector) error {
	room := int64(maxTexts) // bounds the shared bytes, which take no room in the file
	for k := range v.Texts {
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
		v.Texts[k] = t.names.intern(t.last)
	}
	return nil
}

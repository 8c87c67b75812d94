package profile

import (
	"encoding/binary"
	"math"
	"math/bits"

	"capcli/profile/rhythm"
)

// packUse appends u as bytes, about a tenth of its size in memory: fields that are 0 take a byte each,
// and so do empty histograms.
func packUse(b []byte, u *Use) []byte {
	for i := range UseFields {
		f := &UseFields[i]
		switch {
		case f.Micros != nil:
			b = binary.AppendVarint(b, *f.Micros(u))
		case f.Flag != nil:
			flag := byte(0)
			if *f.Flag(u) {
				flag = 1
			}
			b = append(b, flag)
		case f.Most != nil:
			b = packFloat(b, *f.Most(u))
		case f.Sum != nil:
			b = packSum(b, f.Sum(u))
		case f.Counts != nil:
			b = packCounts(b, f.Counts(u, false))
		case f.Steps != nil:
			b = packSteps(b, *f.Steps(u))
		case f.Mean != nil:
			m := f.Mean(u)
			b = packSum(binary.AppendVarint(b, m.Micros), &m.Sum)
		default:
			d := f.Values(u)
			if b = binary.AppendVarint(b, d.Micros); d.Micros != 0 {
				b = packCounts(packFloat(packSum(b, &d.Sum), d.Max), d.Bins)
			}
		}
	}
	return b
}

// packFloat writes whole numbers in few bytes: their low bits are 0.
func packFloat(b []byte, v float64) []byte {
	return binary.AppendUvarint(b, bits.ReverseBytes64(math.Float64bits(v)))
}

func packSum(b []byte, s *Sum) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, s.Hi), s.Lo)
}

// packCounts writes how many numbers are not 0, and of each the distance to the one before it and the
// number.
func packCounts(b []byte, all []int64) []byte {
	n := 0
	for _, v := range all {
		if v != 0 {
			n++
		}
	}
	b = binary.AppendUvarint(b, uint64(n))
	last := 0
	for i, v := range all {
		if v != 0 {
			b = binary.AppendVarint(binary.AppendUvarint(b, uint64(i-last)), v)
			last = i
		}
	}
	return b
}

func packSteps(b []byte, all []rhythm.Bin) []byte {
	b = binary.AppendUvarint(b, uint64(len(all)))
	for _, x := range all {
		for _, v := range [...]int64{int64(x.At), int64(x.N), int64(x.Sure), x.Micros} {
			b = binary.AppendVarint(b, v)
		}
	}
	return b
}

// packed reads what packUse wrote, in this program.
type packed []byte

func (p *packed) int() int64 {
	v, n := binary.Varint(*p)
	*p = (*p)[n:]
	return v
}

func (p *packed) uint() uint64 {
	v, n := binary.Uvarint(*p)
	*p = (*p)[n:]
	return v
}

func (p *packed) float() float64 { return math.Float64frombits(bits.ReverseBytes64(p.uint())) }

func (p *packed) sum() Sum { return Sum{p.uint(), p.uint()} }

func (p *packed) counts(make func() []int64) {
	n := p.uint()
	if n == 0 {
		return
	}
	all, at := make(), 0
	for range n {
		at += int(p.uint()) //nolint:gosec // an index of a slice
		all[at] = p.int()
	}
}

func (p *packed) steps(all *[]rhythm.Bin) {
	for range p.uint() {
		at, n, sure := p.int(), p.int(), p.int()
		*all = append(*all, rhythm.Bin{At: int32(at), N: int32(n), Sure: int32(sure), Micros: p.int()})
	}
}

// unpackUse returns the Use that packUse wrote.
func unpackUse(b []byte) *Use {
	u, p := NewUse(), packed(b)
	for i := range UseFields {
		f := &UseFields[i]
		switch {
		case f.Micros != nil:
			*f.Micros(u) = p.int()
		case f.Flag != nil:
			*f.Flag(u) = p[0] != 0
			p = p[1:]
		case f.Most != nil:
			*f.Most(u) = p.float()
		case f.Sum != nil:
			*f.Sum(u) = p.sum()
		case f.Counts != nil:
			p.counts(func() []int64 { return f.Counts(u, true) })
		case f.Steps != nil:
			p.steps(f.Steps(u))
		case f.Mean != nil:
			m := f.Mean(u)
			m.Micros = p.int()
			m.Sum = p.sum()
		default:
			d := f.Values(u)
			if d.Micros = p.int(); d.Micros != 0 {
				d.Sum = p.sum()
				d.Max = p.float()
				p.counts(d.Make)
			}
		}
	}
	return u
}

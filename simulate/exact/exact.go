// Package exact multiplies and divides whole numbers without loss.
package exact

import (
	"math"
	"math/big"
	"math/bits"

	"capcli"
)

// Product returns a·b.
func Product(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// Sum is a sum of products of whole numbers of 0 or more; the zero value is 0. It adds without memory of its own.
type Sum struct{ low, mid, high uint64 }

// Add adds a·b, both 0 or more. A Sum has room for 2^64 products and more.
func (s *Sum) Add(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	var carry uint64
	s.low, carry = bits.Add64(s.low, lo, 0)
	s.mid, carry = bits.Add64(s.mid, hi, carry)
	s.high += carry
}

// Int returns the sum.
func (s *Sum) Int() *big.Int {
	out := new(big.Int).SetUint64(s.high)
	for _, word := range []uint64{s.mid, s.low} {
		out.Lsh(out, 64).Add(out, new(big.Int).SetUint64(word))
	}
	return out
}

// Times returns a·b, both 0 or more. It fails with capcli.ErrOverflow where that does not
// fit.
func Times(a, b int64) (int64, error) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi > 0 || lo > math.MaxInt64 {
		return 0, capcli.ErrOverflow
	}
	return int64(lo), nil
}

// Portion returns a·b/c, rounded down, for 0 ≤ b ≤ c and a of 0 or more.
func Portion(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q)
}

// GCD returns the greatest common divisor of a and b, of which one may be 0.
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

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

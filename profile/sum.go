package profile

import "math/bits"

// Sum is a sum of whole numbers of 0 or more, in 128 bits. It is exact, and therefore the same in
// any order.
type Sum struct{ Hi, Lo uint64 }

// Add adds v.
func (s *Sum) Add(v uint64) {
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, v, 0)
	s.Hi += carry
}

// AddProduct adds a times b.
func (s *Sum) AddProduct(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	s.Merge(Sum{hi, lo})
}

// Merge adds o.
func (s *Sum) Merge(o Sum) {
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, o.Lo, 0)
	s.Hi += o.Hi + carry
}

func (s Sum) times(n uint64) Sum {
	hi, lo := bits.Mul64(s.Lo, n)
	return Sum{s.Hi*n + hi, lo}
}

// Float returns the sum, rounded to a float64.
func (s Sum) Float() float64 { return float64(s.Hi)*(1<<64) + float64(s.Lo) }

// eighths returns v, which is 0 or more, in eighths: the resolution at which metrics are stored.
func eighths(v float64) uint64 {
	if !(v > 0) {
		return 0
	}
	return uint64(v*8 + 0.5)
}

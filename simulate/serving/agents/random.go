package agents

import "math"

// SplitMix64 is the generator of Steele, Lea and Flood ("Fast splittable pseudorandom number generators",
// OOPSLA 2014). Its value is the state; the first is the seed. Trees are drawn with it, because any program
// in any language can draw the same ones with a few lines.
type SplitMix64 uint64

// Next returns the next number.
func (s *SplitMix64) Next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Float returns a number in [0, 1), a multiple of 2^-53.
func (s *SplitMix64) Float() float64 { return float64(s.Next()>>11) / (1 << 53) }

// pareto returns a whole number of the law of Pareto with the shape alpha, from lo on and cut at hi, for u
// in [0, 1): min(hi, floor(lo / (1 - u)^(1/alpha))).
func pareto(u, alpha float64, lo, hi int64) int64 {
	x := math.Floor(float64(lo) / math.Pow(1-u, 1/alpha))
	if !(x < float64(hi)) {
		return hi
	}
	return int64(x)
}

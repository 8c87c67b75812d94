package simulate

import (
	"math/bits"

	"capcli"
)

// work is an amount of work in seconds of the way that a job asked for: whole seconds, and a fraction in
// units of 2^-64 s.
type work struct {
	whole capcli.Seconds
	part  uint64
}

// wall returns how long w takes at num/den times the run time, rounded up; at most capcli.MaxSeconds.
func (w work) wall(num, den int64) capcli.Seconds {
	carry, part := bits.Mul64(w.part, uint64(num))
	hi, lo := bits.Mul64(uint64(w.whole), uint64(num))
	lo, c := bits.Add64(lo, carry, 0)
	hi += c
	if hi >= uint64(den) {
		return capcli.MaxSeconds
	}
	q, rest := bits.Div64(hi, lo, uint64(den))
	if rest > 0 || part > uint64(min(num, 1<<50))*mostStays {
		q++
	}
	return capcli.Seconds(min(q, uint64(capcli.MaxSeconds)))
}

// mostStays bounds the stays whose rounding, of 2^-64 s each, makes no second of its own: work that is a whole
// number of seconds but for that is that number.
const mostStays = 1 << 10

// minusWall returns w without what wall seconds at num/den times the run time do, rounded down to 2^-64 s: no
// work is created. It is at least 0.
func (w work) minusWall(wall capcli.Seconds, num, den int64) work {
	hi, lo := bits.Mul64(uint64(wall), uint64(den))
	if hi >= uint64(num) {
		return work{}
	}
	whole, rest := bits.Div64(hi, lo, uint64(num))
	part, _ := bits.Div64(rest, 0, uint64(num))
	left, borrow := bits.Sub64(w.part, part, 0)
	if whole > uint64(capcli.MaxSeconds) || capcli.Seconds(whole)+capcli.Seconds(borrow) > w.whole {
		return work{}
	}
	return work{w.whole - capcli.Seconds(whole) - capcli.Seconds(borrow), left}
}

// seconds returns w rounded up to whole seconds.
func (w work) seconds() capcli.Seconds {
	if w.part > 0 {
		return w.whole + 1
	}
	return w.whole
}

// mostRatio bounds the terms of a factor on run times, so that products of them are exact in 128 bits.
const mostRatio = 1 << 62

// timesRatio returns num/den times n/d in lowest terms. Where the terms exceed mostRatio they are cut, the
// result rounded up by less than one part in 2^30.
func timesRatio(num, den, n, d int64) (int64, int64) {
	if n == d {
		return num, den
	}
	g, h := gcd(num, d), gcd(n, den)
	num, d, n, den = num/g, d/g, n/h, den/h
	for {
		hi, lo := bits.Mul64(uint64(num), uint64(n))
		hj, lp := bits.Mul64(uint64(den), uint64(d))
		if hi == 0 && hj == 0 && lo <= mostRatio && lp <= mostRatio {
			return int64(lo), int64(lp)
		}
		// Halve the larger term of each side: the numerator up, the denominator down.
		if num >= n {
			num = num/2 + num%2
		} else {
			n = n/2 + n%2
		}
		if den >= d {
			den = max(1, den/2)
		} else {
			d = max(1, d/2)
		}
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

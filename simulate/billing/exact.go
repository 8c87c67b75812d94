package billing

import (
	"math"
	"math/bits"

	"capcli"
)

// mulDiv is a x b / c, rounded half up, with the product in 128 bits; none may
// be negative, and c not 0. It fails with capcli.ErrOverflow.
func mulDiv(a, b, c int64) (int64, error) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(c)/2, 0)
	if hi += carry; hi >= uint64(c) {
		return 0, capcli.ErrOverflow
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	if q > math.MaxInt64 {
		return 0, capcli.ErrOverflow
	}
	return int64(q), nil
}

// scale is r x part / whole for part <= whole, rounded half up: it cannot
// overflow.
func scale(r capcli.Rate, part, whole int64) capcli.Rate {
	v, err := mulDiv(int64(r), part, whole)
	if err != nil {
		panic(err)
	}
	return capcli.Rate(v)
}

// maxUnits is the most units that one commitment or line may have, in
// thousandths: a hundred million.
const maxUnits = 100_000_000_000

// wantUnits checks a number of units.
func wantUnits(n int64) string {
	if n <= 0 || n > maxUnits {
		return "the number of units must be above 0 and at most 100,000,000"
	}
	return ""
}

// Cost is capcli.Cost with an amount that does not fit, or a negative one, as an
// error.
func Cost(r capcli.Rate, t capcli.GPUTime) (capcli.USD, error) { return cost(r, t) }

// Spread is an amount over so many seconds, in dollars an hour, rounded half up.
func Spread(amount capcli.USD, seconds int64) (capcli.Rate, error) {
	v, err := mulDiv(int64(max(amount, 0)), int64(capcli.Hour), max(seconds, 1))
	return capcli.Rate(v), err
}

// Share is a part of an amount, rounded half up; the part is not over the whole.
func Share(amount capcli.USD, part, whole int64) capcli.USD { return scale(amount, part, whole) }

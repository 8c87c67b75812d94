package billing

import (
	"math"
	"math/big"
	"math/bits"

	"capcli"
	"capcli/scenarios/money/focus"
)

// portion is an amount that is 0 or more, with its fraction in 2^-64ths: unit time in thousandths of
// a unit-second, or an amount of a commitment's own unit. A commitment that ends within the use of an
// hour covers a fraction of it; all other amounts are whole. Each such cut is off by less than 2^-64,
// so that a century of hours, each cut a thousand times, is off by less than a trillionth of a
// thousandth.
type portion struct {
	whole int64
	part  uint64
}

func (p portion) isZero() bool { return p.whole == 0 && p.part == 0 }

// isLess reports whether p is less than o.
func (p portion) isLess(o portion) bool {
	return p.whole < o.whole || p.whole == o.whole && p.part < o.part
}

func (p portion) plus(o portion) portion {
	part, carry := bits.Add64(p.part, o.part, 0)
	return portion{p.whole + o.whole + int64(carry), part}
}

// minus returns p - o, for o not above p.
func (p portion) minus(o portion) portion {
	part, borrow := bits.Sub64(p.part, o.part, 0)
	return portion{p.whole - o.whole - int64(borrow), part}
}

// times returns p x n, which must fit.
func (p portion) times(n int64) portion {
	if p.part == 0 {
		return portion{p.whole * n, 0}
	}
	hi, lo := bits.Mul64(p.part, uint64(n))
	return portion{p.whole*n + int64(hi), lo}
}

// divided returns p / n, cut, with the rest in 2^-64ths; n must be above 0.
func (p portion) divided(n int64) (q portion, rest uint64) {
	if n == 1 {
		return p, 0
	}
	q.whole = p.whole / n
	if rest = uint64(p.whole % n); rest > 0 || p.part > 0 {
		q.part, rest = bits.Div64(rest, p.part, uint64(n))
	}
	return q, rest
}

// nearlyWhole is by how much less than a whole number, in 2^-64ths, a portion may be and be that
// number: the sum of what cuts are off.
const nearlyWhole = 1 << 40

// settled returns p as the whole number to which it is near, where what cuts are off is the
// difference.
func (p portion) settled() portion {
	if p.part > math.MaxUint64-nearlyWhole {
		return portion{p.whole + 1, 0}
	}
	return p
}

// float returns p, for ratios.
func (p portion) float() float64 { return float64(p.whole) + float64(p.part)/(1<<64) }

// round returns p rounded half up.
func (p portion) round() int64 {
	if p.part >= 1<<63-nearlyWhole {
		return p.whole + 1
	}
	return p.whole
}

// costOf returns the price of unit time at a rate, rounded half up to the millionth of a dollar. It
// fails with capcli.ErrOverflow.
func costOf(r capcli.Rate, t portion) (capcli.USD, error) {
	if t = t.settled(); t.part == 0 {
		return Cost(r, capcli.GPUTime(t.whole))
	}
	const hour = 1000 * uint64(capcli.Hour)
	hi, lo := bits.Mul64(uint64(r), uint64(t.whole))
	more, part := bits.Mul64(uint64(r), t.part)
	if part > math.MaxUint64-1<<52 { // as much as nearlyWhole, at this price
		more++
	}
	var carry uint64
	lo, carry = bits.Add64(lo, more, 0)
	hi += carry
	lo, carry = bits.Add64(lo, hour/2, 0)
	if hi += carry; hi >= hour {
		return 0, capcli.ErrOverflow
	}
	q, _ := bits.Div64(hi, lo, hour)
	if q > math.MaxInt64 {
		return 0, capcli.ErrOverflow
	}
	return capcli.USD(q), nil
}

// wide is an unsigned sum of products: 128 bits, and its fraction in 2^-64ths.
type wide struct{ hi, lo, part uint64 }

// add adds a·b; neither may be negative.
func (w *wide) add(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi += hi + carry
}

func (w *wide) addPortion(n int64, p portion) {
	w.add(n, p.whole)
	if p.part > 0 {
		hi, lo := bits.Mul64(uint64(n), p.part)
		w.addPart(lo)
		w.add(1, int64(hi))
	}
}

// addPart adds 2^-64ths.
func (w *wide) addPart(part uint64) {
	var carry uint64
	w.part, carry = bits.Add64(w.part, part, 0)
	w.add(1, int64(carry))
}

// bigInt returns w in 2^-64ths.
func (w *wide) bigInt() *big.Int {
	v := new(big.Int).SetUint64(w.hi)
	v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(w.lo))
	return v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(w.part))
}

// divide returns w / n as an Amount, cut after 18 decimals; n must be above 0 and below 2^53.
func (w wide) divide(n int64) focus.Amount {
	v := w.bigInt()
	if w.part == 0 {
		return focus.QuotientAmount(v.Rsh(v, 64), n)
	}
	const more = 10 // bits of the fraction
	v.Add(v, big.NewInt(nearlyWhole))
	return focus.QuotientAmount(v.Rsh(v, 64-more), n<<more)
}

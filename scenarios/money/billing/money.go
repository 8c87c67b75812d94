package billing

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"capcli"
)

// tally does arithmetic on amounts and keeps the first error, so that several steps need one
// check.
type tally struct{ err error }

// take returns the amount of a call and keeps the call's error.
func (t *tally) take(u capcli.USD, err error) capcli.USD {
	if t.err == nil {
		t.err = err
	}
	return u
}

// add adds amounts to sum. On overflow it keeps capcli.ErrOverflow and stops.
func (t *tally) add(sum *capcli.USD, amounts ...capcli.USD) {
	for _, u := range amounts {
		if u > 0 && *sum > math.MaxInt64-u {
			t.take(0, capcli.ErrOverflow)
			return
		}
		*sum += u
	}
}

// cost is Cost with the error kept.
func (t *tally) cost(r capcli.Rate, time capcli.GPUTime) capcli.USD { return t.take(Cost(r, time)) }

// mulDiv is the function mulDiv, as an amount, with the error kept.
func (t *tally) mulDiv(a, b, c int64) capcli.USD {
	v, err := mulDiv(a, b, c)
	return t.take(capcli.USD(v), err)
}

// quotient returns a·b/c, rounded half up, with the product in 128 bits. It returns false where
// c is 0 or the result does not fit an int64.
func quotient(a, b, c uint64) (int64, bool) {
	hi, lo := bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, c/2, 0)
	if hi += carry; hi >= c {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, c)
	return int64(q), q <= math.MaxInt64
}

// mulDiv returns a·b/c, rounded half up; none may be negative. It fails with
// capcli.ErrOverflow.
func mulDiv(a, b, c int64) (int64, error) {
	v, ok := quotient(uint64(a), uint64(b), uint64(c))
	if !ok {
		return 0, capcli.ErrOverflow
	}
	return v, nil
}

// scale returns u x part / whole, rounded half up, for part <= whole and none negative. It
// cannot overflow.
func scale(u capcli.USD, part, whole int64) capcli.USD {
	v, err := mulDiv(int64(u), part, whole)
	if err != nil {
		panic(err)
	}
	return capcli.USD(v)
}

// perUnit returns cost x factor / n, rounded half up to the millionth. It returns false where n
// is 0, the cost is negative, or the result does not fit.
func perUnit(cost capcli.USD, factor, n uint64) (capcli.USD, bool) {
	v, ok := quotient(uint64(max(cost, 0)), factor, n)
	return capcli.USD(v), ok && cost >= 0
}

// ratio returns part / whole; false where whole is 0.
func ratio(part, whole float64) (float64, bool) {
	if whole == 0 {
		return 0, false
	}
	return part / whole, true
}

// savingsRate returns the effective savings rate, 1 - cost / on-demand equivalent (FinOps
// Foundation); false where the on-demand equivalent is 0.
func savingsRate(cost, onDemand capcli.USD) (float64, bool) {
	share, ok := ratio(float64(cost), float64(onDemand))
	return 1 - share, ok
}

// Cost returns the price of GPU time at a rate, rounded half up. Unlike capcli.Cost it returns
// an error for a result that does not fit (capcli.ErrOverflow) and for a negative rate or time.
func Cost(r capcli.Rate, t capcli.GPUTime) (capcli.USD, error) {
	if r < 0 || t < 0 {
		return 0, fmt.Errorf("a price of %s for %d thousandths of GPU-seconds: neither may be negative", r.Decimal(), t)
	}
	v, err := mulDiv(int64(r), int64(t), 1000*int64(capcli.Hour))
	return capcli.USD(v), err
}

// Spread returns an amount divided over a number of seconds, in dollars an hour, rounded half
// up. A negative amount counts as 0, and fewer than 1 second as 1.
func Spread(amount capcli.USD, seconds int64) (capcli.Rate, error) {
	v, err := mulDiv(int64(max(amount, 0)), int64(capcli.Hour), max(seconds, 1))
	return capcli.Rate(v), err
}

// Share returns amount x part / whole, rounded half up; part must not exceed whole.
func Share(amount capcli.USD, part, whole int64) capcli.USD { return scale(amount, part, whole) }

// Year is the length of a mean year, 365.25 days. Amounts over different lengths of time are
// compared per Year.
const Year capcli.Seconds = 31_557_600

// YearNote explains "~ a year" beside an amount of PerYear.
const YearNote = "per year: amount x 365.25 d / the time that it covers; for comparison, not a forecast"

// PerYear returns an amount over a length of time scaled to a Year, rounded half up. It is for
// comparison only, since the cost of one period says nothing about other times. It returns
// false where the length is 0 or less, or the result does not fit.
func PerYear(amount capcli.USD, over capcli.Seconds) (capcli.USD, bool) {
	v, ok := quotient(uint64(max(amount, -amount)), uint64(Year), uint64(max(over, 0)))
	if amount < 0 {
		v = -v
	}
	return capcli.USD(v), ok
}

// splitWide is capcli.Split for wide weights: largest remainder, ties to the earlier. Where all
// weights are zero, the last gets everything (with capcli.Split it is the first).
func splitWide(total capcli.USD, weights []wide) []capcli.USD {
	out := make([]capcli.USD, len(weights))
	sum := new(big.Int)
	for i := range weights {
		sum.Add(sum, weights[i].bigInt())
	}
	if len(out) == 0 {
		return out
	}
	if sum.Sign() == 0 {
		out[len(out)-1] = total
		return out
	}
	left := total
	rests := make([]*big.Int, len(weights))
	order := make([]int, len(weights))
	for i := range weights {
		share, rest := weights[i].bigInt(), new(big.Int)
		share.Mul(share, big.NewInt(int64(total))).QuoRem(share, sum, rest)
		out[i], rests[i], order[i] = capcli.USD(share.Int64()), rest, i
		left -= out[i]
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(rests[b].Cmp(rests[a]), cmp.Compare(a, b)) })
	for _, i := range order[:left] {
		out[i]++
	}
	return out
}

package billing

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"capcli"
)

// wide is a sum of products that may not fit in 64 bits.
type wide struct{ hi, lo uint64 }

// add adds a x b; neither may be negative.
func (w *wide) add(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi += hi + carry
}

func (w *wide) bigInt() *big.Int {
	v := new(big.Int).SetUint64(w.hi)
	return v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(w.lo))
}

// divide is w / n as an Amount, cut at its eighteenth place; n is above 0.
func (w wide) divide(n int64) Amount {
	v := w.bigInt()
	v.Mul(v, new(big.Int).SetUint64(amountUnit)).Quo(v, big.NewInt(n))
	lo := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return Amount{int64(v.Rsh(v, 64).Uint64()), lo}
}

// splitWide is capcli.Split for wide weights: largest remainder, ties to the
// earlier. All weights zero: everything goes to the last.
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

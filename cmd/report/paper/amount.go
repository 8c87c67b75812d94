package paper

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/figure"
	"capcli/scenarios/money/billing"
)

// unknown is a value that is not known.
var unknown = figure.Number(math.NaN())

// dollars returns an amount as a value.
func dollars(u capcli.USD) figure.Number { return figure.Number(u.Float()) }

// dollarsOr returns an amount, or unknown for nil.
func dollarsOr(u *capcli.USD) figure.Number {
	if u == nil {
		return unknown
	}
	return dollars(*u)
}

// number returns a value, or unknown for nil.
func number[T ~float64 | ~int64](v *T) figure.Number {
	if v == nil {
		return unknown
	}
	return figure.Number(*v)
}

// cent is a hundredth of a dollar.
const cent = capcli.Dollar / 100

// wholeCents returns the total of parts in whole cents, and the parts in whole cents that sum to it:
// each is rounded down, and the cents that are missing go to the largest remainders (Hamilton's
// method; of equals to the earlier part).
func wholeCents(parts []capcli.USD) (total capcli.USD, cents []capcli.USD) {
	var sum capcli.USD
	cents = make([]capcli.USD, len(parts))
	rest := make([]capcli.USD, len(parts))
	var rounded capcli.USD
	for i, p := range parts {
		sum += p
		cents[i] = floorCent(p)
		rest[i] = p - cents[i]
		rounded += cents[i]
	}
	total = floorCent(sum + cent/2)
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for k := 0; rounded < total; k++ { // fewer cents than there are parts
		cents[order[k]] += cent
		rounded += cent
	}
	return total, cents
}

// floorCent returns u rounded down to whole cents.
func floorCent(u capcli.USD) capcli.USD {
	r := u % cent
	if r < 0 {
		r += cent
	}
	return u - r
}

// yearly returns the amount of a year at the rate of a length of time.
func yearly(u capcli.USD, length capcli.Seconds) capcli.USD {
	v, _ := billing.PerYear(u, length)
	return v
}

// usd, share, wait, count and moment write values of figures in sentences.
func usd(v figure.Number) string    { return figure.USD.Text(v) }
func share(v figure.Number) string  { return figure.Share.Text(v) }
func wait(v figure.Number) string   { return figure.Seconds.Text(v) }
func count(v figure.Number) string  { return figure.Count.Text(v) }
func moment(v figure.Number) string { return figure.Time.Text(v) }

func sumOf(list []figure.Number) figure.Number {
	var sum figure.Number
	for _, v := range list {
		if v.IsKnown() {
			sum += v
		}
	}
	return sum
}

// meanOf returns the mean of the known values; unknown where there are none.
func meanOf(list []figure.Number) figure.Number {
	var sum figure.Number
	n := 0
	for _, v := range list {
		if v.IsKnown() {
			sum += v
			n++
		}
	}
	if n == 0 {
		return unknown
	}
	return sum / figure.Number(n)
}

// peakOf returns the index of the largest known value; -1 where there is none.
func peakOf(list []figure.Number) int {
	best := -1
	for i, v := range list {
		if v.IsKnown() && (best < 0 || v > list[best]) {
			best = i
		}
	}
	return best
}

// capital returns a text with a capital letter at its begin.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

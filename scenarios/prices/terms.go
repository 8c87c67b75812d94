package prices

import (
	"cmp"
	"slices"
)

// TermPrice is what one machine costs on some terms, against the same machine
// on demand.
type TermPrice struct {
	Quote
	Listed bool // the machine has an on-demand price; else the three below are not known
	// BreakEven is the committed rate over the on-demand rate: commit to a GPU
	// that is used for a larger share of the hours (the newsvendor's quantile).
	BreakEven float64
	Discount  float64 // 1 - BreakEven
	// RecoverMonths is how many months of full use on demand cost as much as
	// the whole term; 0 for terms without a length in months.
	RecoverMonths float64
}

// CompareTerms sets the prices of one machine against its on-demand price: on
// demand first, then spot, blocks and contracts by length.
func CompareTerms(of []Quote) []TermPrice {
	var list *Quote
	for i := range of {
		if of[i].Term == "on_demand" {
			list = &of[i]
		}
	}
	var out []TermPrice
	for _, q := range of {
		t := TermPrice{Quote: q}
		if list != nil && list.Hourly > 0 {
			t.Listed = true
			t.BreakEven = float64(q.Hourly) / float64(list.Hourly)
			t.Discount = 1 - t.BreakEven
			if n, ok := q.Months(); ok {
				t.RecoverMonths = float64(n) * t.BreakEven
			}
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b TermPrice) int {
		return cmp.Or(cmp.Compare(termRank(&a.Row), termRank(&b.Row)), cmp.Compare(slices.Index(payments, a.Payment), slices.Index(payments, b.Payment)))
	})
	return out
}

// termRank orders terms: on demand, spot, block, then by length in days.
func termRank(r *Row) int {
	if at := slices.Index([]string{"on_demand", "spot", "block"}, r.Term); at >= 0 {
		return at - 3
	}
	digits, unit := cutTerm(r.Term)
	n := 0
	for _, c := range digits {
		n = 10*n + int(c-'0')
	}
	return n * map[string]int{"d": 1, "w": 7, "mo": 30, "y": 365}[unit]
}

// GroupByMachine puts the prices of each machine together, in their order.
func GroupByMachine(of []Quote) [][]Quote {
	var out [][]Quote
	for _, q := range of {
		if n := len(out); n > 0 && out[n-1][0].machineKey() == q.machineKey() {
			out[n-1] = append(out[n-1], q)
			continue
		}
		out = append(out, []Quote{q})
	}
	return out
}

package prices

import (
	"cmp"
	"slices"
	"time"
)

// TermPrice is the price of a machine on some terms, compared with its on-demand price.
type TermPrice struct {
	Described
	// BreakEven is the committed rate over the on-demand rate: committing pays for a GPU used for a
	// larger share of the hours (the newsvendor's quantile). It is nil if no on-demand price of the
	// machine is known.
	BreakEven *float64 `json:"break_even_utilisation"`
	Discount  *float64 `json:"discount"` // 1 - BreakEven
	// Recover is the number of months of full on-demand use that cost as much as the whole term;
	// nil for terms without a length in months.
	Recover *float64 `json:"recover_months"`
	WhyNone string   `json:"break_even_utilisation_why,omitempty"`
}

// compareTerm compares a price of a machine with its on-demand price.
func compareTerm(q *Quote, machine []Quote, today time.Time) TermPrice {
	t := TermPrice{Described: q.Describe(today)}
	i := slices.IndexFunc(machine, func(q Quote) bool { return q.Term == "on_demand" && q.Hourly > 0 })
	if i < 0 {
		t.WhyNone = "no on-demand price of this machine is known"
		return t
	}
	share := float64(q.Hourly) / float64(machine[i].Hourly)
	discount := 1 - share
	t.BreakEven, t.Discount = &share, &discount
	if n, ok := q.Months(); ok {
		if months := float64(n) * share; months > 0 {
			t.Recover = &months
		}
	}
	return t
}

// termRank is the sort key of terms: on demand, spot, block, then by length in days.
func termRank(r *Row) int {
	if at := slices.Index([]string{"on_demand", "spot", "per_use", "block"}, r.Term); at >= 0 {
		return at - 4
	}
	digits, unit := cutTerm(r.Term)
	n := 0
	for _, c := range digits {
		n = 10*n + int(c-'0')
	}
	return n * map[string]int{"d": 1, "w": 7, "mo": 30, "y": 365}[unit]
}

// groupByMachine groups prices by machine. Within a group, on demand comes first, then spot, blocks
// and contracts by length.
func groupByMachine(quotes []Quote) [][]Quote {
	var out [][]Quote
	for _, q := range quotes {
		if n := len(out); n > 0 && out[n-1][0].machineKey() == q.machineKey() {
			out[n-1] = append(out[n-1], q)
			continue
		}
		out = append(out, []Quote{q})
	}
	for _, machine := range out {
		slices.SortStableFunc(machine, func(a, b Quote) int {
			return cmp.Or(cmp.Compare(termRank(&a.Row), termRank(&b.Row)), cmp.Compare(slices.Index(payments, a.Payment), slices.Index(payments, b.Payment)))
		})
	}
	return out
}

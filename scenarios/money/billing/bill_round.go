package billing

import (
	"cmp"
	"slices"

	"capcli"
)

// roundQuantities sets the quantity of each row in whole thousandths of a unit-second. What a user
// used of a bucket in a period is divided among its rows without a rest, and so is what a commitment
// to units bought. What a row gains or loses by rounding, the next row of its commitment makes up for, so
// that sums over many rows are right too. Money is divided by what is not rounded.
func (w *writer) roundQuantities() {
	whole := true
	for i := range w.rows {
		d := &w.rows[i]
		d.quantity = d.quantity.settled()
		d.units = capcli.GPUTime(d.quantity.whole)
		whole = whole && d.quantity.part == 0
	}
	if whole {
		return
	}
	debts, open := make([]debt, len(w.x.commits)), map[SKU]*debt{}
	owed := func(d *draft) *debt {
		if d.commit >= 0 {
			return &debts[d.commit]
		}
		sku := w.h.buckets[d.bucket].sku
		if sku.Zone = ""; open[sku] == nil { // the zones of a SKU have one sum
			open[sku] = new(debt)
		}
		return open[sku]
	}
	used := w.ordered(func(d *draft) bool { return d.bucket >= 0 }, func(a, b *draft) int {
		return cmp.Or(cmp.Compare(a.period, b.period), cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.who, b.who),
			cmp.Compare(capcli.Bit(a.commit < 0), capcli.Bit(b.commit < 0)), cmp.Compare(a.commit, b.commit), cmp.Compare(a.pricing, b.pricing))
	})
	for rows := range runsOf(used, func(i, j int) bool {
		a, b := &w.rows[i], &w.rows[j]
		return a.period == b.period && a.bucket == b.bucket && a.who == b.who
	}) {
		w.roundUsed(rows, owed)
	}
	held := w.ordered(func(d *draft) bool { return d.commit >= 0 && d.category == Usage && d.pricing == committedRate }, func(a, b *draft) int {
		return cmp.Or(cmp.Compare(a.period, b.period), cmp.Compare(a.commit, b.commit), cmp.Compare(a.status, b.status),
			cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.who, b.who))
	})
	for rows := range runsOf(held, func(i, j int) bool {
		a, b := &w.rows[i], &w.rows[j]
		return a.period == b.period && a.commit == b.commit
	}) {
		w.roundUnused(rows)
	}
}

// ordered returns the indices of the rows that in selects, sorted.
func (w *writer) ordered(in func(*draft) bool, compare func(a, b *draft) int) []int {
	var out []int
	for i := range w.rows {
		if in(&w.rows[i]) {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(i, j int) int { return compare(&w.rows[i], &w.rows[j]) })
	return out
}

// runsOf yields each run of adjacent indices that are alike.
func runsOf(list []int, alike func(i, j int) bool) func(func([]int) bool) {
	return func(yield func([]int) bool) {
		for i := 0; i < len(list); {
			j := i + 1
			for j < len(list) && alike(list[i], list[j]) {
				j++
			}
			if !yield(list[i:j]) {
				return
			}
			i = j
		}
	}
}

// debt is what rounding has added to the rows of a commitment so far, in 2^-32ths of a thousandth, or
// to the rows of a SKU without one.
type debt int64

// oneUnit is a thousandth, as a debt.
const oneUnit = 1 << 32

// roundDown returns the largest whole number, 0 or more, with which the debt stays at or below 0, and by
// how much it is then below.
func (d debt) roundDown(p portion) (n int64, short debt) {
	want := debt(p.part>>32) - d
	n = max(0, p.whole+int64(want>>32))
	return n, want - debt(n-p.whole)<<32
}

// roundUsed rounds the rows of what one user used of a bucket in a period, which sum to a whole
// number: each down, and what is left goes to those that are most short.
func (w *writer) roundUsed(rows []int, owed func(*draft) *debt) {
	var sum portion
	short := make([]debt, len(rows))
	units := int64(0)
	for n, i := range rows {
		d := &w.rows[i]
		sum = sum.plus(d.quantity)
		var whole int64
		whole, short[n] = owed(d).roundDown(d.quantity)
		d.units = capcli.GPUTime(whole)
		units += whole
	}
	for left := sum.settled().whole - units; left != 0; {
		step, at := int64(1), 0
		if left < 0 {
			step = -1
		}
		for n, i := range rows {
			if debt(step)*short[n] > debt(step)*short[at] && w.rows[i].units+capcli.GPUTime(step) >= 0 || w.rows[rows[at]].units+capcli.GPUTime(step) < 0 {
				at = n
			}
		}
		w.rows[rows[at]].units += capcli.GPUTime(step)
		short[at] -= debt(step) * oneUnit
		left -= step
	}
	for n, i := range rows {
		*owed(&w.rows[i]) = -short[n]
	}
}

// roundUnused rounds the unused part of one commitment in a period; rows are all its rows. Where the
// unit of the commitment is that of the use, all of them sum to what was bought.
func (w *writer) roundUnused(rows []int) {
	k := w.rows[rows[0]].commit
	var sum portion
	var used capcli.GPUTime
	unused := -1
	for _, i := range rows {
		d := &w.rows[i]
		if sum = sum.plus(d.quantity); d.status == Unused {
			unused = i
		} else {
			used += d.units
		}
	}
	if w.x.unitFactor(int(k)) != 1 {
		if unused >= 0 {
			w.rows[unused].units = capcli.GPUTime(w.rows[unused].quantity.round())
		}
		return
	}
	rest := capcli.GPUTime(sum.round()) - used
	for _, i := range rows {
		if rest >= 0 {
			break
		}
		if d := w.rows[i]; d.status == Used && d.units > 0 {
			part := min(-rest, d.units)
			w.rows[i].units -= part
			w.row(rowKey{d.period, Usage, standard, -1, NoStatus, d.bucket, d.who}).units += part
			rest += part
		}
	}
	if unused >= 0 || rest > 0 {
		w.row(rowKey{w.rows[rows[0]].period, Usage, committedRate, k, Unused, -1, -1}).units = rest
	}
}

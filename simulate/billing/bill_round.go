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
	debts := make([]debt, len(w.x.commits))
	used := w.ordered(func(d *draft) bool { return d.bucket >= 0 }, func(a, b *draft) int {
		return cmp.Or(cmp.Compare(a.period, b.period), cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.who, b.who),
			cmp.Compare(btoi(a.commit < 0), btoi(b.commit < 0)), cmp.Compare(a.commit, b.commit), cmp.Compare(a.pricing, b.pricing))
	})
	for rows := range runsOf(used, func(i, j int) bool {
		a, b := &w.rows[i], &w.rows[j]
		return a.period == b.period && a.bucket == b.bucket && a.who == b.who
	}) {
		w.roundUsed(rows, debts)
	}
	held := w.ordered(func(d *draft) bool { return d.commit >= 0 && d.category == Usage && d.pricing == committedRate }, func(a, b *draft) int {
		return cmp.Or(cmp.Compare(a.period, b.period), cmp.Compare(a.commit, b.commit), cmp.Compare(a.status, b.status),
			cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.who, b.who))
	})
	for rows := range runsOf(held, func(i, j int) bool {
		a, b := &w.rows[i], &w.rows[j]
		return a.period == b.period && a.commit == b.commit
	}) {
		w.roundUnused(rows, &debts[w.rows[rows[0]].commit])
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

// debt is what rounding has added to the rows of a commitment so far, in 2^-32ths of a thousandth.
type debt int64

// round returns a quantity rounded to within least and most, so that the debt stays least.
func (d *debt) round(p portion, least, most int64) int64 {
	part := int64(p.part >> 32)
	n := p.whole + (part-int64(*d)+1<<31)>>32
	n = max(least, min(n, most))
	*d += debt((n-p.whole)<<32 - part)
	return n
}

// roundUsed rounds the rows of what one user used of a bucket in a period, which sum to a whole
// number.
func (w *writer) roundUsed(rows []int, debts []debt) {
	var sum portion
	for _, i := range rows {
		sum = sum.plus(w.rows[i].quantity)
	}
	left := sum.settled().whole
	for n, i := range rows {
		d := &w.rows[i]
		least := int64(0)
		if n == len(rows)-1 {
			least = left
		}
		if d.commit < 0 {
			d.units = capcli.GPUTime(left)
			continue
		}
		d.units = capcli.GPUTime(debts[d.commit].round(d.quantity, least, left))
		left -= int64(d.units)
	}
}

// roundUnused rounds the unused part of one commitment in a period; rows are all its rows. Where the
// unit of the commitment is that of the use, all of them sum to what was bought.
func (w *writer) roundUnused(rows []int, owed *debt) {
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
			w.rows[unused].units = capcli.GPUTime(owed.round(w.rows[unused].quantity, 0, w.rows[unused].quantity.whole+1))
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

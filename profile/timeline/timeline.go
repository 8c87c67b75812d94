// Package timeline keeps sums over time in bounded memory: cells of whole hours, which become longer as
// the time gets longer.
package timeline

import "slices"

// Most is the most cells of a timeline.
const Most = 64

// Sum is what a cell holds.
type Sum[T any] interface {
	*T
	Merge(o *T)
}

// Timeline is sums over time. A cell is a power of two of hours, counted from 1970-01-01 UTC: the shortest with
// which all the time fits in Most cells. It is the same in whatever order the sums come. The zero value is empty.
type Timeline[T any, P Sum[T]] struct {
	shift uint
	cells []cell[T]
}

type cell[T any] struct {
	at  int64 // hours >> shift
	sum T
}

// At returns the cell that holds an hour, counted from 1970-01-01 UTC. It is valid until the next call.
func (t *Timeline[T, P]) At(hour int64) *T {
	at := hour >> t.shift
	i, found := slices.BinarySearchFunc(t.cells, at, func(c cell[T], at int64) int { return int(min(max(c.at-at, -1), 1)) })
	if found {
		return &t.cells[i].sum
	}
	if n := len(t.cells); n > 0 {
		first, last := min(at, t.cells[0].at), max(at, t.cells[n-1].at)
		shift := t.shift
		for ; last-first >= Most; shift++ {
			first, last = first>>1, last>>1
		}
		if shift > t.shift {
			t.coarsen(shift)
			return t.At(hour)
		}
	}
	t.cells = slices.Insert(t.cells, i, cell[T]{at: at})
	return &t.cells[i].sum
}

// coarsen makes cells of 1 << shift hours.
func (t *Timeline[T, P]) coarsen(shift uint) {
	n := 0
	for i := range t.cells {
		at := t.cells[i].at >> (shift - t.shift)
		if n > 0 && t.cells[n-1].at == at {
			P(&t.cells[n-1].sum).Merge(&t.cells[i].sum)
			continue
		}
		t.cells[n] = t.cells[i]
		t.cells[n].at = at
		n++
	}
	clear(t.cells[n:])
	t.cells, t.shift = t.cells[:n], shift
}

// Coarsen makes cells of so many hours, a power of two, where they are shorter.
func (t *Timeline[T, P]) Coarsen(hours int64) {
	shift := t.shift
	for 1<<shift < hours {
		shift++
	}
	t.coarsen(shift)
}

// Merge adds the sums of o, which becomes as coarse as t.
func (t *Timeline[T, P]) Merge(o *Timeline[T, P]) {
	for i := range o.cells {
		hour := o.cells[i].at << o.shift
		if o.shift > t.shift {
			t.coarsen(o.shift)
		}
		P(t.At(hour)).Merge(&o.cells[i].sum)
	}
}

// Hours returns the length of a cell, in hours.
func (t *Timeline[T, P]) Hours() int64 { return 1 << t.shift }

// All calls each with the first hour and the sum of every cell, in order.
func (t *Timeline[T, P]) All(each func(hour int64, sum *T)) {
	for i := range t.cells {
		each(t.cells[i].at<<t.shift, &t.cells[i].sum)
	}
}

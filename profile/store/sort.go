package store

import (
	"cmp"
	"slices"
)

// sortByTime sorts rows by time, then by what they describe.
func (b *block) sortByTime(rows []int32) {
	keys := b.keys()
	slices.SortStableFunc(rows, func(i, j int32) int {
		if c := cmp.Compare(keys[i], keys[j]); c != 0 {
			return c
		}
		return b.compareKind(i, j)
	})
}

// sortByKind sorts rows in the order of a file: by what they describe, then by time.
// Rows mostly come in order of time and of few kinds, which avoids sorting.
func (b *block) sortByKind(rows []int32) {
	kinds, of := b.kinds(rows)
	if kinds == nil {
		b.byComparing(rows)
		return
	}
	rank := make([]int, len(kinds))
	for k := range rank {
		rank[k] = k
	}
	slices.SortFunc(rank, func(i, j int) int { return b.compareKind(kinds[i], kinds[j]) })
	begin := make([]int, len(kinds)+1) // of each kind's rows, at last
	for _, k := range of {
		begin[k]++
	}
	at := 0
	for _, k := range rank {
		at, begin[k] = at+begin[k], at
	}
	out := make([]int32, len(rows))
	keys := b.keys()
	for n, row := range rows {
		k := of[n]
		out[begin[k]] = row
		begin[k]++
	}
	copy(rows, out)
	from := 0
	for _, k := range rank {
		some := rows[from:begin[k]]
		from = begin[k]
		byKey := func(i, j int32) int { return cmp.Compare(keys[i], keys[j]) }
		if !slices.IsSortedFunc(some, byKey) {
			slices.SortStableFunc(some, byKey)
		}
	}
}

// kinds tells the kinds of rows apart: a row of each, and of which kind each row
// is. It gives nil where there are many.
func (b *block) kinds(rows []int32) (kinds []int32, of []int32) {
	const many = 128
	of = make([]int32, len(rows))
	last := 0
	for n, row := range rows {
		found := -1
		for k := range kinds { // beginning with the one behind the last: ticks repeat
			if k = (last + 1 + k) % len(kinds); b.compareKind(kinds[k], row) == 0 {
				found = k
				break
			}
		}
		if found < 0 {
			if len(kinds) == many {
				return nil, nil
			}
			found = len(kinds)
			kinds = append(kinds, row)
		}
		of[n], last = int32(found), found
	}
	if kinds == nil {
		kinds = []int32{}
	}
	return kinds, of
}

func (b *block) byComparing(rows []int32) {
	keys := b.keys()
	slices.SortStableFunc(rows, func(i, j int32) int {
		if c := b.compareKind(i, j); c != 0 {
			return c
		}
		return cmp.Compare(keys[i], keys[j])
	})
}

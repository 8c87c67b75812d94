package store

import (
	"cmp"
	"slices"
)

// sortByTime sorts rows by time, then by the order columns of the table.
func (b *block) sortByTime(rows []int32) {
	keys := b.keys()
	slices.SortStableFunc(rows, func(i, j int32) int {
		if c := cmp.Compare(keys[i], keys[j]); c != 0 {
			return c
		}
		return b.compareKind(i, j)
	})
}

// sortByKind sorts rows in the order of a file: by the order columns of the table, then by time.
func (b *block) sortByKind(rows []int32) {
	keys := b.keys()
	slices.SortStableFunc(rows, func(i, j int32) int {
		if c := b.compareKind(i, j); c != 0 {
			return c
		}
		return cmp.Compare(keys[i], keys[j])
	})
}

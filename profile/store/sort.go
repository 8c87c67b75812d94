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
func (b *block) sortByKind(rows []int32) {
	keys := b.keys()
	slices.SortStableFunc(rows, func(i, j int32) int {
		if c := b.compareKind(i, j); c != 0 {
			return c
		}
		return cmp.Compare(keys[i], keys[j])
	})
}

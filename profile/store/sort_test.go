package store

import (
	"slices"
	"testing"

	"capcli"
)

// sorted gives what comparing all rows gives, for few kinds and for many.
func TestSortedIsAsCompared(t *testing.T) {
	rng := capcli.Seed(1).Stream("order")
	for _, gpus := range []int{0, 1, 8, 300} {
		b := newBlock(samples)
		for range 2000 * min(gpus, 1) {
			b.int(sampleTS, rng.Int64N(500))
			b.int(sampleIndex, rng.Int64N(int64(gpus)))
			b.text(sampleUUID, string(rune('a'+rng.IntN(2))))
			for _, col := range []int{sampleGI, sampleCI} {
				if rng.IntN(2) == 0 {
					b.null(col)
				} else {
					b.int(col, rng.Int64N(2))
				}
			}
			b.n++
		}
		got, want := b.allRows(), b.allRows()
		b.sortByKind(got)
		b.byComparing(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d GPUs: sorted otherwise", gpus)
		}
	}
}

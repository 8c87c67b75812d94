package store

import (
	"cmp"
	"testing"

	"capcli"
)

// TestRowsAreSortedByKindThenTime holds it for few kinds and for many; equal rows stay in
// their order.
func TestRowsAreSortedByKindThenTime(t *testing.T) {
	rng := capcli.Seed(1).Stream("order")
	for _, gpus := range []int{0, 1, 8, 300} {
		b := newBlock(samples)
		for range 2000 * min(gpus, 1) {
			b.int(sampleTS, rng.Int64N(500))
			b.int(sampleIndex, rng.Int64N(int64(gpus)))
			b.text(sampleUUID, string(rune('a'+rng.IntN(2))))
			for _, col := range []int{sampleGI, sampleCI} {
				if rng.IntN(2) == 0 {
					b.cols[col].AddNull()
				} else {
					b.int(col, rng.Int64N(2))
				}
			}
			b.n++
		}
		rows := b.allRows()
		b.sortByKind(rows)
		for k := 1; k < len(rows); k++ {
			i, j := rows[k-1], rows[k]
			if c := cmp.Or(b.compareKind(i, j), cmp.Compare(b.keys()[i], b.keys()[j]), cmp.Compare(i, j)); c >= 0 {
				t.Errorf("%d GPUs: row %d comes before row %d", gpus, i, j)
			}
		}
	}
}

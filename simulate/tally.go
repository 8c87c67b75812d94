package simulate

import (
	"math"
	"slices"

	"capcli"
)

// tally holds lengths of time exactly: a count of zeros, and the others as 32-bit seconds (up to
// 136 years).
type tally struct {
	zeros  int64
	values []uint32
	sum    int64
	sorted bool
}

func (t *tally) add(s capcli.Seconds) {
	if s <= 0 {
		t.zeros++
		return
	}
	t.sum += int64(s)
	t.values = append(t.values, uint32(min(s, math.MaxUint32)))
	t.sorted = false
}

func (t *tally) count() int64 { return t.zeros + int64(len(t.values)) }

// WaitTally collects lengths of time for their Stats. The zero value is empty.
type WaitTally struct{ all firstWaits }

// Add adds one length of time.
func (w *WaitTally) Add(s capcli.Seconds) { w.all.over.add(s) }

// AddOpen adds a length of time that had not ended.
func (w *WaitTally) AddOpen(s capcli.Seconds) { w.all.cut.add(s) }

// Stats returns the figures of all lengths so far.
func (w *WaitTally) Stats() Stats { return w.all.stats() }

// sort sorts the values unless they are sorted.
func (t *tally) sort() {
	if !t.sorted {
		radixSort(t.values)
		t.sorted = true
	}
}

// valueAt returns the value at a rank, from 1. The tally must be sorted.
func (t *tally) valueAt(rank int64) capcli.Seconds {
	if rank <= t.zeros {
		return 0
	}
	return capcli.Seconds(t.values[rank-t.zeros-1])
}

// countWithin returns the number of values that are at most s.
func (t *tally) countWithin(s capcli.Seconds) int64 {
	if s < 0 {
		return 0
	}
	t.sort()
	n, _ := slices.BinarySearchFunc(t.values, s, func(v uint32, s capcli.Seconds) int {
		if capcli.Seconds(v) > s {
			return 1
		}
		return -1
	})
	return t.zeros + int64(n)
}

// radixSort sorts in three passes of eleven bits (Knuth, TAOCP 3, 5.2.5). It is linear;
// a comparison sort takes a second for ten million waits.
func radixSort(v []uint32) {
	const bits, mask = 11, 1<<11 - 1
	tmp := make([]uint32, len(v))
	for pass := range 3 {
		var at [mask + 1]int
		shift := pass * bits
		for _, x := range v {
			at[x>>shift&mask]++
		}
		sum := 0
		for i, n := range at {
			at[i], sum = sum, sum+n
		}
		for _, x := range v {
			d := x >> shift & mask
			tmp[at[d]] = x
			at[d]++
		}
		v, tmp = tmp, v
	}
	copy(tmp, v) // after an odd number of passes the result is in the other slice
}

package simulate

import (
	"math"
	"slices"

	"capcli"
)

// tally is a set of waits or other lengths of time, exact: zeros are counted,
// the rest kept as 32-bit seconds (136 years), four bytes each.
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

// WaitTally gathers lengths of time and gives their Stats. The zero value is
// empty.
type WaitTally struct{ all firstWaits }

// Add takes one length of time.
func (w *WaitTally) Add(s capcli.Seconds) { w.all.over.add(s) }

// Stats are those of all lengths so far.
func (w *WaitTally) Stats() Stats { return w.all.stats() }

// sort brings the values in order, once.
func (t *tally) sort() {
	if !t.sorted {
		radixSort(t.values)
		t.sorted = true
	}
}

// valueAt is the value at a rank from 1; the tally is sorted.
func (t *tally) valueAt(rank int64) capcli.Seconds {
	if rank <= t.zeros {
		return 0
	}
	return capcli.Seconds(t.values[rank-t.zeros-1])
}

// countWithin is how many are at most s.
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

// radixSort sorts by three passes of eleven bits (Knuth, TAOCP 3, 5.2.5):
// linear, where ten million waits would take a comparison sort a second.
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

package slurm

import "math/bits"

// set is a set of nodes.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func setOn(on []int, n int) set {
	s := newSet(n)
	for _, i := range on {
		s.add(i)
	}
	return s
}

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) drop(i int)     { s[i/64] &^= 1 << (i % 64) }

func (s set) keep(o set) {
	for i := range s {
		s[i] &= o[i]
	}
}

func (s set) remove(o set) {
	for i := range s {
		s[i] &^= o[i]
	}
}

// countIn returns how many of s are in o.
func (s set) countIn(o set) (n int) {
	for i, w := range s {
		n += bits.OnesCount64(w & o[i])
	}
	return n
}

func (s set) members(yield func(i int) bool) {
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(w*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// Package sorted keeps values in the order of a key, in chunks of memory.
package sorted

import (
	"iter"
	"slices"
)

// Entry is a value and its place: by Key, then by Seq.
type Entry[T any] struct {
	Key   int64
	Seq   uint64
	Value T
}

func (a *Entry[T]) precedes(key int64, seq uint64) bool {
	return a.Key < key || (a.Key == key && a.Seq < seq)
}

// List is a list sorted by (key, seq), which is unique. It is divided into chunks, so
// that an insertion or a removal moves at most one chunk, and a loop reads memory in
// order.
type List[T any] struct {
	Chunks [][]Entry[T]
	whole  [][]Entry[T] // of each chunk: the memory that it is a part of, from its beginning, empty
	n      int
	spare  [][]Entry[T] // emptied chunks to use again
}

// A chunk grows from chunkMin entries to chunkMax and is then split.
const chunkMin, chunkMax = 16, 128

// Find returns the first position not before (key, seq): a chunk and an index in it.
func (q *List[T]) Find(key int64, seq uint64) (int, int) {
	lo, hi := 0, len(q.Chunks)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		c := q.Chunks[mid]
		if c[len(c)-1].precedes(key, seq) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(q.Chunks) {
		return lo, 0
	}
	c := q.Chunks[lo]
	i, j := 0, len(c)
	for i < j {
		mid := int(uint(i+j) >> 1)
		if c[mid].precedes(key, seq) {
			i = mid + 1
		} else {
			j = mid
		}
	}
	return lo, i
}

func (q *List[T]) chunk() []Entry[T] {
	if n := len(q.spare); n > 0 {
		c := q.spare[n-1]
		q.spare = q.spare[:n-1]
		return c
	}
	return make([]Entry[T], 0, chunkMin)
}

// Insert adds e.
func (q *List[T]) Insert(e Entry[T]) {
	q.n++
	ci, i := q.Find(e.Key, e.Seq)
	if ci == len(q.Chunks) {
		if ci == 0 || len(q.Chunks[ci-1]) == chunkMax {
			c := append(q.chunk(), e)
			q.Chunks, q.whole = append(q.Chunks, c), append(q.whole, c[:0])
			return
		}
		ci, i = ci-1, len(q.Chunks[ci-1])
	}
	if len(q.Chunks[ci]) == chunkMax {
		q.split(ci)
		if i > chunkMax/2 {
			ci, i = ci+1, i-chunkMax/2
		}
	}
	c := q.grow(ci)
	copy(c[i+1:], c[i:])
	c[i] = e
}

// grow makes chunk ci one entry longer. It first uses the memory before the chunk that
// removals left.
func (q *List[T]) grow(ci int) []Entry[T] {
	c := q.Chunks[ci]
	switch w := q.whole[ci]; {
	case len(c) < cap(c):
		c = c[:len(c)+1]
	case len(c) < cap(w): // there is room before it
		n := len(c)
		c = append(w, c...)
		clear(w[n:cap(w)])
		c = c[:n+1]
	default:
		c = append(c, Entry[T]{})
		q.whole[ci] = c[:0]
	}
	q.Chunks[ci] = c
	return c
}

// split divides chunk ci into two halves.
func (q *List[T]) split(ci int) {
	old := q.Chunks[ci]
	right := append(q.chunk(), old[chunkMax/2:]...)
	clear(old[chunkMax/2:])
	q.Chunks[ci] = old[:chunkMax/2]
	q.Chunks = slices.Insert(q.Chunks, ci+1, right)
	q.whole = slices.Insert(q.whole, ci+1, right[:0])
}

// Remove removes the entry (key, seq), which must be there. It moves the shorter side
// of the chunk, so that removals from the front move nothing.
func (q *List[T]) Remove(key int64, seq uint64) {
	ci, i := q.Find(key, seq)
	c := q.Chunks[ci]
	if c[i].Key != key || c[i].Seq != seq {
		panic("sorted: an entry is not where the list has it")
	}
	q.n--
	if i < len(c)/2 {
		copy(c[1:], c[:i])
		c[0] = Entry[T]{}
		c = c[1:]
	} else {
		copy(c[i:], c[i+1:])
		c[len(c)-1] = Entry[T]{}
		c = c[:len(c)-1]
	}
	if len(c) > 0 {
		q.Chunks[ci] = c
		return
	}
	q.spare = append(q.spare, q.whole[ci])
	q.Chunks = slices.Delete(q.Chunks, ci, ci+1)
	q.whole = slices.Delete(q.whole, ci, ci+1)
}

// Reset empties the list and keeps its memory.
func (q *List[T]) Reset() {
	for i, c := range q.Chunks {
		clear(c)
		q.spare = append(q.spare, q.whole[i])
		q.Chunks[i], q.whole[i] = nil, nil
	}
	q.Chunks, q.whole, q.n = q.Chunks[:0], q.whole[:0], 0
}

// All yields the entries in order. The list must not change meanwhile.
func (q *List[T]) All() iter.Seq[*Entry[T]] {
	return func(yield func(*Entry[T]) bool) {
		for _, chunk := range q.Chunks {
			for i := range chunk {
				if !yield(&chunk[i]) {
					return
				}
			}
		}
	}
}

// Len returns the number of entries.
func (q *List[T]) Len() int { return q.n }

package store

import (
	"cmp"
	"math"
	"slices"

	"capcli/profile"
)

// source gives rows in pieces: a file, which opens into windows, or a window,
// which is a row group or what a segment has of a table.
type source struct {
	first int64 // no row is of an earlier tick
	seq   int64 // of equals the one recorded first comes first
	group int
	file  *piece  // to be opened
	open  *opened // holds the row group
	rows  *block  // of a segment
	size  int64   // rows
}

// span is a stretch of time, both ends included.
type span struct{ from, to int64 }

func (s span) meets(first, last int64) bool { return first <= s.to && last >= s.from }

// stream gives a host's rows of one table in order of time, some at a time.
// What overlaps in time, as when the clock was set back, is merged.
type stream struct {
	l    *listing
	t    table
	want span
	left []source // in order of first
	acc  *block
	rest *block          // what acc was before
	rows []int32         // of acc, that may be given out
	live map[*opened]int // open files, and their windows that are left
}

func newStream(l *listing, t table, pieces []*piece, want span) *stream {
	s := &stream{l: l, t: t, want: want, acc: newBlock(t), rest: newBlock(t), live: map[*opened]int{}}
	earliest := ""
	if want.from != math.MinInt64 {
		earliest = datePrefix + dateOf(profile.Instant(want.from))
	}
	for _, p := range pieces {
		if int64(p.first) <= want.to && p.dir >= earliest {
			s.left = append(s.left, source{first: int64(p.first), seq: p.from, file: p})
		}
	}
	s.sort()
	return s
}

func (s *stream) sort() {
	slices.SortStableFunc(s.left, func(a, b source) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.seq, b.seq), cmp.Compare(a.group, b.group))
	})
}

// add adds the rows of a segment to the stream.
func (s *stream) add(seq int64, rows *block) {
	if rows.n == 0 {
		return
	}
	keys := rows.keys()
	first, last := slices.Min(keys), slices.Max(keys)
	if s.want.meets(first, last) {
		s.left = append(s.left, source{first: first, seq: seq, rows: rows, size: int64(rows.n)})
		s.sort()
	}
}

// expand opens files until a window comes first.
func (s *stream) expand() error {
	for len(s.left) > 0 && s.left[0].file != nil {
		p := s.left[0].file
		s.left = s.left[1:]
		o, err := s.l.open(p)
		if err != nil {
			return err
		}
		for g := range o.groups {
			if s.want.meets(o.groups[g][0], o.groups[g][1]) {
				s.left = append(s.left, source{first: o.groups[g][0], seq: p.from, group: g, open: o, size: o.GroupRows(g)})
				s.live[o]++
			}
		}
		if s.live[o] == 0 {
			o.close()
			delete(s.live, o)
		}
		s.sort()
	}
	return nil
}

// fill makes s.rows name rows of s.acc that no later row comes before; none is
// the end. It goes on up to so many rows, and over them where windows overlap.
// Those that it named before are gone.
func (s *stream) fill(most int64) error {
	s.keep()
	for {
		if err := s.expand(); err != nil {
			return err
		}
		horizon := int64(math.MaxInt64)
		if len(s.left) > 0 {
			horizon = s.left[0].first
		}
		if len(s.left) == 0 || int64(s.acc.n)+s.left[0].size > most {
			s.rows = s.rows[:0]
			for k, at := range s.acc.keys() {
				if at < horizon {
					s.rows = append(s.rows, int32(k))
				}
			}
			if len(s.rows) > 0 || len(s.left) == 0 {
				return nil
			}
		}
		if err := s.load(); err != nil {
			return err
		}
	}
}

// keep forgets the rows that were given out.
func (s *stream) keep() {
	if s.acc.n == 0 {
		return
	}
	gone := make([]bool, s.acc.n)
	for _, k := range s.rows {
		gone[k] = true
	}
	var stay []int32
	for k := range gone {
		if !gone[k] {
			stay = append(stay, int32(k))
		}
	}
	s.rest.reset()
	if len(stay) > 0 {
		s.rest.rows(s.acc, stay)
	}
	s.acc, s.rest = s.rest, s.acc
	s.rows = s.rows[:0]
}

// load appends the first window.
func (s *stream) load() error {
	w := s.left[0]
	s.left[0] = source{} // what it opened is let go of
	s.left = s.left[1:]
	if w.rows != nil {
		s.acc.rows(w.rows, nil)
		return nil
	}
	if err := w.open.block(w.group, s.acc); err != nil {
		return err
	}
	if s.live[w.open]--; s.live[w.open] == 0 {
		w.open.close()
		delete(s.live, w.open)
	}
	return nil
}

func (s *stream) close() {
	for o := range s.live {
		o.close()
	}
	clear(s.live)
}

// currentFiles returns the files of a table whose rows are not in other files.
func (l *listing) currentFiles(t table) []*piece {
	var all []*piece
	for i := range l.pieces {
		if p := &l.pieces[i]; p.table == t && !slices.Contains(l.gone, p) {
			all = append(all, p)
		}
	}
	return all
}

// settle finds the files whose segments are all in another one of the same
// table and day: what a crash of a compaction leaves. Files that cannot be read
// are left to be met later.
func (l *listing) settle() {
	for i := range l.pieces {
		big := &l.pieces[i]
		if !big.merged() {
			continue
		}
		var in numbers
		for k := range l.pieces {
			p := &l.pieces[k]
			if p == big || p.table != big.table || p.dir != big.dir || p.from < big.from || p.to > big.to || slices.Contains(l.gone, p) {
				continue
			}
			if in == nil {
				var err error
				if in, err = l.numbers(big); err != nil {
					break // reading it tells
				}
			}
			if l.isCoveredBy(p, in) && !slices.Contains(l.gone, big) {
				l.gone = append(l.gone, p)
			}
		}
	}
}

// isCoveredBy reports whether in contains all of p.
func (l *listing) isCoveredBy(p *piece, in numbers) bool {
	if !p.merged() {
		return in.contains(p.from)
	}
	own, err := l.numbers(p)
	return err == nil && own.isSubsetOf(in)
}

// instants turns a query's bounds into a span; 0 is open.
func spanOf(from, to profile.Instant) span {
	s := span{math.MinInt64, math.MaxInt64}
	if from != 0 {
		s.from = int64(from)
	}
	if to != 0 {
		s.to = int64(to)
	}
	return s
}

package store

import (
	"cmp"
	"math"
	"path"
	"slices"

	"capcli/profile"
)

// source is a file not yet opened, or a window: one row group of an open file, or the rows that a
// segment has of a table.
type source struct {
	first int64 // no row has an earlier instant
	seq   int64 // segment number: of two sources with equal first, the one recorded earlier goes first
	group int
	file  *piece  // a file not yet opened, else nil
	open  *opened // the file of the row group, else nil
	rows  *block  // the rows of a segment, else nil
	size  int64   // number of rows
}

// span is a range of instants, both ends included.
type span struct{ from, to int64 }

func (s span) meets(first, last int64) bool { return first <= s.to && last >= s.from }

// stream returns the rows of one host and table in order of time, in batches. It merges sources
// that overlap in time, such as after the clock was set back.
type stream struct {
	l    *listing
	t    table
	want span
	left []source // sources not yet loaded, in order of first
	acc  *block
	rest *block          // the spare block that keep swaps with acc
	rows []int32         // numbers of the rows of acc that are ready to be read
	live map[*opened]int // open files and the number of their windows not yet loaded
}

func newStream(l *listing, t table, pieces []*piece, want span) *stream {
	s := &stream{l: l, t: t, want: want, acc: newBlock(t), rest: newBlock(t), live: map[*opened]int{}}
	earliest := ""
	if want.from != math.MinInt64 {
		earliest = datePrefix + DateOf(profile.Instant(want.from))
	}
	for _, p := range pieces {
		if int64(p.first) <= want.to && p.dir >= earliest {
			s.left = append(s.left, source{first: int64(p.first), seq: p.from, file: p})
		}
	}
	s.sort()
	s.openAhead()
	return s
}

// openAhead names the files that are opened next, where the disk is far away.
func (s *stream) openAhead() {
	far, ok := s.l.disk.(FarDisk)
	if !ok {
		return
	}
	var names []string
	for i := range s.left {
		names = append(names, path.Join(s.l.root, s.left[i].file.path()))
	}
	far.OpenAhead(names)
}

func (s *stream) sort() {
	slices.SortStableFunc(s.left, func(a, b source) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.seq, b.seq), cmp.Compare(a.group, b.group))
	})
}

// add adds the rows of segment seq to the stream, if any are in the wanted span.
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

// expand opens files until the first source is a window.
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

// fill sets s.rows to the rows of s.acc that precede every row not yet loaded; none at the end.
// It loads windows up to most rows in all, and beyond that where windows overlap. The rows that
// s.rows named before are dropped.
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

// keep drops the rows of s.rows from s.acc and keeps the others.
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

// load appends the rows of the first window to s.acc.
func (s *stream) load() error {
	w := s.left[0]
	s.left[0] = source{} // so that the slice does not keep the file alive
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

// currentFiles returns the files of a table that are not in l.gone.
func (l *listing) currentFiles(t table) []*piece {
	var all []*piece
	for i := range l.pieces {
		if p := &l.pieces[i]; p.table == t && !slices.Contains(l.gone, p) {
			all = append(all, p)
		}
	}
	return all
}

// settle sets l.gone to the files whose segments are all in another file of the same table and
// day. A compaction that crashed leaves such files. It ignores files that cannot be read: reading
// their rows reports the error.
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
					break // reading its rows reports the error
				}
			}
			if l.isCoveredBy(p, in) && !slices.Contains(l.gone, big) {
				l.gone = append(l.gone, p)
			}
		}
	}
}

// isCoveredBy reports whether in contains every segment of p.
func (l *listing) isCoveredBy(p *piece, in numbers) bool {
	if !p.merged() {
		return in.contains(p.from)
	}
	own, err := l.numbers(p)
	return err == nil && own.isSubsetOf(in)
}

// spanOf returns the span from from to to, both included; 0 is unbounded.
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

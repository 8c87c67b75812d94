package trace

import (
	"strconv"
	"strings"
)

// IDs is a set of job ids that notices a repetition. Ids that count up one by
// one cost nothing; each other id costs eight bytes and the table's slack (at
// most sixteen in all, 24 while it grows). It holds 64-bit hashes, so two of
// ten million different ids are taken for one with a chance of 3 in a million.
type IDs struct {
	from, to uint64   // ids from..to-1 were counted up through; from == to is none
	table    []uint64 // open addressing; 0 is free
	used     int
}

// NewIDs makes an empty set.
func NewIDs() *IDs { return &IDs{} }

// Seen tells whether id was given before, and remembers it. The empty id is
// never seen.
func (s *IDs) Seen(id string) bool {
	if id == "" {
		return false
	}
	n, isNumber := counting(id)
	switch {
	case !isNumber:
		return s.put(hash(id))
	case n >= s.from && n < s.to:
		return true
	case s.from == s.to && s.used == 0:
		s.from, s.to = n, n+1
		return false
	case n == s.to && s.from != s.to && !s.has(hash(id)):
		s.to++
		return false
	}
	return s.put(hash(id))
}

// Has tells whether id was given before, without remembering it.
func (s *IDs) Has(id string) bool {
	if id == "" {
		return false
	}
	if n, isNumber := counting(id); isNumber && n >= s.from && n < s.to {
		return true
	}
	return s.has(hash(id))
}

// counting reads an id that is a plain number: no sign, no leading zero.
func counting(id string) (uint64, bool) {
	if len(id) > 18 || (id[0] == '0' && len(id) > 1) {
		return 0, false
	}
	var n uint64
	for i := range len(id) {
		c := id[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	return n, true
}

// hash is FNV-1a with the finisher of splitmix64 (Steele et al. 2014); never 0.
func hash(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9
	h = (h ^ (h >> 27)) * 0x94d049bb133111eb
	return max(h^(h>>31), 1)
}

func (s *IDs) has(h uint64) bool {
	if s.used == 0 {
		return false
	}
	mask := uint64(len(s.table) - 1)
	for i := h & mask; s.table[i] != 0; i = (i + 1) & mask {
		if s.table[i] == h {
			return true
		}
	}
	return false
}

// put adds h and tells whether it was there.
func (s *IDs) put(h uint64) bool {
	if s.used*4 >= len(s.table)*3 {
		s.grow()
	}
	mask := uint64(len(s.table) - 1)
	i := h & mask
	for ; s.table[i] != 0; i = (i + 1) & mask {
		if s.table[i] == h {
			return true
		}
	}
	s.table[i] = h
	s.used++
	return false
}

func (s *IDs) grow() {
	old := s.table
	s.table = make([]uint64, max(1024, 2*len(old)))
	mask := uint64(len(s.table) - 1)
	for _, h := range old {
		if h == 0 {
			continue
		}
		i := h & mask
		for s.table[i] != 0 {
			i = (i + 1) & mask
		}
		s.table[i] = h
	}
}

// names gives one copy of a string that comes many times. It stops learning
// at maxNames different ones.
type names struct {
	known map[string]string
	last  string
}

const maxNames = 1 << 16

func (s *names) of(b []byte) string {
	if string(b) == s.last {
		return s.last
	}
	if len(b) == 0 {
		return ""
	}
	if n, ok := s.known[string(b)]; ok {
		s.last = n
		return n
	}
	n := string(b)
	if s.known == nil {
		s.known = map[string]string{}
	}
	if len(s.known) < maxNames {
		s.known[n] = n
	}
	s.last = n
	return n
}

// arena makes strings that come once, many to one allocation. Its blocks are
// small, for one string that lives on keeps its block.
type arena struct{ block *strings.Builder }

const arenaBlock = 4096

func (a *arena) of(b []byte) string {
	if len(b) > arenaBlock/8 {
		return string(b)
	}
	if a.block == nil || a.block.Len()+len(b) > a.block.Cap() {
		a.block = &strings.Builder{}
		a.block.Grow(arenaBlock)
	}
	from := a.block.Len()
	_, _ = a.block.Write(b) // a Builder never fails
	return a.block.String()[from:]
}

// number is the id of the n-th row.
func (a *arena) number(n int64) string {
	var room [20]byte
	return a.of(strconv.AppendInt(room[:0], n, 10))
}

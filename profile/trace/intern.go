package trace

import (
	"strconv"
	"strings"
)

// names gives one copy of a string that comes many times. It stops learning
// at maxNames different ones.
type names struct {
	known map[string]string
	last  string
}

const maxNames = 1 << 16

func (s *names) intern(b []byte) string {
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

func (a *arena) copyString(b []byte) string {
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
	return a.copyString(strconv.AppendInt(room[:0], n, 10))
}

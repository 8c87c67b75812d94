package trace

import (
	"strconv"
	"strings"
)

// names interns strings that occur many times. It remembers at most maxNames different
// strings.
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

// arena allocates strings that occur once, many to a block. The blocks are small, because
// a block stays in memory as long as one of its strings is in use.
type arena struct{ block *strings.Builder }

// arenaBlock is the bytes of a block.
const arenaBlock = 4096

// copyString returns b as a string in the arena; a long one has an allocation of its own.
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

// number returns n in decimal, as the id of row n.
func (a *arena) number(n int64) string {
	var room [20]byte
	return a.copyString(strconv.AppendInt(room[:0], n, 10))
}

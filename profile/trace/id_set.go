package trace

import "strings"

// idTable is a set of job ids that notices a repetition. Ids that count up one by
// one, such as 17, job-17 or job-0017, cost nothing; each other id costs eight
// bytes and the slack of a hash table (ten to twenty-one in all). It holds
// 64-bit hashes, so some two of ten million different ids are taken for one
// with a chance of 3 in a million.
type idTable struct {
	runs   []idRun // ids that were counted up through
	last   int     // the run that was met last
	hashes map[uint64]struct{}
}

// idRun is the ids prefix+from up to, but without, prefix+to.
type idRun struct {
	prefix   string
	width    int // digits when there are zeros in front, else 0
	from, to uint64
}

// maxRuns bounds the runs, all of which are looked at for each id.
const maxRuns = 8

func newIDTable() *idTable { return &idTable{hashes: map[uint64]struct{}{}} }

// CheckAndAdd adds id and reports whether it was in the set before. The empty id is
// never in the set.
func (s *idTable) CheckAndAdd(id string) bool {
	if id == "" {
		return false
	}
	prefix, width, n, counts := splitNumber(id)
	if !counts {
		return s.checkAndAddHash(hash(id))
	}
	at := s.run(prefix, width, n)
	switch {
	case at >= 0 && n < s.runs[at].to:
		return true
	case s.hasHash(hash(id)):
		return true
	case at >= 0:
		s.runs[at].to++
	case len(s.runs) < maxRuns:
		s.last = len(s.runs)
		s.runs = append(s.runs, idRun{strings.Clone(prefix), width, n, n + 1})
	default:
		return s.checkAndAddHash(hash(id))
	}
	return false
}

func (s *idTable) checkAndAddHash(h uint64) bool {
	before := len(s.hashes)
	s.hashes[h] = struct{}{}
	return len(s.hashes) == before
}

func (s *idTable) hasHash(h uint64) bool {
	_, there := s.hashes[h]
	return there
}

// Contains reports whether id is in the set.
func (s *idTable) Contains(id string) bool {
	if id == "" {
		return false
	}
	if prefix, width, n, counts := splitNumber(id); counts {
		if at := s.run(prefix, width, n); at >= 0 && n < s.runs[at].to {
			return true
		}
	}
	return s.hasHash(hash(id))
}

// run finds the run that holds an id or that it comes next in; -1 is none. A
// run that holds it goes before one that it would lengthen.
func (s *idTable) run(prefix string, width int, n uint64) int {
	if s.last < len(s.runs) && s.runs[s.last].holds(prefix, width, n) {
		return s.last
	}
	next := -1
	for i := range s.runs {
		r := &s.runs[i]
		switch {
		case r.holds(prefix, width, n):
			s.last = i
			return i
		case r.width == width && n == r.to && r.prefix == prefix:
			next = i
		}
	}
	if next >= 0 {
		s.last = next
	}
	return next
}

func (r *idRun) holds(prefix string, width int, n uint64) bool {
	return r.width == width && n >= r.from && n < r.to && r.prefix == prefix
}

// splitNumber splits an id into the text before its last digits and their number.
// width is the number of digits where they start with a zero, else 0, so that no two
// ids split alike.
func splitNumber(id string) (prefix string, width int, n uint64, ok bool) {
	i := len(id)
	for i > 0 && id[i-1]-'0' <= 9 {
		i--
	}
	digits := id[i:]
	if digits == "" || len(digits) > 18 {
		return "", 0, 0, false
	}
	for k := range len(digits) {
		n = n*10 + uint64(digits[k]-'0')
	}
	if digits[0] == '0' && len(digits) > 1 {
		width = len(digits)
	}
	return id[:i], width, n, true
}

// hash is FNV-1a with the finisher of splitmix64 (Steele et al. 2014).
func hash(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9
	h = (h ^ (h >> 27)) * 0x94d049bb133111eb
	return h ^ (h >> 31)
}

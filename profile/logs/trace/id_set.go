package trace

import "strings"

// idTable is a set of job ids that finds repeated ids. Ids that count up by one, such as 17,
// job-17 or job-0017, cost no memory. Each other id costs eight bytes and its part of the
// empty slots of a hash table, ten to twenty-one bytes in all. The set holds 64-bit hashes:
// with ten million different ids the probability that two of them collide, and one is
// wrongly found repeated, is 3 in a million.
type idTable struct {
	runs   []idRun             // runs of consecutive ids
	last   int                 // index of the run that was used last
	hashes map[uint64]struct{} // hashes of the ids outside the runs
}

// idRun is a run of consecutive ids: prefix+from up to, but not including, prefix+to.
type idRun struct {
	prefix   string
	width    int // digits of an id with leading zeros, else 0
	from, to uint64
}

// maxRuns is the most runs. It is small because every id is compared with all of them.
const maxRuns = 8

// CheckAndAdd adds id and reports whether it was in the set before. The empty id is never
// added.
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

// run returns the index of the run that holds an id, else of a run that the id would
// continue, else -1.
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

// splitNumber splits an id into its trailing number and the text before it. width is the
// number of digits if the number has leading zeros, else 0, so that no two ids have the same
// parts. ok is false for an id without a trailing number, or with one over 18 digits.
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

// hash returns the FNV-1a hash of id, with the finisher of splitmix64 (Steele et al. 2014).
func hash(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9
	h = (h ^ (h >> 27)) * 0x94d049bb133111eb
	return h ^ (h >> 31)
}

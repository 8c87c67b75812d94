package supply

import (
	"capcli"
	"capcli/simulate"
	"capcli/simulate/internal/sorted"
)

// Following says how a pool follows a recorded history.
type Following struct {
	Offset capcli.Seconds // the run begins so far into the history
	Notice capcli.Seconds // a node drains for so long before it goes; 0 is no notice
	Repeat bool           // begin again at the end; else the last count stays
	Scale  bool           // the history's largest count is the whole pool, and others in proportion, rounded down; else a count is nodes
}

// NewAvailability returns a supply of nodes that follows a recorded history: at each
// tick as many nodes are up as instances were available, at most all. When the count
// drops, the highest-numbered nodes that are up go. When it rises, the lowest-numbered
// nodes that are down come. So nodes 0 to count-1 are up at any time. Nodes beyond the
// first count go at time 0.
//
// With notice, a node drains for that long before it goes, or from when it came if that
// is later.
func NewAvailability(a Availability, nodes int, f Following) simulate.Supply {
	s := &following{a: a, nodes: nodes, f: f, up: nodes, size: max(1, a.Size())}
	s.f.Offset, s.f.Notice = max(0, f.Offset), max(0, f.Notice)
	s.a.Gap = max(1, a.Gap)
	s.tick = int64(s.f.Offset / s.a.Gap)
	s.came = append(s.came, stretch{0, 0})
	s.over = len(a.Counts) == 0 || nodes == 0
	s.f.Repeat = f.Repeat && s.changes()
	return s
}

// changes reports whether the pool ever changes. A repeated history without changes
// would be read for ever.
func (s *following) changes() bool {
	for t := range s.a.Counts {
		if s.count(int64(t)) != s.count(0) {
			return true
		}
	}
	return false
}

// following reads the history ahead of time by the notice, and keeps the coming changes
// in order.
type following struct {
	a     Availability
	f     Following
	nodes int
	size  int
	tick  int64 // the next to read
	up    int   // nodes up after the last tick that was read
	over  bool  // no tick will change anything any more
	came  []stretch
	now   crowd // the change that Next gives, node by node

	ahead   sorted.List[crowd] // changes to come, by instant, then in the order of planning
	planned uint64             // changes planned so far: a node's Gain comes before its Drain, should they meet
}

// stretch says that the nodes from first up to the next stretch came at one time.
type stretch struct {
	first int
	at    capcli.Seconds
}

// crowd is a change of the nodes lo to hi-1 at one time.
type crowd struct {
	at     capcli.Seconds
	kind   simulate.Kind
	lo, hi int
}

// Next returns the changes in order of time. At one time nodes go from the highest
// number down and come from the lowest up.
func (s *following) Next() (simulate.Change, bool) {
	for s.now.lo == s.now.hi {
		for !s.over && (s.ahead.Len() == 0 || s.ahead.Chunks[0][0].Value.at >= s.instant(s.tick)-s.f.Notice) {
			s.readTick()
		}
		if s.ahead.Len() == 0 {
			return simulate.Change{}, false
		}
		first := s.ahead.Chunks[0][0]
		s.now = first.Value
		s.ahead.Remove(first.Key, first.Seq)
	}
	c := simulate.Change{At: s.now.at, Kind: s.now.kind, Node: s.now.lo}
	if s.now.kind == simulate.Gain {
		s.now.lo++
	} else {
		s.now.hi--
		c.Node = s.now.hi
	}
	return c, true
}

// instant returns the time of a tick since the run's start. The first tick that is read
// is at 0.
func (s *following) instant(tick int64) capcli.Seconds {
	return max(0, capcli.Seconds(tick)*s.a.Gap-s.f.Offset)
}

// count returns the number of nodes that are up at a tick.
func (s *following) count(tick int64) int {
	n := int64(len(s.a.Counts))
	if s.f.Repeat {
		tick %= n
	}
	c := s.a.Counts[min(tick, n-1)]
	if s.f.Scale {
		c = int(int64(c) * int64(s.nodes) / int64(s.size))
	}
	return min(c, s.nodes)
}

// readTick plans the changes of one tick.
func (s *following) readTick() {
	at, want := s.instant(s.tick), s.count(s.tick)
	s.tick++
	s.over = at > beyond || (!s.f.Repeat && s.tick >= int64(len(s.a.Counts)))
	switch {
	case want > s.up:
		s.came = append(s.came, stretch{s.up, at})
		s.push(crowd{at: at, kind: simulate.Gain, lo: s.up, hi: want})
	case want < s.up:
		if s.f.Notice > 0 {
			s.warn(at, want)
		}
		s.push(crowd{at: at, kind: simulate.Lose, lo: want, hi: s.up})
		for n := len(s.came); n > 1 && s.came[n-1].first >= want; n-- {
			s.came = s.came[:n-1]
		}
	}
	s.up = want
}

// warn plans the notice of the nodes from want on, which go at a time.
func (s *following) warn(at capcli.Seconds, want int) {
	for i, hi := len(s.came)-1, s.up; hi > want; i-- {
		lo := max(want, s.came[i].first)
		if since := max(s.came[i].at, at-s.f.Notice); since < at {
			s.push(crowd{at: since, kind: simulate.Drain, lo: lo, hi: hi})
		}
		hi = lo
	}
}

// push plans a change of several nodes.
func (s *following) push(c crowd) {
	s.planned++
	s.ahead.Insert(sorted.Entry[crowd]{Key: int64(c.at), Seq: s.planned, Value: c})
}

package policy

import (
	"math"
	"slices"
	"sort"

	"capcli"
	"capcli/simulate"
)

// step is the free capacity from a time up to the next step.
type step struct {
	at   capcli.Seconds
	free int64 // thousandths of GPUs; negative if an estimate was wrong
}

// piece is a run of steps with bounds on their free capacity. A search can skip a whole piece, and
// a change of all its steps is one addition.
type piece struct {
	steps  []step
	plus   int64 // to add to each step's free
	lo, hi int64 // bounds on the steps' free, before plus
}

// plan is the expected free capacity of a pool over time: a step function whose last step is
// endless.
type plan struct {
	parts   []piece
	spare   [][]step
	changes int // number of changes so far
	work    int // steps and pieces that searches have read so far
	gaps    map[int64]*gaps
}

const (
	partMax = 64
	forever = capcli.Seconds(math.MaxInt64 / 4)
)

func (s *piece) bound() {
	s.lo, s.hi = s.steps[0].free, s.steps[0].free
	for _, x := range s.steps[1:] {
		s.lo, s.hi = min(s.lo, x.free), max(s.hi, x.free)
	}
}

// reset makes the plan constant from now on.
func (p *plan) reset(now capcli.Seconds, free int64) {
	for i := range p.parts {
		p.spare = append(p.spare, p.parts[i].steps[:0])
	}
	p.changes++
	p.parts = append(p.parts[:0], piece{steps: append(p.room(), step{now, free}), lo: free, hi: free})
}

// close takes a closure from the free capacity. One that has begun is not in it already, and comes back
// at its end.
func (p *plan) close(now capcli.Seconds, c simulate.Closure) {
	switch {
	case c.Start > now && c.End == 0:
		p.add(c.Start, forever, -c.Milli)
	case c.Start > now:
		p.add(c.Start, c.End, -c.Milli)
	case c.End > 0:
		p.add(c.End, forever, c.Milli)
	}
}

// room returns an empty slice of steps, reused if possible.
func (p *plan) room() []step {
	if n := len(p.spare); n > 0 {
		s := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return s
	}
	return make([]step, 0, partMax)
}

// forget drops the steps before now.
func (p *plan) forget(now capcli.Seconds) {
	gone := 0
	for gone+1 < len(p.parts) && p.parts[gone+1].steps[0].at <= now {
		p.spare = append(p.spare, p.parts[gone].steps[:0])
		gone++
	}
	p.parts = slices.Delete(p.parts, 0, gone)
	first := &p.parts[0]
	i := 0
	for i+1 < len(first.steps) && first.steps[i+1].at <= now {
		i++
	}
	first.steps = first.steps[:copy(first.steps, first.steps[i:])]
	first.steps[0].at = max(first.steps[0].at, now)
	if gone+i > 0 {
		p.changes++
	}
}

// locate returns the piece of the step that contains a time, and the step's index in it.
func (p *plan) locate(at capcli.Seconds) (int, int) {
	k := max(sort.Search(len(p.parts), func(i int) bool { return p.parts[i].steps[0].at > at })-1, 0)
	steps := p.parts[k].steps
	return k, max(sort.Search(len(steps), func(i int) bool { return steps[i].at > at })-1, 0)
}

// cut makes a step start at a time.
func (p *plan) cut(at capcli.Seconds) {
	k, i := p.locate(at)
	s := &p.parts[k]
	if s.steps[i].at == at {
		return
	}
	s.steps = slices.Insert(s.steps, i+1, step{at, s.steps[i].free})
	if len(s.steps) < partMax {
		return
	}
	right := piece{steps: append(p.room(), s.steps[partMax/2:]...), plus: s.plus}
	s.steps = s.steps[:partMax/2]
	s.bound()
	right.bound()
	p.parts = slices.Insert(p.parts, k+1, right)
}

// add adds milli to the free capacity over [from, to).
func (p *plan) add(from, to capcli.Seconds, milli int64) {
	from = max(from, p.parts[0].steps[0].at)
	if to <= from {
		return
	}
	p.changes++
	p.cut(to)
	p.cut(from)
	k, i := p.locate(from)
	for ; k < len(p.parts) && p.parts[k].steps[0].at < to; k, i = k+1, 0 {
		s := &p.parts[k]
		if i == 0 && k+1 < len(p.parts) && p.parts[k+1].steps[0].at <= to {
			s.plus += milli
			continue
		}
		for ; i < len(s.steps) && s.steps[i].at < to; i++ {
			s.steps[i].free += milli
		}
		s.bound()
	}
	p.join(to)
	p.join(from)
}

// join removes the step that starts at a time if the step before has the same free capacity.
func (p *plan) join(at capcli.Seconds) {
	k, i := p.locate(at)
	s := &p.parts[k]
	if s.steps[i].at != at {
		return
	}
	before := int64(0)
	switch {
	case i > 0:
		before = s.steps[i-1].free + s.plus
	case k > 0:
		last := &p.parts[k-1]
		before = last.steps[len(last.steps)-1].free + last.plus
	default:
		return
	}
	if s.steps[i].free+s.plus != before {
		return
	}
	if s.steps = slices.Delete(s.steps, i, i+1); len(s.steps) == 0 {
		p.spare = append(p.spare, s.steps)
		p.parts = slices.Delete(p.parts, k, k+1)
	}
}

// earliest returns the first time at or after from at which milli is free for length. ok is false
// if there is none.
func (p *plan) earliest(from, length capcli.Seconds, milli int64) (at capcli.Seconds, ok bool) {
	k, i := p.locate(from)
	w := window{at: max(from, p.parts[0].steps[0].at), length: length}
	for ; k < len(p.parts); k, i = k+1, 0 {
		s := &p.parts[k]
		p.work++
		switch {
		case i == 0 && s.lo+s.plus >= milli:
			w.see(s.steps[0].at, true)
		case i == 0 && s.hi+s.plus < milli:
			w.see(s.steps[0].at, false)
		default:
			p.work += len(s.steps)
			for _, x := range s.steps[i:] {
				w.see(x.at, x.free+s.plus >= milli)
			}
		}
		if w.found {
			return w.at, true
		}
	}
	return w.at, !w.broken
}

// freeAt returns what is free at a time.
func (p *plan) freeAt(at capcli.Seconds) int64 {
	k, i := p.locate(at)
	return p.parts[k].steps[i].free + p.parts[k].plus
}

func (p *plan) isFree(from, length capcli.Seconds, milli int64) bool {
	k, i := p.locate(from)
	for ; k < len(p.parts); k, i = k+1, 0 {
		s := &p.parts[k]
		if s.steps[i].at >= from+length {
			return true
		}
		if s.lo+s.plus >= milli {
			continue
		}
		for _, x := range s.steps[i:] {
			if x.at >= from+length {
				return true
			}
			if x.free+s.plus < milli {
				return false
			}
		}
	}
	return true
}

// ledges appends the capacities that are free from now on, from the largest, which is free for the
// shortest time.
func (p *plan) ledges(to []ledge, now capcli.Seconds) []ledge {
	free := p.freeAt(now)
	k, i := p.locate(now)
	for ; k < len(p.parts) && free > 0; k, i = k+1, 0 {
		s := &p.parts[k]
		if s.lo+s.plus >= free {
			continue
		}
		for _, x := range s.steps[i:] {
			if x.free+s.plus < free {
				to = append(to, ledge{free, x.at - now})
				free = x.free + s.plus
			}
		}
	}
	if free >= 0 {
		to = append(to, ledge{free, forever})
	}
	return to
}

// window is a range of time that grows while enough capacity is free.
type window struct {
	at, length    capcli.Seconds // its start, and the length it must reach
	broken, found bool           // broken: the last step has too little free; found: it is long enough
}

// see adds the step that starts at a time to the window.
func (w *window) see(at capcli.Seconds, free bool) {
	switch {
	case w.found:
	case !w.broken && at >= w.at+w.length:
		w.found = true
	case !free:
		w.broken = true
	case w.broken:
		w.at, w.broken = at, false
	}
}

// gaps are the ranges of time in which a capacity is free, in order.
type gaps struct {
	asOf       int // the plan's changes then
	start, end []capcli.Seconds
	longest    []capcli.Seconds // the longest so far
}

// gapsOf returns the gaps for milli. It recomputes them if the plan has changed.
func (p *plan) gapsOf(milli int64) *gaps {
	g := p.gaps[milli]
	if g == nil {
		if p.gaps == nil {
			p.gaps = map[int64]*gaps{}
		}
		g = &gaps{asOf: -1}
		p.gaps[milli] = g
	}
	if g.asOf == p.changes {
		return g
	}
	g.asOf = p.changes
	g.start, g.end, g.longest = g.start[:0], g.end[:0], g.longest[:0]
	open := false
	for k := range p.parts {
		s := &p.parts[k]
		p.work++
		switch need := milli - s.plus; {
		case s.lo >= need:
			open = g.mark(s.steps[0].at, true, open)
		case s.hi < need:
			open = g.mark(s.steps[0].at, false, open)
		default:
			p.work += len(s.steps)
			for i := range s.steps {
				if free := s.steps[i].free >= need; free != open {
					open = g.mark(s.steps[i].at, free, open)
				}
			}
		}
	}
	if open {
		g.close(forever)
	}
	return g
}

// mark records whether the capacity is free from a time on. It returns whether a gap is open.
func (g *gaps) mark(at capcli.Seconds, free, open bool) bool {
	switch {
	case free && !open:
		g.start = append(g.start, at)
	case !free && open:
		g.close(at)
	}
	return free
}

func (g *gaps) close(at capcli.Seconds) {
	g.end = append(g.end, at)
	n := len(g.end)
	long := at - g.start[n-1]
	if n > 1 {
		long = max(long, g.longest[n-2])
	}
	g.longest = append(g.longest, long)
}

// fitsBefore reports whether a job of a length, promised the time at, might start earlier: an
// earlier gap is long enough, or a gap reaches up to the job's own reservation.
func (g *gaps) fitsBefore(length, at capcli.Seconds) bool {
	if i := sort.Search(len(g.longest), func(i int) bool { return g.longest[i] >= length }); i < len(g.start) && g.start[i] < at {
		return true
	}
	i := sort.Search(len(g.start), func(i int) bool { return g.start[i] >= at }) - 1
	return i >= 0 && g.end[i] >= at
}

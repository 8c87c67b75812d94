package profile

// Stretch is a time in which a held device only computed, or only did nothing.
type Stretch struct {
	Active bool
	Micros int64 // 0: there is none
}

// Edges are the stretches that are under way at the beginning and at the end of a Use. What came
// before and what comes after decides how they count, so they stay apart until the Use is joined
// with its neighbours or closed. Stretches of work and pauses alternate, so that before every pause
// but the first there was work.
type Edges struct {
	Head Stretch // under way at the beginning
	Tail Stretch // under way at the end; that of Head where nothing changed in between
	// Turned tells that Tail is another stretch than Head.
	Turned bool
}

// step goes on for some microseconds.
func (e *Edges) step(u *Use, active bool, micros int64) {
	switch {
	case e.Tail.Micros == 0 || e.Tail.Active != active:
		e.join(u, Edges{Head: Stretch{active, micros}, Tail: Stretch{active, micros}})
	case e.Turned:
		e.Tail.Micros += micros
	default:
		e.Head.Micros += micros
		e.Tail.Micros += micros
	}
}

// join adds the edges o of what follows at once. The stretches that are whole thereby count in u.
func (e *Edges) join(u *Use, o Edges) {
	switch {
	case o.Head.Micros == 0:
	case e.Head.Micros == 0:
		*e = o
	case e.Tail.Active != o.Head.Active:
		e.settle(u)
		if o.Turned {
			u.count(o.Head)
		}
		e.Tail, e.Turned = o.Tail, true
	default:
		both := Stretch{o.Head.Active, e.Tail.Micros + o.Head.Micros}
		switch {
		case e.Turned && o.Turned:
			u.count(both)
			e.Tail = o.Tail
		case e.Turned:
			e.Tail = both
		case o.Turned:
			e.Head, e.Tail, e.Turned = both, o.Tail, true
		default:
			e.Head, e.Tail = both, both
		}
	}
}

// settle counts the stretch at the end in u, because it is over, unless it is that at the beginning
// as well.
func (e *Edges) settle(u *Use) {
	if e.Turned {
		u.count(e.Tail)
	}
}

// close counts the stretches of e in u as those of a beginning and an end beyond which nothing is
// known, and forgets them.
func (e *Edges) close(u *Use) {
	switch {
	case !e.Head.Active:
		u.Longest = max(u.Longest, e.Head.Micros) // nobody worked before
	case e.Turned:
		u.Bursts[burstBin(e.Head.Micros)]++
	}
	if e.Turned && !e.Tail.Active {
		u.Longest = max(u.Longest, e.Tail.Micros) // nobody works after it
	}
	*e = Edges{}
}

// count counts a stretch that others precede and follow.
func (u *Use) count(s Stretch) {
	if s.Active {
		u.Bursts[burstBin(s.Micros)]++
		return
	}
	u.Longest = max(u.Longest, s.Micros)
	if s.Micros >= starvedAfter && s.Micros < idleAfter {
		u.Starved += s.Micros
		u.Pauses++
	}
}

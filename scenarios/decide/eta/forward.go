package eta

import (
	"cmp"
	"slices"

	"capcli"
)

// Running is a job that holds units until a believed end.
type Running struct {
	Units int64
	End   capcli.Time
}

// Waiting is a job in the queue and how long it is believed to last.
type Waiting struct {
	Units int64
	Lasts capcli.Seconds
}

// Player plays a queue forward. It keeps its buffers between calls; one Player serves one
// goroutine.
type Player struct {
	// Budget is the most looks at jobs in one call; 0 is any number. Beyond it the rest of the work
	// ahead is taken to pass evenly over the capacity.
	Budget int

	run     []Running
	started []bool
	looks   int
}

// Forward returns when the last of waiting starts, if nobody else arrives, running jobs end when
// they are believed to, and started ones last as believed, at least a second. The rule is EASY
// backfilling: jobs start in order while they fit; then the first that does not fit is promised the
// first believed end at which it fits, and later ones start if they fit now and do not delay it
// (Lifka, "The ANL/IBM SP Scheduling System", 1995). Forward changes neither slice. It returns now
// if a job never fits.
func (p *Player) Forward(capacity int64, now capcli.Time, running []Running, waiting []Waiting) capcli.Time {
	free := capacity
	for i := range running {
		free -= running[i].Units
	}
	p.run = append(p.run[:0], running...)
	slices.SortFunc(p.run, func(a, b Running) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Units, b.Units))
	})
	p.started = append(p.started[:0], make([]bool, len(waiting))...)
	p.looks = 0
	target := len(waiting) - 1
	head := 0
	for {
		head, free = p.startFirst(waiting, head, now, free)
		if head > target {
			return now
		}
		if free > 0 {
			left, done := p.backfill(waiting, head, now, free)
			if done {
				return now
			}
			free = left
		}
		if len(p.run) == 0 {
			return now
		}
		if p.Budget > 0 && p.looks > p.Budget {
			return now + p.evenly(capacity, now, waiting[head:target], p.started[head:target])
		}
		now = p.run[0].End
		n := 0
		for n < len(p.run) && p.run[n].End == now {
			free += p.run[n].Units
			n++
		}
		p.run = p.run[:copy(p.run, p.run[n:])]
		p.looks += n
	}
}

// startFirst starts jobs in order from head on while they fit. It returns the first that is left, and
// what is left free.
func (p *Player) startFirst(waiting []Waiting, head int, now capcli.Time, free int64) (next int, left int64) {
	for head < len(waiting) && (p.started[head] || waiting[head].Units <= free) {
		if !p.started[head] {
			free -= waiting[head].Units
			p.begin(&waiting[head], now)
			p.started[head] = true
		}
		head++
		p.looks++
	}
	return head, free
}

// backfill starts jobs behind the first in line that do not delay it. It returns what is left free,
// and whether the last job started.
func (p *Player) backfill(waiting []Waiting, head int, now capcli.Time, free int64) (left int64, done bool) {
	shadow, extra := p.promise(waiting[head].Units, free)
	target := len(waiting) - 1
	for k := head + 1; k <= target && free > 0; k++ {
		p.looks++
		w := &waiting[k]
		if p.started[k] || w.Units > free {
			continue
		}
		if now+capcli.Time(w.Lasts) > shadow {
			if w.Units > extra {
				continue
			}
			extra -= w.Units
		}
		if k == target {
			return free, true
		}
		free -= w.Units
		p.started[k] = true
		p.begin(w, now)
	}
	return free, false
}

// promise returns the first believed end at which units fit, and what is free then beside them.
func (p *Player) promise(units, free int64) (shadow capcli.Time, extra int64) {
	for i := 0; i < len(p.run); {
		end := p.run[i].End
		for i < len(p.run) && p.run[i].End == end {
			free += p.run[i].Units
			i++
		}
		if free >= units {
			p.looks += i
			return end, free - units
		}
	}
	return 1 << 62, 0
}

// begin adds a job that starts now to the running ones.
func (p *Player) begin(w *Waiting, now capcli.Time) {
	r := Running{Units: w.Units, End: now + max(capcli.Time(w.Lasts), 1)}
	i, _ := slices.BinarySearchFunc(p.run, r.End, func(r Running, end capcli.Time) int {
		if r.End <= end {
			return -1
		}
		return 1
	})
	p.run = slices.Insert(p.run, i, r)
}

// evenly returns the time that the work of running jobs and of those waiting ahead takes, spread
// evenly over the capacity.
func (p *Player) evenly(capacity int64, now capcli.Time, ahead []Waiting, started []bool) capcli.Time {
	var work float64
	for i := range p.run {
		work += float64(p.run[i].Units) * float64(p.run[i].End-now)
	}
	for i := range ahead {
		if !started[i] {
			work += float64(ahead[i].Units) * float64(ahead[i].Lasts)
		}
	}
	return capcli.Time(work / float64(max(capacity, 1)))
}

// BelievedEnd returns when a job that runs since start is believed to end. A job past its belief is
// believed to last twice that, again and again, at most its limit, and at least one more second.
func BelievedEnd(now, start capcli.Time, belief, limit capcli.Seconds) capcli.Time {
	b := max(belief, 1)
	for start+capcli.Time(b) <= now && (b < limit || limit <= 0) {
		b *= 2
	}
	if limit > 0 {
		b = min(b, max(limit, belief))
	}
	return max(start+capcli.Time(b), now+1)
}

package simulate

import "capcli"

// step is a stretch of a plan: free capacity from an instant on.
type step struct {
	at   capcli.Seconds
	free int64 // thousandths of GPUs; negative where belief was wrong
}

// plan is a pool's free capacity over time as it is believed, a step function
// whose last step goes on for ever.
type plan struct {
	steps []step
	peaks []step // steps with more free than all before them, see climb
}

// climb notes the record steps: those with more free than all before.
func (p *plan) climb() {
	p.peaks = p.peaks[:0]
	for _, s := range p.steps {
		if n := len(p.peaks); n == 0 || s.free > p.peaks[n-1].free {
			p.peaks = append(p.peaks, s)
		}
	}
}

// firstFree tells whether milli is free at some instant before at, as of the
// last climb.
func (p *plan) firstFree(milli int64, at capcli.Seconds) bool {
	lo, hi := 0, len(p.peaks)
	for lo < hi {
		if mid := (lo + hi) / 2; p.peaks[mid].free < milli {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(p.peaks) && p.peaks[lo].at < at
}

// reset makes the plan flat from now on.
func (p *plan) reset(now capcli.Seconds, free int64) {
	p.steps = append(p.steps[:0], step{now, free})
}

// forget drops what lies before now.
func (p *plan) forget(now capcli.Seconds) {
	i := 0
	for i+1 < len(p.steps) && p.steps[i+1].at <= now {
		i++
	}
	if i > 0 {
		p.steps = p.steps[:copy(p.steps, p.steps[i:])]
	}
	if p.steps[0].at < now {
		p.steps[0].at = now
	}
}

// cut makes sure that a step begins at instant at and gives its index.
func (p *plan) cut(at capcli.Seconds) int {
	i := p.index(at)
	if p.steps[i].at == at {
		return i
	}
	p.steps = append(p.steps, step{})
	copy(p.steps[i+2:], p.steps[i+1:])
	p.steps[i+1] = step{at, p.steps[i].free}
	return i + 1
}

// index is the step that holds instant at.
func (p *plan) index(at capcli.Seconds) int {
	lo, hi := 0, len(p.steps)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; p.steps[mid].at <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// add changes the free capacity over [from, to).
func (p *plan) add(from, to capcli.Seconds, milli int64) {
	from = max(from, p.steps[0].at)
	if to <= from {
		return
	}
	i, j := p.cut(from), p.cut(to)
	for k := i; k < j; k++ {
		p.steps[k].free += milli
	}
	p.join(j)
	p.join(i)
}

// join drops step i where it says the same as the one before.
func (p *plan) join(i int) {
	if i > 0 && p.steps[i].free == p.steps[i-1].free {
		p.steps = append(p.steps[:i], p.steps[i+1:]...)
	}
}

// earliest is the first instant, not before from, from which milli is free for
// as long as length; ok is false when there is none.
func (p *plan) earliest(from, length capcli.Seconds, milli int64) (at capcli.Seconds, ok bool) {
	i := p.index(max(from, p.steps[0].at))
	at = max(from, p.steps[i].at)
	for k := i; k < len(p.steps); k++ {
		if k > i && p.steps[k].at >= at+length {
			return at, true
		}
		if p.steps[k].free < milli {
			if k+1 == len(p.steps) {
				return 0, false
			}
			at = p.steps[k+1].at
		}
	}
	return at, true
}

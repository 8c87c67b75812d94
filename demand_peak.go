package capcli

import "container/heap"

// peaks finds the highest level in each step from the changes of the level in order of
// time. A job changes the level at or after its submission, so when a job comes, all
// changes before its submission are known.
type peaks struct {
	d       *Demand
	changes Heap[change]
	level   int64
	since   Time // start of the current level
	begun   bool
	highest []int64
	base    int // grid index of the step of highest[0]
}

// change is one change of a level, in thousandths of a GPU.
type change struct {
	at    Time
	milli int64
}

func (c change) Precedes(d change) bool { return c.at < d.at }

// peak returns l's peaks; the first call makes them.
func (l *levels) peak(d *Demand) *peaks {
	if l.peaks == nil {
		l.peaks = &peaks{d: d, base: d.base}
	}
	return l.peaks
}

func (p *peaks) add(submit, from, to Time, milli int64) {
	p.play(submit)
	heap.Push(&p.changes, change{from, milli})
	heap.Push(&p.changes, change{to, -milli})
}

// play applies the changes before now.
func (p *peaks) play(now Time) {
	for len(p.changes) > 0 && p.changes[0].at < now {
		c := heap.Pop(&p.changes).(change)
		if p.begun && c.at > p.since && p.level > 0 {
			p.hold(p.since, c.at)
		}
		p.level, p.since, p.begun = p.level+c.milli, c.at, true
	}
}

// hold records that the current level lasted over [from, to).
func (p *peaks) hold(from, to Time) {
	for i := p.d.index(from); i < len(p.d.edges)-1 && p.d.edges[i] < to; i++ {
		at := i + p.d.base - p.base
		if n := at + 1 - len(p.highest); n > 0 {
			p.highest = append(p.highest, make([]int64, n)...)
		}
		p.highest[at] = max(p.highest[at], p.level)
	}
}

// finish applies the remaining changes and returns the highest levels of the first n
// steps.
func (p *peaks) finish(n int) []int64 {
	p.play(1<<63 - 1)
	out := make([]int64, n)
	copy(out[max(0, p.base-p.d.base):], p.highest)
	return out
}

package simulate

import (
	"math/bits"

	"capcli"
)

// pace is how far the current stay of a job is and how fast it goes, where the job shares something: see
// contention. All of a stay goes at its pace, checkpoints too; only the restart at its begin does not.
type pace struct {
	on      bool // in the current stay
	uses    []crossing
	each    [capcli.SharedKinds]int64  // what each of its flows takes at full speed
	extra   [capcli.SharedKinds]uint64 // what a second of work takes longer, in 2^-44 s
	factor  uint64                     // fullPace and all of extra
	need    capcli.Seconds             // time that the stay takes at full speed
	left    work                       // of need, at from
	from    capcli.Seconds
	ends    capcli.Seconds                     // of the stay at this pace
	planned capcli.Seconds                     // time of the Finish event that counts, at most ends
	plan    int                                // its number in the stay: see planAnew
	lost    [capcli.SharedKinds]int64          // time of the current stay, in 2^-20 s
	total   [capcli.SharedKinds]capcli.GPUTime // lost in former stays

	seen    uint32 // the last contention.share that found it
	granted bool   // scratch of fill
	changed bool   // is in contention.changed
}

const (
	fullPace = 1 << 44
	mostSlow = 1 << 60 // most of extra: a job without any is 65,536 times as slow
	lostBits = 20      // a second in pace.lost
	// almost is the part of a second, in 2^-44, that makes no second of its own: factors are rounded to 2^-44.
	almost = 1 << 34
)

func (p *pace) isOn() bool { return p != nil && p.on }

// leftAt returns what is left of the stay at a time.
func (p *pace) leftAt(now capcli.Seconds) work {
	if now <= p.from {
		return p.left
	}
	return p.left.minusWall(now-p.from, int64(p.factor), fullPace)
}

// ran returns how much of the stay is done at a time, in seconds at full speed.
func (p *pace) ran(now capcli.Seconds) capcli.Seconds {
	return p.need - p.leftAt(now).slowed(fullPace)
}

// slowed returns how long w takes if a second of it takes factor / fullPace, rounded up to whole seconds.
// Less than a thousandth of a second does not count.
func (w work) slowed(factor uint64) capcli.Seconds {
	carry, _ := bits.Mul64(w.part, factor)
	hi, lo := bits.Mul64(uint64(w.whole), factor)
	lo, c := bits.Add64(lo, carry, 0)
	hi += c
	lo, c = bits.Add64(lo, fullPace-1-almost, 0)
	hi += c
	if hi >= fullPace>>24 {
		return capcli.MaxSeconds
	}
	return capcli.Seconds(min(hi<<20|lo>>44, uint64(capcli.MaxSeconds)))
}

// advance brings the pace up to now, and counts what the work since then took longer.
func (p *pace) advance(now capcli.Seconds) {
	if now <= p.from {
		return
	}
	before := p.left
	p.left, p.from = p.leftAt(now), now
	if p.factor == fullPace {
		return
	}
	done := int64(before.whole-p.left.whole)<<lostBits + int64(before.part>>(64-lostBits)) - int64(p.left.part>>(64-lostBits))
	for k, extra := range p.extra {
		hi, lo := bits.Mul64(uint64(done), extra)
		p.lost[k] += int64(hi<<20 | lo>>44)
	}
}

// divide returns w / n.
func (w work) divide(n int64) work {
	q, rest := uint64(w.whole)/uint64(n), uint64(w.whole)%uint64(n)
	part, _ := bits.Div64(rest, w.part, uint64(n))
	return work{capcli.Seconds(q), part}
}

// minusTimes returns w - n v, which is not below 0.
func (w work) minusTimes(n int64, v work) work {
	carry, part := bits.Mul64(v.part, uint64(n))
	left, borrow := bits.Sub64(w.part, part, 0)
	return work{w.whole - v.whole*capcli.Seconds(n) - capcli.Seconds(carry+borrow), left}
}

func (w work) isLess(v work) bool { return w.whole < v.whole || w.whole == v.whole && w.part < v.part }

// extraOf returns what a second of work takes longer, in 2^-44 s, if share millionths of it take what each flow
// wants over what it is granted as long.
func extraOf(want int64, grant work, share int64) uint64 {
	if !grant.isLess(work{whole: capcli.Seconds(want)}) {
		return 0
	}
	ratio := uint64(mostSlow) // want / grant, in 2^-44
	if uint64(want)>>16 < uint64(grant.whole) {
		zeros := bits.LeadingZeros64(uint64(grant.whole)) // at least 23: see mostShared
		lead := uint64(grant.whole)<<zeros | grant.part>>(64-zeros)
		if hi := uint64(want) << (zeros - 20); hi < lead {
			ratio, _ = bits.Div64(hi, 0, lead)
		}
	}
	hi, lo := bits.Mul64(min(ratio, mostSlow)-fullPace, uint64(share))
	extra, _ := bits.Div64(hi, lo, 1_000_000)
	return extra
}

// reaches returns when l, which runs, has done so much of its stay at its pace, in seconds at full speed.
func (l *Live) reaches(done capcli.Seconds) capcli.Seconds {
	if !l.pace.isOn() {
		return l.Since + l.overhead + done
	}
	x := l.pace
	rest := x.left
	if rest.whole -= x.need - done; rest.whole < 0 {
		return x.from
	}
	return x.from + rest.slowed(x.factor)
}

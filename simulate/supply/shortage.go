package supply

import (
	"math"
	"math/rand/v2"
	"time"

	"capcli"
	"capcli/simulate"
)

// NewShortage returns a shortage at random: nodes are to be had for an exponential time of mean meanHad,
// then none for one of mean meanShort, and so on. In the long run they are to be had meanHad / (meanHad +
// meanShort) of the time, and so at the start.
func NewShortage(meanHad, meanShort capcli.Seconds, rng *rand.Rand) simulate.Shortage {
	s := &spells{means: [2]float64{float64(max(1, meanHad)), float64(max(1, meanShort))}, rng: rng}
	if rng.Float64()*(s.means[0]+s.means[1]) >= s.means[0] {
		s.short = 1
	}
	s.ends = s.draw()
	return s
}

// spells are stretches of time with and without nodes to be had.
type spells struct {
	means [2]float64
	rng   *rand.Rand
	short int // 1 while none are to be had
	ends  capcli.Seconds
}

func (s *spells) draw() capcli.Seconds {
	return capcli.Seconds(min(max(1, math.Round(s.means[s.short]*s.rng.ExpFloat64())), float64(beyond)))
}

// Available implements simulate.Shortage.
func (s *spells) Available(at capcli.Seconds, _, n int) (int, capcli.Seconds) {
	for at >= s.ends && s.ends < beyond {
		s.short = 1 - s.short
		s.ends += s.draw()
	}
	return n * (1 - s.short), s.ends
}

// NewHourlyShortage returns a shortage by hour of the day: in each clock hour of the zone no nodes are to be
// had with the probability of that hour, independently. start is the time of the run's start.
func NewHourlyShortage(shares [24]float64, start capcli.Time, zone *time.Location, rng *rand.Rand) simulate.Shortage {
	return &hourly{shares: shares, start: start, zone: zone, draws: numberedDraws(rng)}
}

type hourly struct {
	shares [24]float64
	start  capcli.Time
	zone   *time.Location
	draws  func(n int64) *rand.Rand
}

// Available implements simulate.Shortage.
func (h *hourly) Available(at capcli.Seconds, _, n int) (int, capcli.Seconds) {
	now := (h.start + capcli.Time(at)).Std().In(h.zone)
	past := capcli.Seconds(now.Minute()*60 + now.Second())
	if h.draws(int64(h.start)+int64(at-past)).Float64() < h.shares[now.Hour()] {
		n = 0
	}
	return n, at + capcli.Hour - past
}

// NewRecordedShortage returns a shortage as recorded: a pool can have as many nodes at a time as the history
// counts then. Nodes that it has already stay. Before the history begins and, unless it repeats, after its
// end, its first and last counts hold.
func NewRecordedShortage(a Availability, nodes int, f Following) simulate.Shortage {
	r := &recorded{a: a, f: f, nodes: nodes, size: a.Size()}
	return r
}

type recorded struct {
	a           Availability
	f           Following
	nodes, size int
}

// Available implements simulate.Shortage.
func (r *recorded) Available(at capcli.Seconds, have, n int) (int, capcli.Seconds) {
	if len(r.a.Counts) == 0 || r.a.Gap <= 0 {
		return n, at
	}
	tick := int((at + r.f.Offset) / r.a.Gap)
	next := capcli.Seconds(tick+1)*r.a.Gap - r.f.Offset
	if r.f.Repeat {
		tick %= len(r.a.Counts)
	} else if tick >= len(r.a.Counts)-1 {
		tick, next = len(r.a.Counts)-1, at
	}
	count := r.a.Counts[max(0, tick)]
	if r.f.Scale && r.size > 0 {
		count = count * r.nodes / r.size
	}
	return min(n, max(0, count-have)), next
}

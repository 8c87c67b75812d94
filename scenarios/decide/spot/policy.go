package spot

import (
	"cmp"
	"math/bits"

	"capcli"
)

// Policy decides between spot, on demand and waiting.
type Policy struct {
	Name   string
	Doc    string
	Oracle bool // knows how long spot will last
	Net    bool // the safety net keeps the deadline
	pick   func(s *state) Choice
}

// Policies are the policies, in the order of the paper. Behind means that less work is done than the
// deadline's even share: done x deadline < time x work.
var Policies = []*Policy{
	{"on_demand", "on demand from the start", false, false, func(*state) Choice { return OnDemand }},
	{"spot_only", "spot whenever it can be had, whatever the deadline", false, false, (*state).spotOrIdle},
	{"greedy", "spot whenever it can be had, on demand when the deadline leaves no choice", false, true, (*state).spotOrIdle},
	{"up_plain", "uniform progress: on demand too while it is behind the even share of work", false, true, (*state).plainProgress},
	{"up", "uniform progress with hysteresis: leaves on demand only when two changes fit ahead of the even share", false, true, (*state).uniform},
	{"up_oracle", "uniform progress that knows how long spot will last, and takes it where it pays for the delay", true, true, (*state).oracle},
}

// choose returns the choice of the policy, or that of the safety net.
func (p *Policy) choose(s *state) Choice {
	want := p.pick(s)
	if !p.Net {
		return want
	}
	left := int64(s.Deadline/s.Gap) - s.tick
	need := s.Work - s.done
	if ticksFor(need+2*s.Delay, s.Gap) >= left && s.now != OnSpot {
		want = OnDemand
	}
	if ticksFor(need+s.Delay, s.Gap) >= left {
		if want = OnDemand; s.now == OnSpot && s.rem == 0 || s.Delay == 0 && s.has {
			want = OnSpot
		}
	}
	return want
}

// ticksFor returns the ticks that some time takes, rounded up.
func ticksFor(t, gap capcli.Seconds) int64 { return int64((t + gap - 1) / gap) }

func (s *state) spotOrIdle() Choice {
	if s.has {
		return OnSpot
	}
	return Idle
}

// isBehind reports whether the work done is less than its even share so far and for some time more.
func (s *state) isBehind(more capcli.Seconds) bool {
	return compareProducts(s.done, s.Deadline, capcli.Seconds(s.tick)*s.Gap+more, s.Work) < 0
}

// compareProducts compares a b with c d, none of them negative, in 128 bits.
func compareProducts(a, b, c, d capcli.Seconds) int {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	hi2, lo2 := bits.Mul64(uint64(c), uint64(d))
	return cmp.Or(cmp.Compare(hi, hi2), cmp.Compare(lo, lo2))
}

func (s *state) plainProgress() Choice {
	switch {
	case s.has:
		return OnSpot
	case s.isBehind(0) || s.now == OnDemand:
		return OnDemand
	}
	return Idle
}

func (s *state) uniform() Choice {
	switch {
	case s.now == OnDemand:
		if s.has && !s.isBehind(2*s.Delay) {
			return OnSpot
		}
		return OnDemand
	case s.has:
		return OnSpot
	case s.isBehind(0):
		return OnDemand
	}
	return Idle
}

// oracle takes spot when it lasts longer than a changeover is worth: L = price on demand x delay /
// (price on demand - price of spot), twice that to leave on demand.
func (s *state) oracle() Choice {
	lasts := func(times int64) bool {
		saved := s.OnDemand - s.Spot
		return saved > 0 && compareProducts(capcli.Seconds(s.slack[s.tick])*s.Gap, capcli.Seconds(saved), capcli.Seconds(times)*s.Delay, capcli.Seconds(s.OnDemand)) > 0
	}
	switch {
	case s.now == OnSpot:
		return OnSpot
	case s.now == OnDemand:
		if s.has && lasts(2) {
			return OnSpot
		}
		return OnDemand
	case s.has && lasts(1):
		return OnSpot
	case s.isBehind(0):
		return OnDemand
	}
	return Idle
}

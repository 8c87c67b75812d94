package queueing

import (
	"cmp"
	"math"
)

// negligible is a probability, against the sum of those of likelier states, that a sum leaves out.
const negligible = 1e-17

// mayJump reports whether a replica may hold as many sequences as an iteration has tokens. Prompts then starve
// beside a full batch, so a replica may stay empty or full at one load.
func (r *Replica) mayJump() bool {
	return !r.PrefillFirst && r.Sequences >= cmp.Or(r.Chunk, chunkDefault)
}

// nearOccupancy returns who is in the replica in steady state at lam arrivals a second, below saturation. It
// sums from the likeliest state outwards, as far as states are not negligible, so it needs no table and no
// logarithm. Where a replica may jump, the likeliest states need not lie together, and all are summed.
func (s *Station) nearOccupancy(lam float64) occupancy {
	if s.replica.mayJump() {
		all := *s
		all.tabulate()
		return all.occupancy(lam)
	}
	places := min(s.replica.Sequences, mostPresent)
	start := min(places, max(1, int64(s.balance(lam))))
	var p sums
	weigh := func(n int64, w, share float64) {
		p.total += w
		p.running += w * float64(n)
		p.prompt += w * float64(n) * share
	}
	w, n := 1.0, start
	rate, share := s.rate(start)
	weigh(n, w, share)
	for rate := rate; n > 0 && w > negligible*p.total; n-- {
		w *= rate / lam
		if n == 1 {
			p.total += w
			break
		}
		rate, share = s.rate(n - 1)
		weigh(n-1, w, share)
	}
	for w, n = 1, start; n < places && w > negligible*p.total; {
		n++
		rate, share = s.rate(n)
		w *= lam / rate
		weigh(n, w, share)
	}
	if n == places {
		p.full = w
		p.addQueue(s, w, lam/s.most, share)
	}
	return occupancy{p.running / p.total, p.waiting / p.total, min(1, p.full/p.total), p.prompt / p.total}
}

// rate returns mu(n) a second and the part of a request's time that is its own prompt, n at most N.
func (s *Station) rate(n int64) (rate, share float64) {
	tbar, add := s.iteration(float64(n))
	whole := s.lengths.Out * tbar
	return float64(n) * 1e6 / whole, add / whole
}

// addQueue adds the states in which somebody waits. The state without has the weight w, and each further
// one ratio times that before.
func (p *sums) addQueue(s *Station, w, ratio, share float64) {
	places, sum := float64(s.replica.Sequences), 0.0
	for j := 1.0; j <= mostPresent-places; j++ {
		w *= ratio
		if !(w > negligible*p.total) {
			break
		}
		sum += w
		p.waiting += w * j
	}
	p.total += sum
	p.full += sum
	p.running += sum * places
	p.prompt += sum * places * share
}

// balance returns the least number n present at which lam, below saturation, equals mu(n); mu is taken as
// linear below 1, and n may be a fraction. It uses the rule of false position with the step of Illinois
// (Dowell and Jarratt, "A modified regula falsi method", BIT 1971).
func (s *Station) balance(lam float64) float64 {
	over := func(n float64) float64 {
		tbar, _ := s.iteration(n)
		return lam*s.lengths.Out*tbar/1e6 - n
	}
	lo, hi := 1.0, float64(s.replica.Sequences)
	at, end := over(lo), over(hi)
	switch {
	case at <= 0:
		return at + 1
	case !(end < 0):
		return hi
	}
	for range 60 {
		mid := (lo*end - hi*at) / (end - at)
		x := over(mid)
		switch {
		case math.Abs(x) < 1e-3*mid || !(mid > lo && mid < hi):
			return mid
		case x < 0:
			hi, end, at = mid, x, at/2
		default:
			lo, at, end = mid, x, end/2
		}
	}
	return lo
}

package allocate

import "math"

// claim is the value that a job must have at a level s of the common objective:
//
//	work × s / (base − elapsed × s),
//
// which rises with s. With elapsed = 0 and base = 1 it is proportional to s. A fixed claim is none.
type claim struct {
	work, base, elapsed float64
	fixed               bool
}

// valueAt returns the claim at level s, and how fast it rises with s.
func (c *claim) valueAt(s float64) (value, rise float64) {
	if c.fixed {
		return 0, 0
	}
	rest := c.base - c.elapsed*s
	return c.work * s / rest, c.work * c.base / (rest * rest)
}

// highest returns the level at which the claim is value.
func (c *claim) highest(value float64) float64 {
	return value * c.base / (c.work + c.elapsed*value)
}

// level is the highest level that all can have, with an allocation that gives it.
type level struct {
	s      float64
	answer answer
	prices []float64 // nil where a job's best type is the limit
	halved bool      // whether it was found by halves
	full   []float64 // prices at which the floors cost as much as all GPUs; nil where they cost less
}

// raise returns the highest level at which all claims can be met; they can at level 0. It is Newton's
// method from above, on the cost of all claims at the prices of the tightest types, which is convex in
// the level. Each step ends at a level that is proved to be a bound; the last one can be met. Where claims
// that are fixed fill a type, rounding of their cost may throw a step below low; the way up from there is
// by halves.
func (m *market) raise(claims []claim) level {
	low, high := 0.0, math.Inf(1)
	for i := range claims {
		if c := &claims[i]; !c.fixed {
			high = min(high, c.highest(m.bidders[i].top()))
		}
	}
	out, hint := level{s: high}, m.evenPrices()
	for range 200 {
		m.claimAll(claims, out.s)
		best, busiest, prices := m.spread(hint)
		out.answer, out.full = best, nil
		if busiest >= 1-1e-9 {
			out.full = prices
		}
		next := 0.0
		if busiest <= 1+1e-10 {
			if low = max(low, out.s); low >= high*(1-1e-12) || out.prices == nil || !out.halved {
				break
			}
			next = low + (high-low)/2
		} else {
			high, hint, out.prices = out.s, prices, prices
			if next = m.afford(claims, prices, out.s); next <= low {
				next, out.halved = low+(high-low)/2, true
			}
		}
		if next >= high || next <= low && out.s == low {
			break
		}
		out.s = next
	}
	out.answer.scaleDown()
	return out
}

// claimAll sets the floors of all bidders to their claims at level s.
func (m *market) claimAll(claims []claim, s float64) {
	for i := range claims {
		b := &m.bidders[i]
		b.floor, _ = claims[i].valueAt(s)
		if most := b.top(); b.floor > most {
			b.floor = most // by rounding
		}
	}
}

// afford returns the highest level at which all claims cost 1 or less at prices. It begins from a level
// s at which they cost more.
func (m *market) afford(claims []claim, prices []float64, s float64) float64 {
	var costs, x [maxTypes]float64
	for range 100 {
		m.claimAll(claims, s)
		total, rise := -1.0, 0.0
		for i := range m.bidders {
			b, cost := &m.bidders[i], costs[:m.types]
			b.cost(prices, cost)
			least := b.cheapest(cost, x[:m.types])
			total += least
			if !claims[i].fixed {
				below := b.slopeBelow(cost, least)
				_, speed := claims[i].valueAt(s)
				rise += below * speed
			}
		}
		if rise <= 0 || total <= 1e-12 { // claims that are fixed cost 1 but for rounding
			return s
		}
		next := s - total/rise
		if !(next < s) {
			return s
		}
		if next > s*(1-1e-13) {
			return max(next, 0)
		}
		s = max(next, 0)
	}
	return s
}

// top returns the highest value that the bidder can have.
func (b *bidder) top() float64 {
	most := 0.0
	for _, v := range b.value {
		most = max(most, v)
	}
	return most
}

// evenPrices returns equal prices.
func (m *market) evenPrices() []float64 {
	prices := make([]float64, m.types)
	for j := range prices {
		prices[j] = 1 / float64(m.types)
	}
	return prices
}

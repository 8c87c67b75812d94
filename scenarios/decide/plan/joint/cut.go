package joint

// cut is a lower bound on the cost of the uncovered demand of a period: at + slope · levels.
type cut struct {
	period int
	at     float64
	slope  []float64 // by dimension, never above 0
}

func (c *cut) value(levels []float64) float64 {
	v := c.at
	for d, s := range c.slope {
		v += s * levels[d]
	}
	return v
}

// perHour converts a rate times thousandths of unit-seconds to millionths of a dollar.
const perHour = 3_600_000

// coverage is the use that levels leave uncovered, and the use that plans serve.
type coverage struct {
	left    []float64 // by model: thousandths of GPU-seconds
	money   []float64 // by plan: money left of it
	worth   []float64 // by plan: saving from one more unit of money; 0 where some is left
	planned []float64 // by model: use served under plans
	use     []float64 // by model: its own work that stays, and what is moved to it
	moved   []int64   // by move: work that leaves, thousandths of GPU-seconds of its model
	arrived []int64   // by move: the same work on the other model
	split   *split    // nil where nothing may move
}

func (p *problem) newCoverage() *coverage {
	m, k := len(p.GPUs), len(p.plans)
	o := &coverage{
		left: make([]float64, m), money: make([]float64, k), worth: make([]float64, k), planned: make([]float64, m), use: make([]float64, m),
		moved: make([]int64, len(p.Moves)), arrived: make([]int64, len(p.Moves)),
	}
	if len(p.Moves) > 0 {
		o.split = p.newSplit()
	}
	return o
}

// serve moves what may move of a segment where that is cheapest, applies levels to the use that
// comes of it as providers do, and fills in o.
func (p *problem) serve(s *segment, levels []float64, o *coverage) {
	for m, w := range s.work {
		o.use[m] = float64(w)
	}
	if o.split != nil {
		o.split.fill(s, levels)
		o.split.solve()
		o.split.move(s, o)
	}
	for m, w := range o.use {
		o.left[m] = max(0, w-levels[m]*float64(p.lots[m]*s.dur))
		o.planned[m] = 0
	}
	for k := range o.money {
		o.money[k], o.worth[k] = levels[len(s.work)+k]*float64(planMilli*1000*s.dur), 0
	}
	for _, x := range p.rank {
		if o.left[x.model] == 0 {
			continue
		}
		t := min(o.left[x.model], o.money[x.plan]/x.rate)
		o.planned[x.model] += t
		o.left[x.model] -= t
		if o.left[x.model] == 0 {
			o.money[x.plan] -= t * x.rate
			continue
		}
		if o.money[x.plan] = 0; o.worth[x.plan] == 0 {
			o.worth[x.plan] = x.ratio
		}
	}
}

// uncovered returns the on-demand cost of a period under levels, in millionths of a dollar.
func (p *problem) uncovered(period int, levels []float64, o *coverage) float64 {
	sum := 0.0
	for i := range p.periods[period] {
		s := &p.periods[period][i]
		p.serve(s, levels, o)
		for m, t := range o.left {
			sum += t * float64(p.list[m])
		}
	}
	return sum / perHour
}

// cutAt returns a cut that touches the cost at levels. Let w be the value of one more unit of each
// plan. A GPU-second of a model then costs at least the lower of its on-demand rate and of rate x w
// over the plans. That is a feasible solution of the dual of how plans are applied, so the cut is
// valid at all levels.
func (p *problem) cutAt(period int, levels []float64, o *coverage) cut {
	models := len(p.GPUs)
	c := cut{period: period, slope: make([]float64, len(levels))}
	for i := range p.periods[period] {
		s := &p.periods[period][i]
		if p.serve(s, levels, o); o.split != nil {
			o.split.addCut(s, &c)
			continue
		}
		p.sharpen(s, levels, o)
		for m, w := range s.work {
			if float64(w) <= levels[m]*float64(p.lots[m]*s.dur) {
				continue
			}
			price := p.leastCost(m, o)
			c.at += price * float64(w)
			c.slope[m] -= price * float64(p.lots[m]*s.dur)
		}
		for k, v := range o.worth {
			c.slope[models+k] -= v * float64(planMilli*1000*s.dur)
		}
	}
	c.at /= perHour
	for d := range c.slope {
		c.slope[d] /= perHour
	}
	return c
}

// leastCost returns the least cost of a GPU-hour of a model, where money under plans has its worth.
func (p *problem) leastCost(m int, o *coverage) float64 {
	price := float64(p.list[m])
	for k, offer := range p.plans {
		if p.covers(offer, m) {
			price = min(price, float64(p.Offers[offer].Rates[m])*o.worth[k])
		}
	}
	return price
}

// sharpen raises the cut of a segment. With several plans, the value of one more unit of each by
// itself is not their value together. sharpen sets each worth in turn to the value at which the cut
// is highest: 0, or a value at which the price of a model switches from one bound to another.
func (p *problem) sharpen(s *segment, levels []float64, o *coverage) {
	if len(p.plans) < 2 {
		return
	}
	models := len(s.work)
	height := func() float64 {
		sum := 0.0
		for m, w := range s.work {
			if left := float64(w) - levels[m]*float64(p.lots[m]*s.dur); left > 0 {
				sum += left * p.leastCost(m, o)
			}
		}
		for k, v := range o.worth {
			sum -= v * levels[models+k] * float64(planMilli*1000*s.dur)
		}
		return sum
	}
	best := height()
	for range 3 {
		before := best
		for k := range p.plans {
			kept := o.worth[k]
			for _, v := range p.breaks(s, k, o) {
				o.worth[k] = v
				if h := height(); h > best {
					best, kept = h, v
				}
			}
			o.worth[k] = kept
		}
		if best <= before {
			return
		}
	}
}

// breaks returns the worths of a plan at which the price of some model switches from one bound to
// another, and 0.
func (p *problem) breaks(s *segment, k int, o *coverage) []float64 {
	out := []float64{0}
	for m := range s.work {
		if !p.covers(p.plans[k], m) {
			continue
		}
		r := float64(p.Offers[p.plans[k]].Rates[m])
		out = append(out, float64(p.list[m])/r)
		for other, offer := range p.plans {
			if other != k && p.covers(offer, m) {
				out = append(out, float64(p.Offers[offer].Rates[m])*o.worth[other]/r)
			}
		}
	}
	return out
}

// levelsOf returns the levels of each period under purchases.
func (p *problem) levelsOf(x []float64) [][]float64 {
	out := make([][]float64, len(p.periods))
	for t := range out {
		out[t] = make([]float64, len(p.top))
	}
	for i := range p.columns {
		k := &p.columns[i]
		if x[i] == 0 {
			continue
		}
		for t := k.from; t < k.to; t++ {
			out[t][k.dim] += x[i]
		}
	}
	return out
}

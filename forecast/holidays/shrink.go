package holidays

import (
	"math"
	"slices"

	"capcli"
	"capcli/forecast/model"
)

// sums are the coefficients of the days of one group, each day weighted by the square of
// its share of the step.
type sums struct {
	waves  []float64
	weight float64
	past   int
}

// holidayDay is one day of a holiday in the history.
type holidayDay struct {
	g     group
	from  capcli.Time
	steps []int
	share float64 // of the step, where it is longer than a day
	part  float64 // of the effect of all holidays on that step
}

// days returns the days of the k-th holiday that lie in the history.
func (l *learner) days(k int) []holidayDay {
	var out []holidayDay
	l.forEachStep(k, l.times, func(g group, from, _ capcli.Time, i int, share float64) {
		short := l.times[i+1]-l.times[i] <= 25*3600
		if short && share < 0.5 {
			return // the edge of a day
		}
		if last := len(out) - 1; last >= 0 && out[last].from == from && out[last].g == g {
			out[last].steps = append(out[last].steps, i)
			return
		}
		part := share / l.mask[i]
		if short {
			share, part = 1, 1
		}
		out = append(out, holidayDay{g, from, []int{i}, share, part})
	})
	return out
}

// estimate computes the effect of each group that occurs in the history.
func (l *learner) estimate(off, noise []float64) {
	all := map[group]*sums{}
	var order []group
	for k := range l.m.Days {
		for _, d := range l.days(k) {
			w, ok := l.project(d.steps, off)
			if !ok {
				continue
			}
			s := all[d.g]
			if s == nil {
				s = &sums{waves: make([]float64, len(w))}
				all[d.g] = s
				order = append(order, d.g)
			}
			for j := range w {
				s.waves[j] += d.share * d.part * w[j]
			}
			s.weight += d.share * d.share
			s.past++
		}
	}
	pools := map[pool][]group{}
	var kinds []pool
	for _, g := range order {
		if pools[g.pool()] == nil {
			kinds = append(kinds, g.pool())
		}
		pools[g.pool()] = append(pools[g.pool()], g)
	}
	for _, kind := range kinds {
		l.shrink(pools[kind], all, noise)
	}
	l.weekends()
}

// shrink pulls the effects of groups of one kind towards their expected value.
func (l *learner) shrink(groups []group, all map[group]*sums, noise []float64) {
	for _, g := range groups {
		l.groups[g] = &effect{waves: make([]float64, len(noise)), variance: make([]float64, len(noise)), past: all[g].past}
	}
	for j, v := range noise {
		if math.IsInf(v, 1) {
			continue
		}
		own, variance := make([]float64, len(groups)), make([]float64, len(groups))
		for i, g := range groups {
			own[i], variance[i] = all[g].waves[j]/all[g].weight, v/all[g].weight
		}
		mean, spread, between := pooledEffect(own, variance)
		keep := shrinkFactor(mean, spread)
		for i, g := range groups {
			trust := 0.0
			if between > 0 {
				trust = between / (between + variance[i])
			}
			e := l.groups[g]
			e.waves[j] = keep*mean + trust*(own[i]-mean)
			e.variance[j] = trust*variance[i] + (1-trust)*(1-trust)*spread
		}
	}
}

// pooledEffect returns the mean of effects with these variances, the variance of that mean,
// and the variance between effects (DerSimonian & Laird 1986, equations 6 to 9).
func pooledEffect(own, variance []float64) (mean, spread, between float64) {
	var w, w2, sum float64
	for i, x := range own {
		if variance[i] <= 0 { // there is no noise: keep each as it is
			return model.Mean(own), 0, math.MaxFloat64
		}
		a := 1 / variance[i]
		w, w2, sum = w+a, w2+a*a, sum+a*x
	}
	fixed, q := sum/w, 0.0
	for i, x := range own {
		q += (x - fixed) * (x - fixed) / variance[i]
	}
	if c := w - w2/w; c > 0 {
		between = math.Max(0, (q-float64(len(own)-1))/c)
	}
	w, sum = 0, 0
	for i, x := range own {
		a := 1 / (variance[i] + between)
		w, sum = w+a, sum+a*x
	}
	return sum / w, 1 / w, between
}

// shrinkFactor returns the share of a mean to keep, given its variance.
func shrinkFactor(mean, variance float64) float64 {
	if variance == 0 {
		return 1
	}
	return math.Max(0, 1-variance/(mean*mean))
}

// clean subtracts the effects from the history.
func (l *learner) clean(level []float64) {
	for k := range l.m.Days {
		l.forEachStep(k, l.times, func(g group, _, _ capcli.Time, i int, share float64) {
			e := l.groups[g]
			if e == nil || !model.IsFinite(level[i]) || !model.IsFinite(l.cleaned[i]) {
				return
			}
			size, _ := e.sizeAt(l.slot(l.times[i]))
			l.cleaned[i] -= share * size * level[i]
			if l.relative {
				l.cleaned[i] = math.Max(0, l.cleaned[i])
			}
		})
	}
}

// weekends estimates the level of weekends over that of working days.
func (l *learner) weekends() {
	var sum, count [2]float64
	for i, v := range l.y {
		if l.mask[i] > 0 || !model.IsFinite(v) || l.times[i+1]-l.times[i] > 25*3600 {
			continue
		}
		k := 0
		if day := l.times[i].Std().In(l.zone()).Weekday(); day == 0 || day == 6 {
			k = 1
		}
		sum[k], count[k] = sum[k]+v, count[k]+1
	}
	if l.relative && count[0] > 0 && count[1] > 0 && sum[0] > 0 {
		l.weekend = sum[1] / count[1] / (sum[0] / count[0])
	}
}

// groupEffect returns the effect of the days of a group. For a weekend that the
// history lacks, it derives the effect from the working days: a weekend is quiet
// already, so a holiday reduces it no more than a working day.
func (l *learner) groupEffect(g group) (*effect, bool) {
	if e, ok := l.groups[g]; ok {
		return e, true
	}
	other := g
	other.weekend = !g.weekend
	e, ok := l.groups[other]
	if !ok || !g.weekend {
		return nil, false
	}
	if !l.relative || !(l.weekend > 0) || l.weekend >= 1 || e.waves[0] >= 0 {
		return e, true
	}
	out := effect{waves: make([]float64, len(e.waves)), variance: slices.Clone(e.variance), past: e.past}
	out.waves[0] = math.Min(0, (e.waves[0]+1-l.weekend)/l.weekend)
	return &out, true
}

// effects returns the effect of each holiday: the mean over its own days.
func (l *learner) effects() []Effect {
	out := make([]Effect, len(l.m.Days))
	for k := range out {
		out[k] = Effect{Name: l.m.Days[k].Name, Relative: l.relative}
		total, square := 0.0, 0.0
		for _, weekend := range []bool{false, true} {
			e := l.groups[group{k, 0, weekend}]
			if e == nil {
				continue
			}
			n := float64(e.past)
			out[k].Days += e.past
			total += n * e.waves[0]
			square += n * n * e.variance[0]
		}
		if n := float64(out[k].Days); n > 0 {
			out[k].Size, out[k].SD = total/n, math.Sqrt(square)/n
		}
	}
	return out
}

package holidays

import (
	"iter"
	"math"
	"slices"
	"time"

	"capcli"
	"capcli/forecast/model"
)

// group identifies days that are treated as alike: those at one distance in days from one
// holiday, on working days or at a weekend.
type group struct {
	holiday, offset int
	weekend         bool
}

// pool identifies groups treated as one kind: the holidays themselves, or the days
// around them.
type pool struct{ around, weekend bool }

func (g group) pool() pool { return pool{g.offset != 0, g.weekend} }

// effect is the difference of the days of a group from usual days: the coefficients of its mean
// and of a few waves over the day, each with a variance.
type effect struct {
	waves    []float64 // mean, cosine, sine, cosine of twice the frequency, …
	variance []float64
	past     int
}

// mostWaves is the number of coefficients of the course of a day: the mean, a cosine and a
// sine for each of three waves.
const mostWaves = 7

// basis returns the j-th wave at a share of the day.
func basis(j int, at float64) float64 {
	a := 2 * math.Pi * float64((j+1)/2) * at
	switch {
	case j == 0:
		return 1
	case j%2 == 1:
		return math.Cos(a)
	}
	return math.Sin(a)
}

// sizeAt returns the effect and its standard deviation at a share of the day.
func (e *effect) sizeAt(slot float64) (size, sd float64) {
	for j, w := range e.waves {
		b := basis(j, slot)
		size += w * b
		sd += e.variance[j] * b * b
	}
	return size, math.Sqrt(sd)
}

// learner learns from a history how its holidays differ from usual days.
type learner struct {
	m        Model
	y        []float64
	times    []capcli.Time // bounds of the history's steps
	mask     []float64     // share of each step that holidays affect
	cleaned  []float64     // the history without the effects
	relative bool
	groups   map[group]*effect
	weekend  float64 // level of weekends over that of working days
}

// learn compares each holiday with usual days around it: the same weekday and time of day
// one and two weeks before and after, where these are no holidays. It compares a step
// longer than a day with the steps beside it, and a step longer than a week with the
// same step of the years beside. Seasons and an even trend cancel. The same comparison
// of usual days, which contains no effect, gives the noise. Effects are then shrunk in
// proportion to the noise: days of one kind towards their common mean by a
// random-effects model (DerSimonian & Laird 1986), and that mean towards zero (James &
// Stein 1961).
func learn(m Model, y []float64) *learner {
	l := &learner{m: m, y: y, cleaned: slices.Clone(y), groups: map[group]*effect{}, weekend: 1}
	l.times = l.bounds(0, len(y))
	l.mask = make([]float64, len(y))
	l.relative = !slices.ContainsFunc(y, func(v float64) bool { return v < 0 })
	if len(y) < 3 {
		return l
	}
	some := false
	for k := range m.Days {
		l.forEachStep(k, l.times, func(_ group, _, _ capcli.Time, i int, share float64) {
			l.mask[i] += share
			some = true
		})
	}
	if !some {
		return l
	}
	off, level := l.compare()
	l.estimate(off, l.noise(off))
	l.clean(level)
	return l
}

// bounds returns the times at which steps begin, from one step to another.
func (l *learner) bounds(from, to int) []capcli.Time {
	out := make([]capcli.Time, to-from+1)
	for i := range out {
		out[i] = l.m.At(from + i)
	}
	return out
}

func (l *learner) zone() *time.Location {
	if l.m.Zone == nil {
		return time.UTC
	}
	return l.m.Zone
}

// forEachStep calls do for every step between bounds that a day of the k-th holiday
// touches, with the share of the step.
func (l *learner) forEachStep(k int, bounds []capcli.Time, do func(g group, from, to capcli.Time, i int, share float64)) {
	h := &l.m.Days[k].Holiday
	zone := h.zoneOr(l.zone())
	for _, d := range h.Dates {
		for offset := -h.Before; offset <= h.After; offset++ {
			from, to := d.dayRange(zone, offset)
			day := time.Unix(int64(from), 0).In(zone).Weekday()
			g := group{k, offset, day == time.Saturday || day == time.Sunday}
			at, _ := slices.BinarySearch(bounds, from+1)
			for i := max(0, at-1); i+1 < len(bounds) && bounds[i] < to; i++ {
				if share := min(bounds[i+1], to) - max(bounds[i], from); share > 0 {
					do(g, from, to, i, float64(share)/float64(bounds[i+1]-bounds[i]))
				}
			}
		}
	}
}

// slot returns the share of the local day that has passed at t.
func (l *learner) slot(t capcli.Time) float64 {
	local := time.Unix(int64(t), 0).In(l.zone())
	return float64(local.Hour()*3600+local.Minute()*60+local.Second()) / 86400
}

// comparableSteps returns the steps to compare step i with.
func (l *learner) comparableSteps(i int) []int {
	out := make([]int, 0, 4)
	add := func(j int) {
		if j >= 0 && j < len(l.y) && l.mask[j] == 0 && model.IsFinite(l.y[j]) {
			out = append(out, j)
		}
	}
	length := l.times[i+1] - l.times[i]
	t := time.Unix(int64(l.times[i]), 0).In(l.zone())
	for _, k := range []int{-2, -1, 1, 2} {
		switch {
		case length <= 25*3600:
			add(l.index(capcli.TimeOf(t.AddDate(0, 0, 7*k))))
		case length <= 8*86400:
			add(i + k)
		default:
			add(l.index(capcli.TimeOf(t.AddDate(k, 0, 0))))
		}
	}
	return out
}

// index returns the step of the history that contains t, or -1.
func (l *learner) index(t capcli.Time) int {
	i, _ := slices.BinarySearch(l.times, t+1)
	if i == 0 || i == len(l.times) {
		return -1
	}
	return i - 1
}

// compare returns for each step its difference from the comparable steps, and their
// level (over the day, for shorter steps). Both are NaN where there are none.
func (l *learner) compare() (off, level []float64) {
	n := len(l.y)
	off, level = model.NaNs(n), model.NaNs(n)
	usual := model.NaNs(n)
	for i, v := range l.y {
		like := l.comparableSteps(i)
		if len(like) == 0 || !model.IsFinite(v) {
			continue
		}
		sum := 0.0
		for _, j := range like {
			sum += l.y[j]
		}
		usual[i] = sum / float64(len(like))
		off[i] = v - usual[i]
	}
	for from, to := range l.localDays() {
		sum, count := 0.0, 0.0
		for _, v := range usual[from:to] {
			if model.IsFinite(v) {
				sum, count = sum+v, count+1
			}
		}
		for i := from; i < to && count > 0; i++ {
			level[i] = sum / count
		}
	}
	for i := range off {
		switch {
		case !l.relative:
			level[i] = 1
		case !(level[i] > 0):
			off[i] = math.NaN()
		default:
			off[i] /= level[i]
		}
	}
	return off, level
}

// localDays yields, for each local day of the history, its first step and the first step
// after it. A step longer than a day is a day of its own.
func (l *learner) localDays() iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from, to := 0, 0; from < len(l.y); from = to {
			for to = from + 1; to < len(l.y) && l.dayOf(to) == l.dayOf(from); to++ {
			}
			if !yield(from, to) {
				return
			}
		}
	}
}

// dayOf numbers the local day in which a step begins.
func (l *learner) dayOf(i int) int {
	if l.times[i+1]-l.times[i] > 25*3600 {
		return i
	}
	t := time.Unix(int64(l.times[i]), 0).In(l.zone())
	return t.Year()*366 + t.YearDay()
}

// waves returns the number of coefficients of a day: one where steps are half a day or
// longer.
func (l *learner) waves() int {
	perDay := 86400 / max(1, int(l.times[1]-l.times[0]))
	return max(1, min(mostWaves, perDay/2*2-1))
}

// project returns the coefficients of the course of one day over its steps; false where
// too few differences are known.
func (l *learner) project(steps []int, off []float64) ([]float64, bool) {
	out := make([]float64, l.waves())
	count := 0
	for _, i := range steps {
		if !model.IsFinite(off[i]) {
			continue
		}
		count++
		for j := range out {
			out[j] += off[i] * basis(j, l.slot(l.times[i]))
		}
	}
	if count == 0 || 5*count < 4*len(steps) {
		return nil, false
	}
	for j := range out {
		if out[j] /= float64(count); j > 0 {
			out[j] *= 2
		}
	}
	return out, true
}

// noise returns the mean square of each coefficient over all usual days; infinite where
// there are fewer than four.
func (l *learner) noise(off []float64) []float64 {
	out, count := make([]float64, l.waves()), 0.0
	for from, to := range l.localDays() {
		var steps []int
		usual := true
		for i := from; i < to; i++ {
			steps = append(steps, i)
			usual = usual && l.mask[i] == 0
		}
		if w, ok := l.project(steps, off); ok && usual {
			count++
			for j := range out {
				out[j] += w[j] * w[j]
			}
		}
	}
	for j := range out {
		out[j] /= math.Max(1, count)
		if count < 4 {
			out[j] = math.Inf(1)
		}
	}
	return out
}

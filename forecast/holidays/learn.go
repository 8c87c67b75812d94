package holidays

import (
	"math"
	"slices"
	"time"

	"capcli"
	"capcli/forecast/model"
)

// group are days that are alike: those of one holiday, so many days from it, on
// working days or at a weekend.
type group struct {
	holiday, offset int
	weekend         bool
}

// pool identifies groups treated as one kind: the holidays themselves, or the days
// around them.
type pool struct{ around, weekend bool }

func (g group) pool() pool { return pool{g.offset != 0, g.weekend} }

// effect is by how much the days of a group differ: the mean over the day, and
// its course as a few waves over the clock. Each has a variance.
type effect struct {
	waves    []float64 // mean, cosine, sine, cosine of twice …
	variance []float64
	past     int
}

// mostWaves is how many figures tell the course of a day: the mean and three waves.
const mostWaves = 7

// basis is the j-th wave at a share of the day.
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

// learnt is what a history says of its holidays.
type learner struct {
	m        Model
	y        []float64
	times    []capcli.Time // bounds of the history's steps
	mask     []float64     // share of each step that holidays colour
	cleaned  []float64     // the history without the effects
	relative bool
	groups   map[group]*effect
	weekend  float64 // level of weekends over that of working days
}

// learn compares the days of each holiday with usual days around them: the same
// weekday and time of day one and two weeks before and after, where they are no
// holidays (steps longer than a day: the steps beside it; than a week: the same
// step of the years beside). So seasons and an even trend drop out. How much such
// a comparison is worth is told from the same comparison of all usual days: it
// has no effect, and so is all noise. Effects are then shrunk, the less the data
// say the more: days of one kind towards their common mean by a random-effects
// model (DerSimonian & Laird 1986), and that towards nought (James & Stein 1961).
func learn(m Model, y []float64) *learner {
	l := &learner{m: m, y: y, cleaned: slices.Clone(y), relative: true, groups: map[group]*effect{}, weekend: 1}
	l.times = l.bounds(0, len(y))
	l.mask = make([]float64, len(y))
	for _, v := range y {
		if v < 0 {
			l.relative = false
		}
	}
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

// bounds are the times between steps from and to.
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
	for _, d := range h.Dates {
		for offset := -h.Before; offset <= h.After; offset++ {
			from, to := d.dayRange(l.m.Zone, offset)
			day := time.Unix(int64(from), 0).In(l.zone()).Weekday()
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

// slot is when in its local day a step begins, as a share of it.
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

// index is the step of the history that holds t, or -1.
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
	for from := 0; from < n; {
		to := from + 1
		for to < n && l.dayOf(to) == l.dayOf(from) {
			to++
		}
		sum, count := 0.0, 0.0
		for _, v := range usual[from:to] {
			if model.IsFinite(v) {
				sum, count = sum+v, count+1
			}
		}
		for i := from; i < to && count > 0; i++ {
			level[i] = sum / count
		}
		from = to
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

// dayOf numbers the local day in which a step begins; longer steps are days of
// their own.
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

// project tells the course of one day from its steps; false where too few are known.
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

// noise is the mean square of each wave over all usual days.
func (l *learner) noise(off []float64) []float64 {
	out, count := make([]float64, l.waves()), 0.0
	for from := 0; from < len(l.y); {
		var steps []int
		usual := true
		to := from
		for ; to < len(l.y) && l.dayOf(to) == l.dayOf(from); to++ {
			steps = append(steps, to)
			usual = usual && l.mask[to] == 0
		}
		if w, ok := l.project(steps, off); ok && usual {
			count++
			for j := range out {
				out[j] += w[j] * w[j]
			}
		}
		from = to
	}
	for j := range out {
		out[j] /= math.Max(1, count)
		if count < 4 {
			out[j] = math.Inf(1) // nothing to hold a difference against
		}
	}
	return out
}

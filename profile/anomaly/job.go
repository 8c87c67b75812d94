package anomaly

import (
	"math"
	"slices"
	"strings"
	"time"

	"capcli/profile"
)

// share is a job on one device: the windows that it held alone, without the first and the last, in which it
// starts and ends.
type share struct {
	device  *device
	windows []window
}

// jobs judges each job that held GPUs of the box.
func (b *box) jobs() {
	if !b.told {
		return
	}
	all := map[string][]share{}
	var names []string
	for _, d := range b.order {
		one := map[string][]window{}
		for i := range d.windows {
			if w := &d.windows[i]; w.holder != "" && !w.mixed {
				one[w.holder] = append(one[w.holder], *w)
			}
		}
		for name, windows := range one {
			if len(windows) < 3 {
				continue
			}
			if all[name] == nil {
				names = append(names, name)
			}
			all[name] = append(all[name], share{d, windows[1 : len(windows)-1]})
		}
	}
	slices.SortFunc(names, strings.Compare)
	for _, name := range names {
		shares := all[name]
		slices.SortFunc(shares, func(x, y share) int { return strings.Compare(x.device.device.UUID, y.device.device.UUID) })
		b.levels(name, shares)
		b.peers(name, shares)
		for i := range shares {
			b.creep(name, &shares[i])
		}
	}
}

// line is a metric of a job over its windows, as the mean over its devices.
type line struct {
	at     []profile.Instant
	values []float64
}

// lineOf returns the means over devices of a metric.
func lineOf(shares []share, metric int) line {
	type sum struct {
		v float64
		n int
	}
	sums := map[profile.Instant]*sum{}
	var at []profile.Instant
	for _, s := range shares {
		for i := range s.windows {
			v, ok := s.windows[i].means[metric].mean()
			if !ok {
				continue
			}
			x := sums[s.windows[i].at]
			if x == nil {
				x = &sum{}
				sums[s.windows[i].at] = x
				at = append(at, s.windows[i].at)
			}
			x.v, x.n = x.v+v, x.n+1
		}
	}
	slices.Sort(at)
	out := line{at: at}
	for _, t := range at {
		out.values = append(out.values, sums[t].v/float64(sums[t].n))
	}
	return out
}

// What a shift of a job's level must be. Shares are of the level before; memory is compared as it is, since
// each byte is real.
var (
	powerLevel  = threshold{least: lasting, size: 30, share: 0.15, sigmas: 4, p: 1e-3, abrupt: true}
	smLevel     = threshold{least: lasting, size: 10, share: 0.2, sigmas: 4, p: 1e-3, abrupt: true}
	memoryLevel = threshold{least: lasting, size: 2 << 30, share: 0.15, sigmas: 6, p: 1e-3, abrupt: true}
)

// levels reports levels of a job that shifted, and periods that it lost.
func (b *box) levels(name string, shares []share) {
	sm := lineOf(shares, smActive)
	unit := "% SM active"
	if len(sm.values) == 0 {
		sm, unit = lineOf(shares, util), "% busy"
	}
	watts := lineOf(shares, power)
	lost := b.period(name, shares, sm)
	for _, c := range []struct {
		kind string
		line line
		t    threshold
		unit string
		per  float64
	}{
		{smShift, sm, smLevel, unit, 1},
		{powerShift, watts, powerLevel, "W", 1},
		{memoryShift, lineOf(shares, memUsed), memoryLevel, "GiB", 1 << 30},
	} {
		values := withoutDays(c.line)
		all := shifts(values, c.t)
		for i, s := range all {
			since, until := c.line.at[s.at], profile.Instant(0)
			if lost && c.kind != memoryShift {
				continue // the period that was lost says it
			}
			if i+1 < len(all) {
				until = c.line.at[all[i+1].at]
			}
			size := (s.after - s.before) / c.per
			b.report(c.kind, deviceOf(shares), name, since, until, size, c.unit, confidenceOf(math.Abs(s.after-s.before)/max(c.t.sigmas*s.spread, c.t.size)),
				"%.1f before, %.1f since, spread %.1f %s", s.before/c.per, s.after/c.per, s.spread/c.per, c.unit)
		}
	}
}

// deviceOf returns the device of a job that has one.
func deviceOf(shares []share) *device {
	if len(shares) == 1 {
		return shares[0].device
	}
	return nil
}

const (
	day        = 24 * time.Hour
	dayWindows = int(day / Window)
)

// withoutDays takes the course of a day out of a line of at least three days: of each window the median of that
// time of day, where that leaves less.
func withoutDays(l line) []float64 {
	if len(l.values) < 3*dayWindows {
		return l.values
	}
	course := make([][]float64, dayWindows)
	all := median(l.values)
	for i, at := range l.at {
		k := int(at/windowMicros) % dayWindows
		course[k] = append(course[k], l.values[i])
	}
	middle := make([]float64, dayWindows)
	for k := range course {
		middle[k] = median(course[k])
	}
	out := make([]float64, len(l.values))
	for i, at := range l.at {
		out[i] = l.values[i] - middle[int(at/windowMicros)%dayWindows] + all
	}
	if spreadOf(out, all) < 0.7*spreadOf(l.values, all) {
		return out
	}
	return l.values
}

// Bounds of memory that creeps.
const (
	creepHours  = 6    // at least
	creepShare  = 0.02 // of the device's memory
	creepRising = 0.8  // Kendall's tau of the hourly means
	creepSigmas = 6    // growth over the spread around the line
	creepMost   = 24 * 14
)

// creep reports memory of a job that grows steadily: over at least six hours, by at least a fiftieth of the
// memory and six times what scatters around the line.
func (b *box) creep(name string, s *share) {
	hours, at := hourly(s.windows, memUsed)
	if n := len(hours); n > creepMost { // the last two weeks say how it goes on
		hours, at = hours[n-creepMost:], at[n-creepMost:]
	}
	total := s.device.total
	if len(hours) < creepHours || total == 0 {
		return
	}
	from := beginOfRise(hours)
	hours, at = hours[from:], at[from:]
	n := len(hours)
	if n < creepHours {
		return
	}
	slope := slopeOf(hours)
	rest := make([]float64, n)
	for i, v := range hours {
		rest[i] = v - slope*float64(i)
	}
	growth, spread := slope*float64(n-1), spreadOf(rest, median(rest))
	if growth < creepShare*total || growth < creepSigmas*spread || rising(hours) < creepRising || rising(hours[:n/2]) < 0.5 || rising(hours[n/2:]) < 0.5 {
		return
	}
	left := time.Duration((total - hours[n-1]) / slope * float64(time.Hour))
	full := at[n-1].Add(time.Hour + min(max(left, 0), 10*365*day)).Std().Format("2006-01-02 15:04 MST")
	b.report(memoryCreep, s.device, name, at[0], 0, slope/(1<<30), "GiB an hour", confidenceOf(growth/max(creepSigmas*spread, creepShare*total)),
		"grew by %.2f GiB in %d hours, spread %.2f GiB; at this pace full on %s", growth/(1<<30), n, spread/(1<<30), full)
}

// hourly returns the means of whole hours of a metric, and their begins.
func hourly(windows []window, metric int) (values []float64, at []profile.Instant) {
	var sum average
	for i := range windows {
		w := &windows[i]
		m := w.means[metric]
		sum.sum, sum.micros = sum.sum+m.sum, sum.micros+m.micros
		hour := w.at - w.at%hourMicros
		if i+1 < len(windows) && windows[i+1].at < hour+hourMicros {
			continue
		}
		if v, ok := sum.mean(); ok && sum.micros*2 >= int64(hourMicros) {
			values, at = append(values, v), append(at, hour)
		}
		sum = average{}
	}
	return values, at
}

// beginOfRise returns where a series that is level and then rises in a line begins to rise: the bend whose two
// lines leave the least squares.
func beginOfRise(values []float64) int {
	best, least := 0, -1.0
	n := len(values)
	for k := 0; k <= n-creepHours; k++ {
		left := 0.0
		base := mean(values[:max(k, 1)])
		for _, v := range values[:k] {
			left += (v - base) * (v - base)
		}
		a, b := squares(values[k:])
		for i, v := range values[k:] {
			off := v - a - b*float64(i)
			left += off * off
		}
		if least < 0 || left < 0.9*least {
			best, least = k, left
		}
	}
	return best
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// squares returns the line of least squares through values.
func squares(values []float64) (a, b float64) {
	n := float64(len(values))
	middle, level := (n-1)/2, mean(values)
	xy, xx := 0.0, 0.0
	for i, v := range values {
		x := float64(i) - middle
		xy, xx = xy+x*(v-level), xx+x*x
	}
	if xx > 0 {
		b = xy / xx
	}
	return level - b*middle, b
}

// Bounds of a GPU that is slower than its peers.
const (
	leastPeers  = 3    // GPUs of the job on the box
	slowerBy    = 0.03 // of the clock of the others
	slowWindows = 8    // two hours
)

// peers reports GPUs whose clock is below that of the others that work for the same job.
func (b *box) peers(name string, shares []share) {
	if len(shares) < leastPeers {
		return
	}
	clocks := map[profile.Instant][]float64{}
	for _, s := range shares {
		for i := range s.windows {
			if v, ok := atWork(&s.windows[i]); ok {
				clocks[s.windows[i].at] = append(clocks[s.windows[i].at], v)
			}
		}
	}
	for _, s := range shares {
		flags, by := make([]bool, len(s.windows)), make([]float64, len(s.windows))
		for i := range s.windows {
			w := &s.windows[i]
			v, ok := atWork(w)
			if all := clocks[w.at]; ok && len(all) >= leastPeers {
				by[i] = 1 - v/median(all)
				flags[i] = by[i] >= slowerBy
			}
		}
		for _, r := range runs(flags, slowWindows, 2) {
			lag := median(by[r.from:r.to])
			b.report(slowGPU, s.device, name, s.windows[r.from].at, b.end(s.windows, r.to-1), 100*lag, "% of the clock", confidenceOf(lag/slowerBy),
				"its SM clock was %.1f%% under the median of the job's %d GPUs on the box, for %v", 100*lag, len(shares), time.Duration(r.to-r.from)*Window)
		}
	}
}

// atWork returns the clock of a window in which the device worked at least a quarter of the time.
func atWork(w *window) (float64, bool) {
	v, ok := w.means[clock].mean()
	return v, ok && w.active*leastActive >= w.seen
}

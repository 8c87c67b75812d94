package validate

import (
	"cmp"
	"slices"
	"sort"

	"capcli"
)

// FitTime returns, for each job, for how long of its wait it would have fitted
// in what the jobs left free that start at these instants.
func (l *Log) FitTime(starts []capcli.Time) []capcli.Seconds {
	if len(l.Jobs) == 0 {
		return nil
	}
	levels := l.takenLevels(starts)
	if len(levels) == 0 { // no job ran for a second: nothing was ever held
		levels = []level{{l.begin(), 0}}
	}
	sizes := map[int64][]int{}
	for i := range l.Jobs {
		if starts[i] > max(l.begin(), l.Jobs[i].Queued) {
			sizes[l.Jobs[i].Units] = append(sizes[l.Jobs[i].Units], i)
		}
	}
	fits := make([]capcli.Seconds, len(l.Jobs))
	before := make([]capcli.Seconds, len(levels)) // time before a level in which a job of the size would have fitted
	for units, jobs := range sizes {
		for k := 1; k < len(levels); k++ {
			before[k] = before[k-1]
			if l.Capacity-levels[k-1].units >= units {
				before[k] += capcli.Seconds(levels[k].from - levels[k-1].from)
			}
		}
		until := func(t capcli.Time) capcli.Seconds {
			k := sort.Search(len(levels), func(k int) bool { return levels[k].from > t }) - 1
			switch {
			case k < 0:
				return capcli.Seconds(t - levels[0].from) // nothing is held yet
			case l.Capacity-levels[k].units >= units:
				return before[k] + capcli.Seconds(t-levels[k].from)
			}
			return before[k]
		}
		for _, i := range jobs {
			fits[i] = until(starts[i]) - until(max(l.begin(), l.Jobs[i].Queued))
		}
	}
	return fits
}

// WithoutHolds returns the log in which each overtaken job was queued when the
// last of those that overtook it started. origin[i] is the job of l that the
// i-th of the result is.
func (l *Log) WithoutHolds(overtaken []Overtaking) (free *Log, origin []int) {
	jobs := slices.Clone(l.Jobs)
	for _, o := range overtaken {
		jobs[o.Job].Queued = o.Until
	}
	origin = make([]int, len(jobs))
	for i := range origin {
		origin[i] = i
	}
	slices.SortStableFunc(origin[l.Seeded:], func(a, b int) int { return cmp.Compare(jobs[a].Queued, jobs[b].Queued) })
	free = &Log{Capacity: l.Capacity, Steps: l.Steps, TooLarge: l.TooLarge, Cut: l.Cut, Seeded: l.Seeded}
	for _, i := range origin {
		free.Jobs = append(free.Jobs, jobs[i])
	}
	return free, origin
}

// Stretch is a time [From, To) in which nothing started.
type Stretch struct {
	From capcli.Time `json:"from"`
	To   capcli.Time `json:"to"`
}

// leastStretch is the shortest stretch that is named.
const leastStretch = hour

// NoStarts returns the stretches of an hour or more in which jobs of so many
// tenants waited that would have fitted, and none started. A stretch begins when
// such a job would fit, and ends with the next start or when too few would fit.
func (l *Log) NoStarts(tenants int) []Stretch {
	q := newWaiting(l)
	begin := l.begin()
	var found []Stretch
	var from capcli.Time
	open := false
	for q.advance() {
		if open && (q.started || !q.fits(tenants)) {
			if s := (Stretch{max(begin, from), q.now}); s.To-s.From >= capcli.Time(leastStretch) {
				found = append(found, s)
			}
			open = false
		}
		if !open && q.fits(tenants) {
			open, from = true, q.now
		}
	}
	return found
}

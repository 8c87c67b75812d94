package validate

import (
	"cmp"
	"math"
	"slices"

	"capcli"
)

const (
	hour = capcli.Seconds(3600)
	day  = 24 * hour
	week = 7 * day
)

// Job is a job of the log as its queue saw it.
type Job struct {
	ID       string
	Tenant   string
	Class    string
	Queued   capcli.Time // when it could first have been started
	Start    capcli.Time // as recorded
	End      capcli.Time // as recorded
	Units    int64       // capacity held, in the unit of the capacity
	Limit    capcli.Seconds
	Priority int
}

// Run is how long j ran.
func (j *Job) Run() capcli.Seconds { return capcli.Seconds(j.End - j.Start) }

// Wait is how long j waited.
func (j *Job) Wait() capcli.Seconds { return capcli.Seconds(j.Start - j.Queued) }

// Log is the recorded jobs of one queue and the capacity that they shared, in
// the same unit as Job.Units. The jobs are in the order of the queue: by Queued,
// and at the same second in the order of the log.
type Log struct {
	Jobs     []Job
	Capacity int64          // the most that there was
	Steps    []CapacityStep // where there was less for some time; nil if it never changed
	TooLarge []Job          // jobs larger than the capacity, which no replay has

	// A part of a log, see PartFrom:
	Cut    capcli.Time // where the part begins; 0 for a whole log
	Seeded int         // number of first jobs that ran at the cut
}

// CapacityStep is the capacity from an instant on.
type CapacityStep struct {
	At    capcli.Time
	Units int64
}

// NewLog returns the log of these jobs. It puts them in the order of the queue
// and takes out those that are larger than the capacity.
func NewLog(jobs []Job, capacity int64, steps ...CapacityStep) *Log {
	l := &Log{Capacity: capacity, Steps: steps}
	for _, j := range jobs {
		if j.Units > capacity {
			l.TooLarge = append(l.TooLarge, j)
		} else {
			l.Jobs = append(l.Jobs, j)
		}
	}
	slices.SortStableFunc(l.Jobs, func(a, b Job) int { return cmp.Compare(a.Queued, b.Queued) })
	return l
}

// starts returns the recorded starts, in the order of the jobs.
func (l *Log) starts() []capcli.Time {
	return capcli.Map(l.Jobs, func(x Job) capcli.Time { return x.Start })
}

// level is how much is held from one instant until the next level.
type level struct {
	from  capcli.Time
	units int64
}

// heldLevels returns the units held when the jobs start at these instants, as
// levels in order of time. What ends at an instant makes room for what begins.
func (l *Log) heldLevels(starts []capcli.Time) []level {
	changes := make([]level, 0, 2*len(starts))
	for i, start := range starts {
		if run := l.Jobs[i].Run(); run > 0 {
			changes = append(changes, level{start, l.Jobs[i].Units}, level{start + capcli.Time(run), -l.Jobs[i].Units})
		}
	}
	slices.SortFunc(changes, func(a, b level) int { return cmp.Compare(a.from, b.from) })
	levels := changes[:0]
	var held int64
	for i, c := range changes {
		held += c.units
		if i+1 == len(changes) || changes[i+1].from > c.from {
			levels = append(levels, level{c.from, held})
		}
	}
	return levels
}

// takenLevels returns what is held or, by the steps of the capacity, not there.
func (l *Log) takenLevels(starts []capcli.Time) []level {
	held := l.heldLevels(starts)
	if len(l.Steps) == 0 {
		return held
	}
	levels := make([]level, 0, len(held)+len(l.Steps))
	var now, absent int64
	for i, k := 0, 0; i < len(held) || k < len(l.Steps); {
		at := capcli.Time(math.MaxInt64)
		if i < len(held) {
			at = held[i].from
		}
		if k < len(l.Steps) {
			at = min(at, l.Steps[k].At)
		}
		for ; i < len(held) && held[i].from == at; i++ {
			now = held[i].units
		}
		for ; k < len(l.Steps) && l.Steps[k].At == at; k++ {
			absent = l.Capacity - l.Steps[k].Units
		}
		levels = append(levels, level{at, now + absent})
	}
	return levels
}

// HighestUse is the most units that were held at once.
func (l *Log) HighestUse() int64 {
	var most int64
	for _, v := range l.heldLevels(l.starts()) {
		most = max(most, v.units)
	}
	return most
}

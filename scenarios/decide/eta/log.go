package eta

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"capcli"
)

// Job is a job of a log: what it asked for and what became of it.
type Job struct {
	ID        string
	Tenant    string
	Partition string
	Queued    capcli.Time    // when it could first have been started: its submission, or when it became eligible
	Start     capcli.Time    // NoTime if it never started
	End       capcli.Time    // NoTime if it has not ended
	Units     int64          // what it holds, in the units of the capacity
	Limit     capcli.Seconds // time asked for; 0 is unknown
	Priority  int            // larger is more urgent
}

// Wait returns the time from Queued to Start; -1 if the job never started.
func (j *Job) Wait() capcli.Seconds {
	if !j.Start.IsKnown() {
		return -1
	}
	return capcli.Seconds(j.Start - j.Queued)
}

// run returns the run time of a job that has ended.
func (j *Job) run() int64 { return int64(j.End - j.Start) }

// Log is a job log in order of queue time, then of job number.
type Log struct {
	Jobs     []Job
	Capacity int64 // units that there are; 0 takes the highest use so far at each moment
	PerGPU   int64 // units of one GPU, or of what the size classes count

	tenants    []int // index of each job's tenant
	partitions []int // index of each job's partition
	tenantN    int
	partitionN int
	byStart    []int   // jobs that started, in order of start, then of queue time
	byEnd      []int   // jobs that started and ended, in order of end, then of queue time
	highest    []int64 // highest use before each job's queue time, at least the job's own units
}

// NewLog returns a log of jobs. It sorts jobs in place.
func NewLog(jobs []Job, capacity int64) *Log {
	l := &Log{Jobs: jobs, Capacity: capacity, PerGPU: 1}
	numbers := make(map[string]int64, len(jobs))
	for i := range jobs {
		if jobs[i].ID == "" {
			numbers[""] = math.MaxInt64 // a job asked about comes last
			continue
		}
		n, err := strconv.ParseInt(jobs[i].ID, 10, 64)
		if err != nil {
			numbers = nil // not all are numbers: equal times keep the order of the log
			break
		}
		numbers[jobs[i].ID] = n
	}
	slices.SortStableFunc(jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Queued, b.Queued), cmp.Compare(numbers[a.ID], numbers[b.ID]))
	})
	l.tenants, l.tenantN = numbered(jobs, func(j *Job) string { return j.Tenant })
	l.partitions, l.partitionN = numbered(jobs, func(j *Job) string { return j.Partition })
	for i := range jobs {
		if jobs[i].Start.IsKnown() {
			l.byStart = append(l.byStart, i)
			if jobs[i].End.IsKnown() {
				l.byEnd = append(l.byEnd, i)
			}
		}
	}
	slices.SortStableFunc(l.byStart, func(a, b int) int { return cmp.Compare(jobs[a].Start, jobs[b].Start) })
	slices.SortStableFunc(l.byEnd, func(a, b int) int { return cmp.Compare(jobs[a].End, jobs[b].End) })
	l.highest = l.highestUse()
	return l
}

// numbered gives each job the number of its key, in order of first appearance.
func numbered(jobs []Job, key func(*Job) string) (of []int, n int) {
	seen := map[string]int{}
	of = make([]int, len(jobs))
	for i := range jobs {
		k := key(&jobs[i])
		id, ok := seen[k]
		if !ok {
			id = len(seen)
			seen[k] = id
		}
		of[i] = id
	}
	return of, len(seen)
}

// highestUse returns the most units held at once before each job's queue time. What starts and ends
// in one second counts net.
func (l *Log) highestUse() []int64 {
	out := make([]int64, len(l.Jobs))
	var held, most int64
	s, e := 0, 0
	for i := range l.Jobs {
		now := l.Jobs[i].Queued
		for s < len(l.byStart) && l.Jobs[l.byStart[s]].Start < now {
			at := l.Jobs[l.byStart[s]].Start
			for e < len(l.byEnd) && l.Jobs[l.byEnd[e]].End <= at {
				held -= l.Jobs[l.byEnd[e]].Units
				e++
			}
			for s < len(l.byStart) && l.Jobs[l.byStart[s]].Start == at {
				held += l.Jobs[l.byStart[s]].Units
				s++
			}
			most = max(most, held)
		}
		out[i] = most
	}
	return out
}

// capacityAt returns the capacity as known at the submission of job i: that given, else the highest
// use so far, and no less than what is in use and what each
// job in the queue asks for. s is the state of the queue.
func (l *Log) capacityAt(i int, s *queueState) int64 {
	if l.Capacity > 0 {
		return l.Capacity
	}
	capacity := max(l.highest[i], s.held)
	for _, k := range s.waiting {
		capacity = max(capacity, l.Jobs[k].Units)
	}
	return capacity
}

// queueState lists the jobs that run and wait when a job is submitted.
type queueState struct {
	running []int // those of other jobs, in order of queue time
	waiting []int // in order of queue time; the submitted job is the last
	held    int64 // units of the running jobs
}

// eachSubmission calls do for each job with the state at its queue time. do must not keep the
// state. A job counts as running from its start to the second before its end, and as waiting
// before. A job that never started waits until its end.
func (l *Log) eachSubmission(do func(i int, s *queueState) error) error {
	var live []int
	var s queueState
	for i := range l.Jobs {
		now := l.Jobs[i].Queued
		s.running, s.waiting, s.held = s.running[:0], s.waiting[:0], 0
		kept := live[:0]
		for _, k := range live {
			j := &l.Jobs[k]
			switch {
			case j.End.IsKnown() && j.End <= now && j.Start <= now:
				continue
			case j.Start.IsKnown() && j.Start <= now:
				s.running = append(s.running, k)
				s.held += j.Units
			default:
				s.waiting = append(s.waiting, k)
			}
			kept = append(kept, k)
		}
		s.waiting = append(s.waiting, i)
		if err := do(i, &s); err != nil {
			return err
		}
		live = append(kept, i)
	}
	return nil
}

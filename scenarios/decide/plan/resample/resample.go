// Package resample draws jobs to fill a future demand from the jobs of the past: blocks of days,
// matched by weekday, with the jobs that run when they begin.
package resample

import (
	"errors"
	"math"
	"time"

	"capcli"
)

// Resampler draws jobs to fill a future demand from the jobs of the past.
//
// The past is a course of jobs that run, each from its submission. A future is made of blocks of
// that course, as long as the past allows, each beginning on a day of the same weekday (a moving-block
// bootstrap: Künsch, "The jackknife and the bootstrap for general stationary observations", 1989).
// So size, run time, tenant, class and limit of a job stay together, as do jobs that follow one
// another for weeks. Jobs in flight at the start of a block come along with what is left of their
// run, and those that outlast it are cut, so that a block has the level that the past had. A future
// begins with the jobs in flight at the end of the log.
//
// Where a day of the future wants less than its block has, the block is thinned; where it wants more,
// further layers of blocks are laid over it. Both follow the GPU time that runs on each day (and in
// each step of the future, if that is shorter). What a day wants, less what jobs drawn before hold of
// it, is divided among the candidates that begin on it and those that begin later in their blocks.
// The share that is wanted of a candidate is the mean over the days that it spans. Candidates are
// taken by systematic sampling within sizes of work (Madow and Madow, "On the theory of systematic
// sampling", 1944): a job is taken where the count of its size and the work of its days owe it, so
// thinning favours no size, tenant or hour. It is never taken where a day that it spans has no room.
// So each day's running GPU time differs from what the future wants by less than the work of the
// largest job of the day.
//
// A job that outlasts the future runs on after its end.
type Resampler struct {
	zone    *time.Location
	days    []pastDay      // whole days, in order
	byDay   [7][]int       // indexes in days, by weekday
	weight  [7]float64     // mean work of a weekday, to divide steps that are longer than a day
	borrow  [7]bool        // whether the past lacks the weekday, so that other days stand for it
	reach   capcli.Seconds // the longest time from a submission to an end
	end     capcli.Time    // of the log: the last submission
	MaxJobs int            // most jobs of one future; 0 is 20 million
	hours   []float64      // work that runs in each 24th of each day
	jobs    []capcli.Job   // the past, in order of submit
}

type pastDay struct {
	from, to int // indexes in jobs: from to before to
	start    capcli.Time
	length   capcli.Time
	held     capcli.GPUTime // by jobs that run on it
}

const defaultMaxJobs = 20_000_000

// NewResampler returns a resampler of the past jobs, which must be in order of submission. Days are
// those of zone (nil is UTC). Jobs that hold no GPU are left out. Only days that the log covers
// whole are used; where no day is, all are used. It fails where no job is left.
func NewResampler(past []capcli.Job, zone *time.Location) (*Resampler, error) {
	if zone == nil {
		zone = time.UTC
	}
	r := &Resampler{zone: zone}
	var sum capcli.GPUTime
	for i := range past {
		j := &past[i]
		if n := len(r.jobs); n > 0 && j.Submit < r.jobs[n-1].Submit {
			return nil, capcli.ErrUnsorted
		}
		if j.Milli() <= 0 || j.Run <= 0 {
			continue
		}
		if j.Run > 1<<40 || j.Milli() > 1<<40 || j.Milli() > (math.MaxInt64-int64(sum))/int64(j.Run) {
			return nil, capcli.ErrTooMuchTime
		}
		sum += j.Work()
		r.jobs = append(r.jobs, *j)
		r.reach = max(r.reach, j.Run)
		if j.Start > j.Submit {
			r.reach = max(r.reach, j.Run+capcli.Seconds(j.Start-j.Submit))
		}
	}
	if len(r.jobs) == 0 {
		return nil, errors.New("the history has no job that wants a GPU for any time: there is nothing to draw from")
	}
	r.end = r.jobs[len(r.jobs)-1].Submit
	r.cut()
	r.hold()
	r.match()
	return r, nil
}

// cut divides the past into days, including those without a job.
func (r *Resampler) cut() {
	first, last := r.jobs[0].Submit, r.jobs[len(r.jobs)-1].Submit
	days := capcli.Step{Days: 1}.Grid(first, r.zone)
	at := 0
	for i := 0; days.At(i) <= last; i++ {
		d := pastDay{from: at, start: days.At(i), length: days.At(i+1) - days.At(i)}
		for at < len(r.jobs) && r.jobs[at].Submit < days.At(i+1) {
			at++
		}
		d.to = at
		r.days = append(r.days, d)
	}
	// A log that starts in the first hours of a day covers that day: within two hours, or ten times
	// the mean gap between two jobs.
	slack := max(2*3600, 10*(last-first)/capcli.Time(len(r.jobs)))
	if n := len(r.days); n > 2 || n == 2 && first-r.days[0].start <= slack {
		if last < days.At(n)-1-slack {
			r.days = r.days[:n-1]
		}
		if first > r.days[0].start+slack && len(r.days) > 1 {
			r.days = r.days[1:]
		}
	}
}

// hold sums the work that runs on each day.
func (r *Resampler) hold() {
	n := len(r.days)
	edges := make([]capcli.Time, 0, n+1)
	for _, d := range r.days {
		edges = append(edges, d.start)
	}
	last := r.days[n-1].start + r.days[n-1].length
	edges = append(edges, last)
	x := newAxis(edges, make([]capcli.GPUTime, n))
	fine, none := divide(edges, make([]capcli.GPUTime, n))
	y := newAxis(fine, none)
	for i := range r.jobs {
		j := &r.jobs[i]
		if at, end := max(j.Submit, edges[0]), min(j.Submit+capcli.Time(j.Run), last); at < end {
			first, works := x.spread(at, end, float64(j.Milli()))
			for k, w := range works {
				r.days[first+k].held += capcli.GPUTime(w)
			}
			first, works = y.spread(at, end, float64(j.Milli()))
			for k, w := range works {
				y.held[first+k] += w
			}
		}
	}
	r.hours = y.held
}

// match groups the days by weekday. A weekday that the past lacks borrows the days of its kind,
// workdays or weekends, else all days.
func (r *Resampler) match() {
	for i, d := range r.days {
		w := d.start.Std().In(r.zone).Weekday()
		r.byDay[w] = append(r.byDay[w], i)
	}
	have := r.byDay
	weekend := func(w int) bool { return w == int(time.Saturday) || w == int(time.Sunday) }
	for w := range r.byDay {
		for _, same := range []bool{true, false} {
			for o := range have {
				if len(have[w]) == 0 && (weekend(o) == weekend(w)) == same {
					r.byDay[w], r.borrow[w] = append(r.byDay[w], have[o]...), true
				}
			}
			if len(r.byDay[w]) > 0 {
				break
			}
		}
		var work float64
		for _, i := range r.byDay[w] {
			work += float64(r.days[i].held)
		}
		r.weight[w] = work / float64(len(r.byDay[w]))
	}
}

// Days returns the number of whole days that are drawn from.
func (r *Resampler) Days() int { return len(r.days) }

// Borrowed returns the weekdays of which the past has no whole day: other days are drawn for them.
func (r *Resampler) Borrowed() []time.Weekday {
	var out []time.Weekday
	for w, b := range r.borrow {
		if b {
			out = append(out, time.Weekday(w))
		}
	}
	return out
}

// Filled compares the work that runs within the future with what was asked for.
type Filled struct {
	Jobs         int
	InFlight     int // of them, jobs that ran at the log's end
	Cut          int // of them, jobs with a part of their run: in flight at the start of a block, or cut at its end
	Asked, Drawn capcli.GPUTime
	Largest      capcli.GPUTime // most work of one job on one day: the bound on Worst
	Worst        capcli.GPUTime // largest difference of the two on any day
	Repeated     int            // days drawn beyond one for each future day
}

// Error returns the drawn work that is too much (above 0) or too little, as a share of the work
// asked for; 0 where that is 0.
func (f *Filled) Error() float64 {
	if f.Asked == 0 {
		return 0
	}
	return float64(f.Drawn-f.Asked) / float64(f.Asked)
}

// clock returns the instant of a future day at which the clock shows the same time as at t.
func (r *Resampler) clock(t capcli.Time, past *pastDay, start, end capcli.Time) capcli.Time {
	const day = capcli.Time(capcli.Day)
	if past.length == day && end-start == day {
		return start + t - past.start
	}
	was, is := t.Std().In(r.zone), start.Std().In(r.zone)
	hour, minute, second := was.Clock()
	at := capcli.TimeOf(time.Date(is.Year(), is.Month(), is.Day(), hour, minute, second, 0, r.zone))
	return min(max(at, start), end-1)
}

// Package resample draws jobs to fill a future demand from the jobs of the past: whole days,
// matched by weekday.
package resample

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"capcli"
	"capcli/simulate/plan"
)

// Resampler draws jobs to fill a future demand from the jobs of the past.
//
// It is a block bootstrap of whole days matched by weekday (Künsch, "The jackknife and the
// bootstrap for general stationary observations", 1989, with the season of a week kept): a future
// Tuesday gets all jobs of some past Tuesday, at their time of day. So size, run time, tenant,
// class and limit of a job stay together, as do the jobs of a day.
//
// Days are drawn for a window of a week (or a step of the future, if that is longer) until their
// work reaches the work of the future. Where that is more than the past had, the days are drawn
// again. The excess of the last round is thinned: its jobs are sorted by work and every 1/p-th is
// kept, from a random start (systematic sampling, Madow and Madow 1944). Each job is kept with the
// same probability p, so thinning favours no size, tenant or hour. Since neighbours in the order
// are alike, the kept work differs from the wanted work by less than the largest job. The error of
// a window is corrected in the next, so the same bound holds for the sum of all windows so far.
//
// The work of a job counts at its submission. A future is the GPUs wanted at a time. Over a window
// both are equal, except for work that runs on into the next window; a run starts with no jobs in
// flight.
type Resampler struct {
	zone    *time.Location
	days    []pastDay    // whole days, in order
	byDay   [7][]int     // indexes in days, by weekday
	weight  [7]float64   // mean work of a weekday, to divide steps that are longer than a day
	borrow  [7]bool      // whether the past lacks the weekday, so that other days stand for it
	MaxJobs int          // most jobs of one future; 0 is 20 million
	jobs    []capcli.Job // the past, in order of submit
}

type pastDay struct {
	from, to int // indexes in jobs: from to before to
	start    capcli.Time
	length   capcli.Time
	work     capcli.GPUTime
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
	}
	if len(r.jobs) == 0 {
		return nil, errors.New("the history has no job that wants a GPU for any time: there is nothing to draw from")
	}
	r.cut()
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
			d.work += r.jobs[at].Work()
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
			work += float64(r.days[i].work)
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

// Filled compares the drawn work with the work of the future.
type Filled struct {
	Jobs         int
	Asked, Drawn capcli.GPUTime
	Largest      capcli.GPUTime // work of the largest job of the past: the bound on Drawn - Asked
	Worst        capcli.GPUTime // largest difference of the two, summed up to the end of any window
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

// Fill draws the jobs of future k of f, in order of submission. Their ids are those of the past
// with the future day appended, "1234@2027-03-01", and with the round where a day was drawn again,
// "1234@2027-03-01+1". Their start and end are unknown.
func (r *Resampler) Fill(f *plan.Futures, k int, seed capcli.Seed) ([]capcli.Job, Filled, error) {
	if k < 0 || k >= len(f.Paths) {
		return nil, Filled{}, fmt.Errorf("there is no future %d of %d", k, len(f.Paths))
	}
	d := &drawing{r: r, rng: seed.Child(k).Stream("futures/jobs"), most: cmp.Or(r.MaxJobs, defaultMaxJobs), from: f.Start(), to: f.End()}
	for i := range r.jobs {
		d.filled.Largest = max(d.filled.Largest, r.jobs[i].Work())
	}
	days := capcli.Step{Days: 1}.Grid(f.Start(), r.zone)
	asked, err := r.ask(f, k, days)
	if err != nil {
		return nil, Filled{}, err
	}
	width := 7
	if step := int(f.Grid.Step.Length() / capcli.Day); step > width {
		width = step
	}
	for from := 0; from < len(asked); from += width {
		to := min(from+width, len(asked))
		var sum capcli.GPUTime
		for _, w := range asked[from:to] {
			sum += w
		}
		if err := d.window(days, from, to, sum); err != nil {
			return nil, Filled{}, err
		}
	}
	slices.SortStableFunc(d.out, func(a, b capcli.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	d.filled.Jobs = len(d.out)
	return d.out, d.filled, nil
}

// ask returns the work that a future wants on each day. A step that is longer than a day is divided
// by the mean work of each weekday in the past.
func (r *Resampler) ask(f *plan.Futures, k int, days capcli.Grid) ([]capcli.GPUTime, error) {
	n := days.Index(f.End()-1) + 1
	asked := make([]float64, n)
	for i, v := range f.Paths[k] {
		from, to := f.Grid.At(i), f.Grid.At(i+1)
		work := v * 1000 * float64(to-from)
		a, b := days.Index(from), days.Index(to-1)
		share := make([]float64, b-a+1)
		var all, lengths float64
		for d := a; d <= b; d++ {
			length := float64(min(to, days.At(d+1)) - max(from, days.At(d)))
			w := days.At(d).Std().In(r.zone).Weekday()
			share[d-a] = length * r.weight[w]
			all += share[d-a]
			lengths += length
		}
		for d := a; d <= b; d++ {
			part := float64(min(to, days.At(d+1))-max(from, days.At(d))) / lengths
			if all > 0 {
				part = share[d-a] / all
			}
			asked[d] += work * part
		}
	}
	out := make([]capcli.GPUTime, n)
	var sum float64
	var so capcli.GPUTime
	for i, v := range asked {
		if sum += v; sum > 1<<62 {
			return nil, capcli.ErrTooMuchTime
		}
		out[i] = capcli.GPUTime(math.Round(sum)) - so
		so += out[i]
	}
	return out, nil
}

// drawing is the state of filling one future.
type drawing struct {
	r        *Resampler
	rng      *rand.Rand
	out      []capcli.Job
	filled   Filled
	most     int
	from, to capcli.Time // of the future
	round    []capcli.Job
	order    []int
}

// window draws jobs for some days, which together want the given work.
func (d *drawing) window(days capcli.Grid, from, to int, work capcli.GPUTime) error {
	d.filled.Asked += work
	for round := 0; ; round++ {
		want := d.filled.Asked - d.filled.Drawn
		if want <= 0 {
			break
		}
		if round > 0 {
			d.filled.Repeated += to - from
		}
		got := d.draw(days, from, to, round)
		switch {
		case len(d.round) == 0 && round > 100_000:
			return errors.New("the days of the history that could fill this future are empty: give a longer history")
		case len(d.out)+len(d.round) > d.most:
			return fmt.Errorf("more than %d jobs would be drawn for one future: its level is %.3g times that of the history, or its jobs are short", d.most, float64(want)/float64(max(got, 1)))
		}
		if got > want {
			d.thin(float64(want) / float64(got))
			break
		}
		d.out = append(d.out, d.round...)
		d.filled.Drawn += got
	}
	if off := d.filled.Asked - d.filled.Drawn; max(off, -off) > d.filled.Worst {
		d.filled.Worst = max(off, -off)
	}
	return nil
}

// draw puts the jobs of one drawn day, for each day of the window, in round, and returns their
// work.
func (d *drawing) draw(days capcli.Grid, from, to, round int) (work capcli.GPUTime) {
	d.round = d.round[:0]
	for i := from; i < to; i++ {
		start, end := days.At(i), days.At(i+1)
		day := start.Std().In(d.r.zone)
		fit := d.r.byDay[day.Weekday()]
		past := &d.r.days[fit[d.rng.IntN(len(fit))]]
		mark := "@" + day.Format("2006-01-02")
		if round > 0 {
			mark += "+" + strconv.Itoa(round)
		}
		for _, j := range d.r.jobs[past.from:past.to] {
			at := d.r.clock(j.Submit, past, start, end)
			if at < d.from || at >= d.to {
				continue
			}
			if j.Eligible > j.Submit {
				j.Eligible += at - j.Submit
			}
			if j.Deadline.IsKnown() {
				j.Deadline += at - j.Submit
			}
			j.ID, j.Submit, j.Start, j.End = j.ID+mark, at, capcli.NoTime, capcli.NoTime
			work += j.Work()
			d.round = append(d.round, j)
		}
	}
	return work
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

// thin keeps a share p of the round's jobs.
func (d *drawing) thin(p float64) {
	d.order = d.order[:0]
	for i := range d.round {
		d.order = append(d.order, i)
	}
	slices.SortStableFunc(d.order, func(a, b int) int { return cmp.Compare(d.round[a].Work(), d.round[b].Work()) })
	u := d.rng.Float64()
	for k, i := range d.order {
		if math.Floor(float64(k+1)*p+u) > math.Floor(float64(k)*p+u) {
			d.out = append(d.out, d.round[i])
			d.filled.Drawn += d.round[i].Work()
		}
	}
}

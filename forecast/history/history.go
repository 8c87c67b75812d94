// Package history says which part of a log its future may be learnt from: it finds tenants that left, a
// level that shifted, an end that falls away, and one that lacks the jobs that had not ended or started.
package history

import (
	"slices"

	"capcli"
)

// The rules, in days and shares. They are wide: a holiday, a weekend or growth is none of them.
const (
	leastDays   = 28   // of a log that is judged
	leastPart   = 14   // days of a part that can count
	leastShare  = 0.05 // of the log's GPU time that a tenant held before its leaving counts
	goneDays    = 14   // least time without a job after which a tenant has left
	goneGaps    = 3    // times its longest earlier pause that this time is
	shiftGain   = 3    // gain of a move of the level, in penalties
	shiftDays   = 14   // least length of the levels on both sides
	shiftFactor = 1.5  // between the two levels
	fallFactor  = 0.4  // of the lowest week before that the last week holds at most, where the end falls away
	fallDays    = 63   // of the end in which those weeks lie
	fallMost    = 13   // days since a fall; after more of them it is a move of the level
	cutFlight   = 0.05 // of the usual level in flight that the end has at most, where the log lacks jobs that have not ended
	cutLowest   = 0.2  // of the usual level in flight that every midnight before has at least
	cutWork     = 0.9  // of the GPU time is of jobs that the log knows after no longer than the time that is lacking
	heldFlight  = 0.5  // of the usual level in flight that the end of a log whose queue is missing has at least
	heldDays    = 1    // least such time, in a log that has running jobs too, from which its queue holds the end down
	heldFactor  = 0.8  // of the four weeks before that the end holds at most, where its queue holds it down
)

// Review says what of a log is gone.
type Review struct {
	From  capcli.Time // the log counts from here on
	Until capcli.Time // and up to here
	Left  []Departure // tenants that left, in order of name
	Shift *Shift      // the last move of the level; nil is none
	End   *Fall       // the end that falls away; nil is none

	first, last capcli.Time
	choice      string
}

// Departure is a tenant that left.
type Departure struct {
	Tenant string
	Last   capcli.Time // its last job ended, or would have ended without a wait
	Level  float64     // GPUs that it held in the mean while it was there
}

// Shift is a lasting move of the level, without the tenants that left.
type Shift struct {
	At          capcli.Time
	Before, Now float64 // GPUs
}

// Fall is an end of a log that falls away, or in which jobs are missing.
type Fall struct {
	At          capcli.Time // from here on
	Before, Now float64     // GPUs: of the four weeks before, and since
	Cut         bool        // the log knows only jobs that have ended, so the long ones of its last days are missing
	Held        bool        // the log knows only jobs that have started, so those that wait in a long queue are missing
}

// Inspect judges jobs in order of submission. A log of fewer than four weeks is counted whole.
func Inspect(jobs []capcli.Job) (*Review, error) {
	r := &Review{choice: levelNow}
	total := capcli.Demand{Measure: capcli.LatentDemand, Step: capcli.Step{Days: 1}}
	tenants := map[string]*tenant{}
	var names []string
	for i := range jobs {
		j := &jobs[i]
		if j.Milli() <= 0 || j.Run <= 0 {
			continue
		}
		if err := total.Add(j, ""); err != nil {
			return nil, err
		}
		if r.last == 0 {
			r.first = j.Submit
		}
		r.last = max(r.last, j.Submit)
		if tenants[j.Tenant] == nil {
			tenants[j.Tenant], names = &tenant{first: j.Submit, end: j.Submit}, append(names, j.Tenant)
		}
		tenants[j.Tenant].add(j)
	}
	r.From, r.Until = r.first, r.last+1
	if r.last-r.first < leastDays*capcli.Time(capcli.Day) {
		return r, nil
	}
	slices.Sort(names)
	_, sum := total.Work("")
	for _, name := range names {
		if t := tenants[name]; len(names) > 1 && float64(t.work) >= leastShare*float64(sum) && t.isGone(r.last) && !replaced(&total, t) {
			r.Left = append(r.Left, Departure{name, t.end, float64(t.work) / 1000 / float64(t.end-t.first)})
		}
	}
	return r, r.judgeLevel(jobs)
}

// tenant is what is known of one tenant.
type tenant struct {
	work       capcli.GPUTime
	first, end capcli.Time
	pause      capcli.Time // longest time in which it ran nothing
}

func (t *tenant) add(j *capcli.Job) {
	t.work += j.Work()
	t.pause = max(t.pause, j.Submit-t.end)
	t.end = max(t.end, j.Submit+capcli.Time(j.Run))
}

func (t *tenant) isGone(last capcli.Time) bool { return IsGone(t.end, last, t.pause) }

// IsGone reports whether one whose last sign was at end has gone, in a record up to last: it is silent
// for two weeks, and for much longer than in pause, its longest earlier pause.
func IsGone(end, last, pause capcli.Time) bool {
	return last-end >= max(goneDays*capcli.Time(capcli.Day), goneGaps*pause)
}

// replaced reports whether others took the place of a tenant that left: the level of the four weeks after it
// is not lower by half of what it held.
func replaced(total *capcli.Demand, t *tenant) bool {
	y := total.Series("")
	at := int((t.end - y.Start) / capcli.Time(capcli.Day))
	if at >= len(y.Values) || at < 1 {
		return false
	}
	before, after := mean(y.Values[max(0, at-28):at]), mean(y.Values[at:min(len(y.Values), at+28)])
	return before-after < float64(t.work)/1000/float64(t.end-t.first)/2
}

func (r *Review) hasLeft(name string) bool {
	return slices.ContainsFunc(r.Left, func(d Departure) bool { return d.Tenant == name })
}

// IsWhole reports whether nothing is gone, so that all of the log counts.
func (r *Review) IsWhole() bool { return len(r.Left) == 0 && r.Shift == nil && r.End == nil }

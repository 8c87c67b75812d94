// Package history says which part of a log its future may be learnt from: it finds tenants that left, a
// level that shifted, and an end that falls away.
package history

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/forecast/change"
)

// The rules, in days and shares. They are wide: a holiday, a weekend or growth is none of them.
const (
	leastDays   = 28   // of a log that is judged
	leastShare  = 0.05 // of the log's GPU time that a tenant held before its leaving counts
	goneDays    = 14   // least time without a job after which a tenant has left
	goneGaps    = 3    // times its longest earlier pause that this time is
	shiftGain   = 3    // gain of a move of the level, in penalties
	shiftDays   = 14   // least length of the levels on both sides
	shiftFactor = 1.5  // between the two levels
	fallFactor  = 0.4  // of the lowest week before that the last week holds at most, where the end falls away
	fallDays    = 63   // of the end in which those weeks lie
	cutFlight   = 0.05 // of the usual level in flight that the end has at most, where the log lacks jobs that have not ended
	cutLowest   = 0.2  // of the usual level in flight that every midnight before has at least
	cutWork     = 0.9  // of the GPU time is held by jobs that run no longer than the time that is lacking
)

// Review says what of a log is gone.
type Review struct {
	From  capcli.Time // the log counts from here on
	Until capcli.Time // and up to here
	Left  []Departure // tenants that left, in order of name
	Shift *Shift      // the last move of the level; nil is none
	End   *Fall       // the end that falls away; nil is none

	first, last capcli.Time
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

// Fall is an end of a log that falls away.
type Fall struct {
	At          capcli.Time // from here on
	Before, Now float64     // GPUs: of the four weeks before, and since
	Cut         bool        // the log knows only jobs that have ended, so the long ones of its last days are missing
}

// Choice is a way to count a log, for a user to choose.
type Choice struct{ Name, Text string }

// Inspect judges jobs in order of submission. A log of fewer than four weeks is counted whole.
func Inspect(jobs []capcli.Job) (*Review, error) {
	r := &Review{}
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

func (t *tenant) isGone(last capcli.Time) bool {
	return last-t.end >= max(goneDays*capcli.Time(capcli.Day), goneGaps*t.pause)
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

// judgeLevel finds the last move of the level and the fall at the end, without the tenants that left.
func (r *Review) judgeLevel(jobs []capcli.Job) error {
	levels := capcli.Demand{Measure: capcli.LatentDemand, Step: capcli.Step{Days: 1}}
	for i := range jobs {
		if j := &jobs[i]; j.Milli() > 0 && j.Run > 0 && !r.hasLeft(j.Tenant) {
			if err := levels.Add(j, ""); err != nil {
				return err
			}
		}
	}
	y := levels.Series("")
	_, days := levels.WholeSteps()
	days = min(days, len(y.Values))
	if days < leastDays {
		return nil
	}
	y.Values = y.Values[:days]
	if r.fall(y) {
		y.Values = y.Values[:days-7]
	}
	r.cut(jobs, y)
	return r.shift(y)
}

// fall finds an end that falls away: the last week is far below every week of the two months before it.
func (r *Review) fall(y capcli.Series) bool {
	days := len(y.Values)
	now, lowest := mean(y.Values[days-7:]), mean(y.Values[days-14:days-7])
	for from := max(7, days-fallDays); from+7 <= days-7; from++ {
		lowest = min(lowest, mean(y.Values[from:from+7]))
	}
	before := mean(y.Values[max(7, days-35) : days-7])
	if lowest <= 0 || now > fallFactor*lowest {
		return false
	}
	r.End = &Fall{At: y.At(days - 7), Before: before, Now: now}
	r.Until = r.End.At
	return true
}

// cut finds a log that lacks the jobs that had not ended: hardly any job runs on after its end, though at
// every midnight some did. It lacks them for as long as its long jobs run, at most four weeks.
func (r *Review) cut(jobs []capcli.Job, y capcli.Series) {
	flying := make([]float64, len(y.Values)) // GPUs in flight at the end of each day
	var after float64
	var stay []*capcli.Job
	var sum float64
	for i := range jobs {
		j := &jobs[i]
		if j.Milli() <= 0 || j.Run <= 0 || r.hasLeft(j.Tenant) {
			continue
		}
		end := j.Submit + capcli.Time(j.Run)
		for d := max(0, int((j.Submit-y.Start)/capcli.Time(capcli.Day))); d < len(flying) && y.At(d+1) < end; d++ {
			flying[d] += float64(j.Milli()) / 1000
		}
		if end > r.last+1 && j.Submit < r.last {
			after += float64(j.Milli()) / 1000
		}
		stay, sum = append(stay, j), sum+float64(j.Work())
	}
	if len(flying) < leastDays {
		return
	}
	held := slices.Sorted(slices.Values(flying[7 : len(flying)-7]))
	if usual := held[len(held)/2]; usual <= 0 || after > cutFlight*usual || held[0] < cutLowest*usual {
		return
	}
	slices.SortFunc(stay, func(a, b *capcli.Job) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.ID, b.ID))
	})
	var part float64
	var lacks capcli.Seconds
	for _, j := range stay {
		if part += float64(j.Work()); part >= cutWork*sum {
			lacks = min(j.Run, leastDays*capcli.Day)
			break
		}
	}
	at := r.last - capcli.Time(lacks)
	first := max(0, min(len(y.Values)-1, int((at-y.Start)/capcli.Time(capcli.Day))))
	if r.End != nil && at >= r.End.At {
		return // the level fell first; few jobs are left that could run on
	}
	r.End = &Fall{At: at, Before: mean(y.Values[max(0, first-28) : first+1]), Now: mean(y.Values[first:]), Cut: true}
	r.Until = at
}

// shift finds the last move of the level. The days of its two sides hardly overlap, week by week.
func (r *Review) shift(y capcli.Series) error {
	moves, _, err := change.Find(y, []int{7})
	if err != nil || len(moves) == 0 {
		return err
	}
	for _, m := range slices.Backward(moves) {
		if m.Gain < shiftGain || m.Index < shiftDays || len(y.Values)-m.Index < shiftDays {
			continue
		}
		before, after := weeks(y.Values[:m.Index]), weeks(y.Values[m.Index:])
		up := slices.Min(after) > shiftFactor*slices.Max(before)
		down := shiftFactor*slices.Max(after) < slices.Min(before)
		if up || down {
			r.Shift = &Shift{At: y.At(m.Index), Before: mean(y.Values[:m.Index]), Now: mean(y.Values[m.Index:])}
			r.From = r.Shift.At
			return nil
		}
	}
	return nil
}

// weeks returns the means of whole weeks; of all where there is no whole week.
func weeks(v []float64) (out []float64) {
	for i := 0; i+7 <= len(v); i += 7 {
		out = append(out, mean(v[i:i+7]))
	}
	if out == nil {
		out = append(out, mean(v))
	}
	return out
}

func mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}

func (r *Review) hasLeft(name string) bool {
	return slices.ContainsFunc(r.Left, func(d Departure) bool { return d.Tenant == name })
}

// IsWhole reports whether nothing is gone, so that all of the log counts.
func (r *Review) IsWhole() bool { return len(r.Left) == 0 && r.Shift == nil && r.End == nil }

// Counts reports whether a job belongs to the part of the log that counts: of a tenant that is still there,
// running after From and submitted before Until.
func (r *Review) Counts(j *capcli.Job) bool {
	return !r.hasLeft(j.Tenant) && j.Submit < r.Until && j.Submit+capcli.Time(j.Run) > r.From
}

// Sentences says in words what is gone, one finding each.
func (r *Review) Sentences() []string {
	var out []string
	for _, d := range r.Left {
		out = append(out, fmt.Sprintf("tenant %q left on %s; until then it held %.0f GPUs on average", d.Tenant, date(d.Last), d.Level))
	}
	if s := r.Shift; s != nil {
		out = append(out, fmt.Sprintf("since %s the level is %.0f GPUs; before it was %.0f", date(s.At), s.Now, s.Before))
	}
	if e := r.End; e != nil {
		why := "the level fell away, as where a cluster is taken down"
		if e.Cut {
			why = "hardly a job runs on after the end, as in a log that has only jobs that have ended"
		}
		out = append(out, fmt.Sprintf("from %s on the log holds %.0f GPUs, after %.0f: %s", date(e.At), e.Now, e.Before, why))
	}
	return out
}

// Choices returns the ways in which the log can count: the names that Choose takes. The first is the one that the
// review follows. There are none where nothing is gone.
func (r *Review) Choices() []Choice {
	if r.IsWhole() {
		return nil
	}
	out := []Choice{{"level-now", fmt.Sprintf("the tenants that are there, from %s until %s", date(r.From), date(r.Until))}}
	return append(out, Choice{"level-before", "the whole log, as if nothing had changed"}, Choice{"end-now", "the log from its last week on: what is left goes on"})
}

// Choose returns the review by another choice. It fails with *capcli.RequestError for a name that is not one.
func (r *Review) Choose(choice string) (*Review, error) {
	out := *r
	switch choice {
	case "level-now":
	case "level-before":
		out = Review{From: r.first, Until: r.last + 1, first: r.first, last: r.last}
		if r.End != nil {
			out.Until = r.End.At // the fall itself is no level
		}
	case "end-now":
		out.Until = r.last + 1
		if r.End != nil {
			out.From = r.End.At
		}
	default:
		return nil, &capcli.RequestError{Field: "as-if", Text: fmt.Sprintf("expected level-now, level-before or end-now, found %q", choice), Hint: "--as-if level-now"}
	}
	return &out, nil
}

func date(t capcli.Time) string { return t.Std().UTC().Format("2006-01-02") }

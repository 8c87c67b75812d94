package history

import (
	"cmp"
	"math"
	"slices"

	"capcli"
	"capcli/forecast/change"
)

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
	y.Values = y.Values[:r.cut(jobs, y, days-r.fall(y))]
	return r.shift(y)
}

// fall finds an end that falls away: each of its weeks is far below every week of the two months before. Of the
// ends that are so it takes the one that divides the last four weeks into two levels best, by least squares. It
// returns the days of the end; 0 is none.
func (r *Review) fall(y capcli.Series) int {
	v, found, least := y.Values, 0, math.Inf(1)
	for n := 7; n <= fallMost && len(v)-n >= leastPart; n++ {
		end, past := v[len(v)-n:], v[max(7, len(v)-fallDays):len(v)-n]
		lowest := slices.Min(slideWeek(past))
		if lowest <= 0 || slices.Max(slideWeek(end)) > fallFactor*lowest {
			continue
		}
		if rest := spread(end) + spread(v[len(v)-leastDays:len(v)-n]); rest < least {
			found, least = n, rest
			r.End = &Fall{At: y.At(len(v) - n), Before: mean(v[max(7, len(v)-n-leastDays) : len(v)-n]), Now: mean(end)}
			r.Until = r.End.At
		}
	}
	return found
}

// slideWeek returns the means of all weeks, one from each day; of all where there is no whole week.
func slideWeek(v []float64) (out []float64) {
	for i := 0; i+7 <= len(v); i++ {
		out = append(out, mean(v[i:i+7]))
	}
	if out == nil {
		out = append(out, mean(v))
	}
	return out
}

// spread returns the sum of the squares of the differences from the mean.
func spread(v []float64) (sum float64) {
	m := mean(v)
	for _, x := range v {
		sum += (x - m) * (x - m)
	}
	return sum
}

// flight is what is known of the jobs in flight over a log.
type flight struct {
	days  []float64 // GPUs in flight at the end of each day
	after float64   // GPUs in flight after the last submission, of jobs from before
	later float64   // GPUs of jobs of which the log knows what they did over an hour after the last submission
}

// add counts a job from its start to its end. Where the log does not say them it counts as if it had not waited.
func (f *flight) add(j *capcli.Job, y capcli.Series, last capcli.Time) {
	from, to := j.Submit, j.Submit+capcli.Time(j.Run)
	if j.Start.IsKnown() {
		if from, to = j.Start, j.End; !j.End.IsKnown() {
			to = max(j.Start+capcli.Time(j.Run), last+2) // it runs on
		}
	}
	gpus := float64(j.Milli()) / 1000
	for d := max(0, int((from-y.Start)/capcli.Time(capcli.Day))); d < len(f.days) && y.At(d+1) < to; d++ {
		f.days[d] += gpus
	}
	if to > last+1 && j.Submit < last {
		f.after += gpus
	}
	if max(j.Start, j.End) > last+capcli.Time(capcli.Hour) {
		f.later += gpus
	}
}

// cut finds an end in which jobs are missing. A log that has only jobs that have ended lacks the long ones:
// hardly any job runs on after its end, though at every midnight some did. A log that has only jobs that have
// started lacks those in its queue: it knows nothing beyond its last submission, though jobs waited
// for days and GPUs are in use.
// Either lacks them for as long as the log takes to know its jobs, by their GPU time: from submission to the
// end, or to the start. It is at most four weeks. usable are the days of y before the end that fell away; cut
// returns those before either end.
func (r *Review) cut(jobs []capcli.Job, y capcli.Series, usable int) int {
	days := len(y.Values)
	f := &flight{days: make([]float64, days)}
	var stay []*capcli.Job
	for i := range jobs {
		if j := &jobs[i]; j.Milli() > 0 && j.Run > 0 && !r.hasLeft(j.Tenant) {
			f.add(j, y, r.last)
			stay = append(stay, j)
		}
	}
	held := slices.Sorted(slices.Values(f.days[7 : days-7]))
	usual := held[len(held)/2]
	end := Fall{Cut: usual > 0 && f.after <= cutFlight*usual && held[0] >= cutLowest*usual}
	end.Held = usual > 0 && f.after >= heldFlight*usual && f.later <= cutFlight*usual
	lacks := r.lacks(stay, end.Cut)
	if lacks == 0 || !end.Cut && (!end.Held || lacks < heldDays*capcli.Day) {
		return usable
	}
	end.At = r.last - capcli.Time(lacks)
	first := int((end.At - y.Start) / capcli.Time(capcli.Day))
	if !end.Held && r.End != nil && end.At >= r.End.At || first < 1 || first >= days {
		return usable // the level fell first; few jobs are left that could run on
	}
	end.Before, end.Now = mean(y.Values[max(0, first-leastDays):first]), mean(y.Values[first:])
	if end.Held && end.Now > heldFactor*end.Before {
		return usable // nothing shows that jobs are missing
	}
	r.End, r.Until = &end, r.last+1
	if first < leastPart {
		return days // too little would be left
	}
	r.Until = end.At
	return first
}

// lacks returns the time after its submission in which the log knows a job, at the share cutWork of the GPU
// time of the jobs that it came to know in its last four weeks; at most four weeks. The log knows a job from its
// end on where it has only ended ones, else from its start on.
func (r *Review) lacks(jobs []*capcli.Job, ended bool) capcli.Seconds {
	type known struct {
		after capcli.Seconds
		work  float64
	}
	var list []known
	var sum, part float64
	for _, j := range jobs {
		at := j.Submit
		switch {
		case ended && j.End.IsKnown():
			at = max(at, j.End)
		case ended:
			at += capcli.Time(j.Run)
		case j.Start.IsKnown():
			at = max(at, j.Start)
		}
		if at >= r.last-leastDays*capcli.Time(capcli.Day) {
			list, sum = append(list, known{capcli.Seconds(at - j.Submit), float64(j.Work())}), sum+float64(j.Work())
		}
	}
	slices.SortFunc(list, func(a, b known) int { return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(a.work, b.work)) })
	for _, k := range list {
		if part += k.work; part >= cutWork*sum {
			return min(k.after, leastDays*capcli.Day)
		}
	}
	return 0
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

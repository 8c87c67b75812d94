package demand

import (
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
)

// readJobs adds up the jobs of a log to histories by group.
func (r *reader) readJobs(ctx context.Context, in trace.Input) (*Histories, error) {
	if r.Combine != "" || r.Gaps != "" {
		return nil, &capcli.RequestError{Text: in.Name + " is a job log, which has no gaps and no values to combine; --gaps and --agg are for tables", Hint: "for peaks give --peak"}
	}
	if err := r.checkJobs(in.Name); err != nil {
		return nil, err
	}
	log, err := trace.Open(in, r.Trace)
	if err != nil {
		return nil, err
	}
	d := &capcli.Demand{Measure: measures[r.Measure], Step: r.Step, Zone: r.Trace.TZ, Peaks: r.Peak}
	if !r.stepped() {
		d.Step = capcli.Step{Seconds: capcli.Hour}
	}
	queue := r.queueBeside(d)
	at, end := r.src.progress("jobs")
	jobs := capcli.WatchJobs(ctx, log.Jobs(), at)
	if r.Peak {
		jobs = trace.Sorted(jobs)
	}
	groups := newGrouper(r.By, r.Total)
	for j, err := range jobs {
		if err != nil {
			return nil, err
		}
		names := groups.keysOf(&j)
		err := d.Add(&j, names...)
		if queue != nil && err == nil {
			err = queue.Add(&j, names...)
		}
		if err != nil {
			return nil, &capcli.InputError{File: in.Name, Text: fmt.Sprintf("job %s, submitted %s: %v", j.ID, j.Submit, err), Hint: "take a longer --step, or fewer groups with --by", Err: err}
		}
	}
	rep := log.Report()
	end(rep.Kept)
	if err := groups.checkTags(r.By); err != nil {
		return nil, err
	}
	hs, err := r.fromDemand(in.Name, d, groups, rep)
	if err != nil || !r.censored() {
		return hs, err
	}
	hs.attachQueue(queue)
	return hs, nil
}

// measures are the measures of job logs, by the names in Measures.
var measures = map[string]capcli.Measure{
	"demand": capcli.LatentDemand, "usage": capcli.Usage, "queue": capcli.Queue,
	"arrivals": capcli.Arrivals, "arrival-hours": capcli.ArrivalHours,
}

// fromDemand returns the histories of the groups in d, on the whole steps of the log, or on all
// steps for Request.Curve. It fails where no job wants a GPU, and for under two whole steps.
func (r *reader) fromDemand(file string, d *capcli.Demand, groups *grouper, rep trace.Report) (*Histories, error) {
	hs := &Histories{Inputs: []string{file}, Zone: r.Trace.TZ, Clock: true, Step: d.Step, Measure: r.Measure, Peak: r.Peak, Notes: rep.Remarks()}
	if rep.Cut {
		hs.Partial = file + " is cut short; this forecasts from what was there"
	}
	names := d.Names()
	if len(names) == 0 {
		return nil, &capcli.InputError{File: file, Text: fmt.Sprintf("expected jobs that want a GPU, found none in %d jobs", rep.Kept), Hint: "look into it: capcli trace describe " + file}
	}
	if err := checkStarts(file, d); err != nil {
		return nil, err
	}
	hs.Unknown = d.Unknown
	if d.Unknown > 0 {
		hs.Notes = append(hs.Notes, fmt.Sprintf("%s GPU %s left out: the log does not say when %s started and ended", capcli.Grouped(d.Unknown), capcli.Plural(d.Unknown, "job"), capcli.Agree(d.Unknown, "it", "they")))
	}
	hs.FormatStamp = stampFormat(d.Step, r.Trace.TZ)
	from, to := d.WholeSteps()
	if r.Curve && !r.Whole {
		all, _ := d.Work(names[0])
		from, to = 0, len(all)
	}
	grid := d.Grid()
	if to-from < 2 && (!r.Curve || r.Whole) {
		return nil, &capcli.InputError{
			File: file, Text: fmt.Sprintf("expected at least two whole steps of %s, found %d", d.Step, to-from), Hint: "take a shorter --step",
		}
	}
	grid.Origin = grid.At(from)
	made := map[string]*History{}
	for _, name := range names {
		s := d.Series(name)
		s.Values = append([]float64(nil), s.Values[from:min(to, len(s.Values))]...)
		for len(s.Values) < to-from {
			s.Values = append(s.Values, 0) // demand is 0 after the end of the last job
		}
		s.Start, hs.Unit = grid.Origin, s.Unit
		made[name] = &History{Regular: series.Regular{Series: s, Grid: grid}, Set: hs, group: name}
	}
	groups.arrange(hs, made)
	return hs, nil
}

// checkStarts returns an error where usage is asked of a log that does not say when most of the work on GPUs was done.
func checkStarts(file string, d *capcli.Demand) error {
	if d.Measure != capcli.Usage || d.Unknown == 0 || d.UnknownWork <= d.KnownWork {
		return nil
	}
	return &capcli.InputError{
		File: file, Field: "start",
		Text: fmt.Sprintf("expected the start and the end of jobs, found none of %s GPU %s with %s GPU-hours, and those of %s GPU-hours: what was in use when is not known",
			capcli.Grouped(d.Unknown), capcli.Plural(d.Unknown, "job"), capcli.BriefNumber(d.UnknownWork.Hours()), capcli.BriefNumber(d.KnownWork.Hours())),
		Hint: "give a log with starts (--read start=COLUMN), or plan for the demand, which counts jobs from their submission: capcli plan curve",
	}
}

// checkJobs returns an error for a setting that does not apply to a job log.
func (r *reader) checkJobs(file string) error {
	switch {
	case slices.Contains([]string{"held", "busy", "sm", "power"}, r.Measure):
		return &capcli.RequestError{Text: fmt.Sprintf("%s is a job log, which does not know --measure %s; it is for folders that capcli profile wrote", file, r.Measure), Hint: "--measure usage"}
	case readsTraffic(r.Measure):
		return &capcli.RequestError{Text: fmt.Sprintf("%s is a job log, which does not know --measure %s; it is for traces of requests, and for --prom with --metrics", file, r.Measure), Hint: "--measure demand"}
	case slices.Contains(r.By, "host"):
		return &capcli.RequestError{Text: file + " is a job log, which does not know --by host; it is for folders that capcli profile wrote", Hint: "--by pool"}
	case !r.censored():
		return nil
	case r.Pending != "" || len(r.columnsBeside()) > 0:
		return &capcli.RequestError{Text: file + " is a job log, which says itself what waited; --pending, --pending-col and --capacity-col are for tables", Hint: "--measure usage --past-capacity 64"}
	case r.Measure != "usage" && r.Measure != "demand":
		return &capcli.RequestError{Text: "a past capacity limits usage, and --measure is " + r.Measure, Hint: "--measure usage, or leave the capacity out"}
	case r.Measure == "usage" && r.Peak:
		return &capcli.RequestError{Text: "demand cannot be estimated from peaks of usage", Hint: "leave --measure usage out: demand has peaks too"}
	}
	return nil
}

// queueBeside returns an empty sum of the queue on the steps of d, or nil where the request does
// not need the queue.
func (r *reader) queueBeside(d *capcli.Demand) *capcli.Demand {
	if !r.censored() || r.Measure != "usage" {
		return nil
	}
	return &capcli.Demand{Measure: capcli.Queue, Step: d.Step, Zone: d.Zone}
}

// attachQueue sets the Censoring of the histories of a job log from its queue. A nil queue adds a
// note that the past capacity was not needed.
func (hs *Histories) attachQueue(queue *capcli.Demand) {
	if queue == nil {
		hs.Notes = append(hs.Notes, fmt.Sprintf("the past capacity was not needed: %s gives the unconstrained demand itself (--measure usage estimates it from usage)", hs.Inputs[0]))
		return
	}
	hs.Notes = append(hs.Notes, "usage + queue counts a queued job in each step that it waits; --measure demand, the default, counts it once")
	for _, h := range hs.List {
		s := queue.Series(h.group)
		skip := 0
		for capcli.Time(h.Stamp(0)) > queue.Grid().At(skip) {
			skip++ // both begin at the first submit; the history drops an incomplete first step
		}
		c := &Censoring{Fine: h.Regular, Pending: make([]float64, len(h.Values))}
		copy(c.Pending, s.Values[min(skip, len(s.Values)):])
		h.Censoring = c
	}
}

package main

import (
	"context"
	"fmt"

	"capcli"
	"capcli/profile/demand"
	"capcli/profile/series"
	"capcli/profile/trace"
)

// fromJobs sums a job log.
func (o *historyOptions) fromJobs(ctx context.Context, e *env, in trace.Input) (*demand.Histories, error) {
	opts, err := o.read.options()
	if err != nil {
		return nil, err
	}
	if o.agg != "" || o.gaps != "" {
		return nil, &usageError{text: in.Name + " is a job log, which has no gaps and no values to combine; --gaps and --agg are for tables", hint: "for peaks give --peak"}
	}
	if err := o.checkJobs(in.Name); err != nil {
		return nil, err
	}
	r, err := trace.Open(in, opts)
	if err != nil {
		return nil, err
	}
	d := &capcli.Demand{Measure: measureOf(o.measure), Step: o.steps, Zone: o.zone, Peaks: o.peak}
	if o.step == "" {
		d.Step = capcli.Step{Seconds: capcli.Hour}
	}
	queue := o.queue(d)
	p := newProgress(e, "jobs")
	jobs := checked(ctx, r.Jobs(), p)
	if o.peak {
		jobs = trace.Sorted(jobs)
	}
	groups := newGrouper(o.by, o.tree.total)
	for j, err := range jobs {
		if err != nil {
			return nil, err
		}
		names := groups.of(&j)
		err := d.Add(&j, names...)
		if queue != nil && err == nil {
			err = queue.Add(&j, names...)
		}
		if err != nil {
			return nil, &capcli.InputError{File: in.Name, Text: fmt.Sprintf("job %s, submitted %s: %v", j.ID, j.Submit, err), Hint: "take a longer --step, or fewer groups with --by", Err: err}
		}
	}
	rep := r.Report()
	p.end(rep.Kept)
	hs, err := o.ofDemand(in.Name, d, groups, rep)
	if err != nil || !o.censor.asked() {
		return hs, err
	}
	attachJobs(hs, queue)
	return hs, nil
}

func measureOf(name string) capcli.Measure {
	return map[string]capcli.Measure{
		"demand": capcli.LatentDemand, "usage": capcli.Usage, "queue": capcli.Queue,
		"arrivals": capcli.Arrivals, "arrival-hours": capcli.ArrivalHours,
	}[name]
}

func (o *historyOptions) ofDemand(file string, d *capcli.Demand, groups *grouper, rep trace.Report) (*demand.Histories, error) {
	hs := &demand.Histories{Inputs: []string{file}, Zone: o.zone, Clock: true, Step: d.Step, Measure: o.measure, Peak: o.peak, Notes: rep.Remarks()}
	if rep.Cut {
		hs.Partial = file + " is cut short; this forecasts from what was there"
	}
	names := d.Names()
	if len(names) == 0 {
		return nil, &capcli.InputError{File: file, Text: fmt.Sprintf("expected jobs that want a GPU, found none in %d jobs", rep.Kept), Hint: "look into it: capcli trace describe " + file}
	}
	if d.Unknown > 0 {
		hs.Notes = append(hs.Notes, fmt.Sprintf("%s GPU %s left out: the log does not say when they started and ended", grouped(d.Unknown), plural(d.Unknown, "job")))
	}
	hs.FormatStamp = stepStamps(d.Step, o.zone)
	from, to := d.Whole()
	if o.whole {
		all, _ := d.Work(names[0])
		from, to = 0, len(all)
	}
	grid := d.Grid()
	if to-from < 2 && !o.whole {
		return nil, &capcli.InputError{
			File: file, Text: fmt.Sprintf("expected at least two whole steps of %s, found %d", d.Step, to-from), Hint: "take a shorter --step",
		}
	}
	grid.Origin = grid.At(from)
	made := map[string]*demand.History{}
	for _, name := range names {
		s := d.Series(name)
		s.Values = append([]float64(nil), s.Values[from:min(to, len(s.Values))]...)
		for len(s.Values) < to-from {
			s.Values = append(s.Values, 0) // nothing is wanted after the last job's end
		}
		s.Start, hs.Unit = grid.Origin, s.Unit
		made[name] = &demand.History{Regular: series.Regular{Series: s, Grid: grid}, Set: hs, Group: name}
	}
	groups.arrange(hs, made)
	return hs, nil
}

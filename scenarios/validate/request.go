package validate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/simulate"
	"capcli/simulate/policy"
)

// Request asks how far a simulation of a job log is from what the log records.
type Request struct {
	Log          string
	Read         trace.Options
	Partition    string         // only jobs of this partition; "" is all
	GPUModel     string         // only jobs that want this GPU model; "" is all
	Capacity     int64          // GPUs, CPUs or nodes, as the log counts them; 0 is the highest use of the log
	CapacityFile string         // file with the capacity, in place of Capacity; "" is none
	Policy       string         // name in the catalogue of policies; "" is easy
	Perfect      bool           // the policy believes true run times, not limits
	From         string         // replay from this date, time, or length of time after the first submission, with the state recorded then; "" is all
	WarmUp       capcli.Seconds // jobs queued in this time from the first are not measured; AutoWarmUp chooses
	Fit          bool           // also choose policy and settings on the earlier part of the log
}

// AutoWarmUp is a week, or nothing where the log is shorter than four weeks or nobody waits in the
// replay.
const AutoWarmUp = capcli.Seconds(-1)

// defaultPolicy is the policy of a request that names none.
const defaultPolicy = "easy"

// Check refuses a request that cannot be answered, before anything is read.
func (r *Request) Check() error {
	if r.Log == "" {
		return &capcli.RequestError{Text: "no job log is named", Hint: "name a log that records when jobs started"}
	}
	if r.Capacity < 0 || r.Capacity > mostCapacity {
		return &capcli.RequestError{Field: "capacity", Text: fmt.Sprintf("wants 1 to 10000000 or a file, found %d", r.Capacity)}
	}
	if r.WarmUp < AutoWarmUp {
		return &capcli.RequestError{Field: "warm-up", Text: "wants a length of time from 0"}
	}
	if r.From != "" && r.WarmUp > 0 {
		return &capcli.RequestError{Field: "warm-up", Text: "wants 0 with a begin: the replay then starts from the recorded state", Hint: "leave one of the two out"}
	}
	if _, err := r.cut(0); err != nil {
		return err
	}
	if r.Policy == "" {
		return nil
	}
	_, err := policy.Catalog.Get(r.Policy)
	return err
}

// cut returns the instant from which the log is replayed, for a log that begins at first.
func (r *Request) cut(first capcli.Time) (capcli.Time, error) {
	if r.From == "" {
		return first, nil
	}
	if after, err := capcli.ParseSeconds(r.From); err == nil {
		return first + capcli.Time(after), nil
	}
	at, err := capcli.ParseTime(r.From, r.Read.TZ, false)
	if err != nil {
		return 0, &capcli.RequestError{Field: "from", Text: "wants a date, a time or a length of time after the first submission, found " + capcli.Quoted(r.From), Hint: "for example from=2026-03-01 or from=14d"}
	}
	return at, nil
}

// rules returns the rules that the request asks for.
func (r *Request) rules() (Rules, error) {
	name := r.Policy
	name = cmp.Or(name, defaultPolicy)
	p, err := policy.Catalog.Get(name)
	return Rules{Policy: p, Settings: simulate.Settings{Perfect: r.Perfect}}, err
}

func (r *Request) read(ctx context.Context, open trace.Opener, note func(string), progress func(done int64)) (*Past, *Log, string, error) {
	past, err := r.readJobs(ctx, open, note, progress)
	if err != nil {
		return nil, nil, "", err
	}
	if len(past.Jobs) == 0 {
		return nil, nil, "", r.emptyError(past)
	}
	l := NewLog(past.Jobs, 1<<62)
	source := "given"
	var steps []CapacityStep
	switch {
	case r.CapacityFile != "":
		text, err := open.ReadFile(r.CapacityFile, CapacityMax)
		if err != nil {
			return nil, nil, "", err
		}
		if steps, err = parseCapacity(r.CapacityFile, text); err != nil {
			return nil, nil, "", err
		}
		source = "file"
	case r.Capacity > 0:
		steps = []CapacityStep{{capcli.NoTime, r.Capacity}}
	default:
		source = "highest use"
		steps = []CapacityStep{{capcli.NoTime, max(l.HighestUse()/past.Scale, 1)}}
		if l.HighestUse()%past.Scale != 0 {
			steps[0].Units++
		}
	}
	for i := range steps {
		steps[i].Units *= past.Scale
	}
	most := highest(steps)
	if len(steps) == 1 {
		steps = nil
	}
	l = NewLog(past.Jobs, most, steps...)
	if len(l.Jobs) == 0 {
		return nil, nil, "", &capcli.InputError{
			File: r.Log, Text: fmt.Sprintf("each of the %s jobs is larger than the capacity of %s", capcli.Grouped(int64(len(l.TooLarge))), unitText(most, past)),
			Hint: "give the capacity in what the log counts",
		}
	}
	if r.From != "" {
		cut, err := r.cut(past.First)
		if err != nil {
			return nil, nil, "", err
		}
		l = l.PartFrom(cut)
		if len(l.Jobs) == l.Seeded {
			return nil, nil, "", &capcli.RequestError{Field: "from", Text: fmt.Sprintf("wants a time before the last submission, found %s", cut), Hint: "the first submission of the log is at " + past.First.String()}
		}
	}
	return past, l, source, nil
}

func (r *Request) readJobs(ctx context.Context, open trace.Opener, note func(string), progress func(done int64)) (*Past, error) {
	in, done, err := open(r.Log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	o := r.Read
	o.ZeroRuns, o.Aliases = true, true
	reader, err := trace.Open(in, o)
	if err != nil {
		return nil, err
	}
	c := &Collector{Partition: r.Partition, GPUModel: r.GPUModel}
	for j, err := range capcli.WatchJobs(ctx, reader.Jobs(), progress) {
		if err != nil {
			return nil, err
		}
		c.Add(&j)
	}
	rep := reader.Report()
	for _, remark := range rep.Remarks() {
		note(remark)
	}
	past := c.History()
	if rep.Format == "swf" { // its processors are read as GPUs
		past.Unit = "processors"
	}
	return past, nil
}

// emptyError says why no job of the log can be replayed.
func (r *Request) emptyError(p *Past) error {
	e := &capcli.InputError{File: r.Log, Text: "no job has a recorded start", Hint: "a log can be held against a simulation if it has the columns submit, start and end"}
	switch {
	case r.Partition != "" && !slices.ContainsFunc(p.Partitions, func(q NamedJobs) bool { return q.Name == r.Partition }):
		e.Text, e.Hint = fmt.Sprintf("no job with a recorded start is in partition %s", capcli.Quoted(r.Partition)), "leave partition out, or name one of the log: capcli trace describe "+r.Log
	case r.GPUModel != "" && !slices.ContainsFunc(p.Models, func(q NamedJobs) bool { return q.Name == r.GPUModel }):
		e.Text, e.Hint = fmt.Sprintf("no job with a recorded start wants GPU model %s", capcli.Quoted(r.GPUModel)), "leave gpu-model out, or name one of the log: capcli trace describe "+r.Log
	case p.WithoutUnits > 0:
		e.Text, e.Hint = "no job with a recorded start says what it held", "name the column: --read gpus=THEIRS"
	}
	return e
}

// unitText writes units of a past as people count them.
func unitText(units int64, p *Past) string {
	name := p.Unit
	if p.Scale > 1 {
		name = "GPUs"
		if units%p.Scale != 0 {
			return fmt.Sprintf("%.3f %s", float64(units)/float64(p.Scale), name)
		}
	}
	return capcli.Grouped(units/p.Scale) + " " + name
}

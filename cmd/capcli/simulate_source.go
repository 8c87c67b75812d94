package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"capcli"
	"capcli/profile/trace"
	"capcli/scenarios"
)

// jobSource gives the jobs of a run: each call of open reads them anew.
type jobSource struct {
	name string
	open func(run int) (*jobReading, error)
}

// jobReading is one reading of the jobs.
type jobReading struct {
	jobs   capcli.Jobs
	reader *trace.Reader // nil for made-up jobs
	done   io.Closer
}

// heldJobs are jobs kept in memory, because they came from stdin or out of
// order: what was read once for a call.
type heldJobs struct {
	stdin  []capcli.Job
	report *trace.Report
	sorted bool // the trace is not in order of submission: sort each reading
	fitted *fitted
}

// fitted is a scenario made for a trace that came without one.
type fitted struct {
	text []byte
	note string
}

// jobsOf finds where the jobs of a plan come from: --trace, the scenario's
// trace, its generator or the default generator.
func (o *simulateOptions) jobsOf(e *env, p *plan, held *heldJobs) error {
	s := p.scenario
	opts, err := o.read.options()
	if err != nil {
		return err
	}
	file := o.trace
	if file == "" && s.Jobs.From != "" {
		if file = s.Jobs.From; !filepath.IsAbs(file) && file != "-" {
			file = filepath.Join(s.Dir, file)
		}
		if opts.Format == "" {
			opts.Format = s.Jobs.Format
		}
		if opts.TZ == nil && s.Jobs.TZ != "" {
			if opts.TZ, err = zone(s.Jobs.TZ); err != nil {
				return err
			}
		}
	}
	if file != "" {
		p.source = jobSource{name: file, open: func(int) (*jobReading, error) { return openJobs(e, file, opts, held) }}
		return nil
	}
	if _, made := s.Generated(scenarios.Options{Seed: p.seed}); !made {
		if err := defaultJobs(s); err != nil {
			return err
		}
		note := s.Name + " names no jobs and there is no --trace: the default scenario's made-up jobs are used"
		e.note(note)
		p.notes = append(p.notes, note)
	}
	p.source = jobSource{name: "generated", open: func(run int) (*jobReading, error) {
		jobs, _ := s.Generated(scenarios.Options{Seed: p.seed, Run: run})
		return &jobReading{jobs: jobs, done: io.NopCloser(nil)}, nil
	}}
	return nil
}

// defaultJobs lends s the generator of the library's default scenario.
func defaultJobs(s *scenarios.Scenario) error {
	b, ok := scenarios.Library("default")
	if !ok {
		return errors.New("the library has no default scenario")
	}
	d, err := scenarios.Parse("default.yaml", b)
	if err != nil {
		return err
	}
	s.Jobs.Generate = d.Jobs.Generate
	return nil
}

// openJobs begins one reading of a job log.
func openJobs(e *env, file string, opts trace.Options, held *heldJobs) (*jobReading, error) {
	if file == "-" {
		return held.fromStdin(e, opts)
	}
	in, done, err := openInput(e, file)
	if err != nil {
		return nil, err
	}
	r, err := trace.Open(in, opts)
	if err != nil {
		return nil, errors.Join(err, done.Close())
	}
	jobs := r.Jobs()
	if held.sorted {
		jobs = trace.Sorted(jobs)
	}
	return &jobReading{jobs: jobs, reader: r, done: done}, nil
}

// fromStdin reads stdin once and keeps the jobs, in order.
func (h *heldJobs) fromStdin(e *env, opts trace.Options) (*jobReading, error) {
	if h.report == nil {
		in, _, err := openInput(e, "-")
		if err != nil {
			return nil, err
		}
		r, err := trace.Open(in, opts)
		if err != nil {
			return nil, err
		}
		for j, err := range trace.Sorted(r.Jobs()) {
			if err != nil {
				return nil, err
			}
			h.stdin = append(h.stdin, j)
		}
		rep := r.Report()
		h.report = &rep
	}
	jobs := func(yield func(capcli.Job, error) bool) {
		for i := range h.stdin {
			if !yield(h.stdin[i], nil) {
				return
			}
		}
	}
	return &jobReading{jobs: jobs, done: io.NopCloser(nil)}, nil
}

// within leaves out jobs submitted before the period and stops at its end,
// counting both.
func within(jobs capcli.Jobs, p scenarios.Period, outside *int64) capcli.Jobs {
	if !p.Known() {
		return jobs
	}
	return func(yield func(capcli.Job, error) bool) {
		for j, err := range jobs {
			if err == nil && (j.Submit < p.Start || j.Submit >= p.End) {
				*outside++
				continue
			}
			if !yield(j, err) {
				return
			}
		}
	}
}

// fitting makes a scenario for a trace that came without one: owned capacity
// of the size that the log names, else of a size that its jobs would keep four
// fifths busy.
func (o *simulateOptions) fitting(ctx context.Context, e *env, held *heldJobs) (*fitted, error) {
	if held.fitted != nil {
		return held.fitted, nil
	}
	opts, err := o.read.options()
	if err != nil {
		return nil, err
	}
	reading, err := openJobs(e, o.trace, opts, held)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reading.done.Close() }()
	var size sizing
	p := newProgress(e, "jobs")
	for j, err := range checked(ctx, reading.jobs, p) {
		if err != nil {
			return nil, err
		}
		size.add(&j)
	}
	gpus, why := size.gpus()
	if reading.reader != nil {
		if rep := reading.reader.Report(); rep.MachineGPUs > 0 {
			gpus, why = int64(rep.MachineGPUs), "as the log's header says"
		}
	}
	what := fmt.Sprintf("%s owned GPUs, %s, at $%s a GPU-hour", grouped(gpus), why, assumedPrice)
	e.note("no scenario: assumed " + what + " (capcli scenarios init writes a scenario to change)")
	held.fitted = &fitted{
		text: []byte(fmt.Sprintf("capcli: scenario/v1\nname: trace\ncapacity:\n  - {name: assumed, kind: owned, gpus: %d, price: %s}\n", gpus, assumedPrice)),
		note: "capacity and price are assumed: " + what,
	}
	return held.fitted, nil
}

// assumedPrice is what an owned GPU-hour is taken to cost where nobody said:
// a round figure, and every result that uses it says so.
const assumedPrice = "2.00"

// sizing finds how many GPUs a trace needs.
type sizing struct {
	first, last capcli.Time
	work        capcli.GPUTime
	most        int64
	any         bool
}

func (s *sizing) add(j *capcli.Job) {
	if !s.any {
		s.first, s.last, s.any = j.Submit, j.Submit, true
	}
	s.first, s.last = min(s.first, j.Submit), max(s.last, j.Submit+capcli.Time(j.Run))
	s.work += j.Work()
	s.most = max(s.most, int64(j.GPUs))
}

// gpus is work over span at four fifths, in whole nodes of eight, and room for
// the largest job; and which of the two it is.
func (s *sizing) gpus() (need int64, why string) {
	const node = 8
	need, why = max(s.most, 1), "room for its largest job"
	if span := int64(s.last - s.first); span > 0 {
		if work := (int64(s.work)/1000*5 + span*4 - 1) / (span * 4); work > need {
			need, why = work, "so that its jobs keep at most four fifths of it busy"
		}
	}
	return (need + node - 1) / node * node, why
}

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
	survey *scenarios.LogSurvey // of --trace; nil until it is asked for
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

// fromLog tells whether the plan's jobs come from a log, not from a generator.
func (p *plan) fromLog() bool { return p.source.name != "generated" }

// admit gives the jobs of a reading that the plan plays.
func (p *plan) admit(jobs capcli.Jobs, in *scenarios.Intake) capcli.Jobs {
	if p.fromLog() {
		return p.scenario.Admit(jobs, in)
	}
	return p.scenario.Within(jobs, in)
}

// fitting makes a scenario for a trace that came without one: owned capacity of
// the size that was in use in the log; else that its header names; else that its
// jobs would keep four fifths busy.
func (o *simulateOptions) fitting(ctx context.Context, e *env, held *heldJobs) (*fitted, error) {
	if held.fitted != nil {
		return held.fitted, nil
	}
	if held.survey == nil {
		if err := o.surveyLog(ctx, e, held); err != nil {
			return nil, err
		}
	}
	gpus, why := held.survey.Size()
	what := fmt.Sprintf("%s owned GPUs, %s, at $%s a GPU-hour", grouped(gpus), why, assumedPrice)
	e.note("no scenario: assumed " + what + " (capcli scenarios init --trace writes a scenario that fits the log)")
	held.fitted = &fitted{
		text: []byte(fmt.Sprintf("capcli: scenario/v1\nname: trace\ncapacity:\n  - {name: assumed, kind: owned, gpus: %d, price: %s}\n", gpus, assumedPrice)),
		note: "capacity and price are assumed: " + what,
	}
	return held.fitted, nil
}

// assumedPrice is what an owned GPU-hour is taken to cost where nobody said:
// a round figure, and every result that uses it says so.
const assumedPrice = "2.00"

package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
)

// Source is where the jobs of a case come from.
type Source struct {
	Name   string                          // name of the log, or generated
	Open   func(run int) (*Reading, error) // starts a new reading of the jobs
	Sorted bool                            // sort each reading in memory, because the log is not in order of submission
	Stages bool                            // keep the jobs of each reading in memory, because they depend on each other

	alone func(run int) (*Reading, error) // Open without the jobs of the scenario's workflows; nil is Open
}

// OpenAlone is Open without the jobs of the scenario's workflows, which a case adds to every source.
func (s *Source) OpenAlone(run int) (*Reading, error) {
	if s.alone != nil {
		return s.alone(run)
	}
	return s.Open(run)
}

// Read starts a reading of the jobs for a run.
func (s *Source) Read(run int) (*Reading, error) {
	r, err := s.Open(run)
	if err == nil && s.Sorted {
		r.Jobs = trace.Sorted(r.Jobs)
	}
	return r, err
}

// generated is the name of a source that is a generator.
const generated = "generated"

// Reading is one reading of the jobs. Close it after the last job.
type Reading struct {
	Jobs   capcli.Jobs
	Reader *trace.Reader // nil for generated jobs and jobs from stdin
	done   io.Closer
}

// Close ends the reading.
func (r *Reading) Close() error {
	if r.done == nil {
		return nil
	}
	return r.done.Close()
}

// describe notes what the reader of a log rejected or assumed.
func (r *Reading) describe(name string, note func(string)) {
	rep := r.Reader.Report()
	if rep.Rejected > 0 {
		note(fmt.Sprintf("%s: %s of %s rows rejected, most for: %s (capcli import lists each)",
			name, capcli.Grouped(rep.Rejected), capcli.Grouped(rep.Rows), rep.Reasons[0].Reason))
	}
	for _, a := range rep.Assumed {
		note(fmt.Sprintf("%s: %s in %s rows", name, a.Reason, capcli.Grouped(a.N)))
	}
	for _, n := range rep.Notes {
		note(name + ": " + n)
	}
}

// Jobs returns the jobs that a run of the case plays, in order of submission, and the number left
// out because they are outside the period. For run 0, note receives the notes about the log.
func (c *Case) Jobs(ctx context.Context, run int, note func(text string)) (jobs []capcli.Job, outside int64, err error) {
	reading, err := c.Source.Read(run)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = reading.Close() }()
	list := reading.Jobs
	if reading.Reader != nil && !c.Source.Sorted {
		list = trace.Sorted(list)
	}
	var in scenarios.Intake
	for j, err := range c.admit(capcli.WatchJobs(ctx, list, func(int64) {}), run, &in) {
		if err != nil {
			return nil, 0, c.Fault(err)
		}
		jobs = append(jobs, j)
	}
	if run == 0 && reading.Reader != nil {
		reading.describe(c.Source.Name, note)
	}
	return jobs, in.Outside, nil
}

// Logs opens job logs. It keeps the jobs of stdin, which can be read only once.
type Logs struct {
	Open trace.Opener
	// Held returns the jobs of a log that are in memory, in order of submission. It may be nil: then
	// logs are opened.
	Held func(file string) capcli.Jobs

	lock  sync.Mutex
	stdin []capcli.Job
	whole bool // whether stdin has been read
}

// Source returns the source of the jobs of a log; "-" is stdin.
func (l *Logs) Source(file string, o trace.Options) Source {
	return Source{Name: file, Open: func(int) (*Reading, error) { return l.Read(file, o) }}
}

// Read starts one reading of a job log; "-" is stdin.
func (l *Logs) Read(file string, o trace.Options) (*Reading, error) {
	if l.Held != nil {
		return &Reading{Jobs: l.Held(file)}, nil
	}
	if file == "-" {
		return l.readStdin(o)
	}
	in, done, err := l.Open(file)
	if err != nil {
		return nil, err
	}
	r, err := trace.Open(in, o)
	if err != nil {
		return nil, errors.Join(err, done.Close())
	}
	return &Reading{Jobs: r.Jobs(), Reader: r, done: done}, nil
}

// readStdin reads stdin once and keeps the jobs, in order.
func (l *Logs) readStdin(o trace.Options) (*Reading, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if !l.whole {
		in, _, err := l.Open("-")
		if err != nil {
			return nil, err
		}
		r, err := trace.Open(in, o)
		if err != nil {
			return nil, err
		}
		for j, err := range trace.Sorted(r.Jobs()) {
			if err != nil {
				return nil, err
			}
			l.stdin = append(l.stdin, j)
		}
		l.whole = true
	}
	return &Reading{Jobs: func(yield func(capcli.Job, error) bool) {
		for i := range l.stdin {
			if !yield(l.stdin[i], nil) {
				return
			}
		}
	}}, nil
}

// BesideMax is the most bytes read of a file that a scenario names, such as a list of nodes.
const BesideMax = 256 << 20

// ReadBeside reads a file named in a scenario of the folder dir, and unpacks it. It fails if the
// file has more than BesideMax bytes.
func ReadBeside(open trace.Opener, dir, name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	in, done, err := open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	r, err := trace.Unpack(in)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, BesideMax+1))
	if err == nil && len(b) > BesideMax {
		err = &capcli.InputError{File: name, Text: "expected at most 256 MiB, found more"}
	}
	return b, err
}

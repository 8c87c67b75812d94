package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/scenarios/whatif"
)

// Engine answers requests about one scenario and its jobs. It may serve several requests at once.
type Engine struct {
	maker *play.Maker
	base  play.Question
	runs  int        // most runs of a request
	made  *play.Case // if the jobs are held that its scenario made; else nil
	words []string   // see World.Words
	most  int        // most jobs of a run; 0 is any number
}

// Engine returns the engine of the world.
func (w *World) Engine() (*Engine, error) {
	maker, q, err := w.Maker()
	if err != nil {
		return nil, err
	}
	e := &Engine{maker: maker, base: *q, runs: 1, words: w.Words}
	if !w.Generated {
		return e, nil
	}
	first := *maker
	e.made, err = first.Case(context.Background(), q) // it reads no jobs
	return e, err
}

// NewEngine returns an engine for a server, with the jobs of a case that q asked for in memory. A
// request may ask for at most runs runs of at most jobs jobs each; jobs that the scenario makes are made
// again for each run. It fails with *capcli.RequestError if there are more jobs, and as NewWorld does.
func NewEngine(ctx context.Context, c *play.Case, q *play.Question, runs, jobs int) (*Engine, error) {
	c.Source = atMost(c.Source, jobs)
	w, err := newWorld(ctx, c, q)
	if err != nil {
		return nil, err
	}
	maker, ask, err := w.Maker()
	if err != nil {
		return nil, err
	}
	if w.Generated {
		maker.Logs.Held, ask.Trace, w.held = nil, "", nil
	}
	return &Engine{maker: maker, base: *ask, runs: runs, words: w.Words, most: jobs}, nil
}

// atMost returns a source that fails with *capcli.RequestError after most jobs.
func atMost(s play.Source, most int) play.Source {
	open := s.Open
	s.Open = func(run int) (*play.Reading, error) {
		r, err := open(run)
		if err != nil {
			return nil, err
		}
		jobs := r.Jobs
		r.Jobs = func(yield func(capcli.Job, error) bool) {
			n := 0
			for j, err := range jobs {
				if n++; n > most {
					err = &capcli.RequestError{Field: "max-jobs", Text: fmt.Sprintf("is %d, but %s has more jobs", most, s.Name), Hint: "--limits jobs=N allows more; each takes about 250 bytes"}
				}
				if !yield(j, err) || err != nil {
					return
				}
			}
		}
		return r, nil
	}
	return s
}

// SimulateRequest asks for runs of the scenario with changes.
type SimulateRequest struct {
	Sets      []string     `json:"set,omitempty"`       // changes of fields: capacity[0].gpus=72
	Policy    string       `json:"policy,omitempty"`    // in place of the scenario's
	Placement string       `json:"placement,omitempty"` // in place of the scenario's
	Perfect   bool         `json:"perfect_estimates,omitempty"`
	Seed      *capcli.Seed `json:"seed,omitempty"` // in place of the scenario's
	Runs      int          `json:"runs,omitempty"` // 0 is 1
}

// maxSets is the most changes of a request.
const maxSets = 256

// Check fails with *capcli.RequestError if a field of the request is out of its range.
func (r *SimulateRequest) Check() error {
	switch {
	case r.Runs < 0:
		return &capcli.RequestError{Field: "runs", Text: fmt.Sprintf("wants 1 or more, found %d", r.Runs)}
	case len(r.Sets) > maxSets:
		return &capcli.RequestError{Field: "set", Text: fmt.Sprintf("wants at most %d changes, found %d", maxSets, len(r.Sets))}
	}
	return nil
}

// Simulate plays the scenario with the changes of r. It fails with *capcli.RequestError, with
// *strict.Faults for a wrong change, and as play.Play does.
func (e *Engine) Simulate(ctx context.Context, r SimulateRequest) (*outcome.Document, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.Runs > e.runs {
		return nil, &capcli.RequestError{Field: "runs", Text: fmt.Sprintf("wants at most %d, found %d", e.runs, r.Runs)}
	}
	c, err := e.Case(ctx, r)
	if err != nil {
		return nil, err
	}
	runs, err := play.Play(ctx, []*play.Case{c}, play.Request{Runs: r.Runs})
	if err != nil {
		return nil, err
	}
	cases := []*play.Case{c}
	if err := play.CheckStarted(cases, runs); err != nil {
		return nil, err
	}
	if err := play.HoldAgainstPast(ctx, cases, runs); err != nil {
		return nil, err
	}
	out := play.Document(runs)
	out.Notes = append(slices.Clone(c.Notes), play.Notes(runs[0])...)
	return out, nil
}

// WhatIf plays the scenario with the changes of r, once: see whatif.Ask.
func (e *Engine) WhatIf(ctx context.Context, r whatif.Request) (*Answer, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	q := e.base
	r.Apply(&q)
	c, err := e.newCase(ctx, &q)
	if err != nil {
		return nil, err
	}
	a, err := r.Answer(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Answer{a, e.command(&r)}, nil
}

// Answer is an answer with the command line that gives it too.
type Answer struct {
	*whatif.Answer
	Command string `json:"command"`
}

// Knobs returns what WhatIf can change.
func (e *Engine) Knobs(ctx context.Context) ([]whatif.Knob, error) {
	c, err := e.Case(ctx, SimulateRequest{})
	if err != nil {
		return nil, err
	}
	return whatif.Knobs(c.Scenario), nil
}

// Case returns the case with the changes of r.
func (e *Engine) Case(ctx context.Context, r SimulateRequest) (*play.Case, error) {
	q := e.base
	q.Sets = append(slices.Clone(q.Sets), r.Sets...)
	q.Policy, q.Place = cmp.Or(r.Policy, q.Policy), cmp.Or(r.Placement, q.Place)
	q.Perfect = q.Perfect || r.Perfect
	if r.Seed != nil {
		q.Seed = r.Seed
	}
	c, err := e.newCase(ctx, &q)
	if err != nil {
		return nil, err
	}
	c.Quiet = true
	return c, nil
}

// newCase returns the case of a question. If the jobs are held it fails with *capcli.RequestError for
// a question that asks for other jobs of the scenario's generator.
func (e *Engine) newCase(ctx context.Context, q *play.Question) (*play.Case, error) {
	maker := *e.maker // its survey is of one request
	c, err := maker.Case(ctx, q)
	if err == nil && e.most > 0 {
		c.Source = atMost(c.Source, e.most)
	}
	if err != nil || e.made == nil {
		return c, err
	}
	s := c.Scenario
	if s.Seed == e.made.Scenario.Seed && c.Seed == e.made.Seed && s.Period == e.made.Scenario.Period && reflect.DeepEqual(s.Jobs.Generate, e.made.Scenario.Jobs.Generate) {
		return c, nil
	}
	return nil, &capcli.RequestError{
		Field: "set", Text: "changes which jobs the scenario makes, but the jobs here are those of one run",
		Hint: "capcli simulate takes any change of jobs.generate, period and seed",
	}
}

// JobsText is the jobs of an engine as a file.
type JobsText struct {
	File string `json:"file"`
	Text string `json:"text"` // CSV, as capcli import writes it
}

// JobsCSV returns the jobs as CSV, which capcli simulate --trace reads.
func (e *Engine) JobsCSV(ctx context.Context) (*JobsText, error) {
	c, err := e.Case(ctx, SimulateRequest{})
	if err != nil {
		return nil, err
	}
	var extra trace.Extra
	var b strings.Builder
	for _, use := range []func(jobs capcli.Jobs) error{
		extra.AddAll, func(jobs capcli.Jobs) error { return trace.WriteCSV(&b, jobs, extra) },
	} {
		reading, err := c.Source.Open(0)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(use(reading.Jobs), reading.Close()); err != nil {
			return nil, err
		}
	}
	return &JobsText{JobsFile, b.String()}, nil
}

// RunsSchema is the schema of a RunList.
const RunsSchema = "capcli/runs/v1"

// RunList is the runs that a server answers for.
type RunList struct {
	Schema string    `json:"schema"`
	Runs   []RunInfo `json:"runs"`
}

// RunInfo is a run that a server answers for.
type RunInfo struct {
	Name    string        `json:"run"`
	Command string        `json:"command"` // that plays it
	Knobs   []whatif.Knob `json:"knobs"`   // what a what-if question can change
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"capcli"
	"capcli/scenarios/explain"
	"capcli/scenarios/play"
	"capcli/simulate/outcome"
)

// explaining is a figure of one plan that explain plays again.
type explaining struct {
	o      *explainOptions
	metric *outcome.Metric
	name   string // of the scenario, as simulate takes it
	policy string
	place  string
	maker  *play.Maker
	saved  []outcome.Outcome // the runs of the folder, where no flag changes them
	played bool
}

// runsPlayed is how many runs of a folder are played again where --runs does
// not say.
const runsPlayed = 20

// open finds what is to be played: a folder of runs, or a scenario.
func (x *explaining) open(e *env, name string) error {
	o := &x.o.sim
	x.policy, x.place = orOne(o.policies)[0], orOne(o.placements)[0]
	info, err := e.disk.Stat(name)
	if err != nil || !info.IsDir() {
		x.name = name
		return nil
	}
	plans, err := readRuns(e, name)
	if err != nil {
		return err
	}
	if len(plans) != 1 {
		return &capcli.InputError{File: filepath.Join(name, resultFile), Text: fmt.Sprintf("expected the runs of one plan, found those of %d", len(plans))}
	}
	x.saved = plans[0].Runs
	in, err := readInputs(e, name)
	if err != nil {
		return err
	}
	if in == nil {
		return &lackError{
			text: fmt.Sprintf("%s does not say what its runs were made from (%s is not there), so they cannot be played again", name, inputsFile),
			hint: "make the folder again: capcli simulate … --out; or explain the scenario itself: capcli explain plan.yaml --trace jobs.parquet " + x.metric.Name,
		}
	}
	return x.fromFolder(e, name, in)
}

// fromFolder plays what a folder says, but for the flags that were given.
func (x *explaining) fromFolder(e *env, folder string, in *play.Inputs) error {
	o := &x.o.sim
	if len(o.sets) > 0 || o.trace != "" || o.seeded || o.perfect || x.policy != "" || x.place != "" {
		x.saved = nil // other runs than those of the folder
	}
	kept := in.Scenario
	here := filepath.Join(folder, filepath.FromSlash(kept.Here))
	if _, err := e.disk.Stat(kept.File); err != nil || e.exists(here) {
		kept.File = here
	}
	o.kept = &kept
	o.sets = append(slices.Clone(in.Sets), o.sets...)
	x.policy, x.place = cmp.Or(x.policy, in.Policy), cmp.Or(x.place, in.Placement)
	o.perfect = o.perfect || in.Perfect
	if !o.seeded {
		o.seed, o.seeded = in.Seed, true
	}
	if !x.o.replayed {
		o.runs = min(in.Runs, runsPlayed)
	}
	if o.trace != "" {
		return nil
	}
	for _, f := range in.Files {
		if f.File == in.Scenario.File { // its text is kept
			continue
		}
		path, err := in.Find(e.opener(), folder, f.File)
		if gone, ok := errors.AsType[*play.MissingInputError](err); ok {
			return &lackError{text: gone.Error(), hint: "bring it back to its place, or say where it is: --trace FILE"}
		}
		if err != nil {
			return err
		}
		if in.Trace != nil && f.File == in.Trace.File {
			o.trace = path
		}
	}
	if in.Trace == nil {
		return nil
	}
	if in.Trace.File == "-" {
		return &lackError{
			text: fmt.Sprintf("the jobs of %s came from stdin, which is gone", folder),
			hint: "give them again: --trace FILE, or - for stdin",
		}
	}
	if o.trace == "" {
		o.trace = in.Trace.File
	}
	if o.read.IsEmpty() {
		o.read = in.Trace.Request
	}
	return nil
}

// lackError says what is missing to answer, and what to do about it.
type lackError struct{ text, hint string }

func (e *lackError) Error() string { return e.text }
func (e *lackError) Unwrap() error { return fs.ErrNotExist }

// make makes the plan, changed. What there is to say of the jobs is said once.
func (x *explaining) make(ctx context.Context, e *env, v explain.Variation) (*play.Case, error) {
	if v.Text != "" {
		quiet := e.quiet
		e.quiet = true
		defer func() { e.quiet = quiet }()
	}
	o := x.o.sim
	o.sets = append(slices.Clone(o.sets), v.Sets...)
	c, err := o.plan(ctx, e, x.name, cmp.Or(v.Policy, x.policy), cmp.Or(v.Placement, x.place), x.maker)
	if err == nil {
		c.Quiet = x.played
	}
	return c, err
}

// explain plays the plan and asks why the figure is what it is.
func (x *explaining) explain(ctx context.Context, e *env, subject string) ([]*play.Run, *explain.Result, error) {
	c, err := x.make(ctx, e, explain.Variation{})
	if err != nil {
		return nil, nil, err
	}
	all, err := x.o.sim.play(ctx, e, []*play.Case{c})
	if err != nil {
		return nil, nil, err
	}
	x.played = true
	if err := play.CheckStarted([]*play.Case{c}, all); err != nil {
		return nil, nil, err
	}
	answer, err := explain.Explain(explain.Request{
		Subject: subject, Metric: x.metric, Runs: all[0], Saved: x.saved, CausesOnly: x.o.causes,
		Make: func(v explain.Variation) (*play.Case, error) { return x.make(ctx, e, v) },
		Play: func(cases []*play.Case) ([][]*play.Run, error) { return x.o.sim.play(ctx, e, cases) },
	})
	return all[0], answer, err
}

// exists tells whether something is at a path.
func (e *env) exists(path string) bool {
	_, err := e.disk.Stat(path)
	return err == nil
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"capcli"
	"capcli/scenarios/explain"
	"capcli/scenarios/play"
	"capcli/simulate/outcome"
)

// explaining is the work of explaining one figure of one plan by replaying it.
type explaining struct {
	o      *explainOptions
	metric *outcome.Metric
	maker  *play.Maker
	saved  []outcome.Outcome // the saved runs of the folder; nil where a flag changes the plan
	played bool
}

// runsPlayed is the most runs of a folder that are replayed when --runs is not given.
const runsPlayed = 20

// folder returns the folder of runs at path.
func (e *env) folder(path string) *play.Folder {
	return &play.Folder{Path: path, Open: e.opener(), Exists: func(path string) bool {
		_, err := e.disk.Stat(path)
		return err == nil
	}}
}

// isFolder reports whether path is a folder.
func (e *env) isFolder(path string) bool {
	info, err := e.disk.Stat(path)
	return err == nil && info.IsDir()
}

// open finds what to play: a folder of runs, or a scenario.
func (x *explaining) open(e *env, name string) error {
	ask := &x.o.sim.ask
	ask.Policy, ask.Place = orOne(x.o.sim.policies)[0], orOne(x.o.sim.placements)[0]
	if !e.isFolder(name) {
		ask.Scenario = name
		return nil
	}
	plans, err := readRuns(e, name)
	if err != nil {
		return err
	}
	if len(plans) != 1 {
		return &capcli.InputError{File: filepath.Join(name, resultFile), Text: fmt.Sprintf("expected the runs of one plan, found those of %d", len(plans))}
	}
	if len(ask.Sets) == 0 && ask.Trace == "" && ask.Seed == nil && !ask.Perfect && ask.Policy == "" && ask.Place == "" {
		x.saved = plans[0].Runs
	}
	folder := e.folder(name)
	in, err := folder.Inputs()
	if err != nil {
		return err
	}
	if in == nil {
		return &play.MissingInputError{
			Text: fmt.Sprintf("%s does not record the inputs of its runs (%s is missing), so they cannot be repeated", name, play.InputsFile),
			Hint: "write the folder again with capcli simulate … --out, or explain the scenario itself: capcli explain plan.yaml --trace jobs.parquet " + x.metric.Name,
		}
	}
	if !x.o.replayed {
		x.o.sim.runs = min(in.Runs, runsPlayed)
	}
	return folder.Complete(ask, in)
}

// make builds the plan with the changes of v. The notes about the jobs are given only for the plan
// itself.
func (x *explaining) make(ctx context.Context, e *env, v explain.Variation) (*play.Case, error) {
	if v.Text != "" {
		quiet := e.quiet
		e.quiet = true
		defer func() { e.quiet = quiet }()
	}
	o := x.o.sim
	o.ask.Sets = append(slices.Clone(o.ask.Sets), v.Sets...)
	o.ask.Policy, o.ask.Place = cmp.Or(v.Policy, o.ask.Policy), cmp.Or(v.Placement, o.ask.Place)
	c, err := o.plan(ctx, e, x.maker)
	if err == nil {
		c.Quiet = x.played
	}
	return c, err
}

// explain plays the plan and explains its figure.
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

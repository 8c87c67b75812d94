package replay

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"capcli"
	"capcli/cmd/shell"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// Explaining is the work of explaining one figure of one plan by replaying it.
type Explaining struct {
	O      *ExplainOptions
	metric *outcome.Metric
	Maker  *play.Maker
	saved  []outcome.Outcome // the saved runs of the folder; nil where a flag changes the plan
	played bool
}

// runsPlayed is the most runs of a folder that are replayed when --runs is not given.
const runsPlayed = 20

// Open finds what to play: a folder of runs, or a scenario.
func (x *Explaining) Open(e *shell.Env, name string) error {
	ask := &x.O.Sim.Ask
	ask.Policy, ask.Place = shell.OrOne(x.O.Sim.Policies)[0], shell.OrOne(x.O.Sim.Placements)[0]
	if !e.IsFolder(name) {
		ask.Scenario = name
		return nil
	}
	plans, err := readRuns(e, name)
	if err != nil {
		return err
	}
	if len(plans) != 1 {
		return &capcli.InputError{File: filepath.Join(name, shell.ResultFile), Text: fmt.Sprintf("expected the runs of one plan, found those of %d", len(plans))}
	}
	if len(ask.Sets) == 0 && ask.Trace == "" && ask.Seed == nil && !ask.Perfect && ask.Policy == "" && ask.Place == "" {
		x.saved = plans[0].Runs
	}
	folder := e.Folder(name)
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
	if !x.O.Replayed {
		x.O.Sim.Runs = min(in.Runs, runsPlayed)
	}
	return folder.Complete(ask, in)
}

// Make builds the plan with the changes of v. The notes about the jobs are given only for the plan
// itself.
func (x *Explaining) Make(ctx context.Context, e *shell.Env, v explain.Variation) (*play.Case, error) {
	if v.Text != "" {
		quiet := e.Quiet
		e.Quiet = true
		defer func() { e.Quiet = quiet }()
	}
	o := x.O.Sim
	o.Ask.Sets = append(slices.Clone(o.Ask.Sets), v.Sets...)
	o.Ask.Policy, o.Ask.Place = cmp.Or(v.Policy, o.Ask.Policy), cmp.Or(v.Placement, o.Ask.Place)
	c, err := o.Plan(ctx, e, x.Maker)
	if err == nil {
		c.Quiet = x.played
	}
	return c, err
}

// explain plays the plan and explains its figure.
func (x *Explaining) explain(ctx context.Context, e *shell.Env, subject string) ([]*play.Run, *explain.Result, error) {
	c, err := x.Make(ctx, e, explain.Variation{})
	if err != nil {
		return nil, nil, err
	}
	all, err := x.O.Sim.Play(ctx, e, []*play.Case{c})
	if err != nil {
		return nil, nil, err
	}
	x.played = true
	if err := play.CheckStarted([]*play.Case{c}, all); err != nil {
		return nil, nil, err
	}
	answer, err := explain.Explain(explain.Request{
		Subject: subject, Metric: x.metric, Runs: all[0], Saved: x.saved, CausesOnly: x.O.causes,
		Make: func(v explain.Variation) (*play.Case, error) { return x.Make(ctx, e, v) },
		Play: func(cases []*play.Case) ([][]*play.Run, error) { return x.O.Sim.Play(ctx, e, cases) },
	})
	return all[0], answer, err
}

package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/profile/trace"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// plans makes one plan for each scenario, policy and placement.
func (o *simulateOptions) plans(ctx context.Context, e *env, args []string) ([]*play.Case, error) {
	if len(args) == 0 {
		args = []string{""}
		if o.ask.Trace == "" {
			e.note("no scenario and no trace: the library's default scenario, with made-up jobs (capcli scenarios show default)")
		}
	}
	maker := newMaker(e)
	var out []*play.Case
	for _, name := range args {
		for _, policy := range orOne(o.policies) {
			for _, placement := range orOne(o.placements) {
				o.ask.Scenario, o.ask.Policy, o.ask.Place = name, policy, placement
				p, err := o.plan(ctx, e, maker)
				if err != nil {
					return nil, err
				}
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// orOne makes a list to go over where none was given.
func orOne(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// readFile reads a small file whole, at most limit bytes of it.
func readFile(e *env, name string, limit int64) ([]byte, error) {
	return e.opener().ReadFile(name, limit)
}

// readBeside opens a file that a scenario in dir names, plain whatever packed it.
func readBeside(e *env, dir, name string) ([]byte, error) {
	return play.ReadBeside(e.opener(), dir, name)
}

// opener opens inputs by their names.
func (e *env) opener() trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) { return openInput(e, name) }
}

// newMaker returns what makes the cases of a call.
func newMaker(e *env) *play.Maker {
	return &play.Maker{Logs: &play.Logs{Open: e.opener()}, Note: e.note, Counting: func() (now, end func(int64)) {
		p := newProgress(e, "jobs")
		return func(n int64) { p.report(n, 0) }, p.end
	}}
}

// plan makes the case that is asked for. Changes of the scenario that it takes from the
// log are kept among those of --set.
func (o *simulateOptions) plan(ctx context.Context, e *env, maker *play.Maker) (c *play.Case, err error) {
	if o.ask.Prices, err = ownPrices(e, o.prices); err != nil {
		return nil, err
	}
	return maker.Case(ctx, &o.ask)
}

func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.Names(), cobra.ShellCompDirectiveDefault
}

// play runs every plan as often as asked.
func (o *simulateOptions) play(ctx context.Context, e *env, plans []*play.Case) ([][]*play.Run, error) {
	unit := "jobs"
	if len(plans)*o.runs > 1 {
		unit = "runs"
	}
	p, done := newProgress(e, unit), int64(0)
	out, err := play.Play(ctx, plans, play.Request{Runs: o.runs, Note: e.note, Progress: func(n, total int64) {
		done = n
		p.report(n, total)
	}})
	if err == nil || unit == "runs" {
		p.end(done)
	}
	return out, err
}

// recordJobs has the run of a plan write what became of its jobs into --jobs-out. It
// returns what ends the file: whole where the run ended well, else not at all.
func (o *simulateOptions) recordJobs(e *env, plans []*play.Case) func(error) error {
	if o.jobsOut == "" {
		return func(err error) error { return err }
	}
	var out *files.Output
	var rows *play.JobRows
	plans[0].Prepare = func(_ int, cfg *simulate.Config) (err error) {
		if out != nil { // played again, sorted
			out.Abort()
		}
		if out, err = e.create(o.jobsOut); err == nil {
			rows = play.NewJobRows(out, plans[0], report.Guard)
			cfg.Observers = append(cfg.Observers, rows)
		}
		return err
	}
	return func(err error) error {
		switch {
		case out == nil:
			return err
		case err != nil:
			out.Abort()
			return err
		}
		if err := rows.Close(); err != nil {
			return out.Failed(err)
		}
		return out.Commit()
	}
}

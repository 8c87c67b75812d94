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

// plans makes one case for each scenario, policy and placement.
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

// orOne returns list, or a list of one empty name if list is empty.
func orOne(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// readFile reads at most limit bytes of a file.
func readFile(e *env, name string, limit int64) ([]byte, error) {
	return e.opener().ReadFile(name, limit)
}

// readBeside reads a file named in a scenario of folder dir, and unpacks it.
func readBeside(e *env, dir, name string) ([]byte, error) {
	return play.ReadBeside(e.opener(), dir, name)
}

// opener returns a function that opens inputs by name.
func (e *env) opener() trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) { return openInput(e, name) }
}

// newMaker returns the maker of the cases of one command.
func newMaker(e *env) *play.Maker {
	return &play.Maker{Logs: &play.Logs{Open: e.opener()}, Note: e.note, Counting: func() (now, end func(int64)) {
		p := newProgress(e, "jobs")
		return func(n int64) { p.report(n, 0) }, p.end
	}}
}

// plan makes the case that the flags ask for. Changes that the log makes to the scenario are added
// to those of --set.
func (o *simulateOptions) plan(ctx context.Context, e *env, maker *play.Maker) (c *play.Case, err error) {
	if o.ask.Prices, err = ownPrices(e, o.prices); err != nil {
		return nil, err
	}
	return maker.Case(ctx, &o.ask)
}

func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.Names(), cobra.ShellCompDirectiveDefault
}

// play runs every plan --runs times.
func (o *simulateOptions) play(ctx context.Context, e *env, plans []*play.Case) ([][]*play.Run, error) {
	unit := "jobs"
	if len(plans)*o.runs > 1 {
		unit = "runs"
	}
	p, done := newProgress(e, unit), int64(0)
	out, err := play.Play(ctx, plans, play.Request{Runs: o.runs, Timeline: o.dir != "" || o.timeline != "", Lines: o.lines(), Note: e.note, Progress: func(n, total int64) {
		done = n
		p.report(n, total)
	}})
	if err == nil || unit == "runs" {
		p.end(done)
	}
	return out, err
}

// recordJobs makes the run of the plan write its jobs to --jobs-out. The function it returns
// finishes the file: it commits the file if the run succeeded and discards it otherwise.
func (o *simulateOptions) recordJobs(e *env, plans []*play.Case) func(error) error {
	if o.jobsOut == "" {
		return func(err error) error { return err }
	}
	var out *files.Output
	var rows *play.JobRows
	plans[0].Prepare = func(_ int, cfg *simulate.Config) (err error) {
		if out != nil { // the run starts again with sorted jobs
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

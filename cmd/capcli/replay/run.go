package replay

import (
	"context"

	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// plans makes one case for each scenario, policy and placement.
func (o *SimulateOptions) plans(ctx context.Context, e *shell.Env, args []string) ([]*play.Case, error) {
	if len(args) == 0 {
		args = []string{""}
		if o.Ask.Trace == "" {
			e.Note("no scenario and no trace: the library's default scenario, with made-up jobs (capcli scenarios show default)")
		}
	}
	maker := shell.NewMaker(e)
	var out []*play.Case
	for _, name := range args {
		for _, policy := range shell.OrOne(o.Policies) {
			for _, placement := range shell.OrOne(o.Placements) {
				o.Ask.Scenario, o.Ask.Policy, o.Ask.Place = name, policy, placement
				p, err := o.Plan(ctx, e, maker)
				if err != nil {
					return nil, err
				}
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// Plan makes the case that the flags ask for. Changes that the log makes to the scenario are added
// to those of --set.
func (o *SimulateOptions) Plan(ctx context.Context, e *shell.Env, maker *play.Maker) (c *play.Case, err error) {
	if o.Ask.Prices, err = shell.OwnPrices(e, o.Prices); err != nil {
		return nil, err
	}
	return maker.Case(ctx, &o.Ask)
}

// Play runs every plan --runs times.
func (o *SimulateOptions) Play(ctx context.Context, e *shell.Env, plans []*play.Case) ([][]*play.Run, error) {
	unit := "jobs"
	if len(plans)*o.Runs > 1 {
		unit = "runs"
	}
	p, done := shell.NewProgress(e, unit), int64(0)
	out, err := play.Play(ctx, plans, play.Request{Runs: o.Runs, Timeline: o.dir != "" || o.timeline != "", Lines: o.lines(), Note: e.Note, Progress: func(n, total int64) {
		done = n
		p.Report(n, total)
	}})
	if err == nil || unit == "runs" {
		p.End(done)
	}
	return out, err
}

// recordJobs makes the run of the plan write its jobs to --jobs-out. The function it returns
// finishes the file: it commits the file if the run succeeded and discards it otherwise.
func (o *SimulateOptions) recordJobs(e *shell.Env, plans []*play.Case) func(error) error {
	if o.jobsOut == "" {
		return func(err error) error { return err }
	}
	var out *files.Output
	var rows *play.JobRows
	plans[0].Prepare = func(_ int, cfg *simulate.Config) (err error) {
		if out != nil { // the run starts again with sorted jobs
			out.Abort()
		}
		if out, err = e.Create(o.jobsOut); err == nil {
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

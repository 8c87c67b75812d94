package play

import (
	"errors"
	"fmt"

	"capcli"
	"capcli/scenarios"
	"capcli/simulate"
	"capcli/simulate/workflow"
)

// keepStages keeps the jobs of a run in memory, which depend on each other, and notes what was assumed
// about the dependencies.
func (c *Case) keepStages(cfg *simulate.Config, run int, note func(string)) (*stageWatch, error) {
	list := []capcli.Job{}
	for j, err := range cfg.Jobs {
		if err != nil {
			return nil, c.Fault(err)
		}
		list = append(list, j)
	}
	s, err := simulate.NewStages(list)
	if err != nil {
		return nil, c.Fault(c.atLine(err, run))
	}
	cfg.Jobs, cfg.Stages = nil, s
	watch := &stageWatch{stages: s, list: list, jobs: make([]stageJob, len(list)), rates: c.Rates}
	cfg.Observers = append(cfg.Observers, watch)
	if g := s.Graph; g.Missing > 0 && run == 0 && !c.Quiet {
		note(fmt.Sprintf("%s: jobs wait %s times for jobs that are not among those played, which counts as satisfied; the first: %s for %s",
			c.Source.Name, capcli.Grouped(g.Missing), g.By, g.FirstMissing))
	}
	return watch, nil
}

// atLine adds the line of the first job to the error of jobs that wait for each other in a circle.
func (c *Case) atLine(err error, run int) error {
	circle, is := errors.AsType[*workflow.CircleError](err)
	in, input := errors.AsType[*capcli.InputError](err)
	if !is || !input {
		return err
	}
	reading, failed := c.Source.Open(run)
	if failed != nil {
		return err
	}
	defer func() { _ = reading.Close() }()
	if reading.Reader == nil {
		return err
	}
	for j, failed := range reading.Jobs {
		if failed != nil {
			break
		}
		if j.ID == circle.ID {
			placed := *in
			placed.Line = reading.Reader.JobLine()
			return &placed
		}
	}
	return err
}

// addStages adds the jobs of the scenario's workflows to the source.
func (c *Case) addStages() {
	s, open := c.Scenario, c.Source.Open
	if len(s.Workflows) == 0 {
		return
	}
	c.Source.Stages, c.Source.alone = true, open
	c.Source.Open = func(run int) (*Reading, error) {
		r, err := open(run)
		if err == nil {
			r.Jobs = mergeJobs(r.Jobs, func(first capcli.Time) []capcli.Job {
				return s.Staged(first, scenarios.Options{Seed: c.Seed, Run: run})
			})
		}
		return r, err
	}
}

// mergeJobs returns the jobs with others among them, in order of submission if jobs are; jobs come first
// where both come at once. others gets the submission of the first of jobs.
func mergeJobs(jobs capcli.Jobs, others func(first capcli.Time) []capcli.Job) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		var list []capcli.Job
		known := false
		for j, err := range jobs {
			if !known {
				known = true
				list = others(j.Submit)
			}
			for ; err == nil && len(list) > 0 && list[0].Submit < j.Submit; list = list[1:] {
				if !yield(list[0], nil) {
					return
				}
			}
			if !yield(j, err) {
				return
			}
		}
		if !known {
			list = others(capcli.NoTime)
		}
		for _, j := range list {
			if !yield(j, nil) {
				return
			}
		}
	}
}

// leftOut returns the number of jobs that were left out because they ask for no GPU. Where jobs depend on
// each other, such jobs take their time.
func (r *Run) leftOut() int64 {
	if s := r.Result.Stages; s != nil {
		return r.Result.Jobs.CPUOnly - s.Steps
	}
	return r.Result.Jobs.CPUOnly
}

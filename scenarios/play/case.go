// Package play runs scenarios. A scenario and its jobs make a Case. A Case is played as often as
// asked; each Run has its result, its invoice and its outcome, the figures that commands print. The
// accounts of every run are checked: the parts of its invoice sum to its total, to the millionth of
// a dollar.
//
//	c, err := play.NewCase(scenario, play.Options{})
//	runs, err := c.Play(ctx, 1)
//	fmt.Println(runs[0].Cost.Total, runs[0].WaitP95)
package play

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/kubernetes"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// Case is a scenario under one policy and one placement, with its seed and its jobs: the unit that
// is played.
type Case struct {
	Scenario *scenarios.Scenario
	Seed     capcli.Seed
	Source   Source
	Rates    []billing.Rate                    // prices of the pools of the scenario's Config, in order
	Open     func(name string) ([]byte, error) // returns a file that the scenario names; nil if there is no access to files
	Notes    []string                          // assumptions made
	Quiet    bool                              // the jobs were played before: notes about their log are not repeated

	// Prepare changes the configuration of a run before it starts, for example to add an observer;
	// nil changes nothing. It may be called for several runs at once.
	Prepare func(run int, cfg *simulate.Config) error

	Text []byte   // the scenario as read, before changes
	Made []string // assumptions made when Text was written for a log

	energy *billing.Energy     // nil if the scenario has no energy section
	kueue  *kubernetes.Cluster // nil unless Kueue decides
	zone   *time.Location      // of the log's times; nil is UTC
}

// Options are the inputs of a case other than its scenario.
type Options struct {
	Seed *capcli.Seed // replaces the seed of the scenario; nil keeps it
	// Trace is a job log that replaces the scenario's jobs; "" is none.
	Trace string
	Read  trace.Options // how to read Trace, or the log named in the scenario
	// Logs opens job logs and the files named in the scenario. It may be nil for a scenario with
	// generated jobs and no files.
	Logs *Logs
	// Note receives notes about the case. It may be nil.
	Note func(text string)
}

// NewCase makes a case of a scenario. If the scenario names no jobs and there is no trace, it uses
// the generated jobs of the default scenario, with a note, unless it has services: these then run alone. It fails with *capcli.InputError when a
// file named in the scenario is invalid.
func NewCase(s *scenarios.Scenario, o Options) (*Case, error) {
	c := &Case{Scenario: s, Seed: s.Seed}
	if o.Seed != nil {
		c.Seed = *o.Seed
	}
	if o.Logs != nil {
		c.Open = func(name string) ([]byte, error) { return ReadBeside(o.Logs.Open, s.Dir, name) }
	}
	var err error
	if c.Rates, err = s.Rates(scenarios.Options{Seed: c.Seed, Open: c.Open}); err != nil {
		return nil, err
	}
	if s.Energy != nil {
		if c.energy, err = s.Energy.Load(c.Open); err != nil {
			return nil, err
		}
	}
	if s.Kueue != nil {
		return c, c.findWorkloads(&o)
	}
	return c, c.findJobs(&o)
}

// findJobs sets the source of the jobs: the trace, the scenario's trace, its generator or the
// default generator, in this order.
func (c *Case) findJobs(o *Options) error {
	s, file, read := c.Scenario, o.Trace, o.Read
	if file == "" && s.Jobs.From != "" {
		if file = s.Jobs.From; !filepath.IsAbs(file) && file != "-" {
			file = filepath.Join(s.Dir, file)
		}
		read.Format = cmp.Or(read.Format, s.Jobs.Format)
		if read.TZ == nil && s.Jobs.TZ != "" {
			var err error
			if read.TZ, err = time.LoadLocation(s.Jobs.TZ); err != nil {
				return &capcli.RequestError{Field: "tz", Text: fmt.Sprintf(": unknown time zone %q", s.Jobs.TZ), Hint: "name it as Area/City: Europe/Berlin, America/New_York, or UTC"}
			}
		}
	}
	if file != "" {
		if o.Logs == nil {
			return &capcli.RequestError{Field: "trace", Text: "names " + file + ", but nothing opens it", Hint: "set Options.Logs"}
		}
		c.Source, c.zone = o.Logs.Source(file, read), read.TZ
		c.addStages()
		return nil
	}
	if _, made := s.Generated(scenarios.Options{Seed: c.Seed}); !made && len(s.Services)+len(s.Campaigns)+len(s.Workflows) == 0 {
		if err := lendJobs(s); err != nil {
			return err
		}
		note := s.Name + " names no jobs and there is no --trace: the default scenario's made-up jobs are used"
		if o.Note != nil {
			o.Note(note)
		}
		c.Notes = append(c.Notes, note)
	}
	c.Source = Source{Name: generated, Open: func(run int) (*Reading, error) {
		jobs, made := s.Generated(scenarios.Options{Seed: c.Seed, Run: run})
		if !made {
			jobs = func(func(capcli.Job, error) bool) {} // services alone
		}
		return &Reading{Jobs: jobs}, nil
	}}
	c.addStages()
	return nil
}

// lendJobs gives s the generator of the library's default scenario.
func lendJobs(s *scenarios.Scenario) error {
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

// Label returns the case's name for people: its scenario, policy and placement.
func (c *Case) Label() string {
	return fmt.Sprintf("%s (%s, %s)", c.Scenario.Name, c.Scenario.PolicyName(), c.Scenario.PlacementName())
}

// FromLog reports whether the jobs come from a log rather than a generator.
func (c *Case) FromLog() bool { return c.Source.Name != generated }

// admit returns the jobs of a reading that a run of the case plays, with those of its campaigns; in counts
// them.
func (c *Case) admit(jobs capcli.Jobs, run int, in *scenarios.Intake) capcli.Jobs {
	jobs = c.Scenario.WithCampaigns(jobs, scenarios.Options{Seed: c.Seed, Run: run, Open: c.Open}, in)
	if c.FromLog() {
		return c.Scenario.Admit(jobs, in)
	}
	return c.Scenario.AdmitPeriod(jobs, in)
}

// Fault converts an error of the engine: unbalanced accounts become a *capcli.AccountingError, and
// faults of the jobs name their file.
func (c *Case) Fault(err error) error {
	if _, is := errors.AsType[*simulate.AccountError](err); is {
		return &capcli.AccountingError{Err: err}
	}
	if input, is := errors.AsType[*capcli.InputError](err); is && input.File == "" {
		named := *input
		named.File = c.Source.Name
		named.Hint = strings.ReplaceAll(named.Hint, "LOG", capcli.ShellWord(c.Source.Name))
		return &named
	}
	return err
}

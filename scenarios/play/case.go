// Package play runs scenarios: a scenario and the jobs that it plays make a Case, a
// Case is played as often as asked, and each Run has its result, its invoice and its
// outcome, the figures that commands print. The books of every run are checked: the
// parts of its invoice sum to its total, to the millionth of a dollar.
//
//	c, err := play.NewCase(scenario, play.Options{})
//	runs, err := c.Play(ctx, 1)
//	fmt.Println(runs[0].Cost.Total, runs[0].WaitP95)
package play

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"capcli"
	"capcli/profile/trace"
	"capcli/scenarios"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// Case is a scenario under one policy and one placement, with its seed and its jobs:
// what is played.
type Case struct {
	Scenario *scenarios.Scenario
	Seed     capcli.Seed
	Source   Source
	Rates    []billing.Rate                    // of the pools of the scenario's Config
	Open     func(name string) ([]byte, error) // gives a file that the scenario names
	Notes    []string                          // what was assumed
	Quiet    bool                              // the jobs were played before: nothing is said of their log again

	// Prepare changes the configuration of a run before it begins, to observe it for
	// one; nil changes nothing. Several runs may be prepared at once.
	Prepare func(run int, cfg *simulate.Config) error

	Text []byte   // the scenario as it was read, before its changes
	Made []string // what was assumed in making Text for a log

	energy *billing.Energy // nil where the scenario says nothing of power
}

// Options are what a case takes beside its scenario.
type Options struct {
	Seed *capcli.Seed // in place of the scenario's own
	// Trace is a job log in place of the scenario's jobs; "" is none.
	Trace string
	Read  trace.Options // how to read Trace, or the log that the scenario names
	// Logs opens job logs and the files that the scenario names. It may be nil for a
	// scenario that makes its jobs up and names no file.
	Logs *Logs
	// Note takes what there is to say of the case. It may be nil.
	Note func(text string)
}

// NewCase makes a case of a scenario. Where the scenario names no jobs and there is no
// trace, it plays those of the default scenario, and says so. It fails with
// *capcli.InputError where a file that the scenario names is no good.
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
	return c, c.findJobs(&o)
}

// findJobs finds where the jobs of a case come from: the trace, the scenario's trace,
// its generator or the default generator.
func (c *Case) findJobs(o *Options) error {
	s, file, read := c.Scenario, o.Trace, o.Read
	if file == "" && s.Jobs.From != "" {
		if file = s.Jobs.From; !filepath.IsAbs(file) && file != "-" {
			file = filepath.Join(s.Dir, file)
		}
		if read.Format == "" {
			read.Format = s.Jobs.Format
		}
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
		c.Source = o.Logs.Source(file, read)
		return nil
	}
	if _, made := s.Generated(scenarios.Options{Seed: c.Seed}); !made {
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
		jobs, _ := s.Generated(scenarios.Options{Seed: c.Seed, Run: run})
		return &Reading{Jobs: jobs}, nil
	}}
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

// FromLog reports whether the jobs come from a log, not from a generator.
func (c *Case) FromLog() bool { return c.Source.Name != generated }

// admit returns the jobs of a reading that the case plays; in remembers what it saw.
func (c *Case) admit(jobs capcli.Jobs, in *scenarios.Intake) capcli.Jobs {
	if c.FromLog() {
		return c.Scenario.Admit(jobs, in)
	}
	return c.Scenario.AdmitPeriod(jobs, in)
}

// Fault types an error of the engine: accounts that do not balance are a
// *capcli.AccountingError, and what is wrong with the jobs is wrong with their file.
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

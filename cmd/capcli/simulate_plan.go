package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile/trace"
	"capcli/scenarios"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// plan is one scenario under one policy and placement: a row of the result.
type plan struct {
	scenario *scenarios.Scenario
	seed     capcli.Seed
	source   jobSource
	rates    []billing.Rate
	open     func(name string) ([]byte, error)
	notes    []string
	text     []byte   // of the scenario, before the changes of --set
	made     []string // what was assumed in making it for a trace
	watch    func(run int, cfg *simulate.Config)
	dir      string          // of its runs, under --out
	energy   *billing.Energy // nil where the scenario says nothing of power
	echo     bool            // the same jobs have been read before: what there is to say of them is said
}

// label names the plan for people.
func (p *plan) label() string {
	return fmt.Sprintf("%s (%s, %s)", p.scenario.Name, p.scenario.PolicyName(), p.scenario.PlacementName())
}

// plans makes one plan for each scenario, policy and placement.
func (o *simulateOptions) plans(ctx context.Context, e *env, args []string) ([]*plan, error) {
	if len(args) == 0 {
		args = []string{""}
		if o.trace == "" {
			e.note("no scenario and no trace: the library's default scenario, with made-up jobs (capcli scenarios show default)")
		}
	}
	held := &heldJobs{}
	var out []*plan
	for _, name := range args {
		policies, placements := orOne(o.policies), orOne(o.placements)
		for _, policy := range policies {
			for _, placement := range placements {
				p, err := o.plan(ctx, e, name, policy, placement, held)
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

// plan reads a scenario, changed by the flags.
func (o *simulateOptions) plan(ctx context.Context, e *env, name, policy, placement string, held *heldJobs) (*plan, error) {
	if err := o.settlePeriod(ctx, e, held); err != nil {
		return nil, err
	}
	text, file, made, err := o.text(ctx, e, name, held)
	if err != nil {
		return nil, err
	}
	own, err := ownPrices(e, o.prices)
	if err != nil {
		return nil, err
	}
	s, err := scenarios.ParseWith(own, file, text, o.sets...)
	if err != nil {
		return nil, cmp.Or(o.logForScenario(e, name), err)
	}
	s.Policy.Name = cmp.Or(policy, s.Policy.Name)
	s.Placement = cmp.Or(placement, s.Placement)
	s.Policy.Perfect = s.Policy.Perfect || o.perfect
	p := &plan{scenario: s, seed: s.Seed, notes: slices.Clone(made), text: text, made: made}
	if o.seeded {
		p.seed = capcli.Seed(o.seed)
	}
	p.open = func(name string) ([]byte, error) { return readBeside(e, s.Dir, name) }
	if p.rates, err = s.Rates(scenarios.Options{Seed: p.seed, Open: p.open}); err != nil {
		return nil, err
	}
	if err := p.loadEnergy(); err != nil {
		return nil, err
	}
	return p, o.jobsOf(e, p, held)
}

// text gives the scenario called name: a file, one of the library, or "" for
// the default; with a trace and no scenario, one that fits the trace.
func (o *simulateOptions) text(ctx context.Context, e *env, name string, held *heldJobs) (text []byte, file string, notes []string, err error) {
	if o.kept != nil {
		return []byte(o.kept.Text), o.kept.File, o.kept.Made, nil
	}
	if name == "" && o.trace != "" {
		f, err := o.fitting(ctx, e, held)
		if err != nil {
			return nil, "", nil, err
		}
		return f.text, "trace.yaml", []string{f.note}, nil
	}
	if name == "" {
		name = "default"
	}
	if b, ok := scenarios.Library(name); ok {
		return b, name + ".yaml", nil, nil
	}
	b, err := readFile(e, name, scenarioMax)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "./\\") {
		return nil, "", nil, unknownScenario(name)
	}
	return b, name, nil, err
}

// logForScenario says that a file given as a scenario is a job log; nil where it
// is none.
func (o *simulateOptions) logForScenario(e *env, file string) error {
	if file == "" || o.kept != nil {
		return nil
	}
	in, done, err := openInput(e, file)
	if err != nil {
		return nil //nolint:nilerr // then it is no job log: what the scenario's reader said stands
	}
	defer func() { _ = done.Close() }()
	opts, err := o.read.options()
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	r, err := trace.Open(in, opts)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	for _, err := range r.Jobs() {
		if err != nil {
			break
		}
		return &capcli.InputError{
			File: file, Text: fmt.Sprintf("expected a scenario, found a job log (%s)", r.Report().Format),
			Hint: fmt.Sprintf("give it with --trace %s; capcli scenarios init --trace %s --out plan.yaml writes a scenario that fits it", shellWord(file), shellWord(file)),
		}
	}
	return nil
}

// scenarioMax is the most bytes that are read of a scenario: one more than the
// parser takes, so that it can say so.
const scenarioMax = 1<<20 + 1

func unknownScenario(name string) error {
	var c capcli.Catalog[struct{}]
	c.Kind = "scenario"
	for _, n := range scenarios.Names() {
		c.Add(n, "", struct{}{})
	}
	_, err := c.Get(name)
	return err
}

// readFile reads a small file whole, at most limit bytes of it.
func readFile(e *env, name string, limit int64) ([]byte, error) {
	in, done, err := openInput(e, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	b, err := io.ReadAll(io.LimitReader(in.R, limit))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return b, nil
}

// besideMax bounds a file that a scenario names: node lists, availability.
const besideMax = 256 << 20

// readBeside opens a file that a scenario in dir names, plain whatever packed it.
func readBeside(e *env, dir, name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	in, done, err := openInput(e, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	r, err := trace.Unpack(in)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, besideMax+1))
	if err == nil && len(b) > besideMax {
		err = &capcli.InputError{File: name, Text: "expected at most 256 MiB, found more"}
	}
	return b, err
}

func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.Names(), cobra.ShellCompDirectiveDefault
}

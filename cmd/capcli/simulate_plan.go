package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile/trace"
	"capcli/scenarios"
	"capcli/scenarios/play"
)

// plans makes one plan for each scenario, policy and placement.
func (o *simulateOptions) plans(ctx context.Context, e *env, args []string) ([]*play.Case, error) {
	if len(args) == 0 {
		args = []string{""}
		if o.trace == "" {
			e.note("no scenario and no trace: the library's default scenario, with made-up jobs (capcli scenarios show default)")
		}
	}
	held := newHeldJobs(e)
	var out []*play.Case
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
			Hint: fmt.Sprintf("give it with --trace %s; capcli scenarios init --trace %s --out plan.yaml writes a scenario that fits it", capcli.ShellWord(file), capcli.ShellWord(file)),
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

// readBeside opens a file that a scenario in dir names, plain whatever packed it.
func readBeside(e *env, dir, name string) ([]byte, error) {
	return play.ReadBeside(e.opener(), dir, name)
}

func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.Names(), cobra.ShellCompDirectiveDefault
}

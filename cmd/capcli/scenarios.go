package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios"
	"capcli/scenarios/play"
)

func newScenarios(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scenarios",
		Short: "List the library of scenarios; start a scenario, check one",
		Example: "  capcli scenarios list\n" +
			"  capcli scenarios show three-tier > mine.yaml\n" +
			"  capcli scenarios init --trace jobs.parquet --out mine.yaml\n" +
			"  capcli scenarios validate mine.yaml",
	}
	group(cmd)
	cmd.AddCommand(newScenariosList(e), newScenariosShow(e), newScenariosInit(e), newScenariosValidate(e))
	return cmd
}

func newScenariosList(e *env) *cobra.Command {
	var o outputOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the scenarios that come with capcli",
		Example: "  capcli scenarios list\n" +
			"  capcli scenarios list -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := noArgs(cmd, args); err != nil {
				return err
			}
			return runScenariosList(e, o)
		},
	}
	addOutputFlags(cmd, &o)
	return cmd
}

func runScenariosList(e *env, o outputOptions) error {
	data, err := scenarios.List()
	if err != nil {
		return err
	}
	t := report.Table{Name: "scenarios", Columns: []report.Column{{Name: "name"}, {Name: "description", Head: "what it shows"}}}
	for _, s := range data.Scenarios {
		t.Rows = append(t.Rows, []any{s.Name, s.Description})
	}
	return emit(e, o, report.Doc{Title: "Scenarios", Tables: []report.Table{t}, Data: data})
}

func newScenariosShow(e *env) *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Print a scenario of the library, to read or to change",
		Example:           "  capcli scenarios show three-tier > mine.yaml",
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneArg(cmd, args, "the name of a scenario"); err != nil {
				return err
			}
			b, ok := scenarios.Library(args[0])
			if !ok {
				return scenarios.UnknownError(args[0])
			}
			return writeWhole(e, "-", b)
		},
	}
}

func newScenariosValidate(e *env) *cobra.Command {
	var sets []string
	var prices string
	cmd := &cobra.Command{
		Use:   "validate FILE…",
		Short: "Check scenarios without running them",
		Example: "  capcli scenarios validate mine.yaml\n" +
			"  capcli scenarios validate mine.yaml --set capacity[0].gpus=72",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{text: "validate wants at least one scenario file", hint: cmd.CommandPath() + " mine.yaml"}
			}
			for _, name := range args {
				if err := validateScenario(e, name, prices, sets); err != nil {
					return err
				}
			}
			return nil
		},
		ValidArgsFunction: completeScenarios,
	}
	addPricesFlag(cmd, &prices)
	cmd.Flags().StringArrayVar(&sets, "set", nil, "change a field first: `path=value` (may be repeated)")
	return cmd
}

// validateScenario parses one scenario and opens the files it names.
func validateScenario(e *env, name, prices string, sets []string) error {
	b, ok := scenarios.Library(name)
	if !ok {
		var err error
		if b, err = readFile(e, name, play.ScenarioMax); err != nil {
			return err
		}
	}
	own, err := ownPrices(e, prices)
	if err != nil {
		return err
	}
	s, err := scenarios.ParseWith(own, name, b, sets...)
	if err != nil {
		return err
	}
	open := func(file string) ([]byte, error) { return readBeside(e, s.Dir, file) }
	if _, err := s.Config(func(func(capcli.Job, error) bool) {}, scenarios.Options{Seed: s.Seed, Open: open}); err != nil {
		return err
	}
	var pools []string
	for i := range s.Capacity {
		pools = append(pools, s.Capacity[i].Name)
	}
	e.say(fmt.Sprintf("%s is a scenario: %s; pools %s; policy %s, placement %s", name, s.Name, strings.Join(pools, ", "), s.PolicyName(), s.PlacementName()))
	return nil
}

// writeWhole writes b to the file path, or to stdout for "-".
func writeWhole(e *env, path string, b []byte) error {
	return writeOutput(e, path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// writeOutput creates the file path, or uses stdout for "-", and lets write fill it. On an error no
// file is left.
func writeOutput(e *env, path string, write func(io.Writer) error) error {
	out, err := e.create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := write(out); err != nil {
		return out.Failed(err)
	}
	return out.Commit()
}

// say prints a line to stderr, unless --quiet is set.
func (e *env) say(text string) {
	if !e.quiet {
		_, _ = fmt.Fprintln(e.stderr, printable(text))
	}
}

// oneArg requires exactly one argument; what names it in the error.
func oneArg(cmd *cobra.Command, args []string, what string) error {
	if len(args) == 1 {
		return nil
	}
	return &usageError{text: fmt.Sprintf("%s wants %s, found %d arguments", pathUnder(cmd), what, len(args)), hint: cmd.CommandPath() + " --help"}
}

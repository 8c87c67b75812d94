package data

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios"
	"capcli/scenarios/play"
)

func newScenarios(e *shell.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scenarios",
		Short: "List the library of scenarios; start a scenario, check one",
		Example: "  capcli scenarios list\n" +
			"  capcli scenarios show three-tier > mine.yaml\n" +
			"  capcli scenarios init --trace jobs.parquet --out mine.yaml\n" +
			"  capcli scenarios validate mine.yaml",
	}
	shell.SetGroup(cmd)
	cmd.AddCommand(newScenariosList(e), newScenariosShow(e), newScenariosInit(e), newScenariosValidate(e))
	return cmd
}

func newScenariosList(e *shell.Env) *cobra.Command {
	var o shell.OutputOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the scenarios that come with capcli",
		Example: "  capcli scenarios list\n" +
			"  capcli scenarios list -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := shell.NoArgs(cmd, args); err != nil {
				return err
			}
			return shell.Answer(e, o, tables.ScenariosDoc)(scenarios.List())
		},
	}
	shell.AddOutputFlags(cmd, &o)
	return cmd
}

func newScenariosShow(e *shell.Env) *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Print a scenario of the library, to read or to change",
		Example:           "  capcli scenarios show three-tier > mine.yaml",
		ValidArgsFunction: shell.CompleteScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := shell.OneArg(cmd, args, "the name of a scenario"); err != nil {
				return err
			}
			b, ok := scenarios.Library(args[0])
			if !ok {
				return scenarios.UnknownError(args[0])
			}
			return shell.WriteWhole(e, "-", b)
		},
	}
}

func newScenariosValidate(e *shell.Env) *cobra.Command {
	var sets []string
	var prices string
	cmd := &cobra.Command{
		Use:   "validate FILE…",
		Short: "Check scenarios without running them",
		Example: "  capcli scenarios validate mine.yaml\n" +
			"  capcli scenarios validate mine.yaml --set capacity[0].gpus=72",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &shell.UsageError{Text: "validate wants at least one scenario file", Hint: cmd.CommandPath() + " mine.yaml"}
			}
			for _, name := range args {
				if err := validateScenario(e, name, prices, sets); err != nil {
					return err
				}
			}
			return nil
		},
		ValidArgsFunction: shell.CompleteScenarios,
	}
	shell.AddPricesFlag(cmd, &prices)
	cmd.Flags().StringArrayVar(&sets, "set", nil, "change a field first: `path=value` (may be repeated)")
	return cmd
}

// validateScenario parses one scenario and opens the files it names.
func validateScenario(e *shell.Env, name, prices string, sets []string) error {
	b, ok := scenarios.Library(name)
	if !ok {
		var err error
		if b, err = shell.ReadFile(e, name, play.ScenarioMax); err != nil {
			return err
		}
	}
	own, err := shell.OwnPrices(e, prices)
	if err != nil {
		return err
	}
	s, err := scenarios.ParseWith(own, name, b, sets...)
	if err != nil {
		return err
	}
	open := func(file string) ([]byte, error) { return shell.ReadBeside(e, s.Dir, file) }
	if _, err := s.Config(func(func(capcli.Job, error) bool) {}, scenarios.Options{Seed: s.Seed, Open: open}); err != nil {
		return err
	}
	pools := capcli.Map(s.Capacity, func(x scenarios.Capacity) string { return x.Name })
	e.Say(fmt.Sprintf("%s is a scenario: %s; pools %s; policy %s, placement %s", name, s.Name, strings.Join(pools, ", "), s.PolicyName(), s.PlacementName()))
	return nil
}

package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/outcome"
)

func newCompare(e *shell.Env) *cobra.Command {
	var o shell.OutputOptions
	var by string
	cmd := &cobra.Command{
		Use:   "compare RUNS RUNS…",
		Short: "Compare saved results, run by run",
		Long: "Compares results that capcli simulate wrote (--out DIR, or -o json into a file). The first is the baseline.\n" +
			"Runs with the same seed had the same random events, so they are compared in pairs.",
		Example: "  capcli simulate a.yaml b.yaml --runs 20 --out runs/\n" +
			"  capcli compare runs/a runs/b\n" +
			"  capcli compare runs/a runs/b --by tenant -o csv",
		RunE: func(_ *cobra.Command, args []string) error { return runCompare(e, o, by, args) },
	}
	shell.AddOutputFlags(cmd, &o)
	cmd.Flags().StringVar(&by, "by", "", "split the cost by `WHAT`: tenant, pool, tier, month or a tag of the jobs, such as project")
	shell.Complete(cmd, "by", func() []string { return outcome.SplitNames })
	return cmd
}

func runCompare(e *shell.Env, o shell.OutputOptions, by string, args []string) error {
	var plans []outcome.Plan
	var sources []string
	for _, name := range args {
		more, err := readRuns(e, name)
		if err != nil {
			return err
		}
		plans, sources = append(plans, more...), append(sources, slices.Repeat([]string{name}, len(more))...)
	}
	outcome.NameApart(plans, sources)
	if len(plans) < 2 {
		return &shell.UsageError{Text: fmt.Sprintf("compare needs at least two plans, found %d", len(plans)), Hint: "capcli compare runs/a runs/b"}
	}
	if by != "" {
		if err := outcome.CheckSplit(plans, by); err != nil {
			return err
		}
		return shell.Emit(e, o, tables.CompareBy(plans, by))
	}
	return shell.Emit(e, o, tables.ComparePlans(plans))
}

// RunsMax is the most bytes of a saved result that are read.
const RunsMax = 1 << 30

// readRuns reads a saved result: a folder written by capcli simulate, or its JSON.
func readRuns(e *shell.Env, name string) ([]outcome.Plan, error) {
	file := name
	if info, err := e.Disk.Stat(name); err == nil && info.IsDir() {
		file = filepath.Join(name, shell.ResultFile)
	}
	in, done, err := shell.OpenInput(e, file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	var data outcome.Document
	dec := json.NewDecoder(io.LimitReader(in.R, RunsMax))
	if err := dec.Decode(&data); err != nil {
		return nil, &capcli.InputError{
			File: file, Text: "expected a result of capcli simulate, found " + err.Error(),
			Hint: "write one with capcli simulate --out DIR or -o json", Err: err,
		}
	}
	if data.Schema != "capcli/simulate/v1" || len(data.Runs) == 0 {
		return nil, &capcli.InputError{
			File: file, Field: "schema", Text: fmt.Sprintf("expected capcli/simulate/v1 with runs, found %q with %d", data.Schema, len(data.Runs)),
		}
	}
	return outcome.Plans(data.Runs), nil
}

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"

	"capcli/cmd/bundle"
)

// newRoot makes the tree of commands over e.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "capcli",
		Short:         "Say how many GPUs to reserve",
		Long:          "capcli replays jobs and services on owned, reserved, on-demand and spot GPUs: cost, waits, what is stranded.",
		Example:       "  capcli import slurm sacct.psv.gz --read tz=Europe/Berlin --out jobs.parquet",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if f := cmd.Flags().Lookup("output"); f != nil {
				e.form = f.Value.String()
			}
			bundle.NoteRenamed(e.note, cmd)
			e.cmd = cmd
			return checkProgress(e.progress)
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(e.stdout, cmd) })
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	root.CompletionOptions.HiddenDefaultCmd = true
	f := root.PersistentFlags()
	f.BoolVarP(&e.quiet, "quiet", "q", false, "errors only on stderr")
	f.BoolVarP(&e.verbose, "verbose", "v", false, "more on stderr: exit codes, and the choices made")
	f.BoolVar(&e.noColor, "no-color", false, "no colors (NO_COLOR=1 does the same)")
	f.StringVar(&e.progress, "progress", "", "progress on stderr: `MODE` is "+progressModes)
	complete(root, "progress", func() []string { return strings.Split(progressModes, ", ") })
	group(root)
	root.AddCommand(commands(e)...)
	completeResults(e, root)
	return root
}

// commands returns the commands of the program, one file each.
func commands(e *env) []*cobra.Command {
	return []*cobra.Command{newSimulate(e), newCompare(e), newETA(e), newExplain(e), newExplore(e), newWhatIf(e), newPlan(e), newEmit(e), newDecide(e), newDemo(e), newReport(e), newBill(e), newImport(e), newTrace(e), newForecast(e), newMIG(e), newProfile(e), newServe(e), newService(e), newValidate(e), newDoctor(e), newScenarios(e), newPrices(e), newSchema(e), newVerify(e), newVersion(e)}
}

func checkProgress(mode string) error {
	modes := strings.Split(progressModes, ", ")
	if mode != "" && !slices.Contains(modes, mode) {
		return &usageError{text: fmt.Sprintf("unknown --progress %q: have %s", mode, progressModes)}
	}
	return nil
}

// group makes cmd a command that only holds others. On its own it shows its help; an unknown
// subcommand is an error that suggests the nearest.
func group(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var names []string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		text := fmt.Sprintf("unknown command %q", strings.TrimSpace(pathUnder(cmd)+" "+args[0])) + capcli.DidYouMean(args[0], names)
		return &usageError{text: text, hint: "have " + strings.Join(names, ", ") + " (" + cmd.CommandPath() + " --help)"}
	}
}

// pathUnder returns the path of cmd without the program's name.
func pathUnder(cmd *cobra.Command) string {
	_, rest, _ := strings.Cut(cmd.CommandPath(), " ")
	return rest
}

// noArgs refuses any argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &usageError{
		text: fmt.Sprintf("%s takes no argument, found %q", pathUnder(cmd), args[0]),
		hint: cmd.CommandPath() + " --help",
	}
}

// wantArgs requires exactly the arguments called names.
func wantArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		path := cmd.CommandPath()
		switch {
		case len(args) < len(names):
			return &usageError{
				text: fmt.Sprintf("%s needs %s: %s is missing", pathUnder(cmd), strings.Join(names, " "), names[len(args)]),
				hint: path + " --help",
			}
		case len(args) > len(names):
			return &usageError{
				text: fmt.Sprintf("%s takes only %s, found also %q", pathUnder(cmd), strings.Join(names, " "), args[len(names)]),
				hint: path + " --help",
			}
		}
		return nil
	}
}

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/bundle"
	"capcli/cmd/capcli/data"
	"capcli/cmd/capcli/forecast"
	"capcli/cmd/capcli/pages"
	"capcli/cmd/capcli/plan"
	"capcli/cmd/capcli/profile"
	"capcli/cmd/capcli/replay"
	"capcli/cmd/capcli/service"
	"capcli/cmd/shell"
)

// newRoot makes the tree of commands over e.
func newRoot(e *shell.Env) *cobra.Command {
	root := &cobra.Command{
		Use:           "capcli",
		Short:         "Say how many GPUs to reserve",
		Long:          "capcli replays jobs and services on owned, reserved, on-demand and spot GPUs: cost, waits, what is stranded.",
		Example:       "  capcli import slurm sacct.psv.gz --read tz=Europe/Berlin --out jobs.parquet",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if f := cmd.Flags().Lookup("output"); f != nil {
				e.Form = f.Value.String()
			}
			bundle.NoteRenamed(e.Note, cmd)
			e.Cmd = cmd
			return checkProgress(e.Progress)
		},
	}
	root.SetFlagErrorFunc(shell.FlagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { shell.WriteHelp(e.Stdout, cmd) })
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	root.CompletionOptions.HiddenDefaultCmd = true
	f := root.PersistentFlags()
	f.BoolVarP(&e.Quiet, "quiet", "q", false, "errors only on stderr")
	f.BoolVarP(&e.Verbose, "verbose", "v", false, "more on stderr: exit codes, and the choices made")
	f.BoolVar(&e.NoColor, "no-color", false, "no colors (NO_COLOR=1 does the same)")
	f.StringVar(&e.Progress, "progress", "", "progress on stderr: `MODE` is "+shell.ProgressModes)
	shell.Complete(root, "progress", func() []string { return strings.Split(shell.ProgressModes, ", ") })
	shell.SetGroup(root)
	root.AddCommand(commands(e)...)
	completeResults(e, root)
	return root
}

// commands returns the commands of the program, a package for each group.
func commands(e *shell.Env) []*cobra.Command {
	return slices.Concat(replay.Commands(e), plan.Commands(e), pages.Commands(e), data.Commands(e), forecast.Commands(e), profile.Commands(e), service.Commands(e), []*cobra.Command{newVersion(e)})
}

func checkProgress(mode string) error {
	modes := strings.Split(shell.ProgressModes, ", ")
	if mode != "" && !slices.Contains(modes, mode) {
		return &shell.UsageError{Text: fmt.Sprintf("unknown --progress %q: have %s", mode, shell.ProgressModes)}
	}
	return nil
}

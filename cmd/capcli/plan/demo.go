package plan

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/profile/store"
	"capcli/scenarios/demo"
)

func newDemo(e *shell.Env) *cobra.Command {
	seed := uint64(1)
	cmd := &cobra.Command{
		Use:     "demo [DIR]",
		Short:   "Write a small world to try the program on, and say what to type",
		Long:    "Writes a made-up job log of six weeks, two scenarios and prices into DIR (default demo), and prints the\ncommands to type, from a first look to the page of a meeting.",
		Example: "  capcli demo\n  capcli demo tour --seed 7",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return runDemo(e, filepath.ToSlash(cmp.Or(strings.Join(args, ""), "demo")), capcli.Seed(seed))
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", seed, "seed of the made-up jobs: a whole `NUMBER` from 0")
	return cmd
}

func runDemo(e *shell.Env, dir string, seed capcli.Seed) error {
	world, err := demo.NewWorld(seed)
	if err != nil {
		return err
	}
	if err := e.Disk.Mkdir(dir); err != nil {
		return &files.WriteError{Path: dir, Err: err}
	}
	for _, f := range world.Files {
		if err := shell.WriteWhole(e, filepath.Join(dir, f.Name), f.Text); err != nil {
			return err
		}
	}
	if err := world.Record(store.System{}, filepath.ToSlash(filepath.Join(dir, demo.Recording))); err != nil {
		return err
	}
	text := strings.Join(demo.Commands(dir), "\n") + "\n"
	return shell.WriteWhole(e, "-", []byte(text))
}

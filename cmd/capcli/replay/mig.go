package replay

import (
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/simulate/mig"
)

func newMIG(e *shell.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mig",
		Short: "Try instances of a divided GPU (MIG): what fits together, in which order, on how many GPUs",
		Long: "A GPU with MIG is divided into instances of profiles such as 1g.10gb. Which instances fit together, and in which\n" +
			"order they can be made, follows from NVIDIA's table of slices and starts: docs/hardware.md.",
		Example: "  capcli mig list --gpu H100-80GB\n" +
			"  capcli mig fit --gpu A100-80GB 3g.40gb 1g.10gb=3\n" +
			"  capcli mig fleet --gpu H100-80GB 1g.10gb=40 3g.40gb=7",
	}
	shell.SetGroup(cmd)
	cmd.AddCommand(migFit(e), migFleet(e), migList(e))
	return cmd
}

func migFit(e *shell.Env) *cobra.Command {
	return migCommand(e, "fit PROFILE…", "Say whether instances fit on one GPU together, where they start, and in which order",
		"Instances are made in the order given. PROFILE=N is N of them. Two rules say where one starts: the lowest start\n"+
			"that is free, and the order of the driver as NVIDIA's guide shows it for an A100. The answers can differ.",
		"  capcli mig fit --gpu A100-80GB 1g.10gb=2 2g.20gb 3g.40gb", tables.MigFitDoc,
		func(gpu string, args []string) (*mig.Fit, error) {
			return mig.RunFit(&mig.FitRequest{GPU: gpu, Profiles: args})
		})
}

func migFleet(e *shell.Env) *cobra.Command {
	return migCommand(e, "fleet PROFILE…", "Say how many GPUs instances need, and what of them stays free or stranded",
		"PROFILE=N is N instances. The fewest GPUs are found by a search that says whether it has proved them, beside first\n"+
			"fit in the order given and the largest first.",
		"  capcli mig fleet --gpu H100-80GB 1g.10gb=40 3g.40gb=7", tables.MigFleetDoc,
		func(gpu string, args []string) (*mig.Fleet, error) {
			return mig.RunFleet(&mig.FleetRequest{GPU: gpu, Profiles: args})
		})
}

func migList(e *shell.Env) *cobra.Command {
	return migCommand(e, "list", "List the profiles of a GPU and the mixes that fill it", "", "  capcli mig list --gpu H100-80GB -o json",
		tables.MigListDoc, func(gpu string, _ []string) (*mig.List, error) { return mig.RunList(&mig.ListRequest{GPU: gpu}) })
}

// migCommand makes a command that answers about the GPU of --gpu.
func migCommand[R any](e *shell.Env, use, short, long, example string, doc func(R) report.Doc, answer func(gpu string, args []string) (R, error)) *cobra.Command {
	var output shell.OutputOptions
	var gpu string
	cmd := &cobra.Command{
		Use: use, Short: short, Long: strings.TrimSpace(short + ".\n" + long), Example: example,
		RunE: func(_ *cobra.Command, args []string) error {
			return shell.Answer(e, output, doc)(answer(gpu, args))
		},
		ValidArgsFunction: shell.CompleteArgs(func() []string { return mig.Complete(gpu) }),
	}
	if use == "list" {
		cmd.Args = shell.NoArgs
	}
	cmd.Flags().StringVar(&gpu, "gpu", "", "GPU of the table of profiles, `NAME` such as A100-80GB")
	shell.Complete(cmd, "gpu", mig.Names)
	shell.AddOutputFlags(cmd, &output)
	return cmd
}

package plan

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/scenarios/decide/plan/shard"
)

// mergeOptions are the flags of capcli plan merge.
type mergeOptions struct {
	output  shell.OutputOptions
	shards  int
	missing bool
}

func newPlanMerge(e *shell.Env) *cobra.Command {
	var o mergeOptions
	cmd := &cobra.Command{
		Use:   "merge DIR",
		Short: "Join the shards in a folder into the plan, byte for byte as one process would write it",
		Long: "Joins the files of capcli plan --shards N --shard K --out DIR. Every shard must be there, whole, and of the same\n" +
			"inputs, which are read again from their paths. Otherwise every fault is listed and nothing is written.",
		Example: "  capcli plan merge sweep -o json --out plan.json\n" +
			"  capcli plan merge sweep --missing                 # 3,7,12-15: what to run again, as for sbatch --array",
		Args: shell.WantArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return runPlanMerge(cmd.Context(), e, &o, args[0]) },
	}
	shell.AddOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.IntVar(&o.shards, "shards", 0, "number of shards, `N`, if none is there yet")
	f.BoolVar(&o.missing, "missing", false, "print only the numbers of the shards that are missing or damaged")
	return cmd
}

func runPlanMerge(ctx context.Context, e *shell.Env, o *mergeOptions, dir string) error {
	if o.shards < 0 || o.shards > shard.Max {
		return &shell.UsageError{Text: fmt.Sprintf("--shards wants 1 to %d, found %d", shard.Max, o.shards)}
	}
	set, err := shard.ReadSet(dir, e.ShardFolder(dir), o.shards)
	if err != nil {
		return err
	}
	if o.missing {
		return printMissing(e, set)
	}
	if err := set.Check(); err != nil {
		return err
	}
	p := &planOptions{}
	cmd := newPlanMixOf(e, p)
	if err := cmd.ParseFlags(set.Head().Args); err != nil {
		return &capcli.InputError{File: dir, Text: "its shards were made with flags that this capcli does not have: " + err.Error()}
	}
	p.output, p.shard.merge = o.output, set
	return p.runMix(ctx, e, cmd, cmd.Flags().Args())
}

// printMissing prints the numbers of the shards to run again on one line, or nothing.
func printMissing(e *shell.Env, set *shard.Set) error {
	if err := set.CheckSame(); err != nil {
		return err
	}
	for _, err := range set.Damaged {
		e.Note(err.Error())
	}
	if len(set.Missing) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(e.Stdout, shard.Ranges(set.Missing))
	return err
}

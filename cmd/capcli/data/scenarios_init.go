package data

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/capcli/replay"
	"capcli/cmd/shell"
	"capcli/scenarios"
	"capcli/scenarios/kinds"
	"capcli/scenarios/money/prices"
)

// initOptions are the flags of scenarios init.
type initOptions struct {
	sim        replay.SimulateOptions // the log, how to read it, and prices
	out        string
	partitions string
	model      string
	commit     string
	tiers      string
	kueue      shell.KueueOptions
}

func newScenariosInit(e *shell.Env) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a scenario to start from: a template, or one that fits a job log",
		Long: "Without --trace it writes a commented template with every field. With --trace it reads a job log and writes a scenario\n" +
			"that fits it: its period, partitions, GPU models and tenants, pools of the size that was in use, and prices where the\n" +
			"catalogue knows the model. Beside FILE it writes its JSON Schema, by which editors with a YAML server check it.",
		Example: "  capcli scenarios init --trace jobs.parquet --out plan.yaml\n" +
			"  capcli scenarios init --kueue objects.yaml --out kueue.yaml\n" +
			"  capcli scenarios init --out mine.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := shell.NoArgs(cmd, args); err != nil {
				return err
			}
			return runScenariosInit(cmd, e, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "-", "write it to this `FILE`")
	f.Var(shell.LogFlag{Name: &o.sim.Ask.Trace}, "trace", "job log to fit, `FILE` or - for stdin")
	f.StringVar(&o.partitions, "partitions", "own", "partitions have GPUs of their `own`, or have them shared")
	f.StringVar(&o.model, "gpu-model", "", "the log's GPUs where it does not say: `MODEL`, for prices")
	f.StringVar(&o.commit, "commit", "", "one pool to commit to for this `TERM`, 1y, with on demand behind it, for capcli plan mix")
	f.StringVar(&o.tiers, "tiers", "", "three tiers, for jobs of import --kinds: by its `FILE`, or rules")
	o.kueue.AddObjectFlags(cmd)
	shell.AddFormatFlag(cmd, &o.sim.Ask.Read)
	shell.AddReadFlag(cmd, &o.sim.Ask.Read)
	shell.AddPricesFlag(cmd, &o.sim.Prices)
	shell.Complete(cmd, "partitions", func() []string {
		return []string{"own\ta pool for each partition", "shared\ta pool for all partitions"}
	})
	shell.Complete(cmd, "gpu-model", func() []string { return prices.Catalogue().Models() })
	return cmd
}

func runScenariosInit(cmd *cobra.Command, e *shell.Env, o *initOptions) (err error) {
	if o.partitions != "own" && o.partitions != "shared" {
		return &shell.UsageError{Text: fmt.Sprintf("--partitions wants own or shared, found %q", o.partitions), Hint: "--partitions shared where Slurm's partitions overlap"}
	}
	text, next := []byte(scenarios.Template()), "capcli simulate "+capcli.ShellWord(o.out)
	said := ""
	switch {
	case o.kueue.Asked(cmd):
		if text, err = o.ofObjects(cmd, e); err != nil {
			return err
		}
	case o.sim.Ask.Trace != "":
		made, err := o.fit(cmd.Context(), e)
		if err != nil {
			return err
		}
		text, said = made.Text, fmt.Sprintf(": %s GPUs in %d %s", capcli.Grouped(made.GPUs), made.Pools, capcli.Plural(int64(made.Pools), "pool"))
		next += " --trace " + capcli.ShellWord(o.sim.Ask.Trace)
		for _, n := range made.Notes {
			e.Note(n)
		}
	}
	if o.out != "-" {
		text = append([]byte(shell.EditorHead), text...)
	}
	if err := shell.WriteWhole(e, o.out, text); err != nil {
		return err
	}
	if o.out != "-" {
		if err := shell.WriteForEditors(e, o.out); err != nil {
			return err
		}
		e.Say(fmt.Sprintf("wrote %s%s. next: %s", o.out, said, next))
	}
	return nil
}

// ofObjects makes a scenario of Kubernetes objects.
func (o *initOptions) ofObjects(cmd *cobra.Command, e *shell.Env) ([]byte, error) {
	k := &o.kueue
	if err := k.Settle(cmd, []string{"kueue", "evict-time", "duration", "out"}); err != nil {
		return nil, err
	}
	return k.Ask.Scenario(e.Open, e.Note, func(file string) string { return shell.SeenFrom(o.folder(), file) })
}

func (o *initOptions) folder() string {
	if o.out == "-" {
		return "."
	}
	return filepath.Dir(o.out)
}

// fit makes a scenario that fits the log.
func (o *initOptions) fit(ctx context.Context, e *shell.Env) (*scenarios.Fitted, error) {
	q := &o.sim.Ask
	_, err := q.Read.Parse()
	if err != nil {
		return nil, err
	}
	if q.Prices, err = shell.OwnPrices(e, o.sim.Prices); err != nil {
		return nil, err
	}
	survey, err := shell.NewMaker(e).Survey(ctx, q)
	if err != nil {
		return nil, err
	}
	fit := scenarios.FitOptions{Log: o.sim.Ask.Trace, Shared: o.partitions == "shared", GPUModel: o.model, Prices: q.Prices.Override(prices.Catalogue())}
	fit.Commit = o.commit
	if o.sim.Ask.Trace != "-" {
		fit.From, fit.Format, fit.TZ = shell.SeenFrom(o.folder(), o.sim.Ask.Trace), o.sim.Ask.Read.Format, o.sim.Ask.Read.TZ
	}
	if o.tiers != "" {
		rules, err := kinds.Read(e.Open, o.tiers)
		if err != nil {
			return nil, err
		}
		return survey.FitTiers(fit, q.Prices, rules)
	}
	if o.commit != "" {
		return survey.FitCommitment(fit, q.Prices)
	}
	return survey.Fit(fit)
}

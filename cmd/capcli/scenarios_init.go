package main

import (
	"context"
	"fmt"
	"path/filepath"

	"capcli"

	"github.com/spf13/cobra"

	"capcli/scenarios"
	"capcli/scenarios/kinds"
	"capcli/scenarios/prices"
)

// editorHead is the line of a scenario by which editors find its schema.
const editorHead = "# yaml-language-server: $schema=" + editorSchema + "\n"

// initOptions are the flags of scenarios init.
type initOptions struct {
	sim        simulateOptions // the log, how to read it, and prices
	out        string
	partitions string
	model      string
	commit     string
	tiers      string
	kueue      kueueOptions
}

func newScenariosInit(e *env) *cobra.Command {
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
			if err := noArgs(cmd, args); err != nil {
				return err
			}
			return runScenariosInit(cmd, e, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "-", "write it to this `FILE`")
	f.Var(logFlag{name: &o.sim.ask.Trace}, "trace", "job log to fit, `FILE` or - for stdin")
	f.StringVar(&o.partitions, "partitions", "own", "partitions have GPUs of their `own`, or have them shared")
	f.StringVar(&o.model, "gpu-model", "", "the log's GPUs where it does not say: `MODEL`, for prices")
	f.StringVar(&o.commit, "commit", "", "one pool to commit to for this `TERM`, 1y, with on demand behind it, for capcli plan mix")
	f.StringVar(&o.tiers, "tiers", "", "three tiers, for jobs of import --kinds: by its `FILE`, or rules")
	o.kueue.addObjectFlags(cmd)
	addFormatFlag(cmd, &o.sim.ask.Read)
	addReadFlag(cmd, &o.sim.ask.Read)
	addPricesFlag(cmd, &o.sim.prices)
	complete(cmd, "partitions", func() []string {
		return []string{"own\ta pool for each partition", "shared\ta pool for all partitions"}
	})
	complete(cmd, "gpu-model", func() []string { return prices.Catalogue().Models() })
	return cmd
}

func runScenariosInit(cmd *cobra.Command, e *env, o *initOptions) (err error) {
	if o.partitions != "own" && o.partitions != "shared" {
		return &usageError{text: fmt.Sprintf("--partitions wants own or shared, found %q", o.partitions), hint: "--partitions shared where Slurm's partitions overlap"}
	}
	text, next := []byte(scenarios.Template()), "capcli simulate "+capcli.ShellWord(o.out)
	said := ""
	switch {
	case o.kueue.asked(cmd):
		if text, err = o.ofObjects(cmd, e); err != nil {
			return err
		}
	case o.sim.ask.Trace != "":
		made, err := o.fit(cmd.Context(), e)
		if err != nil {
			return err
		}
		text, said = made.Text, fmt.Sprintf(": %s GPUs in %d %s", capcli.Grouped(made.GPUs), made.Pools, capcli.Plural(int64(made.Pools), "pool"))
		next += " --trace " + capcli.ShellWord(o.sim.ask.Trace)
		for _, n := range made.Notes {
			e.note(n)
		}
	}
	if o.out != "-" {
		text = append([]byte(editorHead), text...)
	}
	if err := writeWhole(e, o.out, text); err != nil {
		return err
	}
	if o.out != "-" {
		if err := writeForEditors(e, o.out); err != nil {
			return err
		}
		e.say(fmt.Sprintf("wrote %s%s. next: %s", o.out, said, next))
	}
	return nil
}

// ofObjects makes a scenario of Kubernetes objects.
func (o *initOptions) ofObjects(cmd *cobra.Command, e *env) ([]byte, error) {
	k := &o.kueue
	if err := k.settle(cmd, []string{"kueue", "evict-time", "duration", "out"}); err != nil {
		return nil, err
	}
	return k.ask.Scenario(e.open, e.note, func(file string) string { return seenFrom(o.folder(), file) })
}

// folder is the folder of the scenario.
func (o *initOptions) folder() string {
	if o.out == "-" {
		return "."
	}
	return filepath.Dir(o.out)
}

// fit makes a scenario that fits the log.
func (o *initOptions) fit(ctx context.Context, e *env) (*scenarios.Fitted, error) {
	q := &o.sim.ask
	_, err := q.Read.Parse()
	if err != nil {
		return nil, err
	}
	if q.Prices, err = ownPrices(e, o.sim.prices); err != nil {
		return nil, err
	}
	survey, err := newMaker(e).Survey(ctx, q)
	if err != nil {
		return nil, err
	}
	fit := scenarios.FitOptions{Log: o.sim.ask.Trace, Shared: o.partitions == "shared", GPUModel: o.model, Prices: q.Prices.Override(prices.Catalogue())}
	fit.Commit = o.commit
	if o.sim.ask.Trace != "-" {
		fit.From, fit.Format, fit.TZ = seenFrom(o.folder(), o.sim.ask.Trace), o.sim.ask.Read.Format, o.sim.ask.Read.TZ
	}
	if o.tiers != "" {
		rules, err := kinds.Read(e.open, o.tiers)
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

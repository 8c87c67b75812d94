package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	view "capcli/cmd/explore"
	"capcli/scenarios/explore"
	"capcli/scenarios/live"
	"capcli/scenarios/play"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// exploreOptions are the flags of capcli explore.
type exploreOptions struct {
	sim  simulateOptions
	jobs int
}

func newExplore(e *env) *cobra.Command {
	o := exploreOptions{sim: simulateOptions{runs: 1}}
	cmd := &cobra.Command{
		Use:   "explore [RUN]",
		Short: "Change a scenario's numbers with the arrow keys and see the answer",
		Long: "Shows the numbers of a scenario as rows of a full screen: pool sizes, patience, policy, placement, prices, work,\n" +
			"seed. Arrow keys change them, the engine runs again, and cost, waits, stranded GPUs and use are redrawn beside the\n" +
			"start. RUN is a scenario, or a folder of capcli simulate --out. q quits and prints the command of the run shown.",
		Example: "  capcli explore default\n" +
			"  capcli explore plan.yaml --trace jobs.parquet\n" +
			"  capcli explore runs/flex-spot --jobs 0",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runExplore(cmd.Context(), e, &o, orOne(args)[0]) },
	}
	o.sim.addCaseFlags(cmd, "job log to replay, `FILE`, in place of that of the run or scenario",
		"scheduling `POLICY` to start with, in place of the scenario's", "`PLACEMENT` to start with, in place of the scenario's")
	addFormatFlag(cmd, &o.sim.ask.Read)
	addReadFlag(cmd, &o.sim.ask.Read)
	addPricesFlag(cmd, &o.sim.prices)
	cmd.Flags().IntVar(&o.jobs, "jobs", live.MaxJobs, "thin a log to about `N` jobs while exploring; f plays all, and 0 always does")
	complete(cmd, "policy", func() []string { return entries(&policy.Catalog) })
	complete(cmd, "placement", func() []string { return entries(&placement.Catalog) })
	cmd.ValidArgsFunction = completeScenarios
	return cmd
}

func runExplore(ctx context.Context, e *env, o *exploreOptions, name string) error {
	_, typed := terminal(os.Stdin.Fd())
	subject := capcli.ShellWord(name)
	if name == "" {
		subject = "--trace " + capcli.ShellWord(o.sim.ask.Trace)
	}
	switch {
	case name == "" && o.sim.ask.Trace == "":
		return &usageError{text: "explore needs RUN: a scenario, or a folder of capcli simulate --out", hint: "capcli explore default; capcli explore --trace jobs.parquet"}
	case o.jobs < 0:
		return &usageError{text: fmt.Sprintf("--jobs wants 0 or more, found %d", o.jobs)}
	case !typed || !e.screen.stdout || e.getenv("TERM") == "dumb":
		return &usageError{
			text: "explore wants a terminal that can redraw its screen; this is none",
			hint: "capcli simulate " + subject + " --set capacity[0].gpus=72 --timeline answers one question; capcli serve opens a page in a browser",
		}
	}
	session, err := o.open(ctx, e, name)
	if err != nil {
		return err
	}
	m := view.NewModel(ctx, session, !e.color())
	m.Most = o.jobs
	m.Save = func(text []byte) (string, error) {
		file := freeName(e, session.File)
		return file, writeWhole(e, file, text)
	}
	if err := view.Run(ctx, m, os.Stdin, os.Stdout); err != nil {
		return err
	}
	if a := m.Answer(); a != nil && a.Thinned != nil {
		e.note("the screen showed " + a.Thinned.Note() + "; this command plays all:")
	}
	if k := o.sim.ask.Kept; k != nil {
		now, err := readFile(e, k.File, play.ScenarioMax)
		if err == nil && !bytes.Equal(now, k.YAML) {
			e.note(k.File + " has changed since the run: the screen showed the scenario of the run, this command takes the file (w writes what is shown)")
		}
	}
	_, err = fmt.Fprintln(e.stdout, m.Command())
	return err
}

// open makes the session of a scenario, or of a folder of runs.
func (o *exploreOptions) open(ctx context.Context, e *env, name string) (*explore.Session, error) {
	if err := o.sim.check(); err != nil {
		return nil, err
	}
	ask := &o.sim.ask
	ask.Scenario, ask.Policy, ask.Place = name, orOne(o.sim.policies)[0], orOne(o.sim.placements)[0]
	if name != "" && e.isFolder(name) {
		folder := e.folder(name)
		in, err := folder.Inputs()
		if err != nil {
			return nil, err
		}
		if in == nil {
			return nil, &play.MissingInputError{
				Text: fmt.Sprintf("%s does not record the inputs of its runs (%s is missing)", name, play.InputsFile),
				Hint: "write the folder again with capcli simulate … --out, or explore the scenario itself",
			}
		}
		if err := folder.Complete(ask, in); err != nil {
			return nil, err
		}
	}
	var err error
	if ask.Prices, err = ownPrices(e, o.sim.prices); err != nil {
		return nil, err
	}
	session, err := explore.Open(ctx, newMaker(e), *ask)
	if err == nil && o.sim.prices != "" {
		session.Flags = []string{"--prices", o.sim.prices}
	}
	return session, err
}

// freeName returns the name of a file that is not there yet, beside a scenario: plan-explored.yaml,
// plan-explored-2.yaml.
func freeName(e *env, scenario string) string {
	stem := strings.TrimSuffix(scenario, filepath.Ext(scenario)) + "-explored"
	name := stem + ".yaml"
	for n := 2; ; n++ {
		if _, err := e.disk.Stat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d.yaml", stem, n)
	}
}

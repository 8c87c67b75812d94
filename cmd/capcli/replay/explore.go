package replay

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
	"capcli/cmd/shell"
	"capcli/scenarios/explore"
	"capcli/scenarios/live"
	"capcli/scenarios/play"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// exploreOptions are the flags of capcli explore.
type exploreOptions struct {
	sim  SimulateOptions
	jobs int
}

func newExplore(e *shell.Env) *cobra.Command {
	o := exploreOptions{sim: SimulateOptions{Runs: 1}}
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
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExplore(cmd.Context(), e, &o, shell.OrOne(args)[0])
		},
	}
	o.sim.AddCaseFlags(cmd, "job log to replay, `FILE`, in place of that of the run or scenario",
		"scheduling `POLICY` to start with, in place of the scenario's", "`PLACEMENT` to start with, in place of the scenario's")
	shell.AddFormatFlag(cmd, &o.sim.Ask.Read)
	shell.AddReadFlag(cmd, &o.sim.Ask.Read)
	shell.AddPricesFlag(cmd, &o.sim.Prices)
	cmd.Flags().IntVar(&o.jobs, "jobs", live.MaxJobs, "thin a log to about `N` jobs while exploring; f plays all, and 0 always does")
	shell.Complete(cmd, "policy", func() []string { return shell.Entries(&policy.Catalog) })
	shell.Complete(cmd, "placement", func() []string { return shell.Entries(&placement.Catalog) })
	cmd.ValidArgsFunction = shell.CompleteScenarios
	return cmd
}

func runExplore(ctx context.Context, e *shell.Env, o *exploreOptions, name string) error {
	_, typed := shell.Terminal(os.Stdin.Fd())
	subject := capcli.ShellWord(name)
	if name == "" {
		subject = "--trace " + capcli.ShellWord(o.sim.Ask.Trace)
	}
	switch {
	case name == "" && o.sim.Ask.Trace == "":
		return &shell.UsageError{Text: "explore needs RUN: a scenario, or a folder of capcli simulate --out", Hint: "capcli explore default; capcli explore --trace jobs.parquet"}
	case o.jobs < 0:
		return &shell.UsageError{Text: fmt.Sprintf("--jobs wants 0 or more, found %d", o.jobs)}
	case !typed || !e.Screen.Stdout || e.Getenv("TERM") == "dumb":
		return &shell.UsageError{
			Text: "explore wants a terminal that can redraw its screen; this is none",
			Hint: "capcli simulate " + subject + " --set capacity[0].gpus=72 --timeline answers one question; capcli serve opens a page in a browser",
		}
	}
	session, err := o.open(ctx, e, name)
	if err != nil {
		return err
	}
	m := view.NewModel(ctx, session, !e.Color())
	m.Most = o.jobs
	m.Save = func(text []byte) (string, error) {
		file := freeName(e, session.File)
		return file, shell.WriteWhole(e, file, text)
	}
	if err := view.Run(ctx, m, os.Stdin, os.Stdout); err != nil {
		return err
	}
	if a := m.Answer(); a != nil && a.Thinned != nil {
		e.Note("the screen showed " + a.Thinned.Note() + "; this command plays all:")
	}
	if k := o.sim.Ask.Kept; k != nil {
		now, err := shell.ReadFile(e, k.File, play.ScenarioMax)
		if err == nil && !bytes.Equal(now, k.YAML) {
			e.Note(k.File + " has changed since the run: the screen showed the scenario of the run, this command takes the file (w writes what is shown)")
		}
	}
	_, err = fmt.Fprintln(e.Stdout, m.Command())
	return err
}

// open makes the session of a scenario, or of a folder of runs.
func (o *exploreOptions) open(ctx context.Context, e *shell.Env, name string) (*explore.Session, error) {
	if err := o.sim.Check(); err != nil {
		return nil, err
	}
	ask := &o.sim.Ask
	ask.Scenario, ask.Policy, ask.Place = name, shell.OrOne(o.sim.Policies)[0], shell.OrOne(o.sim.Placements)[0]
	if name != "" && e.IsFolder(name) {
		folder := e.Folder(name)
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
	if ask.Prices, err = shell.OwnPrices(e, o.sim.Prices); err != nil {
		return nil, err
	}
	session, err := explore.Open(ctx, shell.NewMaker(e), *ask)
	if err == nil && o.sim.Prices != "" {
		session.Flags = []string{"--prices", o.sim.Prices}
	}
	return session, err
}

// freeName returns the name of a file that is not there yet, beside a scenario: plan-explored.yaml,
// plan-explored-2.yaml.
func freeName(e *shell.Env, scenario string) string {
	stem := strings.TrimSuffix(scenario, filepath.Ext(scenario)) + "-explored"
	name := stem + ".yaml"
	for n := 2; ; n++ {
		if _, err := e.Disk.Stat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d.yaml", stem, n)
	}
}

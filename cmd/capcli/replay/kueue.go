package replay

import (
	"io"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/play"
)

// runKueue decides as Kueue does, with the objects of --kueue and of the arguments.
func runKueue(cmd *cobra.Command, e *shell.Env, o *SimulateOptions, args []string) (err error) {
	k := &o.kueue
	k.Ask.Files, k.Ask.Trace = append(k.Ask.Files, args...), o.Ask.Trace
	if err := k.Settle(cmd, shell.KueueFlags); err != nil {
		return err
	}
	if err := o.Check(); err != nil {
		return err
	}
	if k.Ask.Read, err = o.Ask.Read.Parse(); err != nil {
		return err
	}
	p := shell.NewProgress(e, "workloads")
	s, err := k.Ask.Simulate(cmd.Context(), e.Open, e.Note, p.Report)
	if err != nil {
		return err
	}
	p.End(int64(len(s.World.Workloads)))
	if k.Decisions != "" {
		if err := shell.WriteOutput(e, k.Decisions, func(w io.Writer) error { return s.WriteDecisions(w, report.Guard) }); err != nil {
			return err
		}
	}
	if o.dir == "" {
		return shell.Emit(e, o.output, tables.KueueDoc(s.Result(), o.output.Shape(e)))
	}
	// For capcli compare: the same run, priced, as that of a scenario.
	if o.Ask.Kept, err = play.KeepKueue(s.Cluster, &k.Ask); err != nil {
		return err
	}
	return runSimulate(cmd.Context(), e, o, []string{""})
}

package replay

import (
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/scenarios/kubernetes"
)

// addKueue lets eta answer for a cluster that Kueue manages.
func (o *etaOptions) addKueue(e *shell.Env, cmd *cobra.Command) {
	o.kueue.AddObjectFlags(cmd)
	cmd.Flags().StringVar(&o.queue, "queue", "", "with --kueue: the LocalQueue of the job, `NAMESPACE/NAME`")
	log, wants := cmd.RunE, cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if o.kueue.Asked(cmd) {
			return nil // further files of objects
		}
		return wants(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !o.kueue.Asked(cmd) {
			return log(cmd, args)
		}
		o.kueue.Ask.Files = append(o.kueue.Ask.Files, args...)
		return runETAKueue(cmd, e, o)
	}
}

// runETAKueue says when one more workload would start.
func runETAKueue(cmd *cobra.Command, e *shell.Env, o *etaOptions) error {
	if err := o.kueue.Settle(cmd, []string{"kueue", "evict-time", "duration", "queue", "priority", "at", "gpus", "limit", "output", "out", "table", "columns"}); err != nil {
		return err
	}
	if err := o.ask.SetTimes(o.at, o.limit, nil); err != nil {
		return err
	}
	q := kubernetes.Ask{Request: o.kueue.Ask, Queue: o.queue, GPUs: o.ask.GPUs, Limit: o.ask.Limit, Priority: o.ask.Priority, At: o.ask.At}
	s, err := q.Answer(cmd.Context(), e.Open, e.Note)
	if err != nil {
		return err
	}
	return shell.Emit(e, o.output, report.Doc{Lead: s.Answer(), Data: s, Notes: s.Notes, Tables: []report.Table{
		report.Figures("start", s, []report.Field[*kubernetes.Start]{
			{Name: "at", Head: "submitted"},
			{Name: "cluster_queue", Head: "ClusterQueue"},
			{Name: "position", Head: "position in it"},
			{Name: "starts", Head: "ever starts", Cell: func(s *kubernetes.Start) any { return s.Starts }},
			{Name: "start", Head: "start"},
			{Name: "wait_s", Head: "wait"},
			{Name: "flavors", Head: "flavors", Cell: func(s *kubernetes.Start) any { return strings.Join(s.Flavors, " ") }},
			{Name: "must_end_first", Head: "end before", Cell: func(s *kubernetes.Start) any { return strings.Join(s.EndFirst, " ") }},
			{Name: "starts_now_gpus", Head: "GPUs that would start at once"},
			{Name: "why", Head: "why never"},
		}),
		report.Fill(report.Table{Name: "preempts", Title: "It would preempt", Aside: len(s.Preempts) == 0}, s.Preempts, []report.Field[kubernetes.Victim]{
			{Name: "workload", Align: report.Left}, {Name: "cluster_queue", Head: "queue", Align: report.Left}, {Name: "reason", Align: report.Left},
		}),
	}})
}

package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli/cmd/report"
	"capcli/scenarios/kubernetes"
	"capcli/scenarios/play"
)

// kueueOptions are the flags about Kubernetes objects.
type kueueOptions struct {
	ask                kubernetes.Request
	evictTime, lasting string
	decisions          string
}

// addObjectFlags adds the flags that say what the objects are and how workloads last.
func (o *kueueOptions) addObjectFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.ask.Files, "kueue", nil, "simulate what Kueue decides on the objects of `FILE`, or without its queues Kubernetes itself (may be repeated)")
	f.StringVar(&o.evictTime, "evict-time", "0s", "with --kueue: `TIME` from preemption until the quota is free")
	f.StringVar(&o.lasting, "duration", "", "with --kueue: run `TIME` of workloads without a stated run time")
}

// addFlags adds the flags of simulate --kueue.
func (o *kueueOptions) addFlags(cmd *cobra.Command) {
	o.addObjectFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.ask.Current, "current", false, "with --kueue: start from what the Workloads hold now")
	f.StringVar(&o.decisions, "decisions-out", "", "with --kueue: write each decision to this `FILE` (csv)")
}

// kueueFlags are the flags that go with --kueue.
var kueueFlags = []string{
	"kueue", "evict-time", "duration", "current", "decisions-out", "trace", "format", "read", "tz", "dst", "map", "columns-in", "allow-cut",
	"out", "output", "table", "columns", "wide", "excel", "prices", "set",
}

// asked reports whether --kueue is given, or a flag that wants it.
func (o *kueueOptions) asked(cmd *cobra.Command) bool {
	return slices.ContainsFunc(kueueFlags[:5], cmd.Flags().Changed)
}

// settle checks the flags and completes the request.
func (o *kueueOptions) settle(cmd *cobra.Command, allowed []string) error {
	var wrong *pflag.Flag
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(allowed, f.Name) && cmd.InheritedFlags().Lookup(f.Name) == nil {
			wrong = f
		}
	})
	if wrong != nil {
		return &usageError{text: "--" + wrong.Name + " does not go with --kueue", hint: "the objects define the queues and their rules"}
	}
	return o.ask.Settle(o.evictTime, o.lasting)
}

// runKueue decides as Kueue does, with the objects of --kueue and of the arguments.
func runKueue(cmd *cobra.Command, e *env, o *simulateOptions, args []string) (err error) {
	k := &o.kueue
	k.ask.Files, k.ask.Trace = append(k.ask.Files, args...), o.ask.Trace
	if err := k.settle(cmd, kueueFlags); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	if k.ask.Read, err = o.ask.Read.Parse(); err != nil {
		return err
	}
	p := newProgress(e, "workloads")
	s, err := k.ask.Simulate(cmd.Context(), e.open, e.note, p.report)
	if err != nil {
		return err
	}
	p.end(int64(len(s.World.Workloads)))
	if k.decisions != "" {
		if err := writeOutput(e, k.decisions, func(w io.Writer) error { return s.WriteDecisions(w, report.Guard) }); err != nil {
			return err
		}
	}
	if o.dir == "" {
		return emit(e, o.output, kueueDoc(s.Result(), o.output.shape(e)))
	}
	// For capcli compare: the same run, priced, as that of a scenario.
	if o.ask.Kept, err = play.KeepKueue(s.Cluster, &k.ask); err != nil {
		return err
	}
	return runSimulate(cmd.Context(), e, o, []string{""})
}

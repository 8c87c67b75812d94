package shell

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli/scenarios/kubernetes"
)

// KueueOptions are the flags about Kubernetes objects.
type KueueOptions struct {
	Ask                kubernetes.Request
	evictTime, lasting string
	Decisions          string
}

// AddObjectFlags adds the flags that say what the objects are and how workloads last.
func (o *KueueOptions) AddObjectFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.Ask.Files, "kueue", nil, "simulate what Kueue decides on the objects of `FILE`, or without its queues Kubernetes itself (may be repeated)")
	f.StringVar(&o.evictTime, "evict-time", "0s", "with --kueue: `TIME` from preemption until the quota is free")
	f.StringVar(&o.lasting, "duration", "", "with --kueue: run `TIME` of workloads without a stated run time")
}

// AddFlags adds the flags of simulate --kueue.
func (o *KueueOptions) AddFlags(cmd *cobra.Command) {
	o.AddObjectFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.Ask.Current, "current", false, "with --kueue: start from what the Workloads hold now")
	f.StringVar(&o.Decisions, "decisions-out", "", "with --kueue: write each decision to this `FILE` (csv)")
}

// KueueFlags are the flags that go with --kueue.
var KueueFlags = []string{
	"kueue", "evict-time", "duration", "current", "decisions-out", "trace", "format", "read", "tz", "dst", "map", "columns-in", "allow-cut",
	"out", "output", "table", "columns", "prices", "set",
}

// Asked reports whether --kueue is given, or a flag that wants it.
func (o *KueueOptions) Asked(cmd *cobra.Command) bool {
	return slices.ContainsFunc(KueueFlags[:5], cmd.Flags().Changed)
}

// Settle checks the flags and completes the request.
func (o *KueueOptions) Settle(cmd *cobra.Command, allowed []string) error {
	var wrong *pflag.Flag
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(allowed, f.Name) && cmd.InheritedFlags().Lookup(f.Name) == nil {
			wrong = f
		}
	})
	if wrong != nil {
		return &UsageError{Text: "--" + wrong.Name + " does not go with --kueue", Hint: "the objects define the queues and their rules"}
	}
	return o.Ask.Settle(o.evictTime, o.lasting)
}

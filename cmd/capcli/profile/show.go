package profile

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"capcli/cmd/bundle"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/store"
)

// showOptions are the flags of profile show.
type showOptions struct {
	summaryOptions
	last time.Duration
}

func newProfileShow(e *shell.Env) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show DIR…",
		Short: "Draw the activity of one recorded GPU over time; without --gpu, print the summary",
		Long: "show draws the activity, memory and power of one GPU. Samples that share a column of the picture are shown by\n" +
			"their mean, and a second line shows their highest value, so that no burst is lost. Times without samples are gaps.",
		Example: "  capcli profile show gpu-profile --gpu 4 --last 30s\n" +
			"  capcli profile show fleet --host gpu-07 --gpu GPU-5a1c… --from 2026-11-01 -o csv",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runProfileShow(cmd.Context(), e, &o, args) },
	}
	o.query.addFlags(cmd)
	f := cmd.Flags()
	f.Lookup("gpu").Usage = "draw the GPU with this number or UUID: `N`"
	bundle.Duration(f, &o.last, "last", 0, "length of time before its last sample: `30s`, 2h")
	f.StringVar(&o.price, "price", "", "`USD` of a GPU-hour, for the summary")
	shell.AddOutputFlags(cmd, &o.output)
	return cmd
}

func runProfileShow(ctx context.Context, e *shell.Env, o *showOptions, args []string) error {
	switch {
	case o.last < 0:
		return &shell.UsageError{Text: "--last wants a length of time such as 30s"}
	case len(o.query.gpus) == 0 && o.last > 0:
		return &shell.UsageError{Text: "--last goes with --gpu", Hint: "name one: --gpu 0"}
	case len(o.query.gpus) == 0:
		return runProfileSummary(ctx, e, &o.summaryOptions, args)
	case len(o.query.gpus) > 1:
		return &shell.UsageError{Text: "show draws one GPU: --gpu 4"}
	}
	folders, err := openFolders(e, args)
	if err != nil {
		return err
	}
	q, in, err := o.query.query()
	if err != nil {
		return err
	}
	t, err := store.ReadTrack(ctx, folders, store.TrackRequest{GPU: o.query.gpus[0], Query: q, Last: o.last, Columns: max(min(e.Width(), 200)-10, 20)})
	if err != nil {
		return err
	}
	doc := tables.TrackDoc(t, in)
	doc.Notes = append(doc.Notes, folders.Notes()...)
	return shell.Emit(e, o.output, doc)
}

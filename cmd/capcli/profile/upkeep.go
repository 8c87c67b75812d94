package profile

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile"
	"capcli/profile/store"
	"capcli/profile/upkeep"
)

// upkeepOptions are the flags of profile compact, upload and prune.
type upkeepOptions struct {
	ask    upkeep.Request
	before string
	keep   string
	output shell.OutputOptions
}

func newProfileCompact(e *shell.Env) *cobra.Command {
	o := upkeepOptions{ask: upkeep.Request{Compact: true}}
	cmd := o.command(e, &cobra.Command{
		Use:   "compact DIR",
		Short: "Merge the small files of each day and host into one, and sum them up by hour",
		Long: "compact merges the files of a folder that capcli profile wrote, sums up each day by hour and minute, for summaries\n" +
			"to read in place of samples, then uploads them and removes old days, where asked to. It may run while\n" +
			"profile writes, and may be stopped or killed: nothing is lost or counted twice.\n" +
			"profile does all this by itself some time after each day, with the same --keep and --upload.",
		Example: "  capcli profile compact gpu-profile\n" +
			"  capcli profile compact gpu-profile --upload s3://gpu-profiles --keep 90d,50GB",
		Args: shell.WantArgs("DIR"),
	})
	cmd.Flags().StringVar(&o.before, "before", "", "only days that ended by this `TIME`")
	o.addKeepFlags(cmd)
	return cmd
}

func newProfileUpload(e *shell.Env) *cobra.Command {
	o := upkeepOptions{before: "now"}
	cmd := o.command(e, &cobra.Command{
		Use:   "upload DIR s3://BUCKET/PREFIX",
		Short: "Copy the days that have ended to a bucket",
		Long: "upload copies the files of a folder that capcli profile wrote to a bucket, checks that they arrived, and then\n" +
			"removes there what they replace and this box uploaded, never files of another box. It may be repeated at any time.",
		Example: "  capcli profile upload gpu-profile s3://gpu-profiles/fleet",
		Args:    shell.WantArgs("DIR", "s3://BUCKET/PREFIX"),
	})
	cmd.Flags().StringVar(&o.before, "before", "now", "only days that ended by this `TIME`")
	cmd.Flags().BoolVar(&o.ask.TakeOver, "take-over", false, "this box replaces the one that uploaded as this host before")
	return cmd
}

func newProfilePrune(e *shell.Env) *cobra.Command {
	var o upkeepOptions
	cmd := o.command(e, &cobra.Command{
		Use:   "prune DIR",
		Short: "Remove the oldest days, never what is not yet uploaded",
		Long: "prune removes whole days of each box, the oldest first, until what is left is within --keep. The newest day and\n" +
			"the append log stay, and where the folder is uploaded, each day that the bucket does not have unchanged.",
		Example: "  capcli profile prune gpu-profile --keep 90d,50GB",
		Args:    shell.WantArgs("DIR"),
	})
	cmd.Flags().StringVar(&o.keep, "keep", "", "`AMOUNT` to keep of each box: 90d, 50GB, or both with a comma (required)")
	return cmd
}

func (o *upkeepOptions) addKeepFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.keep, "keep", "", "then remove old days, down to this `AMOUNT` of each box: 90d, 50GB, or both with a comma")
	f.BoolVar(&o.ask.MakeRoom, "make-room", false, "the disk is full: remove a day even where --keep would keep it")
	f.StringVar(&o.ask.Upload, "upload", "", "upload ended days to this folder of a bucket: `s3://BUCKET/PREFIX`")
}

func (o *upkeepOptions) command(e *shell.Env, cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringSliceVar(&o.ask.Hosts, "host", nil, "only these boxes: `a,b`")
	shell.AddOutputFlags(cmd, &o.output)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			o.ask.Upload = args[1]
		}
		if cmd.Name() == "prune" && o.keep == "" {
			return &shell.UsageError{Text: "prune wants --keep", Hint: "--keep 90d or --keep 50GB"}
		}
		o.ask.Dir, o.ask.Holder = args[0], "capcli profile "+cmd.Name()
		return o.run(cmd.Context(), e)
	}
	return cmd
}

func (o *upkeepOptions) run(ctx context.Context, e *shell.Env) error {
	r := &o.ask
	r.Program, r.Today = shell.VersionText(), profile.InstantOf(e.Now())
	var err error
	switch o.before {
	case "":
	case "now":
		r.Before = r.Today
	default:
		at, err := capcli.ParseTime(o.before, nil, false)
		if err != nil {
			return &shell.UsageError{Text: "--before " + err.Error()}
		}
		r.Before = profile.InstantOf(at.Std())
	}
	if r.Keep, err = store.ParseKeep(o.keep); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return err
	}
	if _, err := e.Disk.Stat(r.Dir); err != nil {
		return files.OpenError(r.Dir, err)
	}
	s := upkeep.Sources{Bucket: e.Bucket, Room: roomOf(r.Dir), NewBox: rand.Text}
	if r.Upload != "" {
		s.Progress = shell.NewProgress(e, "bytes").Report
	}
	got, err := upkeep.Run(ctx, *r, s)
	for _, line := range append([]string{got.Lead()}, got.Notes()...) {
		e.Note(line)
	}
	if o.output.Form != "" || o.output.Out != "" {
		err = errors.Join(err, shell.Emit(e, o.output, tables.UpkeepDoc(got)))
	}
	if err != nil {
		return shell.StoreError(err, r.Dir)
	}
	if len(got.Bad) > 0 {
		return &capcli.ResultError{Kind: capcli.Incomplete, Text: fmt.Sprintf("%d files or days were left as they are", len(got.Bad)), Hint: "capcli verify " + r.Dir}
	}
	return nil
}

// roomOf returns a function that looks at the disk of dir.
func roomOf(dir string) func() (free, size int64, ok bool) {
	return func() (int64, int64, bool) {
		free, size, err := files.Room(dir)
		return int64(min(free, 1<<62)), int64(min(size, 1<<62)), err == nil
	}
}

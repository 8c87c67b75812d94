package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/report"
	"capcli/profile"
	"capcli/profile/store"
)

// showOptions are the flags of profile show.
type showOptions struct {
	summaryOptions
	last time.Duration
}

func newProfileShow(e *env) *cobra.Command {
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
	addOutputFlags(cmd, &o.output)
	return cmd
}

func runProfileShow(ctx context.Context, e *env, o *showOptions, args []string) error {
	switch {
	case o.last < 0:
		return &usageError{text: "--last wants a length of time such as 30s"}
	case len(o.query.gpus) == 0 && o.last > 0:
		return &usageError{text: "--last goes with --gpu", hint: "name one: --gpu 0"}
	case len(o.query.gpus) == 0:
		return runProfileSummary(ctx, e, &o.summaryOptions, args)
	case len(o.query.gpus) > 1:
		return &usageError{text: "show draws one GPU: --gpu 4"}
	}
	if err := o.output.check(); err != nil {
		return err
	}
	folders, err := openFolders(e, args)
	if err != nil {
		return err
	}
	q, in, err := o.query.query()
	if err != nil {
		return err
	}
	t, err := store.ReadTrack(ctx, folders, store.TrackRequest{GPU: o.query.gpus[0], Query: q, Last: o.last, Columns: max(min(e.width(), 200)-10, 20)})
	if err != nil {
		return err
	}
	doc := trackDoc(t, in)
	doc.Notes = append(doc.Notes, folders.Notes()...)
	return emit(e, o.output, doc)
}

// trackDoc is the report of one GPU over time.
func trackDoc(t *store.Track, zone *time.Location) report.Doc {
	text := func(at profile.Instant) string { return at.Std().In(zone).Format("2006-01-02 15:04:05") }
	name := "GPU " + t.Device.Label()
	samples := fmt.Sprintf(", %v samples", t.Every)
	if t.Share > 1 {
		samples += fmt.Sprintf(", %s in a column: their mean, and the highest", capcli.Grouped(t.Share))
	}
	d := report.Doc{Lead: fmt.Sprintf("%s of %s, %s: %s to %s.", name, t.Host, t.Device.Model, text(t.From), text(t.To)), Data: t}
	for _, l := range t.Lines {
		if !l.Known {
			d.Notes = append(d.Notes, l.Title+" was not reported")
			continue
		}
		lines := []report.Line{{Name: "mean", Values: l.Mean}}
		if t.Share > 1 {
			lines = append(lines, report.Line{Name: "highest", Values: l.Max})
		}
		d.Charts = append(d.Charts, report.Chart{Title: name + " " + l.Title + samples, Height: 5, Top: l.Top, From: text(t.From), To: text(t.To), Lines: lines})
		samples = "" // the first chart alone says how samples are grouped
	}
	rows := make([]int, len(t.Starts))
	fields := []report.Field[int]{
		{Name: "from", Cell: func(i int) any { return t.Starts[i].Stamp() }},
		{Name: "samples", Cell: func(i int) any { return t.Samples[i] }},
	}
	for _, l := range t.Lines {
		fields = append(fields,
			report.Field[int]{Name: l.Name + "_mean", Cell: func(i int) any { return figure(l.Mean[i]) }},
			report.Field[int]{Name: l.Name + "_max", Cell: func(i int) any { return figure(l.Max[i]) }})
	}
	for i := range rows {
		rows[i] = i
	}
	d.Tables = []report.Table{report.Fill(report.Table{Name: "samples", Aside: true}, rows, fields)}
	return d
}

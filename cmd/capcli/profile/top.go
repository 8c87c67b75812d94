package profile

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile"
)

// topOptions are the flags of profile top.
type topOptions struct {
	sample sampleOptions
	once   bool
}

func newProfileTop(e *shell.Env) *cobra.Command {
	var o topOptions
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch the GPUs live; nothing is written",
		Long: "top samples as profile does and redraws one screen: how busy each GPU is, who holds it, and its last\n" +
			"minute. Ctrl-C ends it. Without a terminal, or with --once, it prints one picture and exits.",
		Example: "  capcli profile top\n" +
			"  capcli profile top --source fake --once",
		Args: shell.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTop(cmd.Context(), e, &o) },
	}
	o.sample.addFlags(cmd)
	cmd.Flags().BoolVar(&o.once, "once", false, "print one picture and exit")
	shell.ExplainedBy(cmd, "capcli profile", "source", "where", "every", "processes", "seed", "slow", "tz", "speed", "start", "from", "to", "host", "prom-token-file")
	return cmd
}

// topHistory is how many ticks the sparklines show.
const topHistory = 60

func runTop(ctx context.Context, e *shell.Env, o *topOptions) error {
	if err := o.sample.check(); err != nil {
		return err
	}
	src, clock, err := o.sample.open(ctx, e)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // nothing was written to it
	v := &topView{e: e, seen: profile.NewLive(), redraws: e.Screen.Stdout && !o.once && e.Getenv("TERM") != "dumb"}
	ctx, v.stop = context.WithCancel(ctx)
	defer v.stop()
	if v.redraws {
		_, _ = e.Stdout.Write([]byte("\x1b[?25l\x1b[2J"))
		defer e.Stdout.Write([]byte("\x1b[?25h")) //nolint:errcheck // the terminal is gone if it fails
	}
	if profile.Recorded(src) {
		p := profile.Player{Source: src, Clock: clock, Speed: o.sample.speed, Write: func(_ string, t *profile.Tick) error { return v.Write(t) }}
		_, err = p.Play(ctx)
		return err
	}
	s := profile.Sampler{Source: src, Sink: v, Clock: clock, Every: o.sample.every}
	_, err = s.Run(ctx)
	return err
}

// topView is a profile.Sink that draws each tick.
type topView struct {
	e       *shell.Env
	seen    *profile.Live
	redraws bool // in place, until stopped; false prints one picture
	stop    func()
}

// Close implements profile.Sink.
func (v *topView) Close() error { return nil }

// onceTicks is how many ticks one picture needs: profiling metrics of Hopper GPUs are differences
// of two samples.
const onceTicks = 2

// Write implements profile.Sink.
func (v *topView) Write(t *profile.Tick) error {
	if len(t.Samples) == 0 {
		return nil
	}
	v.seen.Add(t, topHistory)
	if !v.redraws && v.seen.Ticks < onceTicks {
		return nil
	}
	form, err := report.Forms.Get("table")
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := form(&b, v.doc(t), report.Options{Width: v.e.Width(), Color: v.e.Color()}); err != nil {
		return err
	}
	out := b.String()
	if v.redraws { // home, clear each line to its end, clear all below
		out = "\x1b[H" + strings.ReplaceAll(out, "\n", "\x1b[K\n") + "\x1b[J"
	}
	if _, err := io.WriteString(v.e.Stdout, out); err != nil {
		return err
	}
	if !v.redraws {
		v.stop()
	}
	return nil
}

func (v *topView) doc(t *profile.Tick) report.Doc {
	metric := func(m profile.Metric, as func(float64) any) func(profile.Sample) any {
		return func(s profile.Sample) any {
			if x, ok := s.Get(m); ok {
				return as(x)
			}
			return nil
		}
	}
	busy, watts := 0.0, 0.0
	for i := range t.Samples {
		util, _ := t.Samples[i].Get(profile.UtilGPU)
		w, _ := t.Samples[i].Get(profile.Power)
		busy, watts = busy+util, watts+w
	}
	table := report.Fill(report.Table{Name: "gpus"}, t.Samples, []report.Field[profile.Sample]{
		{Name: "gpu", Head: "GPU", Align: report.Left, Cell: func(s profile.Sample) any { return s.Device.Label() }},
		{Name: "util_gpu_pct", Head: "busy", Cell: metric(profile.UtilGPU, tables.Hundredths)},
		{Name: "bar", Head: "", Align: report.Left, Picture: true, Priority: 2, Cell: func(s profile.Sample) any {
			util, _ := s.Get(profile.UtilGPU)
			return report.Bar(util, 100, 10)
		}},
		{Name: "sm_active_pct", Head: "SM", Cell: metric(profile.SMActive, tables.Hundredths)},
		{Name: "tensor_active_pct", Head: "tensor", Priority: 1, Cell: metric(profile.TensorActive, tables.Hundredths)},
		{Name: "mem_used_bytes", Head: "memory GiB", Cell: metric(profile.MemUsed, func(x float64) any { return report.AsTenths(x / (1 << 30)) })},
		{Name: "power_w", Head: "W", Priority: 1, Cell: metric(profile.Power, report.AsTenths)},
		{Name: "temp_c", Head: "°C", Priority: 2, Cell: metric(profile.Temp, report.AsTenths)},
		{Name: "holder", Head: "held by", Align: report.Left, Cell: func(s profile.Sample) any { return tables.TextCell(v.seen.Holders[s.Device.UUID]) }},
		{Name: "past", Head: "last minute", Align: report.Left, Picture: true, Priority: 1, Cell: func(s profile.Sample) any { return report.Spark(v.seen.Past[s.Device.UUID]) }},
	})
	return report.Doc{
		Lead:   fmt.Sprintf("%s  %d GPUs, busy %.0f%%, %.0f W, held %d", t.At.Std().Format(time.RFC3339), len(t.Samples), busy/float64(len(t.Samples)), watts, len(v.seen.Holders)),
		Tables: []report.Table{table},
	}
}

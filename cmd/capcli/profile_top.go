package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/profile"
)

// topOptions are the flags of profile top.
type topOptions struct {
	sample sampleOptions
	once   bool
}

func newProfileTop(e *env) *cobra.Command {
	var o topOptions
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch the GPUs live; nothing is written",
		Long: "top samples as profile does and redraws one screen in place: how busy each GPU is, who holds it, and its last\n" +
			"minute. Ctrl-C ends it. Without a terminal, or with --once, it prints one picture and ends.",
		Example: "  capcli profile top\n" +
			"  capcli profile top --source fake --once",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTop(cmd.Context(), e, &o) },
	}
	o.sample.addFlags(cmd)
	cmd.Flags().BoolVar(&o.once, "once", false, "print one picture and end")
	explainedBy(cmd, "capcli profile", "source", "where", "every", "processes", "seed", "slow", "tz", "speed", "start", "from", "to", "host", "prom-token-file")
	return cmd
}

// topHistory is how many ticks the small pictures show.
const topHistory = 60

func runTop(ctx context.Context, e *env, o *topOptions) error {
	if err := o.sample.check(); err != nil {
		return err
	}
	src, clock, err := o.sample.open(ctx, e)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // nothing was written to it
	v := &topView{e: e, live: e.screen.stdout && !o.once && e.getenv("TERM") != "dumb", past: map[string][]float64{}, holders: map[string]string{}}
	ctx, v.stop = context.WithCancel(ctx)
	defer v.stop()
	if v.live {
		_, _ = e.stdout.Write([]byte("\x1b[?25l\x1b[2J"))
		defer e.stdout.Write([]byte("\x1b[?25h")) //nolint:errcheck // the terminal is gone if it fails
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

// topView is a sink that draws.
type topView struct {
	e       *env
	live    bool
	ticks   int
	past    map[string][]float64
	holders map[string]string
	stop    func()
}

// Close implements profile.Sink.
func (v *topView) Close() error { return nil }

// onceTicks is how many looks one picture needs: the metrics of Hopper GPUs want
// two to compare.
const onceTicks = 2

// Write implements profile.Sink.
func (v *topView) Write(t *profile.Tick) error {
	if len(t.Samples) == 0 {
		return nil
	}
	if t.LookedAtProcesses {
		clear(v.holders)
		for i := range t.Processes {
			p := &t.Processes[i]
			v.holders[p.Device.UUID] = holderText(p)
		}
	}
	for i := range t.Samples {
		s := &t.Samples[i]
		busy, ok := s.Get(profile.UtilGPU)
		if !ok {
			busy = math.NaN()
		}
		past := append(v.past[s.Device.UUID], busy)
		v.past[s.Device.UUID] = past[max(0, len(past)-topHistory):]
	}
	v.ticks++
	if !v.live && v.ticks < onceTicks {
		return nil
	}
	var b bytes.Buffer
	if err := v.draw(&b, t); err != nil {
		return err
	}
	out := b.Bytes()
	if v.live { // home, each line cleared to its end, and all below
		out = []byte("\x1b[H" + strings.ReplaceAll(b.String(), "\n", "\x1b[K\n") + "\x1b[J")
	}
	if _, err := v.e.stdout.Write(out); err != nil {
		return err
	}
	if !v.live {
		v.stop()
	}
	return nil
}

func holderText(p *profile.Process) string {
	who := p.User
	if p.Namespace != "" {
		who = p.Namespace
	}
	for _, id := range []string{p.Job, p.Pod, p.Command} {
		if id != "" {
			return strings.TrimSpace(who + " " + id)
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%s %d", who, p.PID))
}

func (v *topView) draw(b *bytes.Buffer, t *profile.Tick) error {
	table := report.Table{Name: "gpus", Columns: []report.Column{
		{Name: "gpu", Head: "GPU", Align: report.Left},
		{Name: "util_gpu_pct", Head: "busy"},
		{Name: "bar", Head: "", Align: report.Left, Picture: true, Priority: 2},
		{Name: "sm_active_pct", Head: "SM"},
		{Name: "tensor_active_pct", Head: "tensor", Priority: 1},
		{Name: "mem_used_bytes", Head: "memory GiB"},
		{Name: "power_w", Head: "W", Priority: 1},
		{Name: "temp_c", Head: "°C", Priority: 2},
		{Name: "holder", Head: "held by", Align: report.Left},
		{Name: "past", Head: "last minute", Align: report.Left, Picture: true, Priority: 1},
	}}
	busy, watts := 0.0, 0.0
	for i := range t.Samples {
		s := &t.Samples[i]
		share := func(m profile.Metric) any {
			if x, ok := s.Get(m); ok {
				return report.Percent(x / 100)
			}
			return nil
		}
		figure := func(m profile.Metric, of float64) any {
			if x, ok := s.Get(m); ok {
				return math.Round(x/of*10) / 10
			}
			return nil
		}
		util, _ := s.Get(profile.UtilGPU)
		w, _ := s.Get(profile.Power)
		busy, watts = busy+util, watts+w
		name := fmt.Sprint(s.Device.Index)
		if s.Device.MIG() {
			name += fmt.Sprintf(" %s #%d", s.Device.Profile, s.Device.GI)
		}
		var holder any
		if h := v.holders[s.Device.UUID]; h != "" {
			holder = h
		}
		table.Rows = append(table.Rows, []any{
			name, share(profile.UtilGPU), report.Bar(util, 100, 10), share(profile.SMActive), share(profile.TensorActive), figure(profile.MemUsed, 1<<30),
			figure(profile.Power, 1), figure(profile.Temp, 1), holder, report.Spark(v.past[s.Device.UUID]),
		})
	}
	d := report.Doc{
		Lead:   fmt.Sprintf("%s  %d GPUs, busy %.0f%%, %.0f W, held %d", t.At.Std().Format(time.RFC3339), len(t.Samples), busy/float64(len(t.Samples)), watts, len(v.holders)),
		Tables: []report.Table{table},
	}
	form, err := report.Forms.Get("table")
	if err != nil {
		return err
	}
	return form(b, d, report.Options{Width: v.e.width(), Color: v.e.color()})
}

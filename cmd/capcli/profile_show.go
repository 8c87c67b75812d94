package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli"
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
		Short: "Draw what one recorded GPU did over time; without --gpu the summary",
		Long: "show draws the activity, memory and power of one GPU. Samples that share a column of the picture are shown by\n" +
			"their mean, and their highest value by a second line, so that no burst is lost. Where nothing was sampled is a gap.",
		Example: "  capcli profile show gpu-profile --gpu 4 --last 30s\n" +
			"  capcli profile show fleet --host gpu-07 --gpu GPU-5a1c… --from 2026-11-01 -o csv",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runProfileShow(cmd.Context(), e, &o, args) },
	}
	o.query.addFlags(cmd)
	f := cmd.Flags()
	f.Lookup("gpu").Usage = "draw the GPU with this number or UUID: `N`"
	f.DurationVar(&o.last, "last", 0, "only so long before its last sample: `30s`, 2h")
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
	case len(args) != 1:
		return &usageError{text: "show wants one folder that capcli profile wrote", hint: "capcli profile show " + defaultProfile + " --gpu 0"}
	}
	if err := o.output.check(); err != nil {
		return err
	}
	if _, err := e.disk.Stat(args[0]); err != nil {
		return cannotOpen(args[0], err)
	}
	q, in, err := o.query.query()
	if err != nil {
		return err
	}
	s := &gpuShow{ctx: ctx, dir: args[0], gpu: o.query.gpus[0], q: q, zone: in, columns: max(min(e.width(), 200)-10, 20)}
	if err := s.find(); err != nil {
		return err
	}
	if o.last > 0 {
		s.from = max(s.from, s.to.Add(s.every-max(o.last, s.every)))
	}
	if err := s.read(); err != nil {
		return err
	}
	return emit(e, o.output, s.doc())
}

// gpuShow is the picture of one GPU.
type gpuShow struct {
	ctx     context.Context //nolint:containedctx // of one call of the program
	dir     string
	gpu     string // its number or UUID
	q       store.Query
	zone    *time.Location
	columns int // at most

	host     string
	device   *profile.Device
	from, to profile.Instant // of its first and last sample that are shown
	every    time.Duration
	slots    int64 // times at which a sample is due
	share    int64 // of them in a column
	cells    []showCell
}

// shownMetrics are drawn, those of which anything is known.
var shownMetrics = []struct {
	metric profile.Metric
	title  string
	name   string
	scale  float64
	top    float64
}{
	{profile.UtilGPU, "busy %", "util_gpu_pct", 1, 100},
	{profile.SMActive, "SM active %", "sm_active_pct", 1, 100},
	{profile.TensorActive, "tensor active %", "tensor_active_pct", 1, 100},
	{profile.MemUsed, "memory GiB", "mem_used_gib", 1.0 / (1 << 30), 0},
	{profile.Power, "power W", "power_w", 1, 0},
}

// showCell is what one column of the picture stands for.
type showCell struct {
	samples int64
	of      [5]struct {
		n        int64
		sum, max float64
	}
}

// eachSample calls with every sample of the GPU.
func (s *gpuShow) eachSample(q store.Query, use func(host string, t *profile.Tick, one *profile.Sample)) error {
	index, err := strconv.Atoi(s.gpu)
	byIndex := err == nil
	q.Devices, q.SamplesOnly = nil, true
	for t, err := range store.OpenDir(nil, s.dir).Ticks(q) {
		if err == nil {
			err = context.Cause(s.ctx)
		}
		if err != nil {
			return err
		}
		for i := range t.Samples {
			one := &t.Samples[i]
			if byIndex && one.Device.Index == index || one.Device.UUID == s.gpu {
				use(t.Host, t.Tick, one)
			}
		}
	}
	return nil
}

// find looks which GPU is meant, and when it was seen.
func (s *gpuShow) find() error {
	var found []string
	err := s.eachSample(s.q, func(host string, t *profile.Tick, one *profile.Sample) {
		name := one.Device.UUID + " of " + host
		if !slices.Contains(found, name) && len(found) < 100 {
			found = append(found, name)
		}
		if s.device == nil {
			s.host, s.device, s.from = host, one.Device, t.At
		}
		s.to, s.every = t.At, t.Every
	})
	if s.every <= 0 {
		s.every = time.Second
	}
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return &capcli.InputError{File: s.dir, Field: "gpu", Text: fmt.Sprintf("expected samples of GPU %s, found none", s.gpu), Hint: "which there are: capcli profile summary " + s.dir}
	case len(found) > 1:
		return &capcli.InputError{File: s.dir, Field: "gpu", Text: fmt.Sprintf("expected one GPU, found %d: %s", len(found), shortList(found)), Hint: "choose with --host, or a UUID with --gpu"}
	}
	return nil
}

// shortList joins the first few.
func shortList(all []string) string {
	const most = 5
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", len(all)-most)
	}
	return strings.Join(all, ", ")
}

// read fills the columns, each of which has as many times at which a sample is due.
func (s *gpuShow) read() error {
	s.slots = s.intervalsBefore(s.from) + 1
	s.share = (s.slots + int64(s.columns) - 1) / int64(s.columns)
	s.cells = make([]showCell, (s.slots+s.share-1)/s.share)
	q := s.q
	q.From, q.To, q.Hosts = s.from.Add(-s.every/2), s.to+1, []string{s.host}
	return s.eachSample(q, func(_ string, t *profile.Tick, one *profile.Sample) {
		slot := s.slots - 1 - s.intervalsBefore(t.At)
		if slot < 0 {
			return
		}
		c := &s.cells[slot/s.share]
		c.samples++
		for i, m := range shownMetrics {
			if v, ok := one.Get(m.metric); ok {
				f := &c.of[i]
				f.n, f.sum, f.max = f.n+1, f.sum+v*m.scale, max(f.max, v*m.scale)
			}
		}
	})
}

// intervalsBefore counts the intervals from at to the last sample.
func (s *gpuShow) intervalsBefore(at profile.Instant) int64 {
	return int64(math.Round(float64(s.to-at) / float64(s.every.Microseconds())))
}

// columnStart gives when column i begins.
func (s *gpuShow) columnStart(i int) profile.Instant {
	return s.to.Add(-time.Duration(s.slots-1-int64(i)*s.share) * s.every)
}

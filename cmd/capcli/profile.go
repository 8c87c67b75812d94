package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile"
	"capcli/profile/nvml"
	"capcli/profile/store"
)

// profileOptions are the flags of capcli profile.
type profileOptions struct {
	sample  sampleOptions
	out     string
	host    string
	length  time.Duration
	listen  string
	price   string
	summary outputOptions
}

// sampleOptions say where samples come from and when.
type sampleOptions struct {
	source, where    string
	every, processes time.Duration
	seed             uint64
	slow             bool
	tz               string
	speed            float64
	start            string
}

// defaultProfile is the directory that is written where none is named.
const defaultProfile = "gpu-profile"

func newProfile(e *env) *cobra.Command {
	var o profileOptions
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Record what the GPUs really do, and say it in words",
		Long: "profile samples the GPUs of this box into a folder of Parquet files until it is stopped (Ctrl-C, SIGTERM) or --for\n" +
			"is over, then says what they did. Nothing recorded is lost to a crash: an append log is saved at the next start.",
		Example: "  capcli profile --source fake --for 10s\n" +
			"  capcli profile --for 10m --out gpu-07 --price 2.20\n" +
			"  capcli profile --source dcgm --where http://127.0.0.1:9400/metrics --metrics-listen 127.0.0.1:9835\n" +
			"  capcli profile summary gpu-07",
	}
	group(cmd)
	alone := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return alone(cmd, args)
		}
		return runProfile(cmd.Context(), e, &o)
	}
	o.sample.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.out, "out", defaultProfile, "`FOLDER` that holds the files; it is added to")
	f.StringVar(&o.host, "host", "", "`NAME` of this box in the files (default: its own)")
	f.DurationVar(&o.length, "for", 0, "stop after so long: `10m`, 24h (default: until it is stopped)")
	f.StringVar(&o.listen, "metrics-listen", "", "serve OpenMetrics at this `ADDRESS`, such as 127.0.0.1:9835")
	f.StringVar(&o.price, "price", "", "`USD` of a GPU-hour: says what held and idle GPUs cost")
	addFormFlags(cmd, &o.summary)
	cmd.AddCommand(newProfileSummary(e), newProfileTop(e), newProfileJobs(e), newProfileCompact(e))
	return cmd
}

// addFlags gives cmd the flags that say what is sampled.
func (o *sampleOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.source, "source", "", "`NAME` of the source (default: nvml, and smi where it is not built in)")
	f.StringVar(&o.where, "where", "", "`URL` or file that the source reads")
	f.DurationVar(&o.every, "every", time.Second, "between samples, at least 100ms: `TIME`")
	f.DurationVar(&o.processes, "processes", 5*time.Second, "between looks at processes; 0 is never: `TIME`")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the source fake: a whole `NUMBER`")
	f.BoolVar(&o.slow, "slow", false, "also ask what takes a driver long (PCIe throughput)")
	f.StringVar(&o.tz, "tz", "", "time `ZONE` of a recording whose times have none, and of the hours shown")
	f.Float64Var(&o.speed, "speed", 1, "of the source fake and of recordings: `N` times as fast, 0 is at once")
	f.StringVar(&o.start, "start", "", "of the source fake: the `TIME` that it begins at")
	complete(cmd, "source", func() []string { return entries(&profile.Sources) })
}

// check refuses what is wrong before anything is opened.
func (o *sampleOptions) check() error {
	made := o.source == "fake" || o.source == "replay" || o.source == "smi" && o.where != ""
	switch {
	case o.every < 100*time.Millisecond:
		return &usageError{text: fmt.Sprintf("--every wants at least 100ms, found %v", o.every), hint: "drivers take longer than that to answer; the figures would mean nothing"}
	case o.processes < 0 || o.speed < 0 || math.IsNaN(o.speed):
		return &usageError{text: "--processes and --speed want 0 or more"}
	case o.speed != 1 && !made:
		return &usageError{text: "--speed is for the source fake and for recordings: other GPUs have no other time"}
	case o.start != "" && o.source != "fake":
		return &usageError{text: "--start is for the source fake"}
	}
	if o.source != "" {
		if _, err := profile.Sources.Get(o.source); err != nil {
			return err
		}
	}
	return nil
}

// open opens the source and the clock that it goes by.
func (o *sampleOptions) open(ctx context.Context, e *env) (profile.Source, profile.Clock, error) {
	in, err := zone(o.tz)
	if err != nil {
		return nil, nil, err
	}
	name := o.source
	if name == "" {
		if name = "smi"; nvml.Built {
			name = "nvml"
		}
	}
	open, err := profile.Sources.Get(name)
	if err != nil {
		return nil, nil, err
	}
	src, err := open(profile.SourceOptions{
		Every: o.every, Processes: o.processes, Where: o.where, Seed: capcli.Seed(o.seed), Slow: o.slow, Zone: in, Fetch: e.fetch,
	})
	if err != nil {
		if o.source == "" {
			return nil, nil, fmt.Errorf("%w\n%s cannot be read here. What can be measured: capcli doctor. Without a GPU: capcli profile --source fake", err, name)
		}
		return nil, nil, err
	}
	if o.speed == 1 && o.start == "" {
		return src, newRealClock(e.now), nil
	}
	at := profile.InstantOf(e.now())
	if o.start != "" {
		t, err := instant(o.start, in, false)
		if err != nil {
			return nil, nil, &usageError{text: "--start " + err.Error()}
		}
		at = profile.InstantOf(t.Std())
	}
	return src, &madeClock{ctx: ctx, wall: at, speed: o.speed, real: newRealClock(e.now)}, nil
}

func runProfile(ctx context.Context, e *env, o *profileOptions) error {
	if err := errors.Join(o.sample.check(), o.summary.check()); err != nil {
		return err
	}
	if o.length < 0 {
		return &usageError{text: "--for wants a length of time such as 10m"}
	}
	price, err := priceOf(o.price)
	if err != nil {
		return err
	}
	src, clock, err := o.sample.open(ctx, e)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // nothing was written to it
	r := &recording{e: e, o: o, src: src, clock: clock, price: price}
	return r.run(ctx)
}

// priceOf reads --price; nil is not known.
func priceOf(text string) (*capcli.USD, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no price is no error
	}
	p, err := capcli.ParseUSD(text)
	if err != nil || p < 0 {
		return nil, &usageError{text: fmt.Sprintf("--price wants dollars for a GPU-hour, such as 2.20, found %q", text)}
	}
	return &p, nil
}

// hostName is what the box is called in the files.
func (r *recording) hostName() string {
	if r.o.host != "" {
		return r.o.host
	}
	if h := r.src.Host(); h != "" {
		return h
	}
	h, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return h
}

// storeError gives an error of a store its place among the exit codes.
func storeError(err error, path string) error {
	if bad, ok := errors.AsType[*store.DiskError](err); ok {
		return &outputError{path: path, err: bad, hint: "what was recorded before is untouched: capcli verify " + path}
	}
	return err
}

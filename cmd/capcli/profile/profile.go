package profile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/shell"
	"capcli/profile"
)

// profileOptions are the flags of capcli profile.
type profileOptions struct {
	sample  sampleOptions
	out     string
	length  time.Duration
	listen  string
	price   string
	summary shell.OutputOptions

	readings []string
	keep     keepOptions
}

// sampleOptions are the flags that say where samples come from and when they are taken.
type sampleOptions struct {
	source, where    string
	every, processes time.Duration
	seed             uint64
	slow             bool
	tz               string
	speed            float64
	start            string
	from, to         string
	host             string
	tokenFile        string
	gpus             []string
	flags            *pflag.FlagSet
}

// defaultProfile is the folder that is written if --out is not given.
const defaultProfile = "gpu-profile"

func newProfile(e *shell.Env) *cobra.Command {
	var o profileOptions
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Record what GPUs really do, and summarise it in words",
		Long: "profile samples the GPUs of this box into a folder of Parquet files until it is stopped (Ctrl-C, SIGTERM) or --for\n" +
			"is over, then summarises what they did. A crash loses nothing recorded: the next start saves the append log.",
		Example: "  capcli profile --source fake --for 10s\n" +
			"  capcli profile --for 10m --out gpu-07 --price 2.20\n" +
			"  capcli profile --source dcgm --where http://127.0.0.1:9400/metrics --metrics-listen 127.0.0.1:9835",
	}
	shell.SetGroup(cmd)
	alone := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return alone(cmd, args)
		}
		return runProfile(cmd.Context(), e, &o)
	}
	o.sample.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.out, "out", defaultProfile, "`FOLDER` for the files; new samples are added to it")
	bundle.Duration(f, &o.length, "for", 0, "stop after this time: `10m`, 42d (default: when stopped)")
	f.StringVar(&o.listen, "metrics-listen", "", "serve metrics for Prometheus at this `ADDRESS`, such as 127.0.0.1:9835")
	f.StringVar(&o.price, "price", "", "price of a GPU-hour, `USD`: adds the cost of held and idle GPUs")
	f.StringArrayVar(&o.readings, "readings", nil, "what programs say of themselves: `URL`, file or folder; may be repeated")
	f.StringVar(&o.keep.upload, "upload", "", "then upload the day to this folder of a bucket: `s3://BUCKET/PREFIX`")
	f.StringVar(&o.keep.keep, "keep", "", "then remove the oldest days, down to this `AMOUNT`: 90d, 50GB, or both with a comma")
	shell.AddFormFlags(cmd, &o.summary)
	shell.ExplainedBy(cmd, "capcli profile compact", "keep", "upload")
	shell.ExplainedBy(cmd, "capcli profile top", "prom-token-file", "seed", "slow", "speed", "start")
	cmd.AddCommand(newProfileSummary(e), newProfileShow(e), newProfileHeat(e), newProfileCheck(e), newProfileTop(e), newProfileJobs(e))
	cmd.AddCommand(newProfileScaling(e), newProfileCompact(e), newProfileUpload(e), newProfilePrune(e))
	return cmd
}

// addFlags adds the flags that say what is sampled to cmd.
func (o *sampleOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.flags = f
	f.StringVar(&o.source, "source", "", "`NAME` of the source (default: nvml, and smi where it is not built in)")
	f.StringVar(&o.where, "where", "", "`URL` or file that the source reads")
	bundle.Duration(f, &o.every, "every", time.Second, "interval between samples: `TIME`, at least 100ms")
	bundle.Duration(f, &o.processes, "processes", 5*time.Second, "interval between looks at processes: `TIME`; 0 is never")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the source fake: a whole `NUMBER`")
	f.BoolVar(&o.slow, "slow", false, "also read metrics that are slow in the driver (PCIe throughput)")
	f.StringVar(&o.tz, "tz", "", "time `ZONE` of a recording whose times have none, and of the hours shown")
	f.Float64Var(&o.speed, "speed", 1, "fake and recordings: play `N` times as fast; 0 is at once")
	f.StringVar(&o.start, "start", "", "for the source fake: start `TIME`")
	f.StringVar(&o.from, "from", "", "for replay and prometheus: only from this `TIME` on")
	f.StringVar(&o.to, "to", "", "for replay and prometheus: only before this `TIME`; a date stands for its end")
	f.StringVar(&o.tokenFile, "prom-token-file", "", "`FILE` with the bearer token for the source prometheus")
	f.StringVar(&o.host, "host", "", "`NAME` of this host in the files (default: its own); of a recording, a host")
	f.StringSliceVar(&o.gpus, "gpu", nil, "only these GPUs, by number or UUID: `0,1`")
	shell.Complete(cmd, "source", func() []string { return shell.Entries(&profile.Sources) })
}

func runProfile(ctx context.Context, e *shell.Env, o *profileOptions) error {
	if err := errors.Join(o.sample.check(), o.summary.Check(), o.keep.check()); err != nil {
		return err
	}
	if o.length < 0 {
		return &shell.UsageError{Text: "--for wants a length of time such as 10m"}
	}
	price, err := priceOf(o.price)
	if err != nil {
		return err
	}
	if o.sample.source == "replay" && shell.SameFile(e, o.sample.where, o.out) {
		return &shell.UsageError{Text: fmt.Sprintf("--out %s is the folder that is replayed", o.out), Hint: "write to another: --out again"}
	}
	src, clock, err := o.sample.open(ctx, e)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // nothing was written to it
	if src, err = o.addReadings(ctx, e, src); err != nil {
		return err
	}
	r := &recording{e: e, o: o, src: src, clock: clock, price: price, played: profile.Recorded(src)}
	return r.run(ctx)
}

// priceOf parses --price, dollars a GPU-hour; nil where it is not given.
func priceOf(text string) (*capcli.USD, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no price is no error
	}
	p, err := capcli.ParseUSD(text)
	if err != nil || p < 0 {
		return nil, &shell.UsageError{Text: fmt.Sprintf("--price wants dollars for a GPU-hour, such as 2.20, found %q", text)}
	}
	return &p, nil
}

func (r *recording) hostName() string {
	if r.o.sample.host != "" {
		return r.o.sample.host
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

// machine is an id of the recorded machine that stays when its name changes; "" where it is not known,
// as for a source that looks at another one. A container often has no machine-id of its own; its
// product UUID is that of the host.
func (o *sampleOptions) machine() string {
	if o.source == "fake" || o.source == "dcgm" {
		return ""
	}
	for _, name := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id", "/sys/class/dmi/id/product_uuid"} {
		if text, err := os.ReadFile(name); err == nil && profile.MachineID(string(text)) != "" {
			return profile.MachineID(string(text))
		}
	}
	return ""
}

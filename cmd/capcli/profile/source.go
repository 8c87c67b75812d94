package profile

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/profile"
	"capcli/profile/box"
	"capcli/profile/kubelet"
	"capcli/profile/logs/trace"
	"capcli/profile/nvml"
	"capcli/profile/web"
)

// check refuses wrong flags before anything is opened.
func (o *sampleOptions) check() error {
	past := o.source == "replay" || o.source == "prometheus"
	recorded := past || o.source == "smi" && o.where != ""
	switch {
	case o.every < 100*time.Millisecond:
		return &shell.UsageError{Text: fmt.Sprintf("--every wants at least 100ms, found %v", o.every), Hint: "drivers take longer than that to answer, so the figures would be meaningless"}
	case o.processes < 0 || !(o.speed >= 0):
		return &shell.UsageError{Text: "--processes and --speed want 0 or more"}
	case o.speed != 1 && !recorded && o.source != "fake":
		return &shell.UsageError{Text: "--speed is for the source fake and for recordings: live GPUs run in real time"}
	case o.start != "" && o.source != "fake":
		return &shell.UsageError{Text: "--start is for the source fake"}
	case o.tokenFile != "" && o.source != "prometheus":
		return &shell.UsageError{Text: "--prom-token-file is for the source prometheus"}
	case (o.from != "" || o.to != "") && !past:
		return &shell.UsageError{Text: "--from and --to are for the sources replay and prometheus, which have a past"}
	}
	if o.source != "" {
		if _, err := profile.Sources.Get(o.source); err != nil {
			return err
		}
	}
	return nil
}

func (o *sampleOptions) open(ctx context.Context, e *shell.Env) (profile.Source, profile.Clock, error) {
	in, err := trace.ParseZone(o.tz)
	if err != nil {
		return nil, nil, err
	}
	name := o.source
	if name == "" {
		var lacks string
		name, lacks = nvml.Usual()
		if lacks != "" {
			e.Note(lacks)
		}
	}
	open, err := profile.Sources.Get(name)
	if err != nil {
		return nil, nil, err
	}
	shown, u, err := e.WhereFlag(o.where)
	if err != nil {
		return nil, nil, err
	}
	o.where = shown
	opts := profile.SourceOptions{
		Every: o.every, Processes: o.processes, Where: shown, Seed: capcli.Seed(o.seed), Slow: o.slow, Zone: in, Fetch: e.Fetcher(ctx, shown, u), Host: o.host,
	}
	if opts.From, opts.To, err = profile.ParseSpan(o.from, o.to, in); err != nil {
		return nil, nil, err
	}
	if name == "prometheus" {
		if err := o.askPrometheus(e, &opts, u); err != nil {
			return nil, nil, err
		}
	}
	if name == "replay" {
		if _, err := e.Disk.Stat(o.where); err != nil && o.where != "" {
			return nil, nil, files.OpenError(o.where, err)
		}
	}
	src, err := open(opts)
	if err != nil {
		if o.source == "" {
			return nil, nil, fmt.Errorf("%w\n%s cannot be read here. capcli doctor says what can be measured; capcli profile --source fake works without a GPU", err, name)
		}
		return nil, nil, shell.StoreError(err, o.where)
	}
	src = o.addBox(e, src, box.IsHere(name, shown))
	if o.speed == 1 && o.start == "" || profile.Recorded(src) {
		return src, newRealClock(e.Now), nil
	}
	at := profile.InstantOf(e.Now())
	if o.start != "" {
		t, err := capcli.ParseTime(o.start, in, false)
		if err != nil {
			return nil, nil, &shell.UsageError{Text: "--start " + err.Error()}
		}
		at = profile.InstantOf(t.Std())
	}
	return src, &madeClock{wall: at, speed: o.speed, real: newRealClock(e.Now)}, nil
}

// addBox adds to a source what this box tells, where its GPUs are this box's, and leaves out the GPUs that
// --gpu does not name.
func (o *sampleOptions) addBox(e *shell.Env, src profile.Source, here bool) profile.Source {
	if _, err := e.Disk.Stat(kubelet.Socket); here && err == nil {
		src = kubelet.Wrap(src, kubelet.NewClient(kubelet.Socket))
	}
	if here {
		src = box.Wrap(src)
	}
	if len(o.gpus) > 0 {
		src = profile.OnlyGPUs(src, o.gpus)
	}
	return src
}

// promStep is the step at which a Prometheus server is queried if --every is not given: few servers
// scrape more often.
const promStep = time.Minute

// askPrometheus checks the flags of the source prometheus and completes its options.
func (o *sampleOptions) askPrometheus(e *shell.Env, opts *profile.SourceOptions, server *url.URL) error {
	if server == nil {
		return &shell.UsageError{Text: "--where wants the address of a server, http://host:9090", Hint: "a token goes into a file: --prom-token-file"}
	}
	if !o.flags.Changed("every") {
		o.every, opts.Every = promStep, promStep
	}
	if opts.From == 0 {
		return &shell.UsageError{Text: "the source prometheus wants --from", Hint: "--from 2026-11-01 --to 2026-11-07"}
	}
	if opts.To == 0 {
		opts.To = profile.InstantOf(e.Now())
	}
	switch n := opts.To.Sub(opts.From) / max(o.every, 1); {
	case opts.To <= opts.From:
		return &shell.UsageError{Text: fmt.Sprintf("--to %s is not after --from %s", opts.To.Second(), opts.From.Second())}
	case o.every%time.Second != 0:
		return &shell.UsageError{Text: fmt.Sprintf("--every wants whole seconds for the source prometheus, found %v", o.every)}
	case n > web.MaxSteps:
		return &shell.UsageError{Text: fmt.Sprintf("--from and --to are %s steps of %v apart, over the limit of %s", capcli.Grouped(int64(n)), o.every, capcli.Grouped(web.MaxSteps)), Hint: "take a longer --every"}
	}
	p := &web.Prometheus{Address: server, Shown: o.where, Transport: e.Web}
	if o.tokenFile != "" {
		var err error
		if p.Token, err = readToken(e, o.tokenFile); err != nil {
			return err
		}
	}
	opts.Range = func(ctx context.Context, query string, from, to capcli.Time, step capcli.Seconds) ([]profile.Range, error) {
		return p.Ranges(ctx, web.Query{PromQL: query, From: from, To: to, Step: step})
	}
	return nil
}

// readToken reads a bearer token. No message repeats it.
func readToken(e *shell.Env, name string) (string, error) {
	in, closer, err := shell.OpenInput(e, name)
	if err != nil {
		return "", err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	return web.ReadToken(name, in.R)
}

package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"capcli"
	"capcli/cmd/files"
	"capcli/profile"
	"capcli/profile/box"
	"capcli/profile/kubelet"
	"capcli/profile/nvml"
	"capcli/profile/trace"
	"capcli/profile/web"
)

// check refuses wrong flags before anything is opened.
func (o *sampleOptions) check() error {
	past := o.source == "replay" || o.source == "prometheus"
	recorded := past || o.source == "smi" && o.where != ""
	switch {
	case o.every < 100*time.Millisecond:
		return &usageError{text: fmt.Sprintf("--every wants at least 100ms, found %v", o.every), hint: "drivers take longer than that to answer, so the figures would be meaningless"}
	case o.processes < 0 || !(o.speed >= 0):
		return &usageError{text: "--processes and --speed want 0 or more"}
	case o.speed != 1 && !recorded && o.source != "fake":
		return &usageError{text: "--speed is for the source fake and for recordings: live GPUs run in real time"}
	case o.start != "" && o.source != "fake":
		return &usageError{text: "--start is for the source fake"}
	case o.tokenFile != "" && o.source != "prometheus":
		return &usageError{text: "--prom-token-file is for the source prometheus"}
	case (o.from != "" || o.to != "") && !past:
		return &usageError{text: "--from and --to are for the sources replay and prometheus, which have a past"}
	}
	if o.source != "" {
		if _, err := profile.Sources.Get(o.source); err != nil {
			return err
		}
	}
	return nil
}

// open opens the source and its clock.
func (o *sampleOptions) open(ctx context.Context, e *env) (profile.Source, profile.Clock, error) {
	in, err := trace.ParseZone(o.tz)
	if err != nil {
		return nil, nil, err
	}
	name := o.source
	if name == "" {
		var lacks string
		if name, lacks = nvml.Usual(); lacks != "" {
			e.note(lacks)
		}
	}
	open, err := profile.Sources.Get(name)
	if err != nil {
		return nil, nil, err
	}
	shown, u, err := e.whereFlag(o.where)
	if err != nil {
		return nil, nil, err
	}
	o.where = shown
	opts := profile.SourceOptions{
		Every: o.every, Processes: o.processes, Where: shown, Seed: capcli.Seed(o.seed), Slow: o.slow, Zone: in, Fetch: e.fetcher(ctx, shown, u), Host: o.host,
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
		if _, err := e.disk.Stat(o.where); err != nil && o.where != "" {
			return nil, nil, files.OpenError(o.where, err)
		}
	}
	src, err := open(opts)
	if err != nil {
		if o.source == "" {
			return nil, nil, fmt.Errorf("%w\n%s cannot be read here. capcli doctor says what can be measured; capcli profile --source fake works without a GPU", err, name)
		}
		return nil, nil, storeError(err, o.where)
	}
	src = o.addBox(e, src, box.IsHere(name, shown))
	if o.speed == 1 && o.start == "" || profile.Recorded(src) {
		return src, newRealClock(e.now), nil
	}
	at := profile.InstantOf(e.now())
	if o.start != "" {
		t, err := capcli.ParseTime(o.start, in, false)
		if err != nil {
			return nil, nil, &usageError{text: "--start " + err.Error()}
		}
		at = profile.InstantOf(t.Std())
	}
	return src, &madeClock{wall: at, speed: o.speed, real: newRealClock(e.now)}, nil
}

// addBox adds to a source what this box tells, where its GPUs are this box's, and leaves out the GPUs that
// --gpu does not name.
func (o *sampleOptions) addBox(e *env, src profile.Source, here bool) profile.Source {
	if _, err := e.disk.Stat(kubelet.Socket); here && err == nil {
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
func (o *sampleOptions) askPrometheus(e *env, opts *profile.SourceOptions, server *url.URL) error {
	if server == nil {
		return &usageError{text: "--where wants the address of a server, http://host:9090", hint: "a token goes into a file: --prom-token-file"}
	}
	if !o.flags.Changed("every") {
		o.every, opts.Every = promStep, promStep
	}
	if opts.From == 0 {
		return &usageError{text: "the source prometheus wants --from", hint: "--from 2026-11-01 --to 2026-11-07"}
	}
	if opts.To == 0 {
		opts.To = profile.InstantOf(e.now())
	}
	switch n := opts.To.Sub(opts.From) / max(o.every, 1); {
	case opts.To <= opts.From:
		return &usageError{text: fmt.Sprintf("--to %s is not after --from %s", opts.To.Second(), opts.From.Second())}
	case o.every%time.Second != 0:
		return &usageError{text: fmt.Sprintf("--every wants whole seconds for the source prometheus, found %v", o.every)}
	case n > web.MaxSteps:
		return &usageError{text: fmt.Sprintf("--from and --to are %s steps of %v apart, over the limit of %s", capcli.Grouped(int64(n)), o.every, capcli.Grouped(web.MaxSteps)), hint: "take a longer --every"}
	}
	p := &web.Prometheus{Address: server, Shown: o.where, Transport: e.web}
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
func readToken(e *env, name string) (string, error) {
	in, closer, err := openInput(e, name)
	if err != nil {
		return "", err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	return web.ReadToken(name, in.R)
}

package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/nvml"
)

// check refuses what is wrong before anything is opened.
func (o *sampleOptions) check() error {
	recorded := o.source == "replay" || o.source == "smi" && o.where != ""
	past := o.source == "replay"
	switch {
	case o.every < 100*time.Millisecond:
		return &usageError{text: fmt.Sprintf("--every wants at least 100ms, found %v", o.every), hint: "drivers take longer than that to answer; the figures would mean nothing"}
	case o.processes < 0 || o.speed < 0 || math.IsNaN(o.speed):
		return &usageError{text: "--processes and --speed want 0 or more"}
	case o.speed != 1 && !recorded && o.source != "fake":
		return &usageError{text: "--speed is for the source fake and for recordings: other GPUs have no other time"}
	case o.start != "" && o.source != "fake":
		return &usageError{text: "--start is for the source fake"}
	case (o.from != "" || o.to != "") && !past:
		return &usageError{text: "--from and --to are for the source replay: what is yet to come has no past"}
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
	opts := profile.SourceOptions{
		Every: o.every, Processes: o.processes, Where: o.where, Seed: capcli.Seed(o.seed), Slow: o.slow, Zone: in, Fetch: e.fetch, Host: o.host,
	}
	if opts.From, opts.To, err = spanned(o.from, o.to, in); err != nil {
		return nil, nil, err
	}
	if name == "replay" {
		if _, err := e.disk.stat(o.where); err != nil && o.where != "" {
			return nil, nil, cannotOpen(o.where, err)
		}
	}
	src, err := open(opts)
	if err != nil {
		if o.source == "" {
			return nil, nil, fmt.Errorf("%w\n%s cannot be read here. What can be measured: capcli doctor. Without a GPU: capcli profile --source fake", err, name)
		}
		return nil, nil, storeError(err, o.where)
	}
	if o.speed == 1 && o.start == "" || profile.Recorded(src) {
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

// spanned reads --from and --to; "" is open.
func spanned(from, to string, in *time.Location) (begin, end profile.Instant, err error) {
	for _, t := range []struct {
		name, text string
		end        bool
		at         *profile.Instant
	}{{"from", from, false, &begin}, {"to", to, true, &end}} {
		if t.text == "" {
			continue
		}
		at, err := instant(t.text, in, t.end)
		if err != nil {
			return 0, 0, &usageError{text: "--" + t.name + " " + err.Error()}
		}
		if start, _ := instant(t.text, in, false); start != at {
			at++ // of a day that is meant whole, the end is the second after its last
		}
		*t.at = profile.InstantOf(at.Std())
	}
	return begin, end, nil
}

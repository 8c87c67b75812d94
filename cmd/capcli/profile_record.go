package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/store"
)

// recording is one run of capcli profile.
type recording struct {
	e     *env
	o     *profileOptions
	src   profile.Source
	clock profile.Clock
	price *capcli.USD
	host  string

	begun   time.Duration
	devices map[string]bool
	sum     *profile.Summarizer
	seen    *exporter
	p       *progress
}

// longestSummary is how long a run may be that is summed up at its end: a longer
// one meets ever more jobs, and its memory shall not grow.
const longestSummary = 48 * time.Hour

func (r *recording) run(ctx context.Context) error {
	r.host, r.devices = r.hostName(), map[string]bool{}
	stop, err := r.serve(ctx)
	if err != nil {
		return err
	}
	defer stop()
	w, found, err := store.Create(r.o.out, store.Options{
		Host: r.host, Program: versionText(), Holder: fmt.Sprintf("capcli profile, process %d", os.Getpid()),
		Every: r.o.sample.every, Processes: r.o.sample.processes, Clock: newRealClock(r.e.now), // of the disk, whatever time is recorded
		Trouble: func(err error) { r.e.note(fmt.Sprintf("%v; nothing is lost, it is tried again", err)) },
	})
	if err != nil {
		return storeError(err, r.o.out)
	}
	r.recovered(found)
	if r.o.length > 0 && r.o.length <= longestSummary {
		in, err := zone(r.o.sample.tz)
		if err != nil {
			return err
		}
		r.sum = profile.NewSummarizer(in)
	}
	got, took, err := r.sample(ctx, w)
	err = errors.Join(err, w.Close())
	r.p.end(got.Ticks)
	if err != nil {
		return storeError(err, r.o.out)
	}
	r.said(got, took)
	if r.sum == nil {
		r.e.note("next: capcli profile summary " + r.o.out)
		return nil
	}
	in, _ := zone(r.o.sample.tz)
	p := &profiled{input: []string{r.o.out}, sum: r.sum.Summary(), price: r.price, zone: utcOr(in)}
	if err := emit(r.e, r.o.summary, p.doc()); err != nil {
		return err
	}
	if got.Missed > 0 {
		return &partialError{text: fmt.Sprintf("%d of %d ticks were missed", got.Missed, got.Missed+got.Ticks)}
	}
	return nil
}

func utcOr(in *time.Location) *time.Location {
	if in == nil {
		return time.UTC
	}
	return in
}

// sample records until the time is over or ctx ends, which is the usual end.
func (r *recording) sample(ctx context.Context, w profile.Sink) (profile.Sampled, time.Duration, error) {
	r.p = newProgress(r.e, "ticks")
	_, r.begun = r.clock.Now()
	clock := r.clock
	if r.o.length > 0 {
		clock = &endingClock{clock, r.begun + r.o.length}
	}
	s := profile.Sampler{Source: r.src, Sink: w, Clock: clock, Every: r.o.sample.every, Observe: r.observe}
	got, err := s.Run(ctx)
	_, now := r.clock.Now()
	return got, now - r.begun, err
}

// observe is shown each tick.
func (r *recording) observe(t *profile.Tick) {
	if len(r.devices) < 4096 {
		for i := range t.Samples {
			if uuid := t.Samples[i].Device.UUID; !r.devices[uuid] {
				r.devices[uuid] = true
			}
		}
	}
	if r.sum != nil {
		r.sum.Add(r.host, t)
	}
	if r.seen != nil {
		r.seen.see(t)
	}
	r.p.at(int64((t.Elapsed-r.begun)/r.o.sample.every)+1, int64(r.o.length/r.o.sample.every))
}

// recovered says what an earlier run left.
func (r *recording) recovered(found *store.Recovery) {
	if found == nil || found.Segments == 0 {
		return
	}
	text := fmt.Sprintf("an earlier run did not end in order: %d ticks were saved", found.Ticks)
	if found.Dropped > 0 {
		text += fmt.Sprintf(", %d bytes of an unfinished write were dropped", found.Dropped)
	}
	r.e.note(text)
	for _, d := range found.Damaged {
		r.e.note("damaged, and kept aside: " + d)
	}
}

// said says how the run went.
func (r *recording) said(got profile.Sampled, took time.Duration) {
	text := fmt.Sprintf("%v, %s %s, %d missed, %d %s", took.Round(time.Second), grouped(got.Ticks), plural(got.Ticks, "tick"), got.Missed, len(r.devices), plural(int64(len(r.devices)), "GPU"))
	if cpu, ok := cpuTime(); ok && took > time.Second && r.o.sample.speed == 1 {
		text += fmt.Sprintf(", %.1f%% of a core", 100*cpu.Seconds()/took.Seconds())
	}
	r.e.note(text)
	if got.Every != r.o.sample.every {
		r.e.note(fmt.Sprintf("the source was too slow for --every %v: it was asked every %v at the end", r.o.sample.every, got.Every))
	}
	r.e.note("wrote " + r.o.out)
}

package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile"
	"capcli/profile/logs/trace"
	"capcli/profile/store"
	"capcli/profile/upkeep"
)

// recording is one run of capcli profile.
type recording struct {
	e      *shell.Env
	o      *profileOptions
	src    profile.Source
	clock  profile.Clock
	price  *capcli.USD
	played bool                    // whether the source is a recording, which has its own times
	host   string                  // the box of ticks without a host
	sinks  map[string]profile.Sink // one a box
	order  []string                // the keys of sinks in the order they were opened

	keeper     *upkeep.Keeper // nil where past days are left as they are
	stopUpkeep func()         // stops the work of keeper

	begun   time.Duration
	ticks   int64
	devices map[string]bool
	sum     *profile.Summarizer
	seen    *profile.Exporter
	health  *profile.Health
	p       *shell.Progress
}

// longestSummary is the longest run that is summed up at its end. A longer run meets more and more
// jobs, and its memory must not grow.
const longestSummary = 48 * time.Hour

// agentGC is the GOGC of a recording, in percent. It keeps memory small and costs 0.01 %
// of a core.
const agentGC = 20

// agentRows is the number of samples written to a file at once: eight minutes of eight
// GPUs at 1 Hz. More would need more memory.
const agentRows = 4096

func (r *recording) run(ctx context.Context) error {
	r.host = r.hostName()
	r.devices, r.sinks = map[string]bool{}, map[string]profile.Sink{}
	in, err := trace.ParseZone(r.o.sample.tz)
	if err != nil {
		return err
	}
	if r.played || r.o.length > 0 && r.o.length <= longestSummary {
		r.sum = profile.NewSummarizer(in)
	}
	r.health = &profile.Health{Program: shell.VersionText(), Host: r.host, Clock: newRealClock(r.e.Now)}
	stop, err := r.serve(ctx)
	if err != nil {
		return err
	}
	defer stop()
	r.p = shell.NewProgress(r.e, "ticks")
	how := r.sample
	if r.played {
		how = r.play
	}
	missed, text, err := how(ctx)
	err = errors.Join(err, r.close())
	r.p.End(r.ticks)
	if err != nil {
		return shell.StoreError(err, r.o.out)
	}
	r.e.Note(text)
	r.e.Note("wrote " + r.o.out)
	if r.sum == nil {
		r.e.Note("next: capcli profile summary " + r.o.out)
		return nil
	}
	if err := shell.Emit(r.e, r.o.summary, tables.ProfileDoc(r.sum.Summary().Result([]string{r.o.out}, r.price, utcOr(in)))); err != nil {
		return err
	}
	if missed > 0 {
		return &capcli.ResultError{Kind: capcli.Incomplete, Text: fmt.Sprintf("%d of %d ticks were missed", missed, missed+r.ticks)}
	}
	return nil
}

// sink returns the store for the ticks of a box, and opens it on the first call.
func (r *recording) sink(host string) (profile.Sink, error) {
	if w := r.sinks[host]; w != nil {
		return w, nil
	}
	segment, rows := time.Duration(0), agentRows // 0 is the default length
	if r.played {
		segment, rows = 24*time.Hour, 0 // a crashed replay can be run again
	}
	w, found, err := store.Create(r.o.out, store.Options{
		SegmentTime: segment, SegmentRows: rows,
		Host: host, Program: shell.VersionText(), Holder: fmt.Sprintf("capcli profile, process %d", os.Getpid()),
		Every: r.o.sample.every, Processes: r.o.sample.processes, Clock: newRealClock(r.e.Now), // real time, whatever time is recorded
		Trouble: r.diskTrouble,
	})
	if err != nil {
		return nil, err
	}
	r.noteRecovered(found)
	r.sinks[host] = w
	r.order = append(r.order, host)
	return w, nil
}

// diskTrouble tells of an error of the disk that is tried again.
func (r *recording) diskTrouble(err error) {
	r.health.DiskError()
	if r.keeper != nil {
		r.keeper.Trouble(err)
	}
	r.e.Note(fmt.Sprintf("%v; nothing is lost, capcli tries again", err))
}

func (r *recording) close() error {
	if r.keeper != nil {
		r.stopUpkeep()
	}
	all := capcli.Map(r.order, func(host string) error { return r.sinks[host].Close() })
	return errors.Join(all...)
}

func utcOr(in *time.Location) *time.Location {
	if in == nil {
		return time.UTC
	}
	return in
}

// sample records until --for is over or ctx ends, which is the usual end. It returns the number of
// missed ticks and a line about the run.
func (r *recording) sample(ctx context.Context) (missed int64, text string, err error) {
	r.keeper = r.newKeeper(ctx)
	w, err := r.sink(r.host)
	if err != nil {
		return 0, "", err
	}
	if log, ok := w.(*store.Writer); ok {
		r.health.WatchLog(log.Waiting)
	}
	if r.keeper != nil {
		r.keeper.Sink, w = r.health.WatchSink(w), r.keeper
		r.sinks[r.host] = w
	}
	if r.e.Getenv("GOGC") == "" { // memory and cores are for the work on the box
		defer debug.SetGCPercent(debug.SetGCPercent(agentGC))
	}
	if r.e.Getenv("GOMAXPROCS") == "" {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	_, r.begun = r.clock.Now()
	clock := r.clock
	if r.o.length > 0 {
		clock = &endingClock{clock, r.begun + r.o.length}
	}
	s := profile.Sampler{Source: r.src, Sink: w, Clock: clock, Every: r.o.sample.every, Health: r.health, Machine: r.o.sample.machine(), Observe: func(t *profile.Tick) {
		r.observe(r.host, t)
		r.p.Report(int64((t.Elapsed-r.begun)/r.o.sample.every)+1, int64(r.o.length/r.o.sample.every))
	}}
	got, err := s.Run(ctx)
	_, now := r.clock.Now()
	return got.Missed, r.summaryLine(got, now-r.begun), err
}

// play copies a recording into the store, with its own times. It fails if the recording has no
// ticks.
func (r *recording) play(ctx context.Context) (missed int64, text string, err error) {
	p := profile.Player{Source: r.src, Clock: r.clock, Speed: r.o.sample.speed, Length: r.o.length, Write: func(host string, t *profile.Tick) error {
		if host == "" {
			host = r.host
		}
		w, err := r.sink(host)
		if err != nil {
			return err
		}
		if err := w.Write(t); err != nil {
			return err
		}
		r.observe(host, t)
		r.p.Report(r.ticks, 0)
		return nil
	}}
	got, err := p.Play(ctx)
	if err == nil && got.Ticks == 0 && ctx.Err() == nil {
		err = &capcli.InputError{File: r.o.sample.where, Text: "expected ticks in it, found none", Hint: "do --from, --to and --for leave any?"}
	}
	return 0, fmt.Sprintf("%v played, %s, %s", got.End.Sub(got.First).Round(time.Second), shell.Numbered(got.Ticks, "tick"), shell.Numbered(int64(len(r.devices)), "GPU")), err
}

// observe passes a tick that was written to the summary and the exporter.
func (r *recording) observe(host string, t *profile.Tick) {
	if len(t.Samples) > 0 {
		r.ticks++
	}
	if len(r.devices) < 4096 {
		for i := range t.Samples {
			if uuid := t.Samples[i].Device.UUID; !r.devices[uuid] {
				r.devices[uuid] = true
			}
		}
	}
	if r.sum != nil {
		r.sum.Add(host, t)
	}
	if r.seen != nil {
		r.seen.Observe(t)
	}
}

// noteRecovered notes what was saved of an earlier run that crashed.
func (r *recording) noteRecovered(found *store.Recovery) {
	if found == nil || found.Segments == 0 {
		return
	}
	text := fmt.Sprintf("an earlier run ended abruptly: %d ticks were saved", found.Ticks)
	if found.Dropped > 0 {
		text += fmt.Sprintf(", %d bytes of an unfinished write were dropped", found.Dropped)
	}
	r.e.Note(text)
	for _, d := range found.Damaged {
		r.e.Note("damaged, and kept aside: " + d)
	}
}

// summaryLine describes the run: its time, ticks, missed ticks, GPUs and processor use.
func (r *recording) summaryLine(got profile.Sampled, took time.Duration) string {
	text := fmt.Sprintf("%v, %s, %d missed, %s", took.Round(time.Second), shell.Numbered(got.Ticks, "tick"), got.Missed, shell.Numbered(int64(len(r.devices)), "GPU"))
	if cpu, ok := cpuTime(); ok && took > time.Second && r.o.sample.speed == 1 {
		text += fmt.Sprintf(", %.1f%% of a core", 100*cpu.Seconds()/took.Seconds())
	}
	if got.Every != r.o.sample.every {
		text += fmt.Sprintf("; the source was too slow for --every %v: the interval grew to %v", r.o.sample.every, got.Every)
	}
	return text
}

// realClock is the clock of this box.
type realClock struct {
	now   func() time.Time
	begun time.Time
}

func newRealClock(now func() time.Time) *realClock { return &realClock{now, now()} }

// Now implements profile.Clock. The second value comes from the monotonic reading of
// time.Time, which does not jump.
func (c *realClock) Now() (profile.Instant, time.Duration) {
	now := c.now()
	return profile.InstantOf(now), now.Sub(c.begun)
}

// Wait implements profile.Clock.
func (c *realClock) Wait(ctx context.Context, until time.Duration) error {
	_, now := c.Now()
	if now >= until {
		return context.Cause(ctx)
	}
	t := time.NewTimer(until - now)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// After implements profile.Clock.
func (c *realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// madeClock is a simulated clock that runs at any speed. Only Wait moves it.
type madeClock struct {
	wall   profile.Instant
	steady time.Duration
	speed  float64 // multiple of real time; 0 never waits
	real   *realClock
}

// Now implements profile.Clock.
func (c *madeClock) Now() (profile.Instant, time.Duration) { return c.wall, c.steady }

// Wait implements profile.Clock.
func (c *madeClock) Wait(ctx context.Context, until time.Duration) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if until <= c.steady {
		return nil
	}
	d := until - c.steady
	if c.speed > 0 {
		_, now := c.real.Now()
		if err := c.real.Wait(ctx, now+time.Duration(float64(d)/c.speed)); err != nil {
			return err
		}
	}
	c.wall, c.steady = c.wall.Add(d), until
	return nil
}

// After implements profile.Clock. It waits in real time, for it bounds how long a source may hang.
func (c *madeClock) After(d time.Duration) <-chan time.Time { return c.real.After(d) }

// endingClock ends the run at time end.
type endingClock struct {
	profile.Clock
	end time.Duration
}

// Wait implements profile.Clock. It returns context.DeadlineExceeded where it would wait beyond the
// end.
func (c *endingClock) Wait(ctx context.Context, until time.Duration) error {
	if until < c.end {
		return c.Clock.Wait(ctx, until)
	}
	if err := c.Clock.Wait(ctx, c.end); err != nil {
		return err
	}
	return context.DeadlineExceeded
}

// keepOptions are the flags of profile that say what becomes of past days.
type keepOptions struct {
	keep, upload string
}

// check refuses wrong flags.
func (o *keepOptions) check() error {
	_, err := store.ParseKeep(o.keep)
	r := upkeep.Request{Upload: o.upload}
	return errors.Join(err, r.Check())
}

// newKeeper returns the sink, still without its own, that keeps the folder in order; nil where nobody
// shall. A program of its own does the work, so that its memory and its time are not the recorder's.
func (r *recording) newKeeper(ctx context.Context) *upkeep.Keeper {
	o := &r.o.keep
	if r.e.Program == nil {
		return nil
	}
	ctx, r.stopUpkeep = context.WithCancel(ctx)
	return &upkeep.Keeper{
		Host: r.host, Prunes: o.keep != "", Room: roomOf(r.o.out), Note: r.e.Note,
		Run: func(today profile.Instant, full bool) (*upkeep.Result, error) { return r.runUpkeep(ctx, today, full) },
	}
}

// runUpkeep runs capcli profile compact for the days before today.
func (r *recording) runUpkeep(ctx context.Context, today profile.Instant, full bool) (*upkeep.Result, error) {
	path, err := r.e.Program()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, "profile", "compact", r.o.out, "--host", r.host, "--before", today.Std().Format(time.DateOnly),
		"--keep="+r.o.keep.keep, "--upload="+r.o.keep.upload, fmt.Sprintf("--make-room=%t", full), "--output=json", "--progress=none")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=50")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	lowerPriority()
	out, err := cmd.Output()
	got := &upkeep.Result{}
	if json.Unmarshal(out, got) != nil {
		got = nil
	}
	failed, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		err = nil // the recording ends
	case ok && failed.ExitCode() == shell.ExitPartial && got != nil:
		err = nil // the result says what is amiss
	case ok:
		lines := strings.Split(string(failed.Stderr), "\n")
		if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "error: ") }); i >= 0 {
			err = errors.New(strings.TrimPrefix(lines[i], "error: "))
		}
	}
	return got, err
}

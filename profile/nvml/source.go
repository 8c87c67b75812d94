//go:build linux && cgo

package nvml

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"capcli/profile"
)

func init() {
	profile.Sources.Add("nvml", "the GPUs of this box, through NVIDIA's management library", Open)
}

// Built reports whether this build can sample GPUs, which needs Linux and cgo.
const Built = true

// Open returns a source of the GPUs of the box. o.Where is the file of the library; "" is the one
// that the loader finds, or one in the usual places. It fails where the library or a usable GPU
// is missing.
func Open(o profile.SourceOptions) (profile.Source, error) {
	out := theBox()
	l, c := findLibrary(o.Where, out.root)
	if c != success {
		return nil, diagnose(c, out.root, o.Where)
	}
	s, err := open(l, o, out)
	if err != nil {
		return nil, err
	}
	return s, nil
}

const (
	shortest   = 100 * time.Millisecond
	stateEvery = 5 * time.Second
	tearDown   = 4 * waitMs * time.Millisecond
	openLimit  = 60 * time.Second // limit of the first set-up: without persistence mode each GPU takes seconds
)

// source is the profile.Source of the GPUs of the box.
type source struct {
	out    outside
	opt    profile.SourceOptions
	lib    *library
	gpus   []*gpu
	gate   chan struct{}
	timer  *time.Timer
	late   bool // the time limit of this Read has passed
	watch  *watch
	fixer  *fixer
	people *people

	pending    []profile.Event
	refused    []string // GPUs in the list of the driver that cannot be used, with the reason
	unused     []int    // and their numbers
	listed     int      // GPUs in the list of the driver at the last set-up
	bound      int      // and of the kernel module
	changed    bool     // the GPUs are others than those of the last set-up
	censusAt   time.Duration
	file       libraryFile
	gone       bool // the driver is gone
	goneCode   code
	replaced   bool          // the library was replaced on disk while the driver was gone
	deadAt     time.Duration // when no GPU could be asked any more; 0 is not so
	retryAt    time.Duration
	retryWait  time.Duration
	misfits    int // consecutive set-ups that found a driver of another version
	stateAt    time.Duration
	processAt  time.Duration
	memoryUsed float64 // bytes over all GPUs, when processes were last listed
	memoryAll  float64
	memoryNow  float64
	first      bool
	closed     bool
}

var _ profile.Source = (*source)(nil)

func open(l *library, o profile.SourceOptions, out outside) (*source, error) {
	o.Every = cmp.Or(o.Every, time.Second)
	if o.Every < shortest {
		return nil, errors.New("sample every " + o.Every.String() + ": the driver's figures are not fresher than every 100ms: give 100ms or more")
	}
	s := &source{
		out: out, opt: o, lib: l, timer: newTimer(), first: true,
		gate: make(chan struct{}, 1), fixer: newFixer(), people: newPeople(out, o.JobDir),
	}
	s.timer.Reset(openLimit)
	s.fixer.start(s, false, true)
	if !s.await(s.fixer.done) {
		s.stopAll()
		return nil, errors.New("set up the driver's library: no answer in " + openLimit.String() + ": look for lines with NVRM or Xid in dmesg")
	}
	s.timer.Stop()
	u := s.fixer.result()
	if u.code != success {
		s.stopAll()
		return nil, diagnose(u.code, out.root, l.path)
	}
	s.adopt(u)
	s.file = fileOf(out, l)
	if len(s.gpus) == 0 {
		first := success
		if len(u.list) > 0 {
			first = u.list[0].code
		}
		err := noGPUs(len(u.list), first)
		_ = s.Close() // Close never fails
		return nil, err
	}
	return s, nil
}

func (s *source) Host() string { return s.out.host }

// Read sets t to the samples of all GPUs. It fails when ctx was canceled, after Close, and with a
// *profile.GoneError when the driver was replaced by a version that this process cannot use, or
// was gone for long.
func (s *source) Read(ctx context.Context, t *profile.Tick) error {
	if s.closed {
		return io.ErrClosedPipe
	}
	wall, now := s.out.now()
	if t.At != 0 {
		wall = t.At
	}
	s.timer.Reset(s.limit(ctx))
	s.late = false
	defer s.timer.Stop()
	t.Events = append(t.Events, s.pending...)
	s.pending = s.pending[:0]
	s.settle(t, wall, now)
	if !s.mend(ctx, t, wall, now) {
		s.blankAll(t)
		if err := s.gaveUp(now); err != nil {
			return err
		}
		return canceled(ctx)
	}
	o := s.orders(now)
	for _, g := range s.gpus {
		if s.dispatch(g, o, now) { // one worker takes the census
			o.census = false
		}
	}
	for _, g := range s.gpus {
		if g.busy && !g.stalled {
			s.collect(ctx, g)
		}
	}
	if err := canceled(ctx); err != nil {
		return err
	}
	_, end := s.out.now()
	s.memoryNow = 0
	for _, g := range s.gpus {
		s.gather(g, t, wall, end)
	}
	if s.watch.drain(t) {
		s.stateAt = 0
	}
	if o.processes {
		s.memoryUsed = s.memoryNow
		// Where no list can be had, who holds a GPU is not known.
		t.LookedAtProcesses = slices.ContainsFunc(s.gpus, func(g *gpu) bool { return g.isListed })
		s.identify(ctx, t)
	}
	s.first = false
	return s.gaveUp(now)
}

// canceled returns the error of ctx where ctx was canceled; that its time is over is none.
func canceled(ctx context.Context) error {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// limit returns how long this Read waits for the GPUs: 15/16 of the larger of interval and
// patience, or of the time to the deadline of ctx where that is less; at least 1 ms.
func (s *source) limit(ctx context.Context) time.Duration {
	wait := max(s.opt.Every, s.out.patience)
	if left, ok := untilDeadline(ctx.Deadline()); ok {
		wait = min(wait, left)
	}
	return max(wait-wait/16, time.Millisecond)
}

// orders returns the order of this tick to the GPUs.
func (s *source) orders(now time.Duration) order {
	o := order{at: now, gate: s.gate}
	slack := s.opt.Every / 2
	if s.first || s.stateAt == 0 || now-s.stateAt+slack >= stateEvery {
		o.state, s.stateAt = true, max(now, 1)
	}
	if now-s.censusAt+slack >= censusEvery {
		o.census, o.refused, s.censusAt = true, s.unused, now
	}
	if s.opt.Processes > 0 {
		since := now - s.processAt + slack
		moved := s.memoryAll > 0 && abs(s.memoryNow-s.memoryUsed) > s.memoryAll/100 && since >= time.Second
		if s.first || since >= s.opt.Processes || moved {
			o.processes, s.processAt = true, now
		}
	}
	return o
}

func abs(v float64) float64 { return max(v, -v) }

// await waits for done until the time limit of this Read, and reports whether it came.
func (s *source) await(done <-chan struct{}) bool {
	if s.late {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	select {
	case <-done:
		return true
	case <-s.timer.C:
		s.late = true
		return s.await(done)
	}
}

// awaitOr is await that also ends with ctx.
func (s *source) awaitOr(ctx context.Context, done <-chan struct{}) bool {
	if s.late {
		return s.await(done)
	}
	select {
	case <-done:
		return true
	case <-s.timer.C:
	case <-ctx.Done():
	}
	s.late = true
	return s.await(done)
}

// Close ends the goroutines and shuts down the library. It leaves behind a goroutine that is
// stuck in the driver, since nothing can end it.
func (s *source) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.timer.Reset(tearDown)
	s.late = false
	idle := true
	for _, g := range s.gpus {
		if g.busy && s.await(g.done) {
			g.busy = false
		}
		idle = idle && !g.busy
	}
	if s.fixer.busy && s.await(s.fixer.done) {
		s.watch = s.fixer.result().watch
	}
	if idle && !s.fixer.busy {
		s.fixer.start(s, true, false)
		s.timer.Reset(2 * tearDown)
		s.late = false
		s.await(s.fixer.done)
	}
	s.stopAll()
	return nil
}

// stopAll tells the goroutines to end. A stuck one finds its channel closed when it returns.
func (s *source) stopAll() {
	for _, g := range s.gpus {
		if !g.busy {
			g.ask <- order{stop: true}
		} else {
			close(g.ask)
		}
	}
	s.fixer.stop()
	s.people.stop()
}

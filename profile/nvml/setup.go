//go:build linux && cgo

package nvml

import (
	"context"
	"fmt"
	"slices"
	"time"

	"capcli/profile"
)

// fixer sets up and tears down the library on a goroutine of its own, since that may hang in the
// driver too.
type fixer struct {
	ask  chan task
	done chan struct{}
	busy bool
	got  setUp
}

// setUp is the result of a task.
type setUp struct {
	list  []found
	watch *watch
	code  code
}

type task struct {
	lib   *library
	gpus  []*gpu // GPUs whose GPM buffers to free; their workers are idle
	watch *watch // the watch to end
	now   func() (profile.Instant, time.Duration)
	down  bool // tear down the library first
	up    bool
}

func newFixer() *fixer {
	f := &fixer{ask: make(chan task, 1), done: make(chan struct{}, 1)}
	go func() {
		for t := range f.ask {
			f.got = t.run()
			f.done <- struct{}{}
		}
	}()
	return f
}

func (f *fixer) start(s *source, down, up bool) {
	f.busy = true
	f.ask <- task{lib: s.lib, gpus: slices.Clone(s.gpus), watch: s.watch, now: s.out.now, down: down, up: up}
	s.watch = nil
}

func (f *fixer) result() setUp {
	f.busy = false
	return f.got
}

func (f *fixer) stop() { close(f.ask) }

func (t task) run() (u setUp) {
	if t.down {
		if !t.watch.end() {
			return setUp{watch: t.watch, code: timedOut}
		}
		for _, g := range t.gpus {
			g.freeGPM()
		}
		t.lib.stop() // fails where the driver is gone: then nothing is to be released
	}
	if !t.up {
		return u
	}
	if u.code = t.lib.start(); u.code != success {
		return u
	}
	if u.list, u.code = t.lib.find(); u.code == success {
		u.watch = startWatch(t.lib, u.list, t.now)
	}
	return u
}

func (g *gpu) freeGPM() {
	g.gpm.release()
	for _, p := range g.parts {
		p.gpm.release()
	}
}

const (
	// setUpAgainAfter is the time for which a GPU is lost before the library is set up again,
	// which causes a gap for the other GPUs. The time doubles with each attempt, up to
	// longestSetUp.
	setUpAgainAfter = 30 * time.Second
	longestSetUp    = 10 * time.Minute
)

// mend sets up the library again where the driver is gone, a GPU has been lost for long, or the GPUs
// are others than those of the last set-up. It reports whether the GPUs can be asked in this tick.
func (s *source) mend(ctx context.Context, t *profile.Tick, wall profile.Instant, now time.Duration) bool {
	if !s.fixer.busy {
		if !s.needsSetUp(now) {
			return !s.gone
		}
		if s.file.isReplaced(s.out.root) { // setting up would load the new file into this process
			s.replaced = s.gone
			s.changed = false
			s.postpone(now)
			return !s.gone
		}
		s.fixer.start(s, true, true)
		if !s.awaitOr(ctx, s.fixer.done) {
			return false
		}
	} else {
		select { // only the tick that started the task waits for it
		case <-s.fixer.done:
		default:
			return false
		}
	}
	u := s.fixer.result()
	was := s.gone
	s.gone, s.goneCode = u.code != success, u.code
	if s.gone {
		s.watch = u.watch
		if !was {
			t.Events = append(t.Events, profile.Event{At: wall, Kind: profile.DriverGone, Text: u.code.String()})
		}
		s.misfits++
		if u.code != mismatch {
			s.misfits = 0
		}
		s.postpone(now)
		return false
	}
	s.misfits = 0
	if was {
		t.Events = append(t.Events, profile.Event{At: wall, Kind: profile.DriverBack, Text: "driver " + s.lib.version})
		s.retryWait = 0
	}
	s.adopt(u)
	s.postpone(now)
	t.Events = append(t.Events, s.pending...)
	s.pending = s.pending[:0]
	return true
}

// postpone sets the time of the next set-up: after firstProbe to longestProbe where no GPU
// answers, after setUpAgainAfter to longestSetUp where some do.
func (s *source) postpone(now time.Duration) {
	least, most := firstProbe, longestProbe
	for _, g := range s.gpus {
		if !s.gone && !g.lost {
			least, most = setUpAgainAfter, longestSetUp
		}
	}
	s.retryWait = min(max(2*s.retryWait, least), most)
	s.retryAt = now + s.retryWait
}

// needsSetUp reports whether to set up the library again now. It returns false while a worker is
// inside the library.
func (s *source) needsSetUp(now time.Duration) bool {
	idle, lost := true, false
	for _, g := range s.gpus {
		idle = idle && !g.busy
		lost = lost || g.lost
	}
	switch {
	case s.changed:
		return idle
	case !lost && !s.gone:
		s.retryAt, s.retryWait = 0, 0
		return false
	case s.retryAt == 0:
		s.postpone(now)
	}
	return idle && now >= s.retryAt
}

// adopt takes over the list of GPUs of the driver. A GPU with a known UUID keeps its gpu,
// whatever its place in the list; a GPU no longer in the list is lost.
func (s *source) adopt(u setUp) {
	wall, _ := s.out.now()
	s.refused, s.unused = s.refused[:0], nil
	s.listed, s.bound, s.changed = len(u.list), boundGPUs(s.out.root), false
	for _, g := range s.gpus {
		g.unknown = true
	}
	for i := range u.list {
		f := &u.list[i]
		if f.code != success {
			s.unused = append(s.unused, f.device.Index)
			s.refused = append(s.refused, fmt.Sprintf("GPU %d cannot be used: %s", f.device.Index, f.code))
			if s.first && f.code.isGPULost() { // a GPU that this user may not use gives no event
				s.pending = append(s.pending, profile.Event{At: wall, Kind: profile.GPULost, Value: int64(f.code), Text: s.refused[len(s.refused)-1]})
			}
			continue
		}
		g := s.withUUID(f.device.UUID)
		if g == nil {
			g = newGPU(s.lib, s.out, s.opt)
			s.gpus = append(s.gpus, g)
			if !s.first {
				s.pending = append(s.pending, profile.Event{At: wall, Kind: profile.GPUBack, Device: f.device.UUID, Text: "a GPU that was not there before"})
			}
		}
		g.unknown, g.probeAt = false, 0
		g.bind(f)
	}
	s.memoryAll = 0
	for _, g := range s.gpus {
		s.memoryAll += g.total
		if g.unknown && !g.lost {
			g.lost, g.probeWait = true, firstProbe
			s.pending = append(s.pending, profile.Event{At: wall, Kind: profile.GPULost, Device: g.dev.UUID, Text: "not in the driver's list any more"})
		}
	}
	s.stateAt = 0
	s.watch = u.watch
}

func (s *source) withUUID(uuid string) *gpu {
	for _, g := range s.gpus {
		if g.dev.UUID == uuid {
			return g
		}
	}
	return nil
}

//go:build linux && cgo && nvml

package nvml

import (
	"context"
	"fmt"
	"time"

	"capcli/profile"
)

// The times between attempts to have a lost GPU, or a gone driver, back: doubled
// from first to longest.
const (
	firstProbe   = time.Second
	longestProbe = time.Minute
)

// settle receives answers that came after their tick. It drops them, since they
// describe the past.
func (s *source) settle(t *profile.Tick, wall profile.Instant, now time.Duration) {
	for _, g := range s.gpus {
		g.asked = false
		if !g.busy {
			continue
		}
		select {
		case <-g.done:
			g.busy = false
		default:
			continue
		}
		if g.stalled {
			g.stalled = false
			s.tell(t, wall, profile.GPUBack, g, 0, "answers again after "+(now-g.stalledAt).Round(time.Millisecond).String())
		}
	}
}

// dispatch asks a GPU's worker, unless it is still stuck, or its GPU is lost and
// not to be tried yet.
func (s *source) dispatch(g *gpu, o order, now time.Duration) {
	if g.busy || g.unknown || g.lost && now < g.probeAt {
		return
	}
	o.rebind = g.lost
	o.state = o.state || g.lost
	g.busy, g.asked = true, true
	g.ask <- o
}

// collect waits for a worker's answer.
func (s *source) collect(ctx context.Context, g *gpu) {
	if s.awaitOr(ctx, g.done) {
		g.busy = false
	}
}

// gather adds what a worker saw, or why it did not.
func (s *source) gather(g *gpu, t *profile.Tick, wall profile.Instant, now time.Duration) {
	switch {
	case g.busy:
		if !g.stalled {
			g.stalled, g.stalledAt = true, now
			s.gate = make(chan struct{}, 1) // it may hold the turn with GPM
			s.tell(t, wall, profile.Stalled, g, 0, "the driver does not answer for this GPU")
		}
		s.blank(g, t, profile.Timeout)
		return
	case !g.asked:
		s.blank(g, t, profile.Lost)
		return
	case g.failed():
		s.lose(g, t, wall, now)
		s.blank(g, t, profile.Lost)
		return
	}
	if g.lost {
		g.lost = false
		s.tell(t, wall, profile.GPUBack, g, 0, "the GPU is there again")
	}
	if g.migChanged {
		g.migChanged = false
		s.tell(t, wall, profile.MIGChanged, g, int64(len(g.parts)), g.wording())
	}
	if g.eccRose > 0 {
		s.tell(t, wall, profile.ECCError, g, g.eccRose, fmt.Sprintf("%d memory errors that were not corrected", g.eccRose))
	}
	g.shown = g.shown[:0]
	for i := range g.samples {
		from := &g.samples[i]
		g.shown = append(g.shown, from.Device)
		to := t.NextSample(from.Device)
		to.Values, to.Why = from.Values, from.Why
	}
	if used, ok := g.samples[0].Get(profile.MemUsed); ok {
		s.memoryNow += used
	}
	for i := range g.procs {
		p := &g.procs[i]
		t.Processes = append(t.Processes, profile.Process{
			Device: p.dev, PID: int64(p.pid), Kind: kindNames[p.kind],
			MemBytes: p.mem, MemWhy: p.memWhy, SMPct: p.sm, SMWhy: p.smWhy,
		})
	}
}

// lose records that a GPU, or the driver, is lost.
func (s *source) lose(g *gpu, t *profile.Tick, wall profile.Instant, now time.Duration) {
	if g.code.isDriverGone() {
		if !s.gone {
			s.gone = true
			s.retryWait = firstProbe
			s.retryAt = now + s.retryWait
			t.Events = append(t.Events, profile.Event{At: wall, Kind: profile.DriverGone, Text: g.code.String()})
		}
		return
	}
	if !g.lost {
		g.lost, g.probeWait = true, firstProbe
		s.tell(t, wall, profile.GPULost, g, int64(g.code), g.code.String())
	} else {
		g.probeWait = min(2*g.probeWait, longestProbe)
	}
	g.probeAt = now + g.probeWait
}

// blank adds samples of a GPU, and of the instances it had, of which nothing is
// known.
func (s *source) blank(g *gpu, t *profile.Tick, why profile.Reason) {
	if len(g.shown) == 0 {
		g.shown = append(g.shown, g.first)
	}
	for _, d := range g.shown {
		t.NextSample(d).Clear(why)
	}
}

// blankAll adds empty samples for all GPUs in ticks in which none can be asked: the
// driver is gone, or the library is being set up.
func (s *source) blankAll(t *profile.Tick) {
	for _, g := range s.gpus {
		if s.gone || g.lost {
			s.blank(g, t, profile.Lost)
		} else {
			s.blank(g, t, profile.Timeout)
		}
	}
}

func (s *source) tell(t *profile.Tick, wall profile.Instant, k profile.EventKind, g *gpu, value int64, text string) {
	t.Events = append(t.Events, profile.Event{At: wall, Kind: k, Device: g.dev.UUID, Value: value, Text: text})
}

// identify adds what the box knows of the processes, if it answers in time.
func (s *source) identify(ctx context.Context, t *profile.Tick) {
	markUnnamed(t.Processes)
	if len(t.Processes) == 0 || !s.people.start(t.Processes) {
		return
	}
	if s.awaitOr(ctx, s.people.done) {
		s.people.busy = false
		s.people.fill(t.Processes)
	}
}

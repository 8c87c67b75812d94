//go:build linux && cgo

package nvml

import (
	"context"
	"fmt"
	"time"

	"capcli/profile"
)

// The time between attempts to reach a lost GPU or a gone driver doubles from firstProbe to
// longestProbe.
const (
	firstProbe   = time.Second
	longestProbe = time.Minute
)

// settle receives the answers that came after their tick and drops them, since they describe the
// past. It adds an event for a GPU that answers again after a stall.
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

// dispatch sends an order to the worker of a GPU, unless the worker is still busy, or the GPU is
// lost and its next probe is not due. It reports whether it sent the order.
func (s *source) dispatch(g *gpu, o order, now time.Duration) bool {
	if g.busy || g.unknown || g.lost && now < g.probeAt {
		return false
	}
	o.rebind = g.lost
	o.state = o.state || g.lost
	g.busy, g.asked = true, true
	g.ask <- o
	return true
}

// collect waits for the answer of a worker, until the time limit of this Read or the end of ctx.
func (s *source) collect(ctx context.Context, g *gpu) {
	if s.awaitOr(ctx, g.done) {
		g.busy = false
	}
}

// gather adds the samples, processes and events of a GPU to t, or empty samples with the reason.
func (s *source) gather(g *gpu, t *profile.Tick, wall profile.Instant, now time.Duration) {
	switch {
	case g.busy:
		if !g.stalled {
			g.stalled, g.stalledAt = true, now
			s.gate = make(chan struct{}, 1) // the stuck worker may hold the gate of GPM
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
	if g.order.census {
		s.weigh(g.census)
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
	g.isListed = g.isListed || g.processWhy == profile.Known
	for i := range g.procs {
		p := &g.procs[i]
		t.Processes = append(t.Processes, profile.Process{
			Device: p.dev, PID: int64(p.pid), Kind: kindNames[p.kind],
			MemBytes: p.mem, MemWhy: p.memWhy, SMPct: p.sm, SMWhy: p.smWhy,
		})
	}
}

// lose records that a GPU, or the driver, is lost, and adds the event.
func (s *source) lose(g *gpu, t *profile.Tick, wall profile.Instant, now time.Duration) {
	if g.code.isDriverGone() {
		if !s.gone {
			s.gone, s.goneCode = true, g.code
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

// blank adds samples without values of a GPU and the instances it had; why is the reason.
func (s *source) blank(g *gpu, t *profile.Tick, why profile.Reason) {
	if len(g.shown) == 0 {
		g.shown = append(g.shown, g.first)
	}
	for _, d := range g.shown {
		t.NextSample(d).Clear(why)
	}
}

// blankAll adds samples without values of all GPUs. It is for ticks in which no GPU can be asked:
// the driver is gone, or the library is being set up.
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

// identify adds users, commands, containers, pods and jobs to the processes of t, if the registry
// answers in time.
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

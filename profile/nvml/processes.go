//go:build linux && cgo

package nvml

import (
	"cmp"
	"math"
	"slices"
	"time"

	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// holder is a process with a context on a device, in the list of the driver.
type holder struct {
	dev    *profile.Device
	pid    uint32
	kind   kind
	mem    float64
	memWhy profile.Reason
	sm     float64
	smWhy  profile.Reason
}

type kind uint8

// The kinds, in order of precedence. A client of MPS is in the list of compute processes too, and
// a compute process may be in that of graphics: the first kind counts.
const (
	mps kind = iota
	compute
	graphics
)

var kindNames = [...]string{mps: "mps", compute: "compute", graphics: "graphics"}

// lists are the calls that list processes.
var lists = [...]struct {
	kind kind
	sym  driver.Symbol
}{{mps, driver.SymMPS}, {compute, driver.SymCompute}, {graphics, driver.SymGraphics}}

// keepList is the time for which the last list of processes stands in for lists that fail.
const keepList = time.Minute

// processes sets g.procs to the processes on the GPU. For a divided GPU it asks the instances,
// which any user may do; only root may ask the GPU itself.
func (g *gpu) processes(whole *profile.Sample, o *order) {
	if !o.processes {
		return
	}
	if g.mig {
		for _, p := range g.parts {
			g.list(p.handle, p.dev, &g.samples[0])
		}
	} else {
		g.list(g.handle, g.dev, whole)
	}
	if g.failed() {
		return
	}
	if g.processWhy != profile.Known { // which does not say that the GPU is free
		g.procs = g.procs[:0]
		if o.at-g.listedAt <= keepList {
			g.procs = append(g.procs, g.procsBefore...)
		}
		g.shareAll(g.processWhy)
		return
	}
	g.listedAt = o.at
	defer func() { g.procsBefore = append(g.procsBefore[:0], g.procs...) }()
	slices.SortStableFunc(g.procs, func(a, b holder) int {
		return cmp.Or(cmp.Compare(a.dev.GI, b.dev.GI), cmp.Compare(a.dev.CI, b.dev.CI), cmp.Compare(a.pid, b.pid), cmp.Compare(a.kind, b.kind))
	})
	g.procs = slices.CompactFunc(g.procs, func(a, b holder) bool { return a.dev == b.dev && a.pid == b.pid })
	if g.mig {
		for i := range g.procs {
			g.procs[i].smWhy = profile.UnderMIG
		}
		return
	}
	g.share(whole)
}

// list adds the processes of device d to g.procs.
func (g *gpu) list(h driver.Device, d *profile.Device, whole *profile.Sample) {
	total, bounded := whole.Get(profile.MemTotal)
	g.processWhy = profile.NoSymbol
	for _, l := range lists {
		if !g.lib.lib.Has(l.sym) {
			continue
		}
		infos, ret := h.Processes(l.sym)
		c := g.note(code(ret))
		if g.failed() {
			return
		}
		if l.kind == compute || g.processWhy == profile.NoSymbol {
			g.processWhy = c.reason()
		}
		if c != success {
			continue
		}
		for _, x := range infos {
			if x.PID == 0 {
				continue
			}
			p := holder{dev: d, pid: x.PID, kind: l.kind, smWhy: profile.NotAsked}
			switch {
			case x.Memory == math.MaxUint64:
				p.memWhy = profile.Unsupported
			case bounded && float64(x.Memory) > total, x.Memory > 1<<50:
				p.memWhy = profile.OutOfRange
			default:
				p.mem = float64(x.Memory)
			}
			g.procs = append(g.procs, p)
		}
	}
}

// share sets the share of SM time of each process since the last look, in %. The driver lists
// only processes with a share above 0 (nvml.h, nvmlDeviceGetProcessUtilization), so a process
// that is not in the list was idle. Where there is no list, the shares are not known unless the
// whole GPU was idle.
func (g *gpu) share(whole *profile.Sample) {
	if len(g.procs) == 0 {
		return
	}
	if !g.lib.lib.Has(driver.SymProcessUtil) {
		g.shareAll(profile.NoSymbol)
		return
	}
	seen := g.seenUtil
	list, ret := g.handle.GetProcessUtilization(seen)
	c := g.note(code(ret))
	if c == tooSmall && len(list) == 0 {
		c = notFound
	}
	if c != success && c != notFound {
		g.shareAll(c.reason())
		return
	}
	for i := range list {
		g.seenUtil = max(g.seenUtil, list[i].Time)
	}
	if seen == 0 {
		// For time 0 the driver gives all samples of its buffer, however old. The next call asks
		// from the time of the last sample, or from the clock of the box where there is none.
		if g.seenUtil == 0 {
			wall, _ := g.now()
			g.seenUtil = uint64(wall)
		}
		g.shareAll(profile.First)
		return
	}
	switch busy, known := whole.Get(profile.UtilGPU); {
	case c == success, known && busy == 0:
		g.shareAll(profile.Known)
	default:
		g.shareAll(profile.NotAsked)
	}
	for i := range g.procs {
		g.procs[i].part(list, seen)
	}
}

// part sets the share of the process to its latest sample newer than seen.
func (p *holder) part(list []driver.ProcessSample, seen uint64) {
	for i := range list {
		x := &list[i]
		if x.PID != p.pid || x.Time <= seen {
			continue
		}
		seen = x.Time
		if x.SM > 100 {
			p.sm, p.smWhy = 0, profile.OutOfRange
			continue
		}
		p.sm, p.smWhy = float64(x.SM), profile.Known
	}
}

func (g *gpu) shareAll(r profile.Reason) {
	for i := range g.procs {
		g.procs[i].sm, g.procs[i].smWhy = 0, r
	}
}

//go:build linux && cgo

package nvml

import (
	"fmt"
	"math"
	"strings"
	"time"

	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// member identifies an instance. Its numbers alone do not: the driver reuses them at once.
type member struct {
	uuid     string
	gi, ci   int
	memory   uint64 // MiB
	sms      uint32
	giSlices uint32
	ciSlices uint32
}

// instance is a MIG device: a compute instance within a GPU instance.
type instance struct {
	member
	handle driver.Device
	dev    *profile.Device
	// first is set for the first compute instance of a GPU instance. It has the figures that all
	// compute instances of the GPU instance share, memory and GPM. The others have none, so that
	// nothing is counted twice.
	first bool
	gpm   pair
}

// migEvery is the interval at which the division of a GPU is checked.
const migEvery = time.Second

// divide checks, at most once per migEvery, whether and how MIG divides the GPU, and rebuilds
// g.parts after a change.
func (g *gpu) divide(_ *profile.Sample, o *order) {
	if g.noMIG || g.migAt != 0 && o.at-g.migAt < migEvery*9/10 {
		return
	}
	g.migAt = o.at
	mode, _, ret := g.handle.Pair(driver.SymMigMode)
	c := g.note(code(ret))
	switch {
	case c == notSupported:
		g.noMIG = true
		return
	case c != success:
		return
	}
	on := mode == driver.MIGEnabled
	handles := g.scan(on)
	if g.failed() || on == g.mig && g.sameParts() {
		return
	}
	g.migChanged = g.migChanged || on || g.mig
	g.mig = on
	g.rebuild(handles)
}

// scan sets g.scratch to the instances of the GPU and returns their handles. on is false where
// MIG is off.
func (g *gpu) scan(on bool) []driver.Device {
	g.scratch = g.scratch[:0]
	if !on {
		return nil
	}
	most, ret := g.handle.Number(driver.SymMigMax)
	if g.note(code(ret)) != success {
		return nil
	}
	handles := make([]driver.Device, 0, 8)
	for i := range int(min(most, 64)) {
		h, ret := g.handle.GetMigDeviceHandleByIndex(i)
		if g.note(code(ret)) != success {
			if g.failed() {
				return nil
			}
			continue // an empty slot gives not found or invalid argument
		}
		if m, ok := g.member(h); ok {
			g.scratch, handles = append(g.scratch, m), append(handles, h)
		}
	}
	return handles
}

func (g *gpu) member(h driver.Device) (m member, ok bool) {
	uuid, r1 := h.Text(driver.SymUUID)
	gi, r2 := h.Number(driver.SymMigGI)
	ci, r3 := h.Number(driver.SymMigCI)
	for _, ret := range [...]driver.Return{r1, r2, r3} {
		if g.note(code(ret)) != success {
			return m, false // it was destroyed meanwhile
		}
	}
	m = member{uuid: uuid, gi: int(gi), ci: int(ci)}
	if a, ret := h.GetAttributes(); g.note(code(ret)) == success {
		m.memory, m.sms = a.MemoryMiB, a.SMs
		m.giSlices, m.ciSlices = a.GPUSlices, a.ComputeSlices
	}
	return m, true
}

func (g *gpu) sameParts() bool {
	if len(g.parts) != len(g.scratch) {
		return false
	}
	for i, p := range g.parts {
		if p.member != g.scratch[i] {
			return false
		}
	}
	return true
}

// rebuild sets g.parts to the instances in g.scratch. An instance that stayed keeps its device.
// No instance keeps its GPM sample.
func (g *gpu) rebuild(handles []driver.Device) {
	old := g.parts
	g.parts = nil
	for i, m := range g.scratch {
		p := &instance{member: m, handle: handles[i], first: true}
		for _, q := range g.parts {
			p.first = p.first && q.gi != p.gi
		}
		for _, q := range old {
			if q.member == m && q.dev.Parent == g.dev.UUID && q.dev.Index == g.dev.Index {
				p.dev = q.dev
			}
		}
		if p.dev == nil {
			p.dev = g.partOf(p)
		}
		g.parts = append(g.parts, p)
	}
	for _, q := range old {
		q.gpm.release()
	}
	g.gpm.have = false
	g.forgetSupport()
}

// partOf returns the device of an instance. Its share of the memory bandwidth of the GPU is its
// share of the memory, in eighths: MIG divides both by the same slices (NVIDIA's MIG user guide).
func (g *gpu) partOf(p *instance) *profile.Device {
	d := *g.dev
	d.Parent, d.UUID, d.GI, d.CI, d.SMs = g.dev.UUID, p.uuid, p.gi, p.ci, int(p.sms)
	d.PeakMemBytesPerS, d.PeakNVLinkMiBPerS = 0, 0 // an instance has no NVLink
	if g.total > 0 && p.memory > 0 {
		eighths := math.Round(8 * float64(p.memory) * (1 << 20) / g.total)
		d.PeakMemBytesPerS = g.dev.PeakMemBytesPerS * min(max(eighths, 1), 8) / 8
	}
	if name, ret := p.handle.Text(driver.SymName); ret == driver.Success {
		_, d.Profile, _ = strings.Cut(name, " MIG ")
	}
	if d.Profile == "" && p.giSlices > 0 {
		d.Profile = fmt.Sprintf("%dg.%dgb", p.giSlices, (p.memory+512)/1024)
		if p.ciSlices > 0 && p.ciSlices < p.giSlices {
			d.Profile = fmt.Sprintf("%dc.%s", p.ciSlices, d.Profile)
		}
	}
	return &d
}

// instances adds the samples of the instances. The driver gives power, clocks, temperature and
// errors for the whole GPU only.
func (g *gpu) instances(_ *profile.Sample, o *order) {
	for _, p := range g.parts {
		n := len(g.samples)
		if n < cap(g.samples) {
			g.samples = g.samples[:n+1]
		} else {
			g.samples = append(g.samples, profile.Sample{})
		}
		s := &g.samples[n]
		s.Device = p.dev
		s.Clear(profile.UnderMIG)
		if !p.first {
			continue
		}
		for _, m := range [...]profile.Metric{profile.MemUsed, profile.MemReserved, profile.MemTotal} {
			s.Why[m] = profile.NotAsked
		}
		for _, x := range gpmMetrics {
			s.Why[x.metric] = profile.NotAsked
		}
		g.memory(p.handle, s)
		g.gpmInto(&p.gpm, p.gi, s, o)
		for _, x := range gpmMetrics[ofGPMAlone:] {
			if s.Why[x.metric] == profile.NotAsked && s.Why[profile.SMActive] != profile.NotAsked {
				s.Why[x.metric] = profile.UnderMIG
			}
		}
		if g.failed() {
			return
		}
	}
}

// wording returns the text of the event of a changed division.
func (g *gpu) wording() string {
	if !g.mig {
		return "no longer divided"
	}
	if len(g.parts) == 0 {
		return "divided, without instances"
	}
	names := make([]string, len(g.parts))
	for i, p := range g.parts {
		names[i] = fmt.Sprintf("%s (%d/%d)", p.dev.Profile, p.gi, p.ci)
	}
	return "instances " + strings.Join(names, ", ")
}

//go:build linux && cgo

package nvml

import (
	"time"

	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// gpmMetrics are the GPM metrics asked for, in %, those of links in MiB/s. The first ofGPMAlone
// have no other source; the links have.
var gpmMetrics = [...]struct {
	metric profile.Metric
	id     uint32
}{
	{profile.SMActive, driver.GPMSMUtil},
	{profile.SMOccupancy, driver.GPMSMOccupancy},
	{profile.TensorActive, driver.GPMTensor},
	{profile.DRAMActive, driver.GPMDRAM},
	{profile.FP64Active, driver.GPMFP64},
	{profile.FP32Active, driver.GPMFP32},
	{profile.FP16Active, driver.GPMFP16},
	{profile.PCIeTx, driver.GPMPCIeTx},
	{profile.PCIeRx, driver.GPMPCIeRx},
	{profile.NVLinkTx, driver.GPMNVLinkTx},
	{profile.NVLinkRx, driver.GPMNVLinkRx},
}

// ofGPMAlone is the number of gpmMetrics without another source.
const ofGPMAlone = 7

const (
	// gpmApart is the least time between two samples. The hardware refreshes its counters every
	// 100 ms (nvml.h, nvmlGpmMetricsGet); 5 ms are added because its clock differs from ours.
	gpmApart = 105 * time.Millisecond
	// gpmStale is the age from which a sample is too old to compare with.
	gpmStale = 10 * time.Second
)

// pair is the last GPM sample of a device and the buffer of the next one.
type pair struct {
	last, next driver.GPMSample
	at         time.Duration // time of last
	have       bool          // last holds counters
	allocated  bool
}

// gpmSupport returns Known where the GPU has GPM, else the reason.
func (l *library) gpmSupport(h driver.Device) profile.Reason {
	if !l.hasGPM() {
		return profile.NoSymbol
	}
	has, ret := h.HasGPM()
	switch {
	case ret != driver.Success:
		return code(ret).reason()
	case !has:
		return profile.Unsupported
	}
	return profile.Known
}

func (p *pair) release() {
	if p.allocated {
		_, _ = p.last.Free(), p.next.Free()
	}
	*p = pair{}
}

func (g *gpu) wholeGPM(s *profile.Sample, o *order) {
	g.gpmInto(&g.gpm, -1, s, o)
	if s.Why[profile.SMActive] != profile.NotAsked {
		for _, x := range gpmMetrics {
			g.gpmGives[x.metric] = s.Why[x.metric] == profile.Known
		}
	}
}

// gpmInto puts the GPM metrics of GPU instance gi, or of the whole GPU where gi is below 0, as
// means since the last sample.
func (g *gpu) gpmInto(p *pair, gi int, s *profile.Sample, o *order) {
	why := g.gpmWhy
	if gi >= 0 && why == profile.Known && !g.lib.lib.Has(driver.SymGpmMig) {
		why = profile.NoSymbol
	}
	if why != profile.Known {
		g.missGPM(s, why)
		return
	}
	apart := gpmApart
	if g.every < 2*gpmApart {
		apart = max(apart, g.every*7/4)
	}
	if p.have && g.clock()-p.at < apart {
		return // the metrics stay NotAsked: the tick came too soon after the last one
	}
	if !g.allocate(p, s) {
		return
	}
	if !g.enter(o.gate) {
		g.missGPM(s, profile.Timeout)
		return
	}
	defer func() { <-o.gate }()
	var ret driver.Return
	if gi < 0 {
		ret = g.handle.GPMSampleGet(p.next)
	} else {
		ret = g.handle.GPMMigSampleGet(gi, p.next)
	}
	if c := g.note(code(ret)); c != success {
		p.have = false
		g.missGPM(s, c.reason())
		return
	}
	now := g.clock()
	if p.have && now-p.at < max(gpmStale, 4*g.every) {
		g.compare(p, s)
	} else {
		g.missGPM(s, profile.First)
	}
	p.last, p.next, p.at, p.have = p.next, p.last, now, true
}

func (g *gpu) allocate(p *pair, s *profile.Sample) bool {
	if p.allocated {
		return true
	}
	a, ret := g.lib.lib.GPMSampleAlloc()
	if ret == driver.Success {
		b, second := g.lib.lib.GPMSampleAlloc()
		if second == driver.Success {
			p.last, p.next, p.allocated = a, b, true
			return true
		}
		_ = a.Free()
		ret = second
	}
	g.missGPM(s, g.note(code(ret)).reason())
	return false
}

// enter takes the gate, since GPM allows one call at a time. It gives up after g.turn and returns
// false: another GPU may be stuck inside, and this one has other metrics to read.
func (g *gpu) enter(gate chan struct{}) bool {
	select {
	case gate <- struct{}{}:
		return true
	default:
	}
	g.timer.Reset(g.turn)
	defer g.timer.Stop()
	select {
	case gate <- struct{}{}:
		return true
	case <-g.timer.C:
		return false
	}
}

// compare puts the metrics between the two samples. It asks for all in one call, which costs the
// same as for one.
func (g *gpu) compare(p *pair, s *profile.Sample) {
	q := &g.metrics
	q.Count = uint32(len(gpmMetrics))
	for i, x := range gpmMetrics {
		q.Metrics[i] = driver.GPMMetric{ID: x.id}
	}
	if c := g.note(code(g.lib.lib.GPMMetricsGet(q, p.last, p.next))); c != success {
		g.missGPM(s, c.reason())
		return
	}
	for i, x := range gpmMetrics {
		if c := g.note(code(q.Metrics[i].Return)); c != success {
			g.miss(s, x.metric, c.reason())
			continue
		}
		put(s, x.metric, q.Metrics[i].Value)
	}
}

func (g *gpu) missGPM(s *profile.Sample, r profile.Reason) {
	n := len(gpmMetrics)
	if r == profile.NoSymbol || r == profile.Unsupported {
		n = ofGPMAlone
	}
	for _, x := range gpmMetrics[:n] {
		g.miss(s, x.metric, r)
	}
}

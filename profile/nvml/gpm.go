//go:build linux && cgo && nvml

package nvml

import (
	"time"

	driver "github.com/NVIDIA/go-nvml/pkg/nvml"

	"capcli/profile"
)

// gpmMetrics are the GPM metrics asked for, in %, those of links in MiB/s. The first ofGPMAlone
// have no other source; the links have.
var gpmMetrics = [...]struct {
	metric profile.Metric
	id     driver.GpmMetricId
}{
	{profile.SMActive, driver.GPM_METRIC_SM_UTIL},
	{profile.SMOccupancy, driver.GPM_METRIC_SM_OCCUPANCY},
	{profile.TensorActive, driver.GPM_METRIC_ANY_TENSOR_UTIL},
	{profile.DRAMActive, driver.GPM_METRIC_DRAM_BW_UTIL},
	{profile.FP64Active, driver.GPM_METRIC_FP64_UTIL},
	{profile.FP32Active, driver.GPM_METRIC_FP32_UTIL},
	{profile.FP16Active, driver.GPM_METRIC_FP16_UTIL},
	{profile.PCIeTx, driver.GPM_METRIC_PCIE_TX_PER_SEC},
	{profile.PCIeRx, driver.GPM_METRIC_PCIE_RX_PER_SEC},
	{profile.NVLinkTx, driver.GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC},
	{profile.NVLinkRx, driver.GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC},
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
	last, next driver.GpmSample
	at         time.Duration // time of last
	have       bool          // last holds counters
	allocated  bool
}

// gpmSupport returns Known where the GPU has GPM, else the reason.
func (l *library) gpmSupport(h driver.Device) profile.Reason {
	if !l.hasGPM() {
		return profile.NoSymbol
	}
	s, ret := h.GpmQueryDeviceSupport()
	switch {
	case ret != driver.SUCCESS:
		return code(ret).reason()
	case s.IsSupportedDevice == 0:
		return profile.Unsupported
	}
	return profile.Known
}

// release frees the buffers.
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
	if gi >= 0 && why == profile.Known && !g.lib.has[symGpmMig] {
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
		ret = g.handle.GpmSampleGet(p.next)
	} else {
		ret = g.handle.GpmMigSampleGet(gi, p.next)
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
	a, ret := g.lib.lib.GpmSampleAlloc()
	if ret == driver.SUCCESS {
		b, second := g.lib.lib.GpmSampleAlloc()
		if second == driver.SUCCESS {
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
	q.NumMetrics = uint32(len(gpmMetrics))
	q.Sample1, q.Sample2 = p.last, p.next
	for i, x := range gpmMetrics {
		q.Metrics[i] = driver.GpmMetric{MetricId: uint32(x.id)}
	}
	if c := g.note(code(g.lib.lib.GpmMetricsGet(q))); c != success {
		g.missGPM(s, c.reason())
		return
	}
	for i, x := range gpmMetrics {
		if c := g.note(code(q.Metrics[i].NvmlReturn)); c != success {
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

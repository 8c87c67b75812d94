//go:build linux && cgo

package nvml

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// TestGPU runs against the GPUs of the box, `make gpu-check`: it starts loads of its own on the first one, and
// holds each figure against what the load must give and against nvidia-smi, energy against power over time, and
// a recording of all loads by the program itself against the processor time and memory that it may take. It
// says what it measured, and what it could not try here.
func TestGPU(t *testing.T) {
	if os.Getenv("CAPCLI_GPU") == "" {
		t.Skip("against a real GPU only: make gpu-check")
	}
	s, err := Open(profile.SourceOptions{Processes: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	box := s.(*source)
	defer s.Close()
	t.Logf("driver %s, library %s (NVML %s), %d GPUs on %s", box.lib.version, loadedFrom(box.out, box.lib.path), box.lib.nvml, len(box.gpus), s.Host())
	c := &gpuCheck{T: t, box: box}
	c.latencies()
	c.memoryIdentity()
	c.sample(12, 250*time.Millisecond)
	c.say(Examine(profile.SourceOptions{}))
	c.prove()
	if err := c.box.Read(context.Background(), &profile.Tick{}); err != nil {
		c.Error(err)
	}
}

type gpuCheck struct {
	*testing.T
	box *source
}

// latencies times the calls that a tick makes, and those that it avoids.
func (c *gpuCheck) latencies() {
	calls := []struct {
		name string
		sym  driver.Symbol
		call func(g *gpu)
	}{
		{"utilisation", driver.SymUtil, func(g *gpu) { g.handle.GetUtilizationRates() }},
		{"utilisation samples", driver.SymSamples, func(g *gpu) { g.handle.GetSamples(driver.SamplesUtilGPU, 0) }},
		{"memory v2", driver.SymMemory2, func(g *gpu) { g.handle.GetMemoryInfo2() }},
		{"power", driver.SymPower, func(g *gpu) { g.handle.Number(driver.SymPower) }},
		{"power limit", driver.SymLimit, func(g *gpu) { g.handle.Number(driver.SymLimit) }},
		{"energy", driver.SymEnergy, func(g *gpu) { g.handle.LongNumber(driver.SymEnergy) }},
		{"temperature", driver.SymTemp, func(g *gpu) { g.handle.GetTemperatureV() }},
		{"clock", driver.SymClock, func(g *gpu) { g.handle.NumberOf(driver.SymClock, driver.ClockSM) }},
		{"performance state", driver.SymPState, func(g *gpu) { g.handle.Number(driver.SymPState) }},
		{"throttle reasons", driver.SymReasons, func(g *gpu) { g.handle.LongNumber(driver.SymReasons) }},
		{"fan", driver.SymFan, func(g *gpu) { g.handle.Number(driver.SymFan) }},
		{"encoder", driver.SymEncoder, func(g *gpu) { g.handle.Pair(driver.SymEncoder) }},
		{"ECC counter", driver.SymECC, func(g *gpu) {
			g.handle.GetTotalEccErrors(driver.MemoryErrorCorrected)
		}},
		{"field: power", driver.SymFields, func(g *gpu) {
			g.handle.GetFieldValues([]driver.FieldValue{{FieldID: driver.FieldPowerAverage}})
		}},
		{"field: NVLink bytes", driver.SymFields, func(g *gpu) {
			g.handle.GetFieldValues([]driver.FieldValue{{FieldID: driver.FieldLinkTx, ScopeID: allLinks}})
		}},
		{"MIG mode", driver.SymMigMode, func(g *gpu) { g.handle.Pair(driver.SymMigMode) }},
		{"processes", driver.SymCompute, func(g *gpu) { g.handle.Processes(driver.SymCompute) }},
		{"process shares", driver.SymProcessUtil, func(g *gpu) { g.handle.GetProcessUtilization(1) }},
		{"PCIe throughput", driver.SymPCIe, func(g *gpu) { g.handle.NumberOf(driver.SymPCIe, driver.PCIeTxBytes) }},
	}
	g := c.box.gpus[0]
	for _, x := range calls {
		if !c.box.lib.lib.Has(x.sym) {
			c.Logf("%-22s not in this library", x.name)
			continue
		}
		c.Logf("%-22s %s", x.name, timed(20, func() { x.call(g) }))
	}
	c.Logf("%-22s %s", "a whole tick", timed(20, func() { see(c, c.box) }))
	for range 3 { // with GPM, which wants a pause between
		time.Sleep(2 * gpmApart)
		c.Logf("%-22s %s", "a tick with GPM", timed(1, func() { see(c, c.box) }))
	}
}

func timed(n int, call func()) string {
	took := make([]time.Duration, n)
	for i := range took {
		at := time.Now()
		call()
		took[i] = time.Since(at)
	}
	slices.Sort(took)
	return fmt.Sprintf("median %v, worst of %d %v", took[n/2], n, took[n-1])
}

// memoryIdentity looks at whether used, free and reserved memory make up the total.
func (c *gpuCheck) memoryIdentity() {
	for _, g := range c.box.gpus {
		if !c.box.lib.lib.Has(driver.SymMemory2) {
			return
		}
		m, ret := g.handle.GetMemoryInfo2()
		if ret != driver.Success {
			c.Logf("GPU %d: memory: %s", g.index, code(ret))
			continue
		}
		apart := math.Abs(float64(m.Used) + float64(m.Free) + float64(m.Reserved) - float64(m.Total))
		together := math.Abs(float64(m.Used) + float64(m.Free) - float64(m.Total))
		c.Logf("GPU %d: used %d + free %d + reserved %d = total %d but for %.0f bytes; reserved taken for part of used: %v", g.index, m.Used, m.Free, m.Reserved, m.Total, min(apart, together), g.folded)
		if min(apart, together) > 0.001*float64(m.Total) {
			c.Errorf("GPU %d: memory does not add up either way", g.index)
		}
	}
}

// sample reads some ticks and judges each figure, and the counters over time.
func (c *gpuCheck) sample(n int, every time.Duration) {
	last := map[string]float64{}
	for range n {
		tick := see(c, c.box)
		for i := range tick.Samples {
			s := &tick.Samples[i]
			for m := range profile.NumMetrics {
				v, ok := s.Get(m)
				if !ok {
					continue
				}
				if strings.HasSuffix(m.String(), "_pct") && m != profile.Fan && v > 100 || v < 0 {
					c.Errorf("%s is %v", m, v)
				}
				if key := s.Device.UUID + m.String(); profile.Metrics[m].Counter {
					if v < last[key] {
						c.Errorf("%s fell from %v to %v", m, last[key], v)
					}
					last[key] = v
				}
			}
			c.powerAgrees(s)
		}
		for _, e := range tick.Events {
			c.Logf("event %s %s %s", e.Kind, e.Device, e.Text)
		}
		time.Sleep(every)
	}
	tick := see(c, c.box)
	for i := range tick.Samples {
		s := &tick.Samples[i]
		c.Logf("%s %s, SMs %d, peak memory %.2f TB/s", s.Device.UUID, s.Device.Model, s.Device.SMs, s.Device.PeakMemBytesPerS/1e12)
		for m := range profile.NumMetrics {
			if v, ok := s.Get(m); ok {
				c.Logf("  %-20s %v", m, v)
			} else {
				c.Logf("  %-20s none: %s", m, s.Why[m])
			}
		}
	}
	for _, p := range tick.Processes {
		c.Logf("process %d %s %q job %q pod %q: %.0f bytes (%s), %.0f %% (%s)", p.PID, p.User, p.Command, p.Job, p.Pod, p.MemBytes, p.MemWhy, p.SMPct, p.SMWhy)
	}
}

// powerAgrees holds power against the limit: short peaks above it are known, of a
// fifth at most.
func (c *gpuCheck) powerAgrees(s *profile.Sample) {
	p, ok := s.Get(profile.Power)
	limit, both := s.Get(profile.PowerLimit)
	if ok && both && p > 1.2*limit {
		c.Errorf("power %v W over the limit of %v W", p, limit)
	}
}

func (c *gpuCheck) say(r Report) {
	for _, x := range r.Checks {
		c.Logf("%-10s %-8s %s; %s", x.Name, x.State, x.Text, x.Fix)
	}
}

// How long a load runs, and how it is looked at. A verdict wants ten seconds of samples at least.
const (
	loadLength = 24 * time.Second
	loadSettle = 3 * time.Second
)

// prove runs the loads beside a recording and judges both.
func (c *gpuCheck) prove() {
	g := c.box.gpus[0]
	if g.dev.PeakMemBytesPerS == 0 || g.dev.SMs == 0 {
		c.Errorf("%s: its bandwidth of memory or its number of SMs is not known", g.dev.Model)
		return
	}
	load := newLoader(c.T, g.dev)
	p := &proof{
		read: func() *profile.Tick { return see(c, c.box) }, start: load.start, smi: smiOf(c.T, g.dev.UUID),
		uuid: g.dev.UUID, every: time.Second, settle: loadSettle, length: loadLength,
	}
	r := startRecorder(c.T)
	var seen []loadSeen
	for i := range gpuLoads {
		one, err := p.observe(&gpuLoads[i])
		if err != nil {
			c.Errorf("%s: %v", gpuLoads[i].name, err)
			continue
		}
		c.Logf("%s: %s", one.load.name, one.words())
		seen = append(seen, one)
	}
	j := judgeLoad(seen)
	r.finish(j, seen)
	for _, wrong := range j.wrong {
		c.Error(wrong)
	}
	for _, what := range slices.Sorted(maps.Keys(j.untried)) {
		c.Logf("NOT TRIED here: %s", what)
	}
	for _, what := range []string{"NVLink between GPUs", "MIG", "a GPU that is lost", "a driver that is replaced", "Xid and ECC events", "calls that hang", "throttling by power or heat"} {
		c.Logf("NOT TRIED by this check: %s", what)
	}
}

// words are the means of what was measured.
func (s *loadSeen) words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d looks, %.0f J by the counter, %.0f J by power", s.looks, s.rose, s.joules)
	for m := range profile.NumMetrics {
		if s.why[m] == profile.Known {
			fmt.Fprintf(&b, "; %s %.4g", m, s.mean[m])
		}
	}
	return b.String()
}

// smiOf asks nvidia-smi about one GPU; nil where there is none.
func smiOf(t *testing.T, uuid string) func() (*profile.Sample, error) {
	fetch := func(ctx context.Context, args string) (io.ReadCloser, error) {
		out, err := exec.CommandContext(ctx, "nvidia-smi", strings.Fields(args)...).Output()
		return io.NopCloser(strings.NewReader(string(out))), err
	}
	open, err := profile.Sources.Get("smi")
	if err != nil {
		t.Fatal(err)
	}
	smi, err := open(profile.SourceOptions{Fetch: fetch})
	if err != nil {
		t.Logf("nvidia-smi: %v", err)
		return nil
	}
	return func() (*profile.Sample, error) {
		var tick profile.Tick
		if err := smi.Read(t.Context(), &tick); err != nil {
			return nil, err
		}
		for i := range tick.Samples {
			if tick.Samples[i].Device.UUID == uuid {
				return &tick.Samples[i], nil
			}
		}
		return nil, fmt.Errorf("nvidia-smi does not list GPU %s", uuid)
	}
}

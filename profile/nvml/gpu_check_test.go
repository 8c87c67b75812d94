//go:build linux && cgo && nvml

package nvml

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/NVIDIA/go-nvml/pkg/nvml"

	"capcli/profile"
)

// TestGPU runs against the GPUs of the box, `make gpu-check`. It says what it
// measured, what it judged, and what it could not judge here.
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
	c := &gpuCheck{T: t, box: box, done: map[string]bool{}}
	c.latencies()
	c.memoryIdentity()
	c.sample(12, 250*time.Millisecond)
	c.say(Examine(profile.SourceOptions{}))
	c.notVerified()
}

type gpuCheck struct {
	*testing.T
	box  *source
	done map[string]bool // what could be judged
}

// latencies times the calls that a tick makes, and those that it avoids.
func (c *gpuCheck) latencies() {
	calls := []struct {
		name string
		sym  symbol
		call func(g *gpu)
	}{
		{"utilisation", symUtil, func(g *gpu) { g.handle.GetUtilizationRates() }},
		{"utilisation samples", symSamples, func(g *gpu) { g.handle.GetSamples(driver.GPU_UTILIZATION_SAMPLES, 0) }},
		{"memory v2", symMemory2, func(g *gpu) { g.handle.GetMemoryInfo_v2() }},
		{"power", symPower, func(g *gpu) { g.handle.GetPowerUsage() }},
		{"power limit", symLimit, func(g *gpu) { g.handle.GetEnforcedPowerLimit() }},
		{"energy", symEnergy, func(g *gpu) { g.handle.GetTotalEnergyConsumption() }},
		{"temperature", symTemp, func(g *gpu) { g.handle.GetTemperatureV().V1() }},
		{"clock", symClock, func(g *gpu) { g.handle.GetClockInfo(driver.CLOCK_SM) }},
		{"performance state", symPState, func(g *gpu) { g.handle.GetPerformanceState() }},
		{"throttle reasons", symReasons, func(g *gpu) { g.handle.GetCurrentClocksEventReasons() }},
		{"fan", symFan, func(g *gpu) { g.handle.GetFanSpeed() }},
		{"encoder", symEncoder, func(g *gpu) { g.handle.GetEncoderUtilization() }},
		{"ECC counter", symECC, func(g *gpu) {
			g.handle.GetTotalEccErrors(driver.MEMORY_ERROR_TYPE_CORRECTED, driver.VOLATILE_ECC)
		}},
		{"field: power", symFields, func(g *gpu) {
			g.handle.GetFieldValues([]driver.FieldValue{{FieldId: driver.FI_DEV_POWER_AVERAGE}})
		}},
		{"field: NVLink bytes", symFields, func(g *gpu) {
			g.handle.GetFieldValues([]driver.FieldValue{{FieldId: driver.FI_DEV_NVLINK_THROUGHPUT_DATA_TX, ScopeId: allLinks}})
		}},
		{"MIG mode", symMigMode, func(g *gpu) { g.handle.GetMigMode() }},
		{"processes", symCompute, func(g *gpu) { g.handle.GetComputeRunningProcesses() }},
		{"process shares", symProcessUtil, func(g *gpu) { g.handle.GetProcessUtilization(1) }},
		{"PCIe throughput", symPCIe, func(g *gpu) { g.handle.GetPcieThroughput(driver.PCIE_UTIL_TX_BYTES) }},
	}
	g := c.box.gpus[0]
	for _, x := range calls {
		if !c.box.lib.has[x.sym] {
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
		if !c.box.lib.has[symMemory2] {
			return
		}
		m, ret := g.handle.GetMemoryInfo_v2()
		if ret != driver.SUCCESS {
			c.Logf("GPU %d: memory: %s", g.index, code(ret))
			continue
		}
		apart := math.Abs(float64(m.Used) + float64(m.Free) + float64(m.Reserved) - float64(m.Total))
		together := math.Abs(float64(m.Used) + float64(m.Free) - float64(m.Total))
		c.Logf("GPU %d: used %d + free %d + reserved %d = total %d but for %.0f bytes; reserved taken for part of used: %v", g.index, m.Used, m.Free, m.Reserved, m.Total, min(apart, together), g.folded)
		if min(apart, together) > 0.001*float64(m.Total) {
			c.Errorf("GPU %d: memory does not add up either way", g.index)
		}
		c.done["memory identity"] = true
	}
}

// sample reads some ticks and judges each figure, and the counters over time.
func (c *gpuCheck) sample(n int, every time.Duration) {
	last := map[string]float64{}
	known := map[profile.Metric]bool{}
	for range n {
		tick := see(c, c.box)
		for i := range tick.Samples {
			s := &tick.Samples[i]
			for m := range profile.NumMetrics {
				v, ok := s.Get(m)
				if !ok {
					continue
				}
				known[m] = true
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
		c.done["processes"] = true
	}
	c.done["energy counter"] = known[profile.Energy]
	c.done["GPM"] = known[profile.SMActive]
	c.done["NVLink"] = known[profile.NVLinkTx]
	c.done["PCIe rates"] = known[profile.PCIeTx]
	c.done["ECC counters"] = known[profile.ECCCorrected]
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
	c.done["MIG"] = slices.ContainsFunc(r.GPUs, func(g GPUReport) bool { return g.MIG })
}

// notVerified says what this run could not judge.
func (c *gpuCheck) notVerified() {
	for _, what := range []string{"memory identity", "energy counter", "GPM", "NVLink", "PCIe rates", "ECC counters", "processes", "MIG"} {
		if !c.done[what] {
			c.Logf("NOT VERIFIED here: %s", what)
		}
	}
	c.Log("NOT VERIFIED by this check: GPM against a kernel of known load, a lost GPU, a driver reload, Xid and ECC events, calls that hang")
	if err := c.box.Read(context.Background(), &profile.Tick{}); err != nil {
		c.Error(err)
	}
}

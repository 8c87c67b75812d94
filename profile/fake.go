package profile

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

func init() {
	Sources.Add("fake", "a made-up box of eight H100s at work, for demos and tests", func(o SourceOptions) (Source, error) {
		return NewFake(o), nil
	})
}

// Hardware of the simulated box.
const (
	fakeGPUs     = 8
	fakeMemory   = 80 << 30
	fakeReserved = 640 << 20
	fakePeakMem  = 3.35e12 // H100 SXM: 2619 MHz x 5120 bits x 2 / 8
	fakeLimit    = 700.0   // W
	fakeIdle     = 71.0    // W
	fakeClock    = 1980.0  // MHz
)

// Fake is a Source that simulates a box of eight GPUs with changing jobs: training that works,
// that lacks input or that waits on other GPUs, inference with a daily cycle, and notebooks that
// hold a GPU and do nothing. The same seed and the same times give the same values.
type Fake struct {
	o       SourceOptions
	rng     *rand.Rand
	boxRNG  *rand.Rand // of the box around the GPUs
	devices [fakeGPUs]*Device
	gpus    [fakeGPUs]fakeGPU
	jobs    []*fakeJob // running jobs, in order of start
	last    Instant    // time of the last read
	begun   bool
	looked  Instant // time of the last look at processes; 0 is none
	nextJob int     // number from which the next job's number is drawn
}

// fakeGPU is the slowly changing state of one GPU.
type fakeGPU struct {
	job    *fakeJob
	load   fakeLoad // of the last sample
	free   Instant  // time until which the GPU stays free
	watts  float64
	temp   float64
	energy float64
	noise  float64 // of the load, an AR(1) process
	ecc    float64
	capped float64 // ms under the power limit
	rank   int     // in its job
}

// NewFake returns a simulated box.
func NewFake(o SourceOptions) *Fake {
	f := &Fake{o: o, rng: o.Seed.Stream("profile/fake"), boxRNG: o.Seed.Stream("profile/fake/box"), nextJob: 88197}
	for i := range f.devices {
		f.devices[i] = &Device{
			Index: i, UUID: fmt.Sprintf("GPU-%08x-%04x-%04x-%04x-%012x", f.rng.Uint32(), f.rng.Uint32()>>16, f.rng.Uint32()>>16, f.rng.Uint32()>>16, f.rng.Uint64()>>16),
			Model: "NVIDIA H100 80GB HBM3", Bus: fmt.Sprintf("00000000:%02x:00.0", 0x19+0x11*i), Driver: "570.124.06", GI: -1, CI: -1,
			PeakMemBytesPerS: fakePeakMem, MaxSMClockMHz: fakeClock, SMs: 132,
			PeakPCIeMiBPerS: 60096, PeakNVLinkMiBPerS: 429153, // PCIe 5 x 16 lanes, NVLink 4 x 18
		}
		g := &f.gpus[i]
		g.watts, g.temp, g.energy = fakeIdle, 30, math.Round(2e8*f.rng.Float64())
	}
	return f
}

// Host returns the name of the simulated box.
func (f *Fake) Host() string { return "gpu-demo-01" }

// Close does nothing.
func (f *Fake) Close() error { return nil }

// Read simulates the box up to the time of t and adds its samples and processes to t.
func (f *Fake) Read(_ context.Context, t *Tick) error {
	span := f.o.Every
	if f.begun {
		span = t.At.Sub(f.last)
	} else {
		f.begin(t.At)
	}
	f.last = t.At
	seconds := min(max(span.Seconds(), 1e-3), 60)
	f.schedule(t.At)
	for i := range f.gpus {
		f.sample(t.NextSample(f.devices[i]), &f.gpus[i], t.At, seconds)
	}
	if f.o.Processes > 0 && (f.looked == 0 || t.At.Sub(f.looked) >= f.o.Processes) {
		f.looked, t.LookedAtProcesses = t.At, true
		f.processes(t)
	}
	f.box(t, seconds)
	f.tell(t, seconds)
	return nil
}

// sample sets s to the metrics of g, the given seconds after the last sample.
func (f *Fake) sample(s *Sample, g *fakeGPU, at Instant, seconds float64) {
	keep := math.Exp(-seconds / 20)
	g.noise = keep*g.noise + math.Sqrt(1-keep*keep)*f.rng.NormFloat64()
	l := g.draw(at, f.rng)
	g.load = l
	g.heat(l, seconds, f.rng)
	clock := fakeClock - 15*math.Round(max(0, g.watts-0.93*fakeLimit)/fakeLimit*600/15)
	if l.util == 0 {
		clock = 345
	}
	pct := func(m Metric, v float64) { s.Set(m, min(max(v, 0), 100)) }
	pct(UtilGPU, l.util)
	pct(UtilMem, l.dram*0.8)
	pct(SMActive, l.sm)
	pct(SMOccupancy, l.sm*0.42)
	pct(TensorActive, l.tensor)
	pct(DRAMActive, l.dram)
	pct(FP64Active, 0)
	pct(FP32Active, l.sm*0.06)
	pct(FP16Active, l.tensor*0.05)
	s.Set(MemUsed, l.memory)
	s.Set(MemReserved, fakeReserved)
	s.Set(MemTotal, fakeMemory)
	s.Set(Power, g.watts)
	s.Set(PowerLimit, fakeLimit)
	s.Set(Energy, g.energy)
	s.Set(Temp, g.temp)
	s.Set(MemTemp, g.temp+9)
	s.Set(ClockSM, clock)
	s.Set(ClockMem, 2619)
	s.Set(PState, 0)
	s.Set(Throttle, g.throttle(l, clock))
	s.Miss(Fan, Unsupported) // the board has none
	s.Set(PCIeTx, l.pcie*0.3)
	s.Set(PCIeRx, l.pcie)
	s.Set(NVLinkTx, l.nvlink)
	s.Set(NVLinkRx, l.nvlink*(1+0.002*f.rng.NormFloat64()))
	if f.rng.Float64() < seconds/5e6 {
		g.ecc++
	}
	s.Set(ECCCorrected, g.ecc)
	s.Set(ECCUncorrected, 0)
	if why := g.throttle(l, clock); why == throttlePower {
		g.capped += 1000 * seconds
	}
	s.Set(ThrottlePower, g.capped)
	for _, none := range [...]Metric{ThrottleThermal, PCIeReplays, NVLinkErrors, RowsRemapped, RowsPending} {
		s.Set(none, 0)
	}
	pct(UtilEnc, 0)
	pct(UtilDec, l.decoder)
}

// heat advances power, which follows the load, energy, and temperature, which follows power.
func (g *fakeGPU) heat(l fakeLoad, seconds float64, rng *rand.Rand) {
	want := fakeIdle
	if l.util > 0 {
		want = 115 + 2.9*l.sm + 2.6*l.tensor + 1.4*l.dram
	}
	want = min(want, fakeLimit)
	g.watts += (want - g.watts) * (1 - math.Exp(-seconds/0.8)) // the board reports the mean of about a second
	if l.util > 0 {
		g.watts = max(fakeIdle, g.watts+4*rng.NormFloat64())
	} else {
		g.watts = max(fakeIdle-2, g.watts+0.15*rng.NormFloat64())
	}
	g.energy += g.watts * seconds
	g.temp += (27 + g.watts/16 - g.temp) * (1 - math.Exp(-seconds/40))
}

// Bits of NVML's clocks event reasons.
const (
	throttleIdle  = 0x1
	throttlePower = 0x4
)

func (g *fakeGPU) throttle(l fakeLoad, clock float64) float64 {
	switch {
	case l.util == 0:
		return throttleIdle
	case clock < fakeClock:
		return throttlePower
	}
	return 0
}

// processes adds the processes on all GPUs to t.
func (f *Fake) processes(t *Tick) {
	for i := range f.gpus {
		j := f.gpus[i].job
		if j == nil {
			continue
		}
		mem, _ := t.Samples[len(t.Samples)-fakeGPUs+i].Get(MemUsed)
		sm, _ := t.Samples[len(t.Samples)-fakeGPUs+i].Get(SMActive)
		p := Process{
			Device: f.devices[i], PID: j.pid + int64(f.gpus[i].rank), User: j.user, Command: j.command, Kind: "compute",
			MemBytes: mem, SMPct: math.Round(sm), Start: j.start.Second(),
		}
		o := j.owner()
		p.Job, p.Container, p.Pod, p.Namespace = o.Job, o.Container, o.Pod, o.Namespace
		t.Processes = append(t.Processes, p)
	}
}

// begin sets the state of the box to the middle of a working day.
func (f *Fake) begin(at Instant) {
	f.begun = true
	hours := func(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
	f.start(at.Add(-hours(7)), at.Add(hours(9)), &fakeKinds[FakeTraining], 0, 1, 2, 3)
	f.start(at.Add(-hours(2)), at.Add(hours(5)), &fakeKinds[FakeStarved], 4, 5)
	f.start(at.Add(-hours(30)), at.Add(hours(40)), &fakeKinds[FakeNotebook], 6)
	f.gpus[7].free = at.Add(hours(0.4))
	for i := range f.gpus {
		g := &f.gpus[i]
		g.noise = f.rng.NormFloat64()
		for range 20 { // warmed up
			g.heat(g.draw(at, f.rng), 10, f.rng)
		}
	}
}

// tellEvery is the time between two lines of a simulated program, in microseconds.
const tellEvery = 10_000_000

// tell adds what the training jobs say of themselves to t: the first rank tells of all of them. More GPUs are
// faster by less than their number.
func (f *Fake) tell(t *Tick, seconds float64) {
	if t.At/tellEvery == t.At.Add(-f.o.Every)/tellEvery && seconds*1e6 < tellEvery {
		return
	}
	for _, j := range f.jobs {
		age := t.At.Sub(j.start).Seconds()
		if j.fakeKind != &fakeKinds[FakeTraining] || age < 45 || math.Mod(age+j.phase, 1800) < 25 {
			continue
		}
		n := float64(len(j.gpus))
		pace := j.level / (1 + 0.06*math.Log2(n)) * (1 + 0.01*math.Sin(age/77))
		whose := Owner{User: j.user, Job: j.id}
		t.Readings = append(t.Readings,
			Reading{Owner: whose, Name: ToldTokens, Value: math.Round(11_500 * n * pace)},
			Reading{Owner: whose, Name: ToldMFU, Value: math.Round(4150*pace) / 100})
	}
}

package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"capcli"
	"capcli/profile"
)

// box makes up what the GPUs of a box do: training, inference, starved
// training, preprocessing and idleness, each GPU with noise of its own.
type box struct {
	rng     *rand.Rand
	devices []*profile.Device
	state   []gpuState
	at      profile.Instant
	elapsed time.Duration
	every   time.Duration
	tick    int
}

type gpuState struct {
	phase, left                           int
	busy, tensor, dram, power, temp, link float64
	energy                                float64
	mem                                   float64
	clock                                 float64
}

const (
	idle = iota
	training
	inference
	starved
	free
)

func newBox(seed uint64, gpus int, from profile.Instant, every time.Duration) *box {
	b := &box{rng: capcli.Seed(seed).Stream("box"), at: from, every: every}
	for i := range gpus {
		b.devices = append(b.devices, &profile.Device{
			Index: i, UUID: fmt.Sprintf("GPU-%08x-6f2a-11ee-9e3b-%012x", i*7919, i), Model: "NVIDIA H100 80GB HBM3",
			Bus: fmt.Sprintf("00000000:%02X:00.0", 0x19+i*17), Driver: "550.54.15", GI: -1, CI: -1,
			PeakMemBytesPerS: 3.35e12, MaxSMClockMHz: 1980, SMs: 132, PeakPCIeMiBPerS: 60100, PeakNVLinkMiBPerS: 429153,
		})
	}
	b.state = make([]gpuState, gpus)
	for i := range b.state {
		b.state[i].energy = 1e8 + float64(i)*1e6
		b.state[i].temp = 32
	}
	return b
}

// near moves v a part of the way to its mean, with noise.
func (b *box) drawNear(v, mean, sd float64) float64 {
	const keep = 0.6
	return mean + keep*(v-mean) + math.Sqrt(1-keep*keep)*sd*b.rng.NormFloat64()
}

func clampPct(v float64) float64 { return min(max(v, 0), 100) }

func (b *box) next(t *profile.Tick) {
	t.Reset()
	if b.tick > 0 {
		b.at = b.at.Add(b.every + time.Duration(b.rng.NormFloat64()*40)*time.Microsecond)
		b.elapsed += b.every
	}
	t.At, t.Elapsed, t.Every = b.at, b.elapsed, b.every
	t.Took = time.Duration(3000+b.rng.ExpFloat64()*600) * time.Microsecond
	for i, d := range b.devices {
		b.sample(&b.state[i], t.NextSample(d))
	}
	if b.tick%5 == 0 {
		t.LookedAtProcesses = true
		for i, d := range b.devices {
			if s := &b.state[i]; s.phase != free {
				t.Processes = append(t.Processes, profile.Process{
					Device: d, PID: int64(4000 + i), User: "ana", Command: "python train.py --config large.yaml", Container: "8f2c1d", Pod: "trainer-0",
					Namespace: "research", Job: "48151", Kind: "compute", MemBytes: s.mem - 6e8, SMPct: math.Round(s.busy), Start: 1_700_000_000,
				})
			}
		}
	}
	b.surroundings(t)
	b.tick++
}

// surroundings makes up what the box itself, the jobs on it and their programs tell: the job of all
// but the last GPU, and each of its ranks by itself.
func (b *box) surroundings(t *profile.Tick) {
	t.LookedAtHost = true
	for m := range profile.NumHostMetrics {
		t.Host.Set(m, float64(int(m)*b.tick)/4+3*b.rng.Float64())
	}
	t.Host.Miss(profile.FabricTx, profile.Unsupported)
	if b.tick%5 != 0 {
		return
	}
	job := profile.Owner{User: "ana", Container: "8f2c1d", Pod: "trainer-0", Namespace: "research", Job: "48151"}
	for _, o := range []profile.Owner{job, {User: "ben", Job: "9"}} {
		g := t.NextGroup(o)
		for m := range profile.NumGroupMetrics {
			g.Set(m, float64(int(m)*b.tick)/2+300*b.rng.Float64())
		}
		if b.tick == 0 {
			g.Miss(profile.GroupCPU, profile.First)
		}
	}
	t.Readings = append(t.Readings, profile.Reading{Owner: job, Name: "tokens_per_s", Value: 1e5 * b.rng.Float64()})
	for _, d := range b.devices {
		t.Readings = append(t.Readings, profile.Reading{Owner: job, Device: d, Name: "step_s", Value: 0.25 + b.rng.NormFloat64()})
	}
}

func (b *box) sample(s *gpuState, out *profile.Sample) {
	if s.left--; s.left <= 0 {
		s.phase = []int{training, training, training, inference, starved, idle, free}[b.rng.IntN(7)]
		s.left = int((600 + b.rng.ExpFloat64()*2400) / b.every.Seconds())
		s.mem = math.Round((20+50*b.rng.Float64())*512) * 2097152
	}
	busy, sd, tensor, dram, power, link := 0.0, 0.0, 0.0, 0.0, 72.0, 0.0
	switch s.phase {
	case training:
		busy, sd, tensor, dram, power, link = 88, 4, 47, 38, 610, 60000
	case inference:
		busy, sd, tensor, dram, power = 42, 12, 14, 55, 380
	case starved:
		if (b.tick/20)%2 == 0 {
			busy, sd, tensor, dram, power = 75, 5, 35, 30, 480
		}
	}
	if busy == 0 {
		s.busy, s.tensor, s.dram, s.link = 0, 0, 0, 0
	} else {
		s.busy, s.tensor, s.dram = clampPct(b.drawNear(s.busy, busy, sd)), clampPct(b.drawNear(s.tensor, tensor, sd*0.8)), clampPct(b.drawNear(s.dram, dram, sd*0.7))
		s.link = max(0, b.drawNear(s.link, link, link/12))
	}
	s.power = max(60, b.drawNear(s.power, power, 1+sd*4))
	s.temp += (32+s.power/16-s.temp)/40 + b.rng.NormFloat64()*0.1
	s.energy += s.power * b.every.Seconds()
	s.clock = 345
	if busy > 0 {
		s.clock = 1980 - 15*math.Round(max(0, s.power-600)/25)
	}
	util := 0.0
	if busy > 0 {
		util = min(100, math.Round(s.busy+13+b.rng.Float64()*4))
	}
	mem := 629145600.0
	if s.phase != free {
		mem = s.mem
	}
	set := func(m profile.Metric, v float64) { out.Set(m, v) }
	set(profile.UtilGPU, util)
	set(profile.UtilMem, math.Round(s.dram*0.8))
	set(profile.SMActive, s.busy)
	set(profile.SMOccupancy, s.busy*0.34+b.rng.NormFloat64()*0.05*sd+1)
	set(profile.TensorActive, s.tensor)
	set(profile.DRAMActive, s.dram)
	set(profile.FP64Active, 0)
	set(profile.FP32Active, s.busy*0.11)
	set(profile.FP16Active, s.busy*0.02)
	set(profile.MemUsed, mem)
	set(profile.MemReserved, 594542592)
	set(profile.MemTotal, 85520809984)
	set(profile.Power, s.power)
	set(profile.PowerLimit, 700)
	set(profile.Energy, s.energy)
	set(profile.Temp, math.Round(s.temp))
	set(profile.MemTemp, math.Round(s.temp+9))
	set(profile.ClockSM, s.clock)
	set(profile.ClockMem, 2619)
	set(profile.PState, 0)
	throttle := 0.0
	if s.phase == idle || s.phase == free {
		throttle = 1
	} else if s.power > 690 {
		throttle = 4
	}
	set(profile.Throttle, throttle)
	out.Miss(profile.Fan, profile.Unsupported)
	set(profile.NVLinkTx, s.link)
	set(profile.NVLinkRx, s.link*(1+0.01*b.rng.NormFloat64()))
	if b.tick == 0 {
		for m := profile.SMActive; m <= profile.FP16Active; m++ {
			out.Miss(m, profile.First)
		}
	}
	pcie := 8.0
	if busy > 0 {
		pcie = 300 + 20*sd + 40*b.rng.NormFloat64()
	}
	set(profile.PCIeTx, max(0, pcie*0.2))
	set(profile.PCIeRx, max(0, pcie))
	set(profile.ECCCorrected, 0)
	set(profile.ECCUncorrected, 0)
	set(profile.UtilEnc, 0)
	set(profile.UtilDec, 0)
}

package profile_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"capcli/profile"
	"capcli/profile/judge"
)

// scene is a job on some GPUs whose every second a test makes up.
type scene struct {
	rng     *rand.Rand
	model   string
	gpus    int // of the job on each box
	hosts   int
	mig     bool
	command string
	shared  bool // with a second job
	told    bool // processes
	every   int  // seconds between samples, which are means
	hidden  []profile.Metric
	box     func(s *profile.HostSample, at int)
	group   func(s *profile.GroupSample, at int)
}

// gpu is what one GPU shows in a second, % MiB/s and W.
type gpu struct {
	util, sm, tensor, dram float64
	tx, rx, nvlink         float64
	watts, clock           float64
	reasons, temp          float64
	memory                 float64 // %
}

const mibPerGiB = 1024

func (c *scene) noise(v, pct float64) float64 { return max(0, v*(1+pct/100*c.rng.NormFloat64())) }

// play runs minutes of a load and gives the summary.
func (c *scene) play(minutes int, load func(at int) gpu) *profile.Summary {
	z := profile.NewSummarizer(nil)
	for h := range max(1, c.hosts) {
		var devices []*profile.Device
		for i := range max(1, c.gpus) {
			d := &profile.Device{
				Index: i, UUID: string(rune('A'+h)) + string(rune('a'+i)), Model: c.model, GI: -1, CI: -1, MaxSMClockMHz: 1980, SMs: 132,
				PeakPCIeMiBPerS: 60_000, PeakNVLinkMiBPerS: 429_000,
			}
			if c.mig {
				d.GI, d.CI, d.Profile, d.Parent = 1, 0, "3g.40gb", "GPU-parent"
			}
			devices = append(devices, d)
		}
		every := max(1, c.every)
		for at := every; at <= 60*minutes; at += every {
			z.Add("box-"+string(rune('a'+h)), c.tick(devices, load, at, every))
		}
	}
	return z.Summary()
}

func (c *scene) tick(devices []*profile.Device, load func(at int) gpu, at, every int) *profile.Tick {
	t := &profile.Tick{At: noon.Add(time.Duration(at) * time.Second), Every: time.Duration(every) * time.Second, LookedAtProcesses: c.told}
	for _, d := range devices {
		var sum gpu
		for k := range every {
			g := load(at - every + 1 + k)
			for i, v := range g.list() {
				*sum.list()[i] += *v / float64(every)
			}
		}
		c.sample(t.NextSample(d), &sum)
		p := profile.Process{Device: d, Job: "77", User: "mei", Command: c.command, PID: 9}
		t.Processes = append(t.Processes, p)
		if c.shared {
			p.Job = "78"
			t.Processes = append(t.Processes, p)
		}
	}
	if c.box != nil {
		for m := range t.Host.Why {
			t.Host.Why[m] = profile.NotAsked
		}
		c.box(&t.Host, at)
		t.LookedAtHost = true
	}
	if c.group != nil {
		g := profile.GroupSample{Owner: profile.Owner{Job: "77"}}
		for m := range g.Why {
			g.Why[m] = profile.NotAsked
		}
		c.group(&g, at)
		t.Groups = append(t.Groups, g)
	}
	return t
}

func (g *gpu) list() []*float64 {
	return []*float64{&g.util, &g.sm, &g.tensor, &g.dram, &g.tx, &g.rx, &g.nvlink, &g.watts, &g.clock, &g.reasons, &g.temp, &g.memory}
}

func (c *scene) sample(s *profile.Sample, g *gpu) {
	set := func(m profile.Metric, v float64) {
		if !slices.Contains(c.hidden, m) {
			s.Set(m, v)
		}
	}
	set(profile.UtilGPU, min(100, g.util))
	set(profile.SMActive, min(100, c.noise(g.sm, 3)))
	set(profile.TensorActive, c.noise(g.tensor, 3))
	set(profile.DRAMActive, c.noise(g.dram, 3))
	set(profile.FP32Active, c.noise(g.sm*0.05, 3))
	set(profile.PCIeTx, c.noise(g.tx, 5))
	set(profile.PCIeRx, c.noise(g.rx, 5))
	set(profile.NVLinkTx, c.noise(g.nvlink, 5))
	set(profile.NVLinkRx, c.noise(g.nvlink, 5))
	set(profile.Power, g.watts)
	set(profile.PowerLimit, 700)
	set(profile.ClockSM, g.clock)
	set(profile.Throttle, g.reasons)
	set(profile.Temp, g.temp)
	set(profile.MemUsed, g.memory/100*(80<<30))
	set(profile.MemTotal, 80<<30)
}

// Metrics that sources do not have: an A100 without DCGM, a MIG instance, a recording from before.
var (
	noGPM = []profile.Metric{
		profile.SMActive, profile.TensorActive, profile.DRAMActive, profile.FP32Active, profile.PCIeTx, profile.PCIeRx, profile.NVLinkTx, profile.NVLinkRx,
	}
	onMIG = []profile.Metric{profile.UtilGPU, profile.Power, profile.PowerLimit, profile.ClockSM, profile.Throttle, profile.NVLinkTx, profile.NVLinkRx}
)

func network(tx, rx float64) func(*profile.HostSample, int) {
	return func(s *profile.HostSample, _ int) {
		for m, v := range map[profile.HostMetric]float64{profile.NetTx: 3, profile.NetRx: 4, profile.FabricTx: tx, profile.FabricRx: rx} {
			s.Values[m], s.Why[m] = v, profile.Known
		}
	}
}

func steady(g gpu) func(*scene) func(int) gpu {
	return func(c *scene) func(int) gpu {
		if g.clock == 0 {
			g.clock = 1950
		}
		return func(int) gpu {
			out := g
			out.watts = c.noise(g.watts, 2)
			return out
		}
	}
}

// bursts computes for some seconds, then pauses.
func bursts(work, pause int, g gpu) func(*scene) func(int) gpu {
	return func(*scene) func(int) gpu {
		return func(at int) gpu {
			if at%(work+pause) < work {
				return g
			}
			return gpu{watts: 75, clock: 345, memory: g.memory}
		}
	}
}

// requests come by chance.
func requests(mean float64, g gpu) func(*scene) func(int) gpu {
	return func(c *scene) func(int) gpu {
		until, next := 0, 0
		return func(at int) gpu {
			for at >= next {
				until = max(until, next) + 1 + c.rng.IntN(4)
				next += 1 + int(mean*c.rng.ExpFloat64())
			}
			if at < until {
				return g
			}
			return gpu{watts: 75, clock: 345, memory: g.memory}
		}
	}
}

const gib = mibPerGiB

// signatures are jobs that were seen, or told of, with the verdict that an operator needs. was is what
// the means alone said of them.
var signatures = []struct {
	name    string
	was     judge.Kind
	scene   scene
	minutes int
	load    func(*scene) func(int) gpu
	want    judge.Kind
	sure    string // the highest confidence that it may have, "" for any
}{
	// The misjudged ones.
	{"inter-node all-reduce", judge.Working, scene{gpus: 8, hosts: 2, told: true, box: network(11*gib, 11*gib)}, 10, steady(gpu{util: 100, sm: 35, tensor: 8, dram: 15, tx: 4 * gib, rx: 4 * gib, watts: 330, memory: 80}), judge.CommBetween, ""},
	{"inter-node all-reduce, network not sampled", judge.Working, scene{gpus: 8, hosts: 2, told: true}, 10, steady(gpu{util: 100, sm: 35, tensor: 8, dram: 15, tx: 4 * gib, rx: 11 * gib, watts: 330, memory: 80}), judge.CommBetween, "medium"},
	{"offload over PCIe", judge.CommBound, scene{gpus: 1, told: true}, 10, steady(gpu{util: 97, sm: 30, tensor: 9, dram: 14, tx: 21 * gib, rx: 23 * gib, watts: 260, memory: 95}), judge.HostTransfer, ""},
	{"one small block all the time", judge.NeverBusy, scene{gpus: 1, told: true}, 10, func(c *scene) func(int) gpu {
		return func(int) gpu {
			return gpu{util: 100, sm: 0.8, dram: 0.4, rx: 20, watts: 118 + 6*c.rng.NormFloat64(), clock: 1980, memory: 3}
		}
	}, judge.SmallKernels, ""},
	{"a collective that hangs", judge.Light, scene{gpus: 8, hosts: 2, told: true, box: network(1, 1)}, 30, func(c *scene) func(int) gpu {
		return func(int) gpu {
			return gpu{util: 100, sm: 1.5, watts: 118 + 0.5*c.rng.NormFloat64(), clock: 1980, memory: 90}
		}
	}, judge.Stuck, ""},
	{"a power cap", judge.Working, scene{gpus: 8, told: true}, 10, steady(gpu{util: 100, sm: 92, tensor: 44, dram: 40, nvlink: 50_000, watts: 400, clock: 1300, reasons: 0x4, memory: 90}), judge.PowerCap, ""},
	{"a slow stream of requests", judge.Starved, scene{gpus: 1, told: true, command: "python app.py"}, 60, requests(9, gpu{util: 90, sm: 60, tensor: 15, dram: 50, watts: 320, clock: 1950, memory: 92}), judge.Light, ""},
	{"heat", judge.Working, scene{gpus: 8, told: true}, 10, steady(gpu{util: 100, sm: 92, tensor: 44, dram: 40, watts: 420, clock: 1100, reasons: 0x20, temp: 88, memory: 90}), judge.ThermalCap, ""},

	// Work as it should be, and what binds it.
	{"trains well", judge.Working, scene{gpus: 8, told: true, command: "torchrun train.py"}, 10, steady(gpu{util: 98, sm: 85, tensor: 42, dram: 40, nvlink: 90_000, rx: 200, watts: 560, memory: 90}), judge.Working, ""},
	{"large products", judge.Working, scene{gpus: 8, told: true}, 10, steady(gpu{util: 99, sm: 95, tensor: 68, dram: 35, nvlink: 60_000, watts: 640, memory: 90}), judge.ComputeBound, ""},
	{"decoding", judge.MemoryBound, scene{gpus: 1, told: true, command: "vllm serve m"}, 10, steady(gpu{util: 99, sm: 85, tensor: 9, dram: 82, watts: 460, memory: 92}), judge.MemoryBound, ""},
	{"tensor-parallel all-reduce", judge.CommBound, scene{gpus: 8, told: true}, 10, steady(gpu{util: 99, sm: 34, tensor: 14, dram: 19, nvlink: 241_000, watts: 330, memory: 62}), judge.CommInNode, ""},
	{"little NVLink, much waiting", judge.CommBound, scene{gpus: 4, told: true}, 10, steady(gpu{util: 99, sm: 40, tensor: 10, dram: 12, nvlink: 30_000, watts: 280, memory: 70}), judge.CommInNode, ""},
	{"peers over PCIe", judge.Working, scene{gpus: 4, hosts: 1, told: true, hidden: []profile.Metric{profile.NVLinkTx, profile.NVLinkRx}}, 10, steady(gpu{util: 99, sm: 38, tensor: 10, dram: 12, tx: 9 * gib, rx: 10 * gib, watts: 200, memory: 70}), judge.CommInNode, "low"},
	{"another job's network traffic", judge.Working, scene{gpus: 1, hosts: 1, told: true, box: network(20*gib, 20*gib)}, 10, steady(gpu{util: 95, sm: 28, tensor: 9, dram: 14, tx: 6 * gib, rx: 9 * gib, watts: 260, memory: 95}), judge.HostTransfer, ""},
	{"copies, on who knows how many GPUs", judge.Working, scene{gpus: 1}, 10, steady(gpu{util: 99, sm: 30, tensor: 8, dram: 12, tx: 4 * gib, rx: 5 * gib, watts: 220, memory: 70}), judge.CommBound, "low"},
	{"many small kernels", judge.Light, scene{gpus: 1, told: true}, 10, steady(gpu{util: 97, sm: 12, tensor: 1, dram: 6, rx: 90, watts: 150, memory: 20}), judge.SmallKernels, ""},

	// Waiting for input.
	{"loader too slow", judge.Starved, scene{gpus: 2, told: true, command: "python train.py"}, 10, bursts(2, 5, gpu{util: 90, sm: 78, tensor: 38, dram: 44, watts: 400, clock: 1950, memory: 95}), judge.Starved, ""},
	{"loader too slow, of an unknown program", judge.Starved, scene{gpus: 2, told: true}, 10, bursts(3, 6, gpu{util: 90, sm: 78, tensor: 38, dram: 44, watts: 400, clock: 1950, memory: 95}), judge.Starved, "medium"},
	{"waits for the disk", judge.Starved, scene{gpus: 2, told: true, group: func(s *profile.GroupSample, _ int) {
		s.Values[profile.GroupIOWait], s.Why[profile.GroupIOWait] = 35, profile.Known
	}}, 10, bursts(4, 4, gpu{util: 90, sm: 78, tensor: 38, dram: 44, watts: 400, clock: 1950, memory: 95}), judge.Starved, ""},
	{"a batch each minute and a half", judge.Starved, scene{gpus: 1, told: true, command: "python train.py"}, 60, bursts(40, 50, gpu{util: 90, sm: 78, tensor: 38, dram: 44, watts: 400, clock: 1950, memory: 95}), judge.Starved, ""},
	{"a server named as one", judge.Starved, scene{gpus: 1, told: true, command: "vllm serve m"}, 10, bursts(2, 5, gpu{util: 90, sm: 60, tensor: 12, dram: 50, watts: 320, clock: 1950, memory: 92}), judge.Light, ""},

	// Nobody at work.
	{"a notebook left open", judge.NeverBusy, scene{gpus: 1, told: true, command: "jupyter-lab"}, 10, steady(gpu{watts: 72, clock: 345, memory: 40}), judge.NeverBusy, ""},
	{"a notebook now and then", judge.Starved, scene{gpus: 1, told: true, command: "jupyter-lab"}, 60, bursts(30, 500, gpu{util: 50, sm: 22, tensor: 4, dram: 18, watts: 200, clock: 1950, memory: 40}), judge.MostlyIdle, ""},
	{"a rank that waits for another node's data", judge.NeverBusy, scene{gpus: 1, hosts: 4, told: true, box: network(2*gib, 3*gib)}, 10, steady(gpu{watts: 85, clock: 1400, memory: 60}), judge.CommBetween, "low"},

	// Without the metrics that it needs.
	{"A100, busy at middling power", judge.Working, scene{gpus: 1, told: true, hidden: noGPM}, 10, steady(gpu{util: 100, watts: 350, memory: 60}), judge.Unknown, "low"},
	{"A100, busy at full power", judge.Working, scene{gpus: 1, told: true, hidden: noGPM}, 10, steady(gpu{util: 100, watts: 620, memory: 60}), judge.Working, "low"},
	{"A100, hung", judge.Working, scene{gpus: 8, told: true, hidden: noGPM}, 30, func(c *scene) func(int) gpu {
		return func(int) gpu {
			return gpu{util: 100, watts: 90 + 0.4*c.rng.NormFloat64(), clock: 1410, memory: 80}
		}
	}, judge.Stuck, "low"},
	{"A100, power cap", judge.Working, scene{gpus: 1, told: true, hidden: noGPM}, 10, steady(gpu{util: 100, watts: 695, clock: 1100, reasons: 0x4, memory: 60}), judge.PowerCap, ""},
	{"A100, short of input", judge.Starved, scene{gpus: 1, told: true, hidden: noGPM, command: "python train.py"}, 10, bursts(2, 4, gpu{util: 80, watts: 300, clock: 1410, memory: 60}), judge.Starved, ""},
	{"MIG slice at work", judge.Working, scene{gpus: 1, told: true, mig: true, hidden: onMIG}, 10, steady(gpu{sm: 80, tensor: 30, dram: 40, memory: 60}), judge.Working, ""},
	{"MIG slice bound by memory", judge.MemoryBound, scene{gpus: 1, told: true, mig: true, hidden: onMIG}, 10, steady(gpu{sm: 80, tensor: 10, dram: 77, memory: 60}), judge.MemoryBound, ""},
	{"MIG slice hardly used", judge.Light, scene{gpus: 1, told: true, mig: true, hidden: onMIG}, 10, steady(gpu{sm: 9, tensor: 1, dram: 6, memory: 60}), judge.Light, ""},
	{"a GPU of two jobs", judge.Working, scene{gpus: 1, told: true, shared: true}, 10, steady(gpu{util: 95, sm: 90, tensor: 60, dram: 30, watts: 500, memory: 60}), judge.ComputeBound, "low"},

	// Samples too far apart for a shape.
	{"a minute between samples, at work", judge.Working, scene{gpus: 8, told: true, every: 60}, 60, steady(gpu{util: 98, sm: 85, tensor: 42, dram: 40, nvlink: 90_000, watts: 560, memory: 90}), judge.Working, "medium"},
	{"a minute between samples, all-reduce", judge.CommBound, scene{gpus: 8, told: true, every: 60}, 60, steady(gpu{util: 99, sm: 34, tensor: 14, dram: 19, nvlink: 241_000, watts: 330, memory: 62}), judge.CommInNode, "medium"},
	{"a minute between samples, bursts", judge.Light, scene{gpus: 2, told: true, every: 60}, 60, bursts(2, 5, gpu{util: 90, sm: 78, tensor: 38, dram: 44, watts: 400, clock: 1950, memory: 95}), judge.Unknown, "low"},
	{"five seconds between samples, all-reduce", judge.CommBound, scene{gpus: 8, told: true, every: 5}, 60, steady(gpu{util: 99, sm: 34, tensor: 14, dram: 19, nvlink: 241_000, watts: 330, memory: 62}), judge.CommInNode, ""},

	// Contradictions.
	{"a counter that stands still", judge.Working, scene{gpus: 1, told: true}, 10, steady(gpu{util: 0, sm: 70, tensor: 20, dram: 30, watts: 300, memory: 60}), judge.Unknown, "low"},
}

func TestSignatures(t *testing.T) {
	order := map[string]int{"low": 1, "medium": 2, "high": 3}
	for i := range signatures {
		c := &signatures[i]
		t.Run(c.name, func(t *testing.T) {
			s := c.scene
			s.rng = rand.New(rand.NewPCG(uint64(i), 5))
			sum := s.play(c.minutes, c.load(&s))
			job := sum.Jobs[0].Judge()
			if job.Kind != c.want || c.sure != "" && order[job.Confidence.String()] > order[c.sure] {
				t.Errorf("the job: %s (%s), %s confidence, want %s, at most %s; it was %s", job.Kind, job.Words, job.Confidence, c.want, c.sure, c.was)
				for _, f := range job.Found {
					t.Logf("%+v", f)
				}
			}
			v := sum.Judge(nil)
			if got := v.Devices[0].Kind; got != c.want {
				t.Errorf("the GPU: %s, want %s", got, c.want)
			}
			if got := v.Total.Kind; got != c.want {
				t.Errorf("in total: %s, want %s", got, c.want)
			}
			u := sum.Jobs[0].Use
			if u.Signs.Total() != u.Held {
				t.Errorf("%d us were judged, %d us held", u.Signs.Total(), u.Held)
			}
		})
	}
}

package judge

import (
	"math"
	"math/rand/v2"
)

// second is one second of a made-up GPU and its box.
type second struct {
	v    Values
	caps Caps
}

// signature makes up seconds of one kind of work with parameters drawn in its ranges.
type signature struct {
	name string
	want Kind
	job  Job
	make func(d *drawer) func(at int) second // draws the parameters, and gives the seconds
}

// drawer draws parameters and noise.
type drawer struct {
	*rand.Rand
	dev Device
	job *Job
}

func (d *drawer) draw(lo, hi float64) float64 { return lo + (hi-lo)*d.Float64() }

// noise returns v with noise of some percent.
func (d *drawer) noise(v, pct float64) float64 { return max(0, v*(1+pct/100*d.NormFloat64())) }

func (d *drawer) pct(v float64) float64 { return min(100, d.noise(v, 3)) }

// idleSecond is a second without work.
func (d *drawer) idleSecond() second {
	var s second
	s.v[Power] = 70 + 0.2*d.NormFloat64()
	s.v[Clock] = 345
	s.v[NetTx], s.v[NetRx] = d.draw(0, 3), d.draw(0, 3)
	s.caps.Known = true
	return s
}

// load is a second of work: what most signatures share.
func (d *drawer) load(util, sm, tensor, dram, watts float64) second {
	s := d.idleSecond()
	s.v[Util], s.v[SM], s.v[Tensor], s.v[DRAM] = math.Round(d.pct(util)), d.pct(sm), d.pct(tensor), d.pct(dram)
	s.v[Occupancy], s.v[FP32] = 0.4*s.v[SM], 0.06*s.v[SM]
	s.v[Power] = min(d.dev.PowerLimit, d.noise(watts*d.dev.PowerLimit, 2))
	s.v[Clock] = d.noise(d.dev.MaxClock*0.985, 0.4)
	s.v[PCIeTx], s.v[PCIeRx] = d.noise(60, 20), d.noise(150, 20)
	return s
}

// links puts traffic in MiB/s on NVLink, PCIe and the network.
func (d *drawer) links(s second, nvlink, tx, rx, netTx, netRx float64) second {
	s.v[NVLinkTx], s.v[NVLinkRx] = d.noise(nvlink, 4), d.noise(nvlink, 4)
	s.v[PCIeTx], s.v[PCIeRx] = d.noise(tx, 5), d.noise(rx, 5)
	s.v[NetTx], s.v[NetRx] = d.noise(netTx, 5), d.noise(netRx, 5)
	return s
}

const gib = 1024.0

// signatures are the kinds of work, each with the ranges in which its minutes must be told.
var signatures = []signature{
	{"matrix products", ComputeBound, Job{Devices: 8, Hosts: 1}, func(d *drawer) func(int) second {
		sm, tensor, dram, nv, w := d.draw(78, 98), d.draw(54, 80), d.draw(10, 50), d.draw(0, 80_000), d.draw(0.6, 0.9)
		return func(int) second { return d.links(d.load(99, sm, tensor, dram, w), nv, 60, 120, 2, 2) }
	}},
	{"FP32 or FP64 arithmetic", ComputeBound, Job{Devices: 1, Hosts: 1}, func(d *drawer) func(int) second {
		sm, pipe, w, m := d.draw(80, 99), d.draw(65, 92), d.draw(0.5, 0.85), FP64+Signal(d.IntN(2))
		return func(int) second {
			s := d.load(99, sm, 0, 20, w)
			s.v[m] = d.pct(pipe)
			return s
		}
	}},
	{"streams memory", MemoryBound, Job{Devices: 1, Hosts: 1}, func(d *drawer) func(int) second {
		sm, tensor, dram, w := d.draw(60, 98), d.draw(0, 25), d.draw(64, 92), d.draw(0.4, 0.8)
		return func(int) second { return d.load(99, sm, tensor, dram, w) }
	}},
	{"trains well", Working, Job{Devices: 8, Hosts: 1}, func(d *drawer) func(int) second {
		sm, tensor, dram, nv, w := d.draw(64, 92), d.draw(8, 46), d.draw(15, 54), d.draw(0, 100_000), d.draw(0.5, 0.85)
		return func(int) second { return d.links(d.load(d.draw(92, 100), sm, tensor, dram, w), nv, 60, 300, 2, 40) }
	}},
	{"all-reduce over NVLink", CommInNode, Job{Devices: 8, Hosts: 1}, func(d *drawer) func(int) second {
		sm, tensor, dram, nv, w := d.draw(14, 54), d.draw(2, 25), d.draw(5, 40), d.draw(30_000, 350_000), d.draw(0.3, 0.6)
		return func(int) second { return d.links(d.load(98, sm, tensor, dram, w), nv, 50, 80, 2, 2) }
	}},
	{"all-reduce over InfiniBand", CommBetween, Job{Devices: 16, Hosts: 2}, func(d *drawer) func(int) second {
		sm, tensor, w, nv := d.draw(8, 54), d.draw(2, 25), d.draw(0.25, 0.55), d.draw(0, 40_000)
		tx, net := d.draw(3.5, 22)*gib, d.draw(2, 180)*gib
		rx, back := tx*d.draw(0.4, 1), net*d.draw(0.4, 1)
		return func(int) second { return d.links(d.load(99, sm, tensor, 15, w), nv, tx, rx, net, back) }
	}},
	{"all-reduce between nodes, network not sampled", CommBetween, Job{Devices: 4, Hosts: 4}, func(d *drawer) func(int) second {
		sm, tensor, w, tx := d.draw(8, 54), d.draw(2, 25), d.draw(0.25, 0.55), d.draw(3.5, 22)*gib
		rx := tx * d.draw(0.45, 1)
		return func(int) second {
			s := d.links(d.load(99, sm, tensor, 15, w), 0, tx, rx, 0, 0)
			s.v[NetTx], s.v[NetRx] = math.NaN(), math.NaN()
			return s
		}
	}},
	{"offloads to the host", HostTransfer, Job{Devices: 1, Hosts: 1}, func(d *drawer) func(int) second {
		sm, tensor, w, rx := d.draw(5, 54), d.draw(1, 25), d.draw(0.2, 0.5), d.draw(3.5, 48)*gib
		tx := rx * d.draw(0.02, 1)
		return func(int) second { return d.links(d.load(96, sm, tensor, 12, w), 0, tx, rx, 2, 5) }
	}},
	{"tiny kernels", SmallKernels, Job{Devices: 1, Hosts: 1}, func(d *drawer) func(int) second {
		util, sm, dram, w := d.draw(80, 100), d.draw(0.6, 31), d.draw(0.1, 25), d.draw(0.17, 0.4)
		return func(int) second {
			s := d.load(util, sm, sm/8, dram, w)
			s.v[Power] += 5 * d.NormFloat64() // launches come and go
			s.v[PCIeTx], s.v[PCIeRx] = d.draw(1, 40), d.draw(1, 120)
			return s
		}
	}},
	{"a collective that hangs", Stuck, Job{Devices: 8, Hosts: 1}, func(d *drawer) func(int) second {
		sm, w := d.draw(0, 24), d.draw(0.1, 0.4)*d.dev.PowerLimit
		return func(int) second {
			s := d.idleSecond()
			s.v[Util], s.v[SM], s.v[Clock] = 100, max(0, sm+0.1*d.NormFloat64()), d.dev.MaxClock
			s.v[Power] = w + 0.6*d.NormFloat64()
			s.v[PCIeTx], s.v[PCIeRx] = d.draw(0, 4), d.draw(0, 4)
			return s
		}
	}},
	{"power limit", PowerCap, Job{Devices: 8, Hosts: 1}, func(d *drawer) func(int) second {
		sm, tensor, clock := d.draw(72, 98), d.draw(8, 75), d.draw(0.45, 0.86)
		return func(int) second {
			s := d.load(99, sm, tensor, 30, 0.99)
			s.v[Clock], s.caps.Power = d.noise(clock*d.dev.MaxClock, 1), d.Float64() < 0.95
			return s
		}
	}},
	{"heat", ThermalCap, Job{Devices: 8, Hosts: 1}, func(d *drawer) func(int) second {
		sm, tensor, clock := d.draw(70, 98), d.draw(8, 70), d.draw(0.35, 0.9)
		share := d.draw(0.5, 1)
		return func(int) second {
			s := d.load(99, sm, tensor, 30, 0.7)
			s.v[Clock], s.caps.Heat = d.noise(clock*d.dev.MaxClock, 1), d.Float64() < share
			return s
		}
	}},
	{"waits for its loader", Starved, Job{Devices: 2, Hosts: 1}, func(d *drawer) func(int) second {
		period, sm := d.draw(5, 12), d.draw(40, 95)
		duty := d.draw(0.2, min(0.7, 1-2.7/period))
		wait, waits := d.draw(15, 60), d.Float64() < 0.5
		next, burst := 0.0, 0.0
		return func(at int) second {
			for t := float64(at); t >= next; {
				burst = next + duty*period
				next += period * (1 + 0.06*d.NormFloat64())
			}
			s := d.idleSecond()
			if float64(at) < burst {
				s = d.load(90, sm, 30, 40, 0.5)
			}
			s.v[IOWait] = math.NaN()
			if waits {
				s.v[IOWait] = d.noise(wait, 20)
			}
			return s
		}
	}},
	{"a slow stream of requests", Light, Job{Devices: 1, Hosts: 1}, func(d *drawer) func(int) second {
		pause, length, sm := d.draw(4, 9), d.draw(1, 3), d.draw(20, 90)
		until, next := 0.0, 0.0
		return func(at int) second {
			for t := float64(at); t >= next; {
				until = max(until, next) + 1 + length*d.ExpFloat64()
				next += length + pause*d.ExpFloat64()
			}
			if float64(at) < until {
				return d.load(85, sm, 15, 50, 0.4)
			}
			return d.idleSecond()
		}
	}},
	{"a light load", Light, Job{Devices: 1, Hosts: 1}, func(d *drawer) func(int) second {
		util := d.draw(8, 64)
		sm := d.draw(1.5, 23)
		return func(int) second { return d.load(util, sm, sm/4, sm, 0.25) }
	}},
	{"nobody at work", Idle, Job{Devices: 1, Hosts: 1}, func(d *drawer) func(int) second {
		return func(int) second { return d.idleSecond() }
	}},
}

// view hides what a source does not report.
type view struct {
	name string
	hide []Signal
	caps bool // known
}

var (
	fullView = view{"H100, all metrics", nil, true}
	// An A100 without DCGM: no activity of SMs, no links.
	plainView = view{"A100 without GPM", []Signal{SM, Occupancy, Tensor, FP64, FP32, FP16, DRAM, PCIeTx, PCIeRx, NVLinkTx, NVLinkRx, NetTx, NetRx, IOWait, CPUWait}, true}
	migView   = view{"MIG slice", []Signal{Util, Power, Clock, NVLinkTx, NVLinkRx}, false}
	oldView   = view{"recording without the new metrics", []Signal{NetTx, NetRx, IOWait, CPUWait}, true}
)

var testDevice = Device{PeakPCIe: 54_000, PeakNVLink: 429_000, MaxClock: 1980, PowerLimit: 700}

// play runs some minutes of a signature in steps of some seconds, as means of each step.
func (g *signature) play(seed uint64, minutes, step int, hide view) (spells Tally, rhythm Rhythm, each []Finding, job Job) {
	job = g.job
	d := &drawer{rand.New(rand.NewPCG(seed, 7)), testDevice, &job}
	next := g.make(d)
	for m := range minutes {
		w := Window{Device: testDevice, Holders: 1}
		for at := 0; at < 60; at += step {
			var sum Values
			var active, power, heat int
			for k := range step {
				s := next(m*60 + at + k)
				for i, v := range s.v {
					sum[i] += v / float64(step)
				}
				if s.v[SM] >= 1 || s.v[Util] >= 50 {
					active++
				}
				if s.caps.Power {
					power++
				}
				if s.caps.Heat {
					heat++
				}
			}
			for i := range sum {
				sum[i] = math.Round(sum[i]*8) / 8
			}
			for _, s := range hide.hide {
				sum[s] = math.NaN()
			}
			known := sum[SM] == sum[SM] || sum[Util] == sum[Util]
			w.Add(&sum, int64(step)*1_000_000, known && (sum[SM] >= 1 || sum[Util] >= 50 || sum[SM] != sum[SM] && sum[Util] > 0), known, Caps{2*power > step, 2*heat > step, hide.caps})
		}
		f := Minute(&w)
		each = append(each, f)
		spells.Add(&f, w.Time)
		rhythm.Merge(w.Rhythm)
	}
	job.Rhythm = rhythm
	return spells, rhythm, each, job
}

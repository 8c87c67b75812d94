//go:build linux && cgo

package nvml

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"capcli/profile"
)

// loadSeen is what was measured while a load ran.
type loadSeen struct {
	load   *gpuLoad
	facts  facts
	device *profile.Device
	begun  profile.Instant // of the measurement
	ended  profile.Instant
	mean   [profile.NumMetrics]float64
	why    [profile.NumMetrics]profile.Reason // of the mean: Known where each look had a value
	looks  int
	joules float64 // power over the time between the first and the last look
	rose   float64 // energy in that time, by the counter
	other  *profile.Sample
	near   *profile.Sample // our look that was closest to other in time
	pid    int
	held   float64 // device memory that the load's process holds
	found  bool    // the process is listed
	listed int     // processes that are
}

// memoryRose is the metric that is judged by how much more it is than before the load.
const memoryRose = profile.MemUsed

// tolerances are how far a metric may be from what nvidia-smi says: part of its value, and units. Those
// that change from one moment to the next have more.
var tolerances = map[profile.Metric][2]float64{
	profile.MemUsed:        {0.005, 64 << 20},
	profile.MemReserved:    {0.02, 16 << 20},
	profile.MemTotal:       {0, 2 << 20},
	profile.Power:          {0.15, 20},
	profile.PowerLimit:     {0, 0.5},
	profile.Temp:           {0, 3},
	profile.MemTemp:        {0, 3},
	profile.ClockSM:        {0.15, 60},
	profile.ClockMem:       {0.02, 5},
	profile.PState:         {0, 0},
	profile.UtilGPU:        {0, 10},
	profile.UtilMem:        {0, 15},
	profile.UtilEnc:        {0, 5},
	profile.UtilDec:        {0, 5},
	profile.ECCCorrected:   {0, 0},
	profile.ECCUncorrected: {0, 0},
	profile.Fan:            {0, 5},
}

// judgement is what a run of all loads comes to.
type judgement struct {
	wrong   []string
	untried map[string]bool
	judged  map[profile.Metric]bool // held against a load or against nvidia-smi
}

// judge holds all measurements against what the loads must give, against nvidia-smi and against each other.
func judgeLoad(seen []loadSeen) *judgement {
	j := &judgement{untried: map[string]bool{}, judged: map[profile.Metric]bool{}}
	for i := range seen {
		s := &seen[i]
		j.ranges(s)
		j.energy(s)
		j.smi(s)
		j.process(s)
	}
	j.power(seen)
	for m := range profile.NumMetrics {
		if !j.judged[m] {
			j.untried[fmt.Sprintf("%s: nothing here to hold it against", m)] = true
		}
	}
	return j
}

func (j *judgement) fail(s *loadSeen, format string, args ...any) {
	j.wrong = append(j.wrong, s.load.name+": "+fmt.Sprintf(format, args...))
}

func (j *judgement) ranges(s *loadSeen) {
	want := s.load.want(&s.facts, s.device)
	for m := range profile.NumMetrics {
		r, asked := want[m]
		switch {
		case !asked:
		case s.why[m] != profile.Known:
			j.untried[fmt.Sprintf("%s: %s", m, s.why[m])] = true
		default:
			j.judged[m] = true
			if v := s.mean[m]; !(v >= r[0] && v <= r[1]) {
				j.fail(s, "%s is %.4g, expected %.4g to %.4g", m, v, r[0], r[1])
			}
		}
	}
}

// energy holds the counter against power over time. Power is the mean of a second that is past, so that the
// two may be two seconds apart.
func (j *judgement) energy(s *loadSeen) {
	if s.why[profile.Energy] != profile.Known || s.why[profile.Power] != profile.Known {
		j.untried["energy_j: the counter or power is not told"] = true
		return
	}
	j.judged[profile.Energy] = true
	if apart := math.Abs(s.rose - s.joules); s.rose <= 0 || apart > 0.1*s.joules+2*s.mean[profile.Power] {
		j.fail(s, "energy_j rose by %.0f J, power over the same time is %.0f J", s.rose, s.joules)
	}
}

func (j *judgement) smi(s *loadSeen) {
	if s.other == nil {
		j.untried["nvidia-smi: not there, or it did not answer"] = true
		return
	}
	for m := range profile.NumMetrics {
		limits, compared := tolerances[m]
		theirs, has := s.other.Get(m)
		ours, have := s.near.Get(m)
		switch {
		case !compared || !has:
			continue
		case !have:
			j.fail(s, "%s has no value (%s), nvidia-smi says %.4g", m, s.near.Why[m], theirs)
		case math.Abs(ours-theirs) > limits[0]*math.Abs(theirs)+limits[1]:
			j.fail(s, "%s is %.6g, nvidia-smi says %.6g", m, ours, theirs)
		}
		j.judged[m] = true
	}
}

func (j *judgement) process(s *loadSeen) {
	switch {
	case s.listed == 0:
		j.untried["processes: none is listed; only some users may see them"] = true
	case !s.found:
		j.untried["processes: the load is listed under another number, as in a container"] = true
	case s.facts.Held > 0 && !(s.held >= s.facts.Held && s.held <= s.facts.Held+contextBytes):
		j.fail(s, "its process holds %.0f bytes, expected %.0f and at most %d more", s.held, s.facts.Held, contextBytes)
	}
}

// power must tell arithmetic on every SM from nothing.
func (j *judgement) power(seen []loadSeen) {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range seen {
		if s := &seen[i]; s.why[profile.Power] == profile.Known {
			low, high = min(low, s.mean[profile.Power]), max(high, s.mean[profile.Power])
		}
	}
	if high >= low && high < 1.3*low {
		j.wrong = append(j.wrong, fmt.Sprintf("power_w stays between %.4g and %.4g W over all loads", low, high))
	}
}

// proof runs the loads and measures.
type proof struct {
	read   func() *profile.Tick
	start  func(x *gpuLoad, sms int, length time.Duration) (pid int, wait func() (facts, error), err error)
	smi    func() (*profile.Sample, error) // nil where there is no nvidia-smi
	uuid   string
	every  time.Duration // between looks
	settle time.Duration // from the begin of a load to the first look
	length time.Duration // of a load
}

// sampleOf finds the GPU's sample.
func (p *proof) sample(t *profile.Tick) *profile.Sample {
	for i := range t.Samples {
		if t.Samples[i].Device.UUID == p.uuid {
			return &t.Samples[i]
		}
	}
	return nil
}

// observe runs one load and measures while it runs.
func (p *proof) observe(x *gpuLoad) (loadSeen, error) {
	s := loadSeen{load: x}
	before := p.sample(p.read())
	if before == nil {
		return s, fmt.Errorf("GPU %s is not sampled", p.uuid)
	}
	used := before.Values[memoryRose]
	s.device = before.Device
	pid, wait, err := p.start(x, before.Device.SMs, p.length)
	if err != nil {
		return s, err
	}
	s.pid = pid
	begun := time.Now()
	time.Sleep(p.settle)
	var watts, counter float64
	at := time.Time{}
	for half := false; time.Since(begun) < p.length-p.every; {
		tick := p.read()
		one := p.sample(tick)
		if one == nil {
			return s, fmt.Errorf("GPU %s is no longer sampled", p.uuid)
		}
		now := time.Now()
		s.take(one, tick)
		w, e := one.Values[profile.Power], one.Values[profile.Energy]
		if !at.IsZero() {
			s.joules += (w + watts) / 2 * now.Sub(at).Seconds()
			s.rose += e - counter
		}
		watts, counter, at = w, e, now
		if !half && time.Since(begun) > p.length/2 && p.smi != nil {
			half = true
			if other, err := p.smi(); err == nil {
				near := *one
				s.other, s.near = other, &near
			}
		}
		time.Sleep(max(0, p.every-time.Since(now)))
	}
	if s.facts, err = wait(); err != nil {
		return s, err
	}
	if s.looks == 0 {
		return s, fmt.Errorf("%s: it was over before it was looked at", x.name)
	}
	for m := range s.mean {
		s.mean[m] /= float64(s.looks)
	}
	s.mean[memoryRose] -= used
	return s, nil
}

// take adds one look.
func (s *loadSeen) take(one *profile.Sample, tick *profile.Tick) {
	if s.looks == 0 {
		s.begun = profile.InstantOf(time.Now())
	}
	s.ended = profile.InstantOf(time.Now())
	s.looks++
	for m := range profile.NumMetrics {
		v, ok := one.Get(m)
		if !ok && s.why[m] == profile.Known {
			s.why[m] = one.Why[m]
		}
		s.mean[m] += v
	}
	if !tick.LookedAtProcesses {
		return
	}
	s.listed = 0
	for i := range tick.Processes {
		if q := &tick.Processes[i]; q.Device.UUID == one.Device.UUID {
			s.listed++
			if q.PID == int64(s.pid) && q.MemWhy == profile.Known {
				s.found, s.held = true, q.MemBytes
			}
		}
	}
}

// loadKeys are the names under which the stand-in for the library is told what a load must give.
var loadKeys = map[profile.Metric]string{
	profile.UtilGPU: "0.util", profile.SMActive: "0.gpm2", profile.SMOccupancy: "0.gpm3", profile.TensorActive: "0.gpm5", profile.DRAMActive: "0.gpm10",
	profile.FP64Active: "0.gpm11", profile.FP32Active: "0.gpm12", profile.FP16Active: "0.gpm13", profile.PCIeTx: "0.gpm20", profile.PCIeRx: "0.gpm21",
}

// pretend runs all loads against the stand-in for the library, which is told figures in the middle of what
// each must give.
func pretend(t *testing.T, f *fake) []loadSeen {
	const watts, base = 100.0, 5 * gib
	s := f.open(profile.SourceOptions{Processes: time.Second}, nil)
	begun, told, power := time.Now(), 0.0, watts
	p := &proof{uuid: gpu0, every: 2 * gpmApart, settle: 2 * gpmApart, length: 8 * gpmApart}
	f.set("0.used", base, "0.energy", 0)
	p.read = func() *profile.Tick {
		told += time.Since(begun).Seconds() * power
		begun = time.Now()
		f.set("0.energy", int64(1000*told), "0.power", int64(1000*power))
		return see(t, s)
	}
	p.start = func(x *gpuLoad, sms int, length time.Duration) (int, func() (facts, error), error) {
		made := facts{Seconds: length.Seconds(), SMs: float64(sms), SMsUsed: float64(sms), Threads: 1024, ThreadsPerSM: 2048, MemoryBytes: 2e12 * length.Seconds(), ToGPU: 20e9 * length.Seconds(), FromGPU: 24e9 * length.Seconds()}
		if x.kind == "hold" {
			made.Held = float64(x.amount(sms))
		} else if x.amount != nil {
			made.SMsUsed = float64(x.amount(sms))
		}
		power = watts
		for m, key := range loadKeys {
			r, asked := x.want(&made, s.gpus[0].dev)[m]
			if !asked {
				r = [2]float64{0, nothing}
			}
			f.set(key, int64((r[0]+r[1])/2))
			if m != profile.UtilGPU { // the library tells it in whole percent
				f.set(key, (r[0]+r[1])/2)
			}
			power += (r[0] + r[1]) / 2 * 0.01
		}
		if x.kind == "tensor" {
			power = 600
		}
		f.set("0.used", int64(base+made.Held+contextBytes/4))
		return 1, func() (facts, error) { f.set("0.used", base); return made, nil }, nil
	}
	p.smi = func() (*profile.Sample, error) {
		other := *p.sample(see(t, s))
		return &other, nil
	}
	var seen []loadSeen
	for i := range gpuLoads {
		one, err := p.observe(&gpuLoads[i])
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, one)
	}
	return seen
}

// The check passes where all figures are right, and names each metric that stands still: no value at all,
// told throughout, is right for every load.
func TestFakeGPUProof(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		seen := pretend(t, f)
		if j := judgeLoad(seen); len(j.wrong) > 0 {
			t.Fatalf("right figures are refused: %q", j.wrong)
		}
		moving := []profile.Metric{profile.MemUsed, profile.Power}
		for m := range loadKeys {
			moving = append(moving, m)
		}
		slices.Sort(moving)
		for _, m := range moving {
			for i := range seen {
				frozen := slices.Clone(seen)
				for k := range frozen {
					frozen[k].mean[m] = seen[i].mean[m]
					if m == profile.Power { // energy goes on
						frozen[k].joules = seen[i].mean[m] * 1.0
					}
				}
				if j := judgeLoad(frozen); len(j.wrong) == 0 {
					t.Errorf("%s stands still at %v, and the check passes", m, seen[i].mean[m])
				}
			}
		}
		frozen := slices.Clone(seen)
		for k := range frozen {
			frozen[k].rose = 0
		}
		if j := judgeLoad(frozen); len(j.wrong) < len(seen) {
			t.Errorf("the counter of energy stands still, and only %q is said", j.wrong)
		}
		for m := range tolerances { // what nvidia-smi says moves, and ours does not
			frozen := slices.Clone(seen)
			last := len(frozen) - 1
			other := *frozen[last].other
			other.Set(m, other.Values[m]*2+100)
			frozen[last].other = &other
			if _, told := seen[last].other.Get(m); told && len(judgeLoad(frozen).wrong) != 1 {
				t.Errorf("%s is far from what nvidia-smi says, and the check finds %q", m, judgeLoad(frozen).wrong)
			}
		}
	})
}

package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// fakeKind is a kind of work.
type fakeKind struct {
	name    string
	weight  float64 // how often it comes
	sizes   []int   // GPUs, each as likely
	hours   float64 // median run time
	memory  float64 // share of the device
	tenant  string
	users   []string
	command string
	slurm   bool
	load    func(j *fakeJob, age, day float64, rng *rand.Rand) fakeLoad
}

// FakeWork is a kind of work of the simulated box.
type FakeWork uint8

// The kinds of work: training that computes, training that waits for input, a notebook that does next to nothing,
// a server whose requests follow the day, decoding bound by memory, and training bound by its links.
const (
	FakeTraining FakeWork = iota
	FakeStarved
	FakeNotebook
	FakeInference
	FakeDecode
	FakeSync
)

var fakeKinds = [...]fakeKind{
	FakeTraining:  {"train", 3, []int{1, 4, 4, 8}, 3, 0.89, "research", []string{"amara", "jonas"}, "python train.py --config base", true, (*fakeJob).train},
	FakeStarved:   {"starved", 2, []int{1, 2, 2}, 2, 0.97, "product", []string{"mei"}, "python finetune.py --data s3", true, (*fakeJob).starved},
	FakeNotebook:  {"notebook", 2, []int{1}, 5, 0.55, "research", []string{"tomas", "amara"}, "jupyter-lab", false, (*fakeJob).notebook},
	FakeInference: {"inference", 2, []int{1, 2}, 12, 0.92, "product", []string{"svc-chat"}, "vllm serve chat-70b", false, (*fakeJob).inference},
	FakeDecode:    {"decode", 1, []int{1}, 4, 0.75, "infra", []string{"svc-embed"}, "python embed.py", false, (*fakeJob).decode},
	FakeSync:      {"sync", 1, []int{4}, 2, 0.62, "research", []string{"jonas"}, "torchrun allreduce_bound.py", true, (*fakeJob).sync},
}

// fakeJob is a job on some of the GPUs.
type fakeJob struct {
	*fakeKind
	id, user, container, pod string
	pid                      int64
	start, end               Instant
	gpus                     []int
	period, duty, phase      float64 // of its rhythm: seconds, share busy, offset in seconds
	level                    float64 // how hard it works, about 1
	asked                    fakeAround
	seconds                  float64 // over which asked is summed
}

// fakeLoad is what a job asks of a GPU over one interval.
type fakeLoad struct {
	util, sm, tensor, dram float64 // %
	memory                 float64 // bytes
	pcie, nvlink           float64 // MiB/s
	decoder                float64
}

// schedule ends jobs and starts others on GPUs that have been free long enough.
func (f *Fake) schedule(at Instant) {
	for n := len(f.jobs) - 1; n >= 0; n-- {
		if j := f.jobs[n]; j.end <= at {
			for _, i := range j.gpus {
				f.gpus[i].job = nil
				f.gpus[i].free = at.Add(time.Duration(f.rng.ExpFloat64() * float64(25*time.Minute)))
			}
			f.jobs = slices.Delete(f.jobs, n, n+1)
		}
	}
	var ready [fakeGPUs]int
	n := 0
	for i := range f.gpus {
		if g := &f.gpus[i]; g.job == nil && g.free <= at {
			ready[n] = i
			n++
		}
	}
	for n > 0 {
		kind := f.kind()
		size := kind.sizes[f.rng.IntN(len(kind.sizes))]
		if size > n {
			return // it waits for more; the draw is made again at the next read
		}
		end := at.Add(time.Duration(kind.hours * math.Exp(0.9*f.rng.NormFloat64()) * float64(time.Hour)))
		f.start(at, end, kind, ready[n-size:n]...)
		n -= size
	}
}

func (f *Fake) kind() *fakeKind {
	total := 0.0
	for i := range fakeKinds {
		total += fakeKinds[i].weight
	}
	at := f.rng.Float64() * total
	for i := range fakeKinds {
		if at -= fakeKinds[i].weight; at < 0 {
			return &fakeKinds[i]
		}
	}
	return &fakeKinds[0]
}

// start puts a job of a kind on GPUs.
func (f *Fake) start(from, to Instant, kind *fakeKind, gpus ...int) {
	f.nextJob += 1 + f.rng.IntN(20)
	j := &fakeJob{
		fakeKind: kind, id: fmt.Sprint(f.nextJob), user: kind.users[f.rng.IntN(len(kind.users))], pid: 20_000 + int64(f.rng.IntN(400_000)),
		start: from, end: to, gpus: slices.Clone(gpus), level: 1 + 0.05*f.rng.NormFloat64(),
		period: 6 + 4*f.rng.Float64(), duty: 0.25 + 0.15*f.rng.Float64(), phase: 100 * f.rng.Float64(),
		container: fmt.Sprintf("%016x%016x%016x%016x", f.rng.Uint64(), f.rng.Uint64(), f.rng.Uint64(), f.rng.Uint64()),
	}
	j.pod = fmt.Sprintf("%s-%05x", kind.name, f.rng.Uint32()>>12)
	for rank, i := range gpus {
		f.gpus[i].job, f.gpus[i].rank = j, rank
	}
	f.jobs = append(f.jobs, j)
}

func (g *fakeGPU) draw(at Instant, rng *rand.Rand) fakeLoad {
	j := g.job
	if j == nil {
		return fakeLoad{}
	}
	age := at.Sub(j.start).Seconds()
	day := float64(int64(at)%86_400_000_000) / 86_400_000_000
	l := j.load(j, age, day, rng)
	l.memory = math.Round(j.memory*fakeMemory*min(1, age/60)/(2<<20)) * (2 << 20) // grows at first, then stays
	if l.util > 0 {
		l.sm = max(0.5, l.sm*j.level+1.2*g.noise)
		l.tensor = max(0, l.tensor*j.level+0.8*g.noise)
		l.dram = max(0.1, l.dram*j.level+0.7*g.noise)
	}
	return l
}

// phase returns the position of age in its period, from 0 to 1.
func phase(age, period float64) float64 { return math.Mod(age, period) / period }

// train works, but for a checkpoint each half hour.
func (j *fakeJob) train(age, _ float64, rng *rand.Rand) fakeLoad {
	switch {
	case age < 45: // loads code and data
		return fakeLoad{util: 3, sm: 1, pcie: 900}
	case math.Mod(age+j.phase, 1800) < 25: // writes a checkpoint
		return fakeLoad{util: 4, sm: 1.5, dram: 2, pcie: 5200}
	}
	nvlink := 0.0
	if len(j.gpus) > 1 {
		nvlink = 96_000 + 2500*rng.NormFloat64()
	}
	return fakeLoad{util: 96 + float64(rng.IntN(5)), sm: 86, tensor: 47, dram: 41, pcie: 120 + 9*rng.NormFloat64(), nvlink: nvlink}
}

// starved computes in short bursts and waits for data between them.
func (j *fakeJob) starved(age, _ float64, rng *rand.Rand) fakeLoad {
	if age < 45 {
		return fakeLoad{util: 2, sm: 1, pcie: 600}
	}
	if phase(age+j.phase, j.period) >= j.duty {
		return fakeLoad{pcie: 35 + 3*rng.NormFloat64()}
	}
	return fakeLoad{util: 88 + float64(rng.IntN(10)), sm: 78, tensor: 38, dram: 44, pcie: 410, nvlink: 21_000}
}

// notebook holds a GPU and runs a cell now and then.
func (j *fakeJob) notebook(age, _ float64, rng *rand.Rand) fakeLoad {
	if math.Mod(age+j.phase, 4100) > 4060 {
		return fakeLoad{util: 40 + float64(rng.IntN(30)), sm: 22, tensor: 4, dram: 18, pcie: 60}
	}
	return fakeLoad{}
}

// inference follows the day: the fewest requests at four in the night.
func (j *fakeJob) inference(_, day float64, rng *rand.Rand) fakeLoad {
	rate := 0.5 - 0.4*math.Cos(2*math.Pi*(day-4.0/24))
	rate = min(1, max(0.05, rate+0.06*rng.NormFloat64()))
	return fakeLoad{util: min(100, math.Round(20+85*rate)), sm: 70 * rate, tensor: 16 * rate, dram: 62 * rate, pcie: 30 * rate, nvlink: float64(len(j.gpus)-1) * 9000 * rate}
}

// decode is bound by memory bandwidth.
func (j *fakeJob) decode(_, _ float64, rng *rand.Rand) fakeLoad {
	return fakeLoad{util: 99, sm: 91, tensor: 6, dram: 88, pcie: 22 + rng.NormFloat64(), decoder: 12}
}

// sync waits on the other GPUs for much of each step.
func (j *fakeJob) sync(_, _ float64, rng *rand.Rand) fakeLoad {
	return fakeLoad{util: 99, sm: 34, tensor: 14, dram: 19, pcie: 70, nvlink: 241_000 + 3000*rng.NormFloat64()}
}

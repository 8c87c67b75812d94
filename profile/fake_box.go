package profile

import "math"

// Hardware around the GPUs of the simulated box.
const (
	fakeCores  = 192
	fakeHostGB = 2048 << 30 // bytes of memory
	fakeNet    = 23_842     // MiB/s: two interfaces of 100 Gb/s
	fakeFabric = 381_470    // MiB/s: a port of 400 Gb/s for each GPU
)

// fakeAround is what a job asks of the box around one of its GPUs over one interval.
type fakeAround struct {
	cores         float64 // at work
	net, fabric   float64 // MiB/s received from the network, sent and received over the fabric
	read, write   float64 // MiB/s of disks
	io            float64 // share of time in which some task waits for a disk, %
	memory, cache float64 // bytes
	refaults      float64 // pages a second
}

const fakeGiB = 1 << 30

// boxLoad returns what the job asks of the box for a GPU whose load is l.
func (j *fakeJob) boxLoad(l fakeLoad) fakeAround {
	waits := l.util == 0
	switch j.fakeKind {
	case &fakeKinds[FakeTraining]:
		a := fakeAround{cores: 4.5, read: 35, io: 0.5, memory: 38 * fakeGiB, cache: 60 * fakeGiB}
		if len(j.gpus) == fakeGPUs { // the job goes on in other boxes
			a.fabric = 2300
		}
		if l.pcie > 1000 { // writes a checkpoint
			a.cores, a.fabric, a.write, a.io = 2, 0, 880, 22
		}
		return a
	case &fakeKinds[FakeStarved]: // decodes what it reads over the network, and has no room to keep it
		if waits {
			return fakeAround{cores: 9, net: 290, io: 74, memory: 52 * fakeGiB, cache: 210 * fakeGiB, refaults: 5200}
		}
		return fakeAround{cores: 6, net: 210, io: 31, memory: 52 * fakeGiB, cache: 210 * fakeGiB, refaults: 3100}
	case &fakeKinds[FakeNotebook]:
		return fakeAround{cores: l.util / 50, memory: 11 * fakeGiB, cache: 4 * fakeGiB}
	case &fakeKinds[FakeInference]:
		return fakeAround{cores: 0.4 + l.util/60, net: l.util / 25, memory: 24 * fakeGiB, cache: 130 * fakeGiB}
	case &fakeKinds[FakeDecode]:
		return fakeAround{cores: 2.5, net: 6, memory: 18 * fakeGiB, cache: 25 * fakeGiB}
	default: // waits for the other boxes of its gang
		return fakeAround{cores: 3, fabric: 8600, read: 20, io: 0.5, memory: 34 * fakeGiB, cache: 45 * fakeGiB}
	}
}

// box adds the figures of the box and, in ticks that look at processes, of its jobs to t, the given
// seconds after the last. Its noise is drawn apart, so that the GPUs do the same without it.
func (f *Fake) box(t *Tick, seconds float64) {
	var all fakeAround
	idle := 1.0 // share of time in which no task waits for a disk
	for _, j := range f.jobs {
		var sum fakeAround
		for _, i := range j.gpus {
			a := j.boxLoad(f.gpus[i].load)
			sum.cores, sum.net, sum.fabric, sum.read, sum.write = sum.cores+a.cores, sum.net+a.net, sum.fabric+a.fabric, sum.read+a.read, sum.write+a.write
			sum.io, sum.memory, sum.cache, sum.refaults = max(sum.io, a.io), sum.memory+a.memory, sum.cache+a.cache, sum.refaults+a.refaults
		}
		idle *= 1 - sum.io/100
		all.cores, all.net, all.fabric, all.read, all.write = all.cores+sum.cores, all.net+sum.net, all.fabric+sum.fabric, all.read+sum.read, all.write+sum.write
		all.memory += sum.memory
		j.count(&sum, seconds)
	}
	t.LookedAtHost = true
	h := &t.Host
	noise := func(v, share float64) float64 { return max(0, v*(1+share*f.boxRNG.NormFloat64())) }
	cores := min(noise(all.cores+1.2, 0.03), fakeCores)
	h.Set(NetTx, noise(2+all.net*0.03, 0.1))
	h.Set(NetRx, noise(3+all.net, 0.05))
	h.Set(NetErrors, 0)
	h.Set(FabricTx, noise(all.fabric, 0.02))
	h.Set(FabricRx, noise(all.fabric, 0.02))
	h.Set(FabricErrors, 0)
	h.Set(HostCPU, 100*cores/fakeCores)
	h.Set(HostIOWait, 100*(1-idle)*0.04)
	h.Set(DiskRead, noise(all.read, 0.1))
	h.Set(DiskWrite, noise(1+all.write, 0.1))
	h.Set(HostMemFree, math.Round(fakeHostGB-14*fakeGiB-all.memory))
	h.Set(CPUPressure, noise(0.3, 0.5))
	h.Set(IOPressure, 100*(1-idle))
	h.Set(MemPressure, 0)
	h.Set(NetPeak, fakeNet)
	h.Set(FabricPeak, fakeFabric)
	if t.LookedAtProcesses {
		for _, j := range f.jobs {
			j.tell(t.NextGroup(j.owner()))
		}
	}
}

// count adds what the job asked of the box over some seconds to what its next figures tell.
func (j *fakeJob) count(a *fakeAround, seconds float64) {
	j.asked.cores += a.cores * seconds
	j.asked.read += a.read * seconds
	j.asked.write += a.write * seconds
	j.asked.io += a.io * seconds
	j.asked.refaults += a.refaults * seconds
	j.asked.memory, j.asked.cache = a.memory, a.cache
	j.seconds += seconds
}

// tell sets s to the means since the last call.
func (j *fakeJob) tell(s *GroupSample) {
	a := &j.asked
	s.Set(GroupCPU, 100*a.cores/j.seconds)
	s.Set(GroupThrottled, 0)
	s.Set(GroupIOWait, a.io/j.seconds)
	s.Set(GroupMemWait, 0)
	s.Set(GroupRead, a.read/j.seconds)
	s.Set(GroupWrite, a.write/j.seconds)
	s.Set(GroupMemory, a.memory)
	s.Set(GroupPageCache, a.cache)
	s.Set(GroupRefaults, a.refaults/j.seconds)
	j.asked, j.seconds = fakeAround{}, 0
}

// owner returns whose the job is, as its processes have it.
func (j *fakeJob) owner() Owner {
	if j.slurm {
		return Owner{User: j.user, Job: j.id}
	}
	return Owner{User: j.user, Container: j.container, Pod: j.pod, Namespace: j.tenant}
}

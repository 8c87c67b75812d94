package box

import (
	"bytes"

	"capcli/profile"
)

// cores reads the times of all cores from /proc/stat.
type cores struct {
	file  kept
	last  [8]uint64
	ready bool
}

// The fields of the first line of /proc/stat: times in which cores worked, and those in which they did
// not (proc_stat(5)). Time stolen by the hypervisor is neither. Time of guests is in user time.
const (
	timeIdle, timeWait, timeStolen = 3, 4, 7
	timeFields                     = 8
)

func (b *box) readCores(h *profile.HostSample) {
	c := &b.cores
	text, why := b.read(&c.file)
	if why != profile.Known {
		h.Miss(profile.HostCPU, why)
		h.Miss(profile.HostIOWait, why)
		return
	}
	_, rest := word(text) // "cpu"
	var now [timeFields]uint64
	for i := range now {
		var ok bool
		if now[i], rest, ok = number(rest); !ok && i <= timeWait {
			h.Miss(profile.HostCPU, profile.Failed)
			h.Miss(profile.HostIOWait, profile.Failed)
			return
		}
	}
	var all, idle, wait float64
	for i := range now {
		grew := 0.0 // the kernel takes waiting time back at times
		if now[i] > c.last[i] {
			grew = float64(now[i] - c.last[i])
		}
		all += grew
		switch i {
		case timeIdle, timeStolen:
			idle += grew
		case timeWait:
			wait = grew
		}
	}
	ready := c.ready
	c.last, c.ready = now, true
	if !ready || all == 0 {
		h.Miss(profile.HostCPU, profile.First)
		h.Miss(profile.HostIOWait, profile.First)
		return
	}
	h.Set(profile.HostCPU, 100*(all-idle-wait)/all)
	h.Set(profile.HostIOWait, 100*wait/all)
}

// readMemory reads what programs can still get from /proc/meminfo.
func (b *box) readMemory(h *profile.HostSample) {
	text, why := b.read(&b.memory)
	if why != profile.Known {
		h.Miss(profile.HostMemFree, why)
		return
	}
	kib, ok := valueOf(text, "MemAvailable:")
	if !ok {
		h.Miss(profile.HostMemFree, profile.Unsupported) // kernels before 3.14
		return
	}
	h.Set(profile.HostMemFree, float64(kib)*1024)
}

// stall is the time in which some task waited for a resource, from a file of Documentation/accounting/
// psi.rst: "some avg10=0.00 avg60=0.00 avg300=0.00 total=microseconds".
type stall struct {
	file kept
	time tally
}

// share returns the share of the time since the last look in which some task waited, in %.
func (b *box) share(s *stall) (float64, profile.Reason) {
	text, why := b.read(&s.file)
	if why != profile.Known {
		s.time.ready = false
		return 0, why
	}
	first, _ := line(text)
	_, rest, ok := bytes.Cut(first, []byte("total="))
	us, _, whole := number(rest)
	if !ok || !whole {
		return 0, profile.Failed
	}
	v, why := s.time.take(us, b.now())
	return percent(v / 1e4), why
}

// pressures are the resources that tasks of the box wait for.
var pressures = [...]struct {
	metric profile.HostMetric
	file   string
}{
	{profile.CPUPressure, "proc/pressure/cpu"},
	{profile.IOPressure, "proc/pressure/io"},
	{profile.MemPressure, "proc/pressure/memory"},
}

func (b *box) readPressure(h *profile.HostSample) {
	for i := range pressures {
		v, why := b.share(&b.stalls[i])
		set(h, pressures[i].metric, v, why)
	}
}

// set gives a metric of the box a value, or the reason why it has none.
func set(h *profile.HostSample, m profile.HostMetric, v float64, why profile.Reason) {
	if why != profile.Known {
		h.Miss(m, why)
		return
	}
	h.Set(m, v)
}

package box

import (
	"bytes"

	"capcli/profile"
)

// readCgroup reads the figures of a control group (Documentation/admin-guide/cgroup-v2.rst; for
// version 1 Documentation/admin-guide/cgroup-v1).
func (b *box) readCgroup(c *cgroup) {
	b.readUsage(c)
	b.readLimits(c)
	b.readIO(c)
	v, why := b.share(&c.ioStall)
	c.set(profile.GroupIOWait, v, why)
	v, why = b.share(&c.memStall)
	c.set(profile.GroupMemWait, v, why)
	b.readGroupMemory(c)
}

// readUsage reads the time on cores: microseconds in version 2, nanoseconds in version 1.
func (b *box) readUsage(c *cgroup) {
	text, why := b.read(&c.usage)
	if why != profile.Known {
		c.used.ready = false
		c.set(profile.GroupCPU, 0, why)
		return
	}
	var n uint64
	ok, per := false, 1e9
	if c.two {
		n, ok = valueOf(text, "usage_usec")
		per = 1e6
	} else {
		n, _, ok = number(text)
	}
	if !ok {
		c.set(profile.GroupCPU, 0, profile.Failed)
		return
	}
	c.rateIn(profile.GroupCPU, &c.used, n, per/100, b.now())
}

// readLimits sets the share of the periods of a limit of CPU time in which it was used up, so that tasks
// waited for the next. A group without a limit has no periods: nothing holds it back.
func (b *box) readLimits(c *cgroup) {
	v, why := 0.0, profile.Unsupported
	for i := range c.limits {
		l := &c.limits[i]
		text, told := b.read(&l.file)
		if told != profile.Known {
			if why != profile.Known && l.file.name != "" {
				why = told
			}
			continue
		}
		periods, one := valueOf(text, "nr_periods")
		reached, two := valueOf(text, "nr_throttled")
		if !one || !two {
			continue // no controller of CPU time: its limit cannot be set
		}
		ready := l.ready && periods >= l.periods && reached >= l.reached
		n, of := reached-l.reached, periods-l.periods
		l.periods, l.reached, l.ready = periods, reached, true
		switch {
		case !ready && why != profile.Known:
			why = profile.First
		case !ready:
		case of == 0:
			why = profile.Known
		default:
			v, why = max(v, percent(100*float64(n)/float64(of))), profile.Known
		}
	}
	c.set(profile.GroupThrottled, v, why)
}

// readIO sums the bytes read and written over the disks. A device above a disk, such as dm, counts what
// the disk counts again.
func (b *box) readIO(c *cgroup) {
	text, why := b.read(&c.io)
	if why != profile.Known {
		c.read.ready, c.wrote.ready = false, false
		c.set(profile.GroupRead, 0, why)
		c.set(profile.GroupWrite, 0, why)
		return
	}
	var read, wrote uint64
	for len(text) > 0 {
		var l []byte
		l, text = line(text)
		device, rest := word(l)
		if !b.isDisk(device) {
			continue
		}
		if c.two { // "8:0 rbytes=1 wbytes=2 rios=3 …"
			read += numberAfter(rest, "rbytes=")
			wrote += numberAfter(rest, "wbytes=")
		} else { // "8:0 Read 1"
			read += numberAfter(rest, "Read")
			wrote += numberAfter(rest, "Write")
		}
	}
	now := b.now()
	c.rateIn(profile.GroupRead, &c.read, read, mib, now)
	c.rateIn(profile.GroupWrite, &c.wrote, wrote, mib, now)
}

// numberAfter returns the number that follows key in s, 0 where there is none.
func numberAfter(s []byte, key string) uint64 {
	_, rest, _ := bytes.Cut(s, []byte(key))
	n, _, _ := number(rest)
	return n
}

// readGroupMemory reads memory. What is in memory alone (shmem, tmpfs) counts as page cache in the
// kernel's figures; a program holds it, so here it does not.
func (b *box) readGroupMemory(c *cgroup) {
	text, why := b.read(&c.current)
	current, _, ok := number(text)
	if why == profile.Known && !ok {
		why = profile.Failed
	}
	c.set(profile.GroupMemory, 0, why)
	text, told := b.read(&c.detail)
	if told != profile.Known {
		c.refaulted.ready = false
		c.set(profile.GroupMemory, 0, told)
		c.set(profile.GroupPageCache, 0, told)
		c.set(profile.GroupRefaults, 0, told)
		return
	}
	names := [...]string{"file", "shmem", "workingset_refault_file"}
	if !c.two {
		names = [...]string{"total_cache", "total_shmem", "total_workingset_refault_file"}
	}
	file, ok := valueOf(text, names[0])
	shared, _ := valueOf(text, names[1])
	if !ok {
		c.set(profile.GroupMemory, 0, profile.Failed)
		c.set(profile.GroupPageCache, 0, profile.Failed)
	} else {
		cache := file - min(shared, file)
		c.set(profile.GroupPageCache, float64(cache), profile.Known)
		if why == profile.Known {
			c.set(profile.GroupMemory, float64(current-min(cache, current)), profile.Known)
		}
	}
	refaults, ok := valueOf(text, names[2])
	if !ok {
		c.set(profile.GroupRefaults, 0, profile.Unsupported)
		return
	}
	c.rateIn(profile.GroupRefaults, &c.refaulted, refaults, 1, b.now())
}

package box

import (
	"io/fs"
	"time"

	"capcli/profile"
)

// box reads the figures of the box. It is not safe for use by several goroutines.
type box struct {
	root fs.FS                // the file system from its root
	now  func() time.Duration // a clock that never jumps
	room []byte
	// round is the number of the current look.
	round  int
	cores  cores
	memory kept
	stalls [len(pressures)]stall
	disks  disks
	net    links
	fabric links
	groups groups
}

func newBox(root fs.FS, now func() time.Duration) *box {
	b := &box{root: root, now: now, room: make([]byte, firstRoom)}
	b.cores.file, b.memory, b.disks.file = keep("proc/stat"), keep("proc/meminfo"), keep("proc/diskstats")
	for i := range pressures {
		b.stalls[i].file = keep(pressures[i].file)
	}
	b.disks.known = map[string]*disk{}
	b.groups.owners, b.groups.cgroups, b.groups.at = map[profile.Owner]*group{}, map[places]*cgroup{}, map[process]*placed{}
	return b
}

func (b *box) look(h *profile.HostSample) {
	b.round++
	h.Clear(profile.NotAsked)
	b.readCores(h)
	b.readMemory(h)
	b.readPressure(h)
	b.readDisks(h)
	b.readNet(h)
	b.readFabric(h)
}

func (b *box) close() {
	b.cores.file.close()
	b.memory.close()
	b.disks.file.close()
	for i := range b.stalls {
		b.stalls[i].file.close()
	}
	for _, l := range [...]*links{&b.net, &b.fabric} {
		for _, a := range l.all {
			a.close()
		}
	}
	for _, c := range b.groups.cgroups {
		c.close()
	}
}

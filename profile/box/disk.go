package box

import (
	"fmt"
	"maps"

	"capcli/profile"
)

// sector is the unit of /proc/diskstats, in bytes, whatever the disk's own is
// (Documentation/admin-guide/iostats.rst).
const sector = 512

const mib = 1 << 20

// disks are the block devices of the box.
type disks struct {
	file  kept
	known map[string]*disk // by name
}

// disk is a block device.
type disk struct {
	physical     bool
	number       string // "259:0", as in io.stat of a control group
	reads, wrote tally
	looked       bool
	round        int
}

// readDisks reads the sectors read and written of each disk from /proc/diskstats: number, name, then
// reads, merged reads, sectors read, ms, writes, merged writes, sectors written.
func (b *box) readDisks(h *profile.HostSample) {
	text, why := b.read(&b.disks.file)
	if why != profile.Known {
		h.Miss(profile.DiskRead, why)
		h.Miss(profile.DiskWrite, why)
		return
	}
	now := b.now()
	var read, written flow
	for len(text) > 0 {
		var l []byte
		l, text = line(text)
		major, rest, _ := number(l)
		minor, rest, ok := number(rest)
		name, rest := word(rest)
		if !ok || len(name) == 0 {
			continue
		}
		d := b.disks.known[string(name)]
		if d == nil {
			d = b.meetDisk(string(name), major, minor)
		}
		d.round = b.round
		if !d.physical {
			continue
		}
		var fields [7]uint64
		for i := range fields {
			if fields[i], rest, ok = number(rest); !ok {
				break
			}
		}
		if !ok {
			continue
		}
		v, why := d.reads.take(fields[2]*sector, now)
		read.add(v, why, d.looked)
		v, why = d.wrote.take(fields[6]*sector, now)
		written.add(v, why, d.looked)
		d.looked = true
	}
	maps.DeleteFunc(b.disks.known, func(_ string, d *disk) bool { return d.round != b.round }) // those that are gone
	v, why := read.rate()
	set(h, profile.DiskRead, v, why)
	v, why = written.rate()
	set(h, profile.DiskWrite, v, why)
}

func (b *box) meetDisk(name string, major, minor uint64) *disk {
	d := &disk{physical: b.has("sys/block/" + name + "/device"), number: fmt.Sprintf("%d:%d", major, minor)}
	b.disks.known[name] = d
	return d
}

// isDisk reports whether a device number such as "259:0" is that of a physical disk.
func (b *box) isDisk(number []byte) bool {
	for _, d := range b.disks.known {
		if d.physical && d.number == string(number) {
			return true
		}
	}
	return false
}

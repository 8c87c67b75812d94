package box

import (
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"time"

	"capcli"
	"capcli/profile"
)

const (
	// placesEvery is the number of looks after which the control group of a process is read again:
	// a process may be moved.
	placesEvery = 12
	mostGroups  = 1 << 12
)

// groups are the control groups of the processes that hold GPUs.
type groups struct {
	owners  map[profile.Owner]*group
	cgroups map[places]*cgroup
	at      map[process]*placed
	order   []*group // those of this look, in the order of their first process
	unified string   // where version 2 is mounted; see placesOf
	pure    bool     // version 2 alone is mounted
	others  bool     // /proc shows other processes than the numbers are of
	known   bool     // the three fields above are set
	round   int
}

// process tells processes apart: the system uses the number of one that ended again.
type process struct {
	pid   int64
	start capcli.Time
}

type placed struct {
	places
	owner profile.Owner
	read  int // round in which it was read
	round int // round in which the process was there last
}

// group is the control groups of one owner.
type group struct {
	owner   profile.Owner
	cgroups []*cgroup
	round   int
}

// holder is a process that holds a GPU.
type holder struct {
	process
	owner profile.Owner
}

// lookAtGroups adds the figures of the owners of the processes to out, in the order of the processes. An
// owner without a control group of its own has a reason in place of each figure; one whose control groups
// are those of an owner before it is left out.
func (b *box) lookAtGroups(processes []holder, out []profile.GroupSample) []profile.GroupSample {
	g := &b.groups
	if !g.known {
		g.known, g.pure, g.others = true, b.has(cgroupRoot+"cgroup.controllers"), b.seesOthers()
		if !g.pure {
			g.unified = "unified/"
		}
	}
	g.round++
	g.order = g.order[:0]
	if g.others {
		return out
	}
	for i := range processes {
		p := &processes[i]
		if p.pid <= 0 || p.owner == (profile.Owner{}) || len(g.owners) >= mostGroups {
			continue // processes of nobody known may be of several jobs
		}
		at := b.placeOf(p)
		if at == nil {
			continue // it has ended
		}
		o := g.owners[p.owner]
		if o == nil {
			o = &group{owner: p.owner}
			g.owners[p.owner] = o
		}
		if o.round != g.round {
			o.round, o.cgroups = g.round, o.cgroups[:0]
			g.order = append(g.order, o)
		}
		b.join(o, &at.places)
	}
	for _, o := range g.order {
		if len(o.cgroups) == 0 {
			continue // another owner has its processes in the same control group, which counts once
		}
		out = slices.Grow(out, 1)[:len(out)+1]
		s := &out[len(out)-1]
		s.Owner = o.owner
		s.Clear(profile.Unsupported)
		for _, c := range o.cgroups {
			b.readCgroup(c)
		}
		o.sum(s)
	}
	b.forgetGroups()
	return out
}

// hostPIDs is the link of the PID name space of the host, which always has this number
// (PROC_PID_INIT_INO of linux/proc_ns.h).
const hostPIDs = "pid:[4026531836]"

// seesOthers reports whether /proc numbers processes in a name space of this container, while the driver
// numbers them in that of the host: the same number may be another process.
func (b *box) seesOthers() bool {
	link, err := fs.ReadLink(b.root, "proc/self/ns/pid")
	return err == nil && link != hostPIDs
}

// join adds the control groups of a process to those of its owner.
func (b *box) join(o *group, p *places) {
	c := b.groups.cgroups[*p]
	if c == nil {
		c = newCgroup(p)
		b.groups.cgroups[*p] = c
	}
	if c.round != b.groups.round {
		c.round = b.groups.round
		o.cgroups = append(o.cgroups, c)
	}
}

// placeOf returns the control groups of a process; nil where the process is not there.
func (b *box) placeOf(p *holder) *placed {
	g := &b.groups
	at := g.at[p.process]
	if at != nil && at.owner == p.owner && p.start.IsKnown() && g.round-at.read < placesEvery {
		at.round = g.round
		return at
	}
	text := b.text("proc/" + strconv.FormatInt(p.pid, 10) + "/cgroup")
	if text == "" {
		return nil
	}
	if at == nil {
		at = &placed{}
		g.at[p.process] = at
	}
	at.places, at.owner, at.read, at.round = placesOf(text, &p.owner, g.unified, g.pure), p.owner, g.round, g.round
	return at
}

// forgetGroups closes what was not there in this look.
func (b *box) forgetGroups() {
	g := &b.groups
	for key, c := range g.cgroups {
		if c.round != g.round {
			c.close()
			delete(g.cgroups, key)
		}
	}
	maps.DeleteFunc(g.at, func(_ process, at *placed) bool { return at.round != g.round })
	maps.DeleteFunc(g.owners, func(_ profile.Owner, o *group) bool { return o.round != g.round })
}

// summed are the metrics that are summed over the control groups of an owner; of the others the highest
// counts, since each is a share of time.
var summed = [profile.NumGroupMetrics]bool{
	profile.GroupCPU: true, profile.GroupRead: true, profile.GroupWrite: true, profile.GroupMemory: true,
	profile.GroupPageCache: true, profile.GroupRefaults: true,
}

// sum sets s to the figures of all control groups of the owner. A figure that one of them lacks is
// missing where it is a sum.
func (o *group) sum(s *profile.GroupSample) {
	for m := range profile.NumGroupMetrics {
		v, why := 0.0, profile.Unsupported
		for i, c := range o.cgroups {
			switch {
			case c.why[m] != profile.Known && (i == 0 || summed[m]):
				why = c.why[m]
			case c.why[m] != profile.Known:
			case i > 0 && summed[m] && why != profile.Known: // an earlier one lacks it
			case summed[m]:
				v, why = v+c.values[m], profile.Known
			default:
				v, why = max(v, c.values[m]), profile.Known
			}
			if why != profile.Known && summed[m] {
				v = 0
			}
		}
		if why != profile.Known {
			s.Miss(m, why)
			continue
		}
		s.Set(m, v)
	}
}

// cgroup is a control group, and its files.
type cgroup struct {
	round           int
	two             bool
	usage           kept
	used            tally
	limits          [2]limit
	io              kept
	read, wrote     tally
	ioStall         stall
	memStall        stall
	current, detail kept
	refaulted       tally
	values          [profile.NumGroupMetrics]float64
	why             [profile.NumGroupMetrics]profile.Reason
}

// limit is a limit of CPU time, which is given anew each period: how many periods there were and in how
// many of them it was used up.
type limit struct {
	file             kept
	periods, reached uint64
	ready            bool
}

func newCgroup(p *places) *cgroup {
	c := &cgroup{two: p.two}
	if p.two {
		c.usage, c.limits[0].file = keepIn(p.cpu, "cpu.stat"), keepIn(p.cpu, "cpu.stat")
		c.limits[1].file = keepIn(p.limit, "cpu.stat")
		c.io, c.current, c.detail = keepIn(p.io, "io.stat"), keepIn(p.memory, "memory.current"), keepIn(p.memory, "memory.stat")
	} else {
		c.usage, c.limits[0].file = keepIn(p.cpu, "cpuacct.usage"), keepIn(p.limit, "cpu.stat")
		c.io = keepIn(p.io, "blkio.throttle.io_service_bytes_recursive")
		c.current, c.detail = keepIn(p.memory, "memory.usage_in_bytes"), keepIn(p.memory, "memory.stat")
	}
	c.ioStall.file, c.memStall.file = keepIn(p.psi, "io.pressure"), keepIn(p.psi, "memory.pressure")
	return c
}

// keepIn returns a file of a folder; one without a name where the folder has none.
func keepIn(dir, name string) kept {
	if dir == "" {
		return kept{}
	}
	return keep(dir + "/" + name)
}

func (c *cgroup) close() {
	for _, k := range [...]*kept{&c.usage, &c.limits[0].file, &c.limits[1].file, &c.io, &c.ioStall.file, &c.memStall.file, &c.current, &c.detail} {
		k.close()
	}
}

func (c *cgroup) set(m profile.GroupMetric, v float64, why profile.Reason) {
	c.values[m], c.why[m] = v, why
}

// rateIn sets a metric to the rate of a counter in units of per a second.
func (c *cgroup) rateIn(m profile.GroupMetric, t *tally, count uint64, per float64, at time.Duration) {
	v, why := t.take(count, at)
	c.set(m, v/per, why)
}

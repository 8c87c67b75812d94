package profile

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"capcli/profile/rhythm"
	"capcli/profile/timeline"
)

// DeviceUse is what one device did.
type DeviceUse struct {
	Host   string
	Device *Device
	// Share is the part of a GPU that the device counts as, in parts of accelerator.WholeGPU. Of a GPU
	// that MIG divides it is what no instance had, the last time it was seen.
	Share   int64
	Divided bool
	Use     *Use
	Jobs    []string // that held it, in order of their coming

	uses shareUses
}

// JobUse is what one job did on all of its devices.
type JobUse struct {
	ID      string // of the scheduler, "namespace/pod", container, or "user/pid"
	Kind    string // "slurm", "pod", "container" or "process"
	Tenant  string // namespace or user; "" is not known
	Command string
	Devices int     // most at once
	Share   int64   // most parts of GPUs at once, in parts of accelerator.WholeGPU
	Model   string  // of its devices
	MIG     bool    // they are instances
	Profile string  // of the instance; "" is a whole GPU
	From    Instant // first seen
	To      Instant // last seen
	Use     *Use

	uses   shareUses
	hosts  []string
	holder Holder
	seen   jobSeen    // where it was seen first
	times  []timeHeld // of its devices

	ranks []*RankUse
	steps timeline.Timeline[rhythm.Tally, *rhythm.Tally]
	told  []*ToldUse

	packed []packedUse // uses, where nothing is added to them for now
	held   int64
}

// jobSeen is where and when a job was seen on a device.
type jobSeen struct {
	at    Instant
	host  string
	index int
	uuid  string
}

// Compare orders by time, box and device.
func (s *jobSeen) Compare(o *jobSeen) int {
	return cmp.Or(cmp.Compare(s.at, o.at), strings.Compare(s.host, o.host), cmp.Compare(s.index, o.index), strings.Compare(s.uuid, o.uuid))
}

// Hosts are the boxes on which the job was seen, in order.
func (j *JobUse) Hosts() []string { return j.hosts }

// HeatCell is what all devices did in one hour of the week.
type HeatCell struct {
	// Seen and Held are microseconds of GPUs in parts of accelerator.WholeGPU.
	Seen, Held int64
	Util       Average
}

// add counts what a device with a share of a GPU did in the hour.
func (c *HeatCell) add(u *Use, parts int64) {
	c.Seen, c.Held = c.Seen+parts*u.Seen, c.Held+parts*u.Held
	util := Average{u.Util.Micros, u.Util.Sum}
	util = util.times(parts)
	c.Util.Merge(&util)
}

// HeldShare is the share of time in which devices were held; NaN where none was seen.
func (c *HeatCell) HeldShare() float64 { return float64(c.Held) / float64(c.Seen) }

// BusyShare is the mean utilisation, from 0 to 1; NaN where it was not reported.
func (c *HeatCell) BusyShare() float64 { return c.Util.Mean() / 100 }

// Summary is what samples say of a box or of many.
type Summary struct {
	From, To Instant
	Ticks    int64
	Devices  []*DeviceUse // by host, index and UUID
	Jobs     []*JobUse    // by held hours, the most first; EachJob has those beyond the limit, too
	Heat     [7][24]HeatCell
	Events   []HostEvent
	Dropped  int // events beyond those that are kept
	// Guessed tells that processes were not told, so that "held" means memory in use.
	Guessed bool
	// Untold are figures that programs told, of which nobody knows whose they are, by box and name.
	Untold []*ToldUse
	Gaps   int64 // microseconds in which nothing was sampled, over all boxes

	machines map[hostMachine]bool

	Overlaps  []Overlap
	SameNames []SameName

	more   []*JobUse // jobs beyond the limit, their Uses packed
	folded *folding  // jobs beyond the limit of which nothing else is kept
}

// Overlap is what several folders hold of the same GPUs of a box at the same instants. It counts once.
type Overlap struct {
	Host    string   `json:"host"`
	Folders []string `json:"folders"`
	From    string   `json:"from"` // RFC 3339, to the millisecond: the first tick that they have in common
	To      string   `json:"to"`   // and the last
	Ticks   int64    `json:"ticks"`
}

// SameName is a host name that several boxes have, as their GPUs show, and how they are called apart.
type SameName struct {
	Host  string   `json:"host"`
	Names []string `json:"names"`
}

// JobsLeftOut is the number of jobs that Jobs lacks: those that held devices for the shortest time.
func (s *Summary) JobsLeftOut() int { return len(s.more) + s.folded.count() }

// EachJob returns all jobs that were not folded, in the order of Jobs. The Use of a job that Jobs lacks is valid until the
// next one.
func (s *Summary) EachJob() iter.Seq[*JobUse] {
	return func(yield func(*JobUse) bool) {
		for _, j := range s.Jobs {
			if !yield(j) {
				return
			}
		}
		for _, j := range s.more {
			one := *j
			one.unpack()
			one.Use = one.uses.total()
			if !yield(&one) {
				return
			}
		}
	}
}

// HostEvent is an event with its box.
type HostEvent struct {
	At     string    `json:"at"` // RFC 3339, to the millisecond
	Host   string    `json:"host"`
	Kind   EventKind `json:"kind"`
	Device string    `json:"gpu_uuid,omitempty"` // "" is all
	Value  int64     `json:"value"`
	Text   string    `json:"text"`
}

// Total is the use of all devices together.
func (s *Summary) Total() *Use {
	var all shareUses
	for _, d := range s.Devices {
		all.merge(d.uses)
	}
	if len(all) == 0 {
		return NewUse()
	}
	return all.total()
}

// TenantUse is what the jobs of one tenant did.
type TenantUse struct {
	Tenant string // "" is not known
	Jobs   int
	Use    *Use
	uses   shareUses
}

// Tenants gives the use by tenant, the one that held most first.
func (s *Summary) Tenants() []*TenantUse {
	byName := map[string]*TenantUse{}
	var out []*TenantUse
	add := func(name string, jobs int, uses shareUses) {
		t := byName[name]
		if t == nil {
			t = &TenantUse{Tenant: name}
			byName[name] = t
			out = append(out, t)
		}
		t.Jobs += jobs
		t.uses.merge(uses)
	}
	for j := range s.EachJob() {
		add(j.Tenant, 1, j.uses)
	}
	for _, t := range s.folded.sums() {
		add(t.Tenant, t.Jobs, t.uses)
	}
	for _, t := range out {
		t.Use = t.uses.total()
	}
	slices.SortStableFunc(out, func(a, b *TenantUse) int {
		return cmp.Or(cmp.Compare(b.Use.Held, a.Use.Held), strings.Compare(a.Tenant, b.Tenant))
	})
	return out
}

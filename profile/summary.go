package profile

import (
	"cmp"
	"slices"
	"strings"
)

// DeviceUse is what one device did.
type DeviceUse struct {
	Host   string
	Device *Device
	Use    *Use
	Jobs   []string // that held it, in order of their coming
}

// JobUse is what one job did on all of its devices.
type JobUse struct {
	ID      string // of the scheduler, "namespace/pod", container, or "user/pid"
	Kind    string // "slurm", "pod", "container" or "process"
	Tenant  string // namespace or user; "" is not known
	Command string
	Devices int     // most at once
	Model   string  // of its devices
	MIG     bool    // they are instances
	From    Instant // first seen
	To      Instant // last seen
	Use     *Use

	hosts  []string
	holder Holder
	seen   jobSeen    // where it was seen first
	times  []timeHeld // of its devices
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
	Seen, Held int64 // microseconds of devices
	Util       Average
}

// add counts what a device did in the hour.
func (c *HeatCell) add(u *Use) {
	c.Seen, c.Held = c.Seen+u.Seen, c.Held+u.Held
	c.Util.Merge(&Average{u.Util.Micros, u.Util.Sum})
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
	Jobs     []*JobUse    // by held hours, the most first
	Heat     [7][24]HeatCell
	Events   []HostEvent
	Dropped  int // events beyond those that are kept
	// Guessed tells that processes were not told, so that "held" means memory in use.
	Guessed bool
	Gaps    int64 // microseconds in which nothing was sampled, over all boxes
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
	all := NewUse()
	for _, d := range s.Devices {
		all.Merge(d.Use)
	}
	return all
}

// TenantUse is what the jobs of one tenant did.
type TenantUse struct {
	Tenant string // "" is not known
	Jobs   int
	Use    *Use
}

// Tenants gives the use by tenant, the one that held most first.
func (s *Summary) Tenants() []*TenantUse {
	byName := map[string]*TenantUse{}
	var out []*TenantUse
	for _, j := range s.Jobs {
		t := byName[j.Tenant]
		if t == nil {
			t = &TenantUse{Tenant: j.Tenant, Use: NewUse()}
			byName[j.Tenant] = t
			out = append(out, t)
		}
		t.Jobs++
		t.Use.Merge(j.Use)
	}
	slices.SortStableFunc(out, func(a, b *TenantUse) int {
		return cmp.Or(cmp.Compare(b.Use.Held, a.Use.Held), strings.Compare(a.Tenant, b.Tenant))
	})
	return out
}

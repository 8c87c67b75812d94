package profile

import (
	"cmp"
	"slices"

	"capcli/profile/rhythm"
	"capcli/profile/timeline"
)

// Merge adds what o has summed up of other boxes. o must not be used afterwards.
func (z *Summarizer) Merge(o *Summarizer) {
	o.Pack()
	a, b := &z.out, &o.out
	a.From, a.To = min(a.From, b.From), max(a.To, b.To)
	a.Ticks, a.Gaps, a.Guessed = a.Ticks+b.Ticks, a.Gaps+b.Gaps, a.Guessed || b.Guessed
	room := min(len(b.Events), maxEvents-len(a.Events))
	a.Events = append(a.Events, b.Events[:room]...)
	a.Dropped += b.Dropped + len(b.Events) - room
	a.Devices = append(a.Devices, b.Devices...)
	for d := range a.Heat {
		for h := range a.Heat[d] {
			a.Heat[d][h].merge(&b.Heat[d][h])
		}
	}
	for _, j := range b.Jobs {
		z.mergeJob(j)
	}
	z.dropDetails()
	for key, all := range o.told {
		if z.fold.holds(key) {
			continue
		}
		z.told[key] = append(z.told[key], all...) // of other boxes
	}
	for m := range b.machines {
		a.meetMachine(m.host, m.machine)
	}
}

func (z *Summarizer) mergeJob(j *JobUse) {
	key := j.holder.key(j.seen.host)
	known := z.jobs[key]
	if known == nil {
		if z.fold.takes(key, j, z.least) {
			delete(z.told, key)
			return
		}
		if j.sumHeld(); j.held < z.least && z.fold == nil {
			j.dropDetails()
		}
		z.jobs[key] = j
		z.out.Jobs = append(z.out.Jobs, j)
		return
	}
	known.unpack()
	j.unpack()
	known.uses.merge(j.uses)
	known.pack()
	known.From, known.To = min(known.From, j.From), max(known.To, j.To)
	for _, host := range j.hosts {
		if !slices.Contains(known.hosts, host) {
			known.hosts = append(known.hosts, host)
		}
	}
	known.times = append(known.times, j.times...)
	known.ranks = append(known.ranks, j.ranks...) // of other boxes
	known.steps.Merge(&j.steps)
	if j.seen.Compare(&known.seen) < 0 {
		known.seen, known.holder = j.seen, j.holder
		known.ID, known.Kind, known.Tenant, known.Command, known.Model = j.ID, j.Kind, j.Tenant, j.Command, j.Model
		known.MIG, known.Profile = j.MIG, j.Profile
	}
}

func (c *HeatCell) merge(o *HeatCell) {
	c.Seen, c.Held = c.Seen+o.Seen, c.Held+o.Held
	c.Util.Merge(&o.Util)
}

// dropDetails forgets the ranks and the steps over time of jobs that the summary will not list, as far as
// that is known: of those that held less than as many others as it lists. It looks again each time that the
// number of jobs has doubled. Jobs of several boxes keep theirs, since more of them may come.
func (z *Summarizer) dropDetails() {
	most := z.mostJobs()
	next := 2 * max(z.trimmed, most)
	if z.fold != nil {
		next = max(z.trimmed+most/2, most+most/2)
	}
	if len(z.out.Jobs) < max(next, most+1) {
		return
	}
	z.least = z.leastListed()
	if z.fold != nil {
		z.foldJobs()
	}
	z.trimmed = len(z.out.Jobs)
	if z.fold != nil {
		return
	}
	for _, j := range z.out.Jobs {
		if j.held < z.least && len(j.hosts) < 2 {
			j.dropDetails()
		}
	}
}

// leastListed returns the time for which the last job that the summary lists held devices, 0 where it lists
// all.
func (z *Summarizer) leastListed() int64 {
	held := make([]int64, 0, len(z.out.Jobs))
	for _, j := range z.out.Jobs {
		j.sumHeld()
		held = append(held, j.held)
	}
	slices.Sort(held)
	return held[max(0, len(held)-z.mostJobs())]
}

func (j *JobUse) dropDetails() {
	j.ranks, j.steps = nil, timeline.Timeline[rhythm.Tally, *rhythm.Tally]{}
}

// Pack ends what is under way and keeps the Uses of jobs in little memory until Summary. Nothing can be
// added after it but by Merge.
func (z *Summarizer) Pack() {
	z.settle()
	for _, j := range z.out.Jobs {
		j.pack()
	}
}

// packedUse is the Use of devices with a share.
type packedUse struct {
	parts, held int64
	bytes       []byte
}

func (j *JobUse) pack() {
	var room [4096]byte
	for _, x := range j.uses { // a copy has no room to spare
		b := packUse(room[:0], x.use)
		j.packed = append(j.packed, packedUse{x.parts, x.use.Held, append(make([]byte, 0, len(b)), b...)})
	}
	j.uses = nil
}

func (j *JobUse) unpack() {
	for _, p := range j.packed {
		j.uses = append(j.uses, shareUse{p.parts, unpackUse(p.bytes)})
	}
	j.packed = nil
}

// sumHeld sets the time for which the job held devices, in GPU-time.
func (j *JobUse) sumHeld() {
	var sum Sum
	for _, x := range j.uses {
		sum.AddProduct(uint64(x.use.Held), uint64(x.parts))
	}
	for _, p := range j.packed {
		sum.AddProduct(uint64(p.held), uint64(p.parts))
	}
	j.held = sum.parts()
}

// compareJobs orders jobs by held time, the most first.
func compareJobs(a, b *JobUse) int {
	return cmp.Or(cmp.Compare(b.held, a.held), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind), a.seen.Compare(&b.seen))
}

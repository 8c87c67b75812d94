package profile

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

// JobDigest is short for what tells jobs of all boxes apart.
type JobDigest [16]byte

func (k *jobKey) digest() JobDigest {
	var room [256]byte
	b := room[:0]
	for _, s := range [...]string{k.host, k.kind, k.space, k.name} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	sum := sha256.Sum256(binary.AppendVarint(b, k.pid))
	return JobDigest(sum[:16])
}

// folding sums up jobs that a summary will not list by tenant, and forgets them.
type folding struct {
	kept    map[JobDigest]bool
	jobs    map[JobDigest]foldedJob
	missed  map[JobDigest]bool
	tenants map[string]*TenantUse
}

// foldedJob is what is known of a job that was folded.
type foldedJob struct {
	held   int64 // at most, in GPU-time
	tenant *TenantUse
}

// partOfLeast is the part of the least time of a listed job up to which jobs are folded that may be on more
// boxes: on so many boxes alike they are no reason to begin again.
const partOfLeast = 2

// Fold has Merge forget jobs that the summary will not list, but for the sums by tenant: EachJob lacks
// them. Jobs of which boxes hold short parts that are long enough together are only known in the end:
// Missed returns them, and the summary is made again with these kept.
func (z *Summarizer) Fold(kept map[JobDigest]bool) {
	z.fold = &folding{kept: kept, jobs: map[JobDigest]foldedJob{}, missed: map[JobDigest]bool{}, tenants: map[string]*TenantUse{}}
}

// Missed returns the jobs of which too much was forgotten. Where there are some, the summary is wrong.
func (z *Summarizer) Missed() map[JobDigest]bool {
	f := z.fold
	if f == nil || len(f.jobs) == 0 {
		return nil
	}
	least := z.leastListed()
	for id, x := range f.jobs {
		if x.held >= least {
			f.missed[id] = true
		}
	}
	return f.missed
}

// takes folds a job that held devices for less than a part of the least time, or of which a part was
// folded before.
func (f *folding) takes(key jobKey, j *JobUse, least int64) bool {
	if f == nil {
		return false
	}
	if j.sumHeld(); j.holder.Everywhere() {
		least /= partOfLeast
	}
	id := key.digest()
	was, again := f.jobs[id]
	if f.kept[id] || !again && j.held >= least {
		return false
	}
	t := f.tenants[j.Tenant]
	if t == nil {
		t = &TenantUse{Tenant: j.Tenant}
		f.tenants[j.Tenant] = t
	}
	if !again {
		was.tenant = t
		t.Jobs++
	}
	if was.tenant != t {
		f.missed[id] = true // it is of the tenant that was seen first
	}
	was.held += j.held + 1 // parts are rounded
	f.jobs[id] = was
	j.unpack()
	t.uses.merge(j.uses)
	return true
}

// foldJobs folds the jobs that the summary will not list.
func (z *Summarizer) foldJobs() {
	z.out.Jobs = slices.DeleteFunc(z.out.Jobs, func(j *JobUse) bool {
		key := j.holder.key(j.seen.host)
		if !z.fold.takes(key, j, z.least) {
			return false
		}
		delete(z.jobs, key)
		delete(z.told, key)
		return true
	})
}

func (f *folding) holds(key jobKey) bool {
	if f == nil || len(f.jobs) == 0 {
		return false
	}
	_, ok := f.jobs[key.digest()]
	return ok
}

// count is the number of jobs that were folded.
func (f *folding) count() int {
	if f == nil {
		return 0
	}
	return len(f.jobs)
}

// sums returns the sums of folded jobs by tenant, in the order of names.
func (f *folding) sums() (out []*TenantUse) {
	if f == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(f.tenants), func(a, b *TenantUse) int { return cmp.Compare(a.Tenant, b.Tenant) })
}

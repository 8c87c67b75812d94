package simulate

import (
	"capcli"
	"capcli/simulate/mig"
)

// sliceClock measures what became of the slices of a pool of divided GPUs. Copies of a cluster have none:
// its methods do nothing for nil.
type sliceClock struct {
	gpu      *mig.GPU
	since    capcli.Seconds
	held     []int // instances held now, by profile
	stranded int   // compute slices now
	use      MIGUse
}

// MIGUse is what became of the slices of a pool of divided GPUs.
type MIGUse struct {
	Pool     int
	Compute  int // compute slices of a GPU
	Profiles []profileUse
	Stranded int64          // compute-slice seconds that were free and that no instance could take beside those held
	Changes  int64          // changes of a GPU's layout
	Paused   capcli.GPUTime // that jobs waited for these changes with their instances held
}

// profileUse is the use of instances of one profile.
type profileUse struct {
	Profile string
	Starts  int64 // stays of jobs
	Held    int64 // instance seconds
	Compute int64 // compute-slice seconds
}

func newSliceClock(gpu *mig.GPU) *sliceClock {
	k := &sliceClock{gpu: gpu, held: make([]int, len(gpu.Profiles))}
	k.use.Compute = gpu.Compute
	for i := range gpu.Profiles {
		k.use.Profiles = append(k.use.Profiles, profileUse{Profile: gpu.Profiles[i].Name})
	}
	return k
}

// pass counts the time up to now.
func (k *sliceClock) pass(now capcli.Seconds) {
	if k == nil || now <= k.since {
		return
	}
	dt := int64(now - k.since)
	k.since = now
	k.use.Stranded += int64(k.stranded) * dt
	for p, n := range k.held {
		k.use.Profiles[p].Held += int64(n) * dt
		k.use.Profiles[p].Compute += int64(n*k.gpu.Profiles[p].Compute) * dt
	}
}

// hold counts an instance of profile p that a job gets (n is 1) or gives back (-1), and so many more
// stranded slices.
func (k *sliceClock) hold(p, n, stranded int) {
	if k == nil {
		return
	}
	k.held[p] += n
	k.stranded += stranded
	if n > 0 {
		k.use.Profiles[p].Starts++
	}
}

// change counts a change of a layout.
func (k *sliceClock) change() {
	if k != nil {
		k.use.Changes++
	}
}

// sliceUses returns what became of the slices of all pools with MIG up to now.
func (c *Cluster) sliceUses(now capcli.Seconds) (all []MIGUse) {
	if c.dev == nil {
		return nil
	}
	for p := range c.dev.pools {
		if k := c.dev.pools[p].clock; k != nil {
			k.pass(now)
			k.use.Pool = p
			all = append(all, k.use)
		}
	}
	return all
}

// awaitLayout makes l, which starts in pool p with MIG, wait with its GPUs held until they have changed
// their layout.
func (e *engine) awaitLayout(l *Live, p int) {
	if wait := l.resliced(); wait > 0 {
		l.overhead += wait
		e.c.dev.pools[p].clock.use.Paused += capcli.GPUTime(int64(wait) * l.Milli())
	}
}

// resliced returns the part of l's overhead in which its GPUs change their layout.
func (l *Live) resliced() (wait capcli.Seconds) {
	for i := range l.slices {
		wait = max(wait, capcli.Seconds(l.slices[i].wait))
	}
	return wait
}

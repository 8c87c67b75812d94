package generate

import (
	"cmp"
	"math"

	"capcli"
)

// cycle returns the length of a steady cycle or a service step.
func (c *Class) cycle() capcli.Seconds {
	if c.Every > 0 {
		return c.Every
	}
	return capcli.Hour
}

// gang returns the GPUs of a steady job or of a replica.
func (c *Class) gang() int {
	switch {
	case c.JobGPUs > 0:
		return c.JobGPUs
	case c.Kind == Steady:
		return max(1, c.GPUs)
	}
	return 1
}

// waves is work without chance: each step starts with a wave of equal jobs. The next wave follows
// at once, or after a gap.
type waves struct {
	recipe
	wave    func(at capcli.Seconds) int // number of jobs of the step that starts at a time
	run     capcli.Seconds              // length of a job, unless the end cuts it short
	at      capcli.Seconds              // start of the current step
	size    int                         // number of jobs of the current step
	come    int                         // jobs of the current step already returned
	tenants shares
}

// newSteady holds GPUs for a share of each cycle, from its start. The share is rounded to whole
// seconds of a cycle.
func newSteady(t recipe) *waves {
	share := t.c.BusyShare
	share = cmp.Or(share, 1)
	w := &waves{run: capcli.Seconds(math.Round(share * float64(t.c.cycle())))}
	w.wave = func(capcli.Seconds) int { return t.c.GPUs / t.c.gang() }
	return w.begin(t)
}

// newService has in each step the number of replicas that its first instant asks for, rounded:
// Replicas at the peak hour of a weekday, and Replicas / DaySwing half a day later.
func newService(t recipe) *waves {
	r := t.c.rhythm()
	w := &waves{run: t.c.cycle()}
	w.wave = func(at capcli.Seconds) int {
		return int(math.Round(float64(t.c.Replicas) * r.rateAt(float64(t.start)+float64(at))))
	}
	return w.begin(t)
}

func (w *waves) begin(t recipe) *waves {
	w.recipe, w.at = t, t.from
	for i := range t.c.Tenants {
		w.tenants.add(t.c.Tenants[i].Weight)
	}
	if w.at < w.end {
		w.size = w.wave(w.at)
	}
	return w
}

func (w *waves) next() (capcli.Job, bool) {
	for w.come == w.size || w.run == 0 {
		if w.at += w.c.cycle(); w.at >= w.end {
			return capcli.Job{}, false
		}
		w.come, w.size = 0, w.wave(w.at)
	}
	j := w.job(w.at, w.c.gang(), min(w.run, w.end-w.at))
	if len(w.c.Tenants) > 0 {
		// The middle of the job's place in the wave, so that the shares are as close to the weights
		// as whole jobs allow.
		w.setTenant(&j, w.tenants.find((float64(w.come)+0.5)/float64(w.size)))
	}
	w.come++
	return j, true
}

package simulate

import (
	"math"

	"capcli"
)

func init() {
	Policies.Add("fair", "weighted fair share of GPUs among tenants, past use forgotten by half in a week", func(s Settings) Policy {
		half := s.HalfLife
		if half <= 0 {
			half = 7 * capcli.Day
		}
		return &fair{tenants: tenants{skip: s.Skip}, decay: math.Ln2 / float64(half), use: map[*Tenant]*pastUse{}}
	})
}

// fair starts the next job of the tenant that is furthest below its share: the
// one with the least of
//
//	(held + mean past use) / weight
//
// in GPUs, where past use counts for 2^(-age/half-life) (Kay and Lauder, "A
// Fair Share Scheduler", CACM 1988; the decay of Slurm's multifactor priority).
// Without a past it shares GPUs out max-min fairly (Keshav, "An Engineering
// Approach to Computer Networking", 1997, chapter 9). A tenant's own jobs go in
// the order in which they came.
type fair struct {
	tenants
	decay float64 // per second
	use   map[*Tenant]*pastUse
	now   capcli.Seconds
}

// pastUse is a tenant's decayed use in GPU-seconds, as of a moment, and the
// thousandths of GPUs that it holds since then.
type pastUse struct {
	past  float64
	as    capcli.Seconds
	milli int64
}

// bring counts what was held since, and forgets.
func (u *pastUse) bring(now capcli.Seconds, decay float64) {
	if dt := float64(now - u.as); dt > 0 {
		keep := math.Exp(-decay * dt)
		u.past = u.past*keep + float64(u.milli)/1000*(1-keep)/decay
		u.as = now
	}
}

// Observe follows what tenants hold, in all queues.
func (p *fair) Observe(e Event, _ *Cluster) {
	sign := int64(-1)
	switch e.Kind {
	case Start:
		sign = 1
	case Finish, Preempt:
	default:
		return
	}
	u := p.of(e.Job.tenant)
	u.bring(e.At, p.decay)
	u.milli += sign * e.Job.Milli()
}

func (p *fair) of(t *Tenant) *pastUse {
	u := p.use[t]
	if u == nil {
		u = &pastUse{}
		p.use[t] = u
	}
	return u
}

func (p *fair) Schedule(t *Turn) {
	p.now = t.Now()
	p.serve(t, p.has)
}

// has is what a tenant has against its weight. A constant holding of m GPUs
// comes to a past use of m/decay GPU-seconds, a mean of m GPUs.
func (p *fair) has(t *Tenant) float64 {
	u := p.of(t)
	u.bring(p.now, p.decay)
	return (float64(t.milli)/1000 + u.past*p.decay) / t.Weight
}

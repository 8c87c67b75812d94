package simulate

import "capcli"

// Pledges count the jobs that a policy means to run against the caps of their tenants, for policies
// that preempt. A nil Pledges allows every job.
type Pledges struct {
	now  capcli.Seconds
	held []pledge // by allowance
}

// pledge is what the jobs of an allowance would hold.
type pledge struct {
	jobs, gpus int
	ahead      capcli.GPUTime
}

// Pledges returns what the running jobs hold, valid until the next call; nil if no tenant has caps
// or a budget.
func (t *Preemption) Pledges() *Pledges {
	g := &t.e.gate
	if !g.on {
		return nil
	}
	p := &g.pledges
	p.now, p.held = t.e.c.now, p.held[:0]
	for _, a := range g.all {
		p.held = append(p.held, pledge{a.jobs, a.gpus, a.ahead(p.now)})
	}
	return p
}

// Leave takes away a running job.
func (p *Pledges) Leave(l *Live) { p.add(l, -1) }

// Join adds a job.
func (p *Pledges) Join(l *Live) { p.add(l, 1) }

func (p *Pledges) add(l *Live, sign int) {
	if p == nil {
		return
	}
	for _, a := range l.allowances {
		h := &p.held[a.index]
		h.jobs += sign
		h.gpus += sign * l.GPUs
		h.ahead += capcli.GPUTime(sign) * l.ahead(p.now)
	}
}

// Allow reports whether l may be added. A budget, a limit on hoarding and the cap of pending jobs
// concern only jobs that wait.
func (p *Pledges) Allow(l *Live) bool {
	if l.heldBack || l.resting {
		return false
	}
	if p == nil {
		return true
	}
	for _, a := range l.allowances {
		c, h := &a.caps, &p.held[a.index]
		if c.RunningJobs > 0 && h.jobs >= c.RunningJobs || c.GPUs > 0 && h.gpus+l.GPUs > c.GPUs || c.GPUTime > 0 && h.ahead+l.ahead(p.now) > c.GPUTime {
			return false
		}
		if l.state == waiting && (a.hoards(p.now) || a.budget != nil && !a.affords(l, p.now)) {
			return false
		}
	}
	return true
}

package slurm

import (
	"cmp"
	"slices"
)

// holding is what one who has a limit may hold, and holds.
type holding struct {
	most     tres
	mostJobs int64 // -1 is without limit
	held     tres
	jobs     int64
}

// owners returns who limits a job in a partition: its QOS, that of the partition, its user and accounts.
func (c *cluster) owners(j *job, p *partition) (out []*holding) {
	own := func(name string, most tres, jobs int64) {
		if !c.enforces || len(most) == 0 && jobs < 0 {
			return
		}
		h := c.holdings[name]
		if h == nil {
			h = &holding{most, jobs, tres{}, 0}
			c.holdings[name] = h
		}
		out = append(out, h)
	}
	for _, q := range []*qos{j.QOS, p.limits} {
		if q != nil {
			own("qos "+q.Name, q.GrpTRES, q.GrpJobs)
			own("qos "+q.Name+" user "+j.user, q.MaxTRESUser, q.MaxJobsUser)
			own("qos "+q.Name+" account "+j.account, q.MaxTRESGroup, q.MaxJobsGroup)
		}
	}
	for a := j.Assoc; a != nil; a = a.Parent {
		jobs := a.GrpJobs
		if a == j.Assoc && a.MaxJobs >= 0 {
			jobs = a.MaxJobs
		}
		own("account "+a.Account+" user "+a.User, a.GrpTRES, jobs)
	}
	return out
}

// allows reports whether the limits let a job hold t beside what its owners hold.
func (c *cluster) allows(rec record, t tres) bool {
	if rec.throttle != nil && rec.throttle.running >= rec.throttle.most {
		return false
	}
	for _, o := range rec.owners {
		if o.mostJobs >= 0 && o.jobs >= o.mostJobs {
			return false
		}
		for name, most := range o.most {
			if o.held[name]+t[name] > most {
				return false
			}
		}
	}
	for _, q := range []*qos{rec.QOS, rec.part.limits} {
		if q == nil || !c.enforces {
			continue
		}
		for name, most := range q.MaxTRES {
			if t[name] > most {
				return false
			}
		}
	}
	return true
}

// hold books what a job takes (sign 1) or gives back (-1) to its owners.
func (c *cluster) hold(j *job, sign int64) {
	if j.throttle != nil {
		j.throttle.running += int(sign)
	}
	if len(j.holds) == 0 {
		return
	}
	t := c.allocated(j.on, j.part)
	for _, o := range j.holds {
		o.jobs += sign
		for name, n := range t {
			o.held[name] += sign * n
		}
	}
}

// allocated returns what a job holds.
func (c *cluster) allocated(on []share, p *partition) tres {
	t := tres{}
	for _, s := range on {
		t.add(s, c.nodes[s.node].GPUModel)
	}
	t["billing"] = int64(c.site.billing(p, t))
	return t
}

// candidates returns the running jobs that a job in a partition may preempt, the least important first.
func (c *cluster) candidates(rec record, now int64) (out []*job) {
	byQOS := c.par.preempt == "qos"
	if !byQOS && c.par.preempt != "partition_prio" || c.par.mode == "OFF" || byQOS && (rec.QOS == nil || len(rec.QOS.Preempts) == 0) {
		return nil
	}
	rank := func(v *job) int64 { return v.part.Tier }
	if byQOS {
		rank = func(v *job) int64 { return v.QOS.Priority }
	}
	for _, v := range c.runs {
		exempt := c.par.exempt
		if v.QOS != nil && v.QOS.ExemptTime > 0 {
			exempt = v.QOS.ExemptTime
		}
		if now-v.start >= exempt && v.part.Preemption != "OFF" && (byQOS && rec.QOS.mayPreempt(v.QOS) || !byQOS && rec.part.Tier > v.part.Tier) {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b *job) int {
		later := 0
		if c.par.youngest {
			later = cmp.Compare(b.start, a.start)
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), later, len(a.on)-len(b.on))
	})
	return out
}

// victims returns the jobs to preempt so that a job fits on nodes of among.
func (c *cluster) victims(rec record, among set, now int64) []*job {
	candidates := c.candidates(rec, now)
	for pass := 0; pass <= c.par.reorder; pass++ {
		r := c.room()
		var on []int
		n := 0
		for ; on == nil && n < len(candidates); n++ {
			r.take(candidates[n], -1)
			on = c.choose(r, &rec.req, among, true)
		}
		if on == nil {
			return nil
		}
		within := func(v *job) (n int) {
			for _, s := range v.on {
				if slices.Contains(on, s.node) {
					n++
				}
			}
			return n
		}
		candidates = candidates[:n]
		if pass == c.par.reorder || n == 1 {
			return slices.DeleteFunc(candidates, func(v *job) bool { return within(v) == 0 })
		}
		slices.SortStableFunc(candidates, func(a, b *job) int { return within(b) - within(a) }) // again, with those first that hold most of the nodes
	}
	return nil
}

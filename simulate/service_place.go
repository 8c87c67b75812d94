package simulate

import (
	"cmp"
	"slices"

	"capcli"
)

// roomFor gives GPUs to the replicas of s that want them, as far as there is room: in each pool in turn
// the free GPUs, then those of jobs if the service displaces them.
func (v *services) roomFor(s *service) {
	for coming := 0; len(s.wanting) > coming; {
		if t := s.want.tenant; t.Quota > 0 && t.used+s.GPUs > t.Quota {
			return
		}
		p, found, waits := v.roomIn(s, coming)
		switch {
		case len(found) > 0:
			v.startReplica(s, p, found)
		case waits:
			coming++
		default:
			return
		}
	}
}

// roomIn returns a pool with room for a replica of s, and where. waits says that it will get GPUs when
// jobs leave that were preempted for it; so will coming replicas before it.
func (v *services) roomIn(s *service, coming int) (pool int, found []Slice, waits bool) {
	asks := s.Displaces && (v.freed || v.e.c.now <= s.leaves)
	for _, p := range s.pools {
		if found := v.findReplica(s, p); len(found) > 0 {
			return p, found, false
		}
		if !asks || !v.displaceIn(s, p, coming) {
			continue
		}
		found := v.findReplica(s, p)
		return p, found, len(found) == 0
	}
	return 0, nil, false
}

// findReplica returns where a replica of s has room in pool p now; nil if it has none.
func (v *services) findReplica(s *service, p int) []Slice {
	v.e.win.lend(&s.want, p, 1)
	defer v.e.win.lend(&s.want, p, -1)
	return s.findIn(v.e, v.e.c, p)
}

// findIn returns where a replica has room in pool p of c.
func (s *service) findIn(e *engine, c *Cluster, p int) []Slice {
	s.one[0] = p
	return c.Find(e.cfg.Placement, &s.want, s.one[:])
}

// startReplica gives GPUs to the oldest replica of s that wants some. Those that the run begins with are
// loaded already.
func (v *services) startReplica(s *service, p int, found []Slice) {
	now := v.e.c.now
	r := replica{slices: slices.Clone(found)}
	r.ReplicaSpan = ReplicaSpan{Pool: p, Ordered: s.wanting[0], Held: now, Drain: -1, Down: -1, Ended: -1}
	v.wants(s, -1)
	s.wanting = s.wanting[:copy(s.wanting, s.wanting[1:])]
	first := s.step == 0 && !s.open
	if pool := &v.e.c.pools[p]; !first && !pool.PaidWhole() {
		r.Held += pool.Lead
	}
	r.Ready = r.Held
	if !first {
		r.Ready += s.Cold
	}
	if r.Held > now {
		v.e.agenda.call(r.Held, nothing)
	}
	v.e.touchPool(p)
	v.e.c.take(r.slices)
	v.changeHeld(s, p, 1)
	v.e.buy.countParts(r.slices, 1)
	s.held = append(s.held, r)
	v.tellReplica(Start, s, r.slices)
}

// changeHeld counts one more replica in pool p (sign 1), or one less (-1).
func (v *services) changeHeld(s *service, p int, sign int) {
	milli := int64(sign) * s.milli()
	v.e.c.state[p].account.used += milli
	s.want.tenant.hold(&s.want, sign)
	v.e.win.occupyBy(s.want.tenant, p, milli)
	v.e.defrag.changed = true
}

// free takes the GPUs of replica i of s away.
func (v *services) free(s *service, i int) {
	r := s.held[i]
	v.deliverReplica(s, &r)
	v.e.touchPool(r.Pool)
	v.e.c.release(r.slices)
	v.changeHeld(s, r.Pool, -1)
	v.e.buy.countParts(r.slices, -1)
	if v.e.ledger.over != nil && r.begun && !v.e.c.pools[r.Pool].PaidWhole() {
		v.e.ledger.over.hold(r.Pool, -s.milli(), v.e.c.now)
	}
	v.book(s, &r)
	r.Ended = v.e.c.now
	s.record(&r)
	s.held = slices.Delete(s.held, i, i+1)
	concerned := v.e.c.state[r.Pool].queues
	if s.want.tenant.Quota > 0 {
		concerned = v.e.queues
	}
	for _, q := range concerned {
		q.dirty, q.freed = true, true
	}
	v.tellReplica(Finish, s, r.slices)
}

// book records what the replica has held up to now.
func (v *services) book(s *service, r *replica) {
	if r.begun && v.e.c.now > r.Held {
		v.e.ledger.stay(r.Pool, s.want.tenant.index, int(s.want.payer), s.milli(), r.Held, v.e.c.now, 0)
		s.run.Held += capcli.GPUTime(s.milli() * int64(v.e.c.now-r.Held))
	}
}

// loseReplicas takes the GPUs of the replicas away for which match is true. Each is wanted anew, but for
// those that drain. What a replica would have served in the rest of the step is not served.
func (v *services) loseReplicas(match func(s *service, r *replica) bool) {
	for _, s := range v.list {
		for i := 0; i < len(s.held); {
			r := &s.held[i]
			if !match(s, r) {
				i++
				continue
			}
			if r.stage == serving && s.open {
				left := int64(s.due - v.e.c.now)
				s.gone += (s.PerReplica*left + int64(s.run.Length) - 1) / int64(s.run.Length)
			}
			drains := r.stage == draining
			r.Down = v.e.c.now
			v.free(s, i)
			if s.run.Lost++; !drains {
				v.wantReplicas(s, 1)
			}
		}
	}
}

// lose takes the replicas on node n away.
func (v *services) lose(n int) {
	v.loseReplicas(func(_ *service, r *replica) bool { return r.isOn(n) })
}

// breakReplica stops the replica that holds the k-th working GPU of node n, counted after the GPUs of
// jobs; none if that GPU is free.
func (v *services) breakReplica(n, k int) {
	for l := range v.e.runningIn(int(v.e.c.nodes[n].pool)) {
		for i := range l.slices {
			if int(l.slices[i].Node) == n {
				k -= int(l.slices[i].GPUs)
			}
		}
	}
	v.loseReplicas(func(_ *service, r *replica) bool {
		if k < 0 || !r.isOn(n) {
			return false
		}
		for i := range r.slices {
			if int(r.slices[i].Node) == n {
				k -= int(r.slices[i].GPUs)
			}
		}
		return k < 0
	})
}

// yieldTo takes replicas away for a window that opens: those on its nodes, or in its pool the newest until
// no more is held than is left. Replicas of tenants that the window is for stay.
func (v *services) yieldTo(w *window) {
	if w.Nodes > 0 {
		v.loseReplicas(func(_ *service, r *replica) bool { return r.Pool == w.pool && w.holds(v.e.c, r.slices) })
		return
	}
	for v.e.c.state[w.pool].account.usable < 0 {
		last := capcli.Seconds(-1)
		for _, s := range v.list {
			for i := range s.held {
				if r := &s.held[i]; r.Pool == w.pool && !w.admits(s.want.tenant) {
					last = max(last, r.Ordered)
				}
			}
		}
		if last < 0 {
			return
		}
		done := false
		v.loseReplicas(func(s *service, r *replica) bool {
			if done || r.Pool != w.pool || r.Ordered != last || w.admits(s.want.tenant) {
				return false
			}
			done = true
			return true
		})
	}
}

// heldBy returns what replicas of the tenants of a reservation hold in its pool, in thousandths of GPUs.
func (v *services) heldBy(w *window) (milli int64) {
	for _, s := range v.list {
		for i := range s.held {
			if s.held[i].Pool == w.pool && w.admits(s.want.tenant) {
				milli += s.milli()
			}
		}
	}
	return milli
}

// markReplicas finds single GPUs for the replicas, when the first job arrives that wants a share of one.
func (v *services) markReplicas() {
	for _, s := range v.list {
		for i := range s.held {
			for k := range s.held[i].slices {
				v.e.c.markWhole(&s.held[i].slices[k])
			}
		}
	}
}

// displaceIn preempts jobs of pool p so that one more replica of s has room, after coming others. It
// reports whether the replica has room now or will have when jobs have left that are in their grace. It
// takes jobs of the lowest priority first, among equals the last started, and no more than are needed.
func (v *services) displaceIn(s *service, p, coming int) bool {
	w := v.e.c.copyTo(v.trial)
	v.trial, v.victims = w, v.victims[:0]
	for l := range v.e.runningIn(p) {
		switch {
		case l.Leaves():
			w.release(l.slices)
		case v.mayDisplace(s, l):
			v.victims = append(v.victims, l)
		}
	}
	for range coming {
		if found := s.findIn(v.e, w, p); len(found) > 0 {
			w.take(slices.Clone(found))
		}
	}
	if len(s.findIn(v.e, w, p)) > 0 {
		return true
	}
	slices.SortFunc(v.victims, func(a, b *Live) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(b.Since, a.Since), cmp.Compare(b.seq, a.seq))
	})
	chosen := v.fewest(s, p, v.affordable(v.victims))
	for _, l := range chosen {
		*v.takes.noteOf(l) = s
		if v.e.preempts.preempt(l) {
			v.e.enqueue(l)
			v.e.planPatience(l)
		} else {
			s.leaves = max(s.leaves, l.leaves)
		}
	}
	return len(chosen) > 0
}

// mayDisplace reports whether the rules of the run and of the service allow to take l's GPUs for it.
func (v *services) mayDisplace(s *service, l *Live) bool {
	if l.GPUs == 0 || v.e.guard.letsFirst(l) || s.Spares != 0 && l.Priority >= s.Spares || !v.e.preempts.mayPreempt(l) {
		return false
	}
	for i := range l.slices {
		if nd := &v.e.c.nodes[l.slices[i].Node]; nd.draining || !nd.up {
			return false
		}
	}
	return true
}

// affordable returns the victims that the budgets of PreemptRules allow to preempt together, in order.
func (v *services) affordable(victims []*Live) []*Live {
	r := &v.e.cfg.Preempts
	if r.PerHour == 0 && r.PerTenant == 0 {
		return victims
	}
	all, of := 0, map[*Tenant]int{}
	return slices.DeleteFunc(victims, func(l *Live) bool {
		if r.PerHour > 0 && len(v.e.preempts.all)+all >= r.PerHour || r.PerTenant > 0 && len(*v.e.preempts.timesOf(l.tenant))+of[l.tenant] >= r.PerTenant {
			return true
		}
		all++
		of[l.tenant]++
		return false
	})
}

// fewest returns the first of the victims that make room for a replica of s in pool p of the trial
// cluster, without those that are not needed; nil if all of them do not.
func (v *services) fewest(s *service, p int, victims []*Live) []*Live {
	w := v.trial
	for n, l := range victims {
		w.release(l.slices)
		if w.Usable(p) < s.milli() || len(s.findIn(v.e, w, p)) == 0 {
			continue
		}
		chosen := []*Live{l}
		for i := n - 1; i >= 0; i-- {
			back := slices.Clone(victims[i].slices)
			w.take(back)
			if len(s.findIn(v.e, w, p)) > 0 {
				continue
			}
			w.release(back)
			chosen = append(chosen, victims[i])
		}
		return chosen
	}
	return nil
}

// displaced counts that l loses its GPUs, if it loses them to a service and not its node at the same time,
// and that it has to do work again.
func (v *services) displaced(l *Live, lost bool, again capcli.Seconds) {
	s := v.takes.get(l)
	if s == nil {
		return
	}
	*v.takes.noteOf(l) = nil
	if !lost {
		s.run.Displaced++
		s.run.Repeated += capcli.GPUTime(l.Milli() * int64(max(0, again)))
	}
}

// ReplicaWatcher is an Observer that is told of the replicas of services: Start when one gets its GPUs or
// orders them, Finish when they are free again. It must not keep the slices.
type ReplicaWatcher interface {
	Replica(now capcli.Seconds, k Kind, s *Service, slices []Slice)
}

func (v *services) tellReplica(k Kind, s *service, at []Slice) {
	for _, o := range v.e.watchers.replicas {
		o.Replica(v.e.c.now, k, s.Service, at)
	}
}

package simulate

import (
	"slices"

	"capcli"
)

// length returns the length of a step of the pool's scaler.
func (k *boughtPool) length() capcli.Seconds {
	if k.Step > 0 {
		return k.Step
	}
	return capcli.Minute
}

// patientSteps is how long a scaler goes on deciding in a run without a period when no more jobs arrive,
// none runs and no node is on its way: a schedule of the week comes round once.
const patientSteps = 8 * capcli.Day

// decide lets the scaler of a pool decide at the end of each of its steps, and orders what it wants more.
// Of what it wants less, orders go first, the newest first; then nodes as they are empty: see giveBack.
func (b *buying) decide(k *boughtPool) {
	if k.scaler == nil || !k.open || b.e.c.now < k.stepAt {
		return
	}
	state, waits := b.scaleState(k)
	want := k.scaler.Desired(&state)
	if waits && state.Backlog == 0 { // jobs without GPUs, which no scaler sees
		want = max(want, 1)
	}
	k.wanted = min(max(want, k.Warm), b.e.c.state[k.pool].n)
	switch more := k.wanted - k.there - k.loading; {
	case more > 0 && b.e.c.now >= k.retryAt:
		b.buyNodes(k, more)
	case more < 0:
		b.callOff(k, -more)
		k.checkAt = max(1, b.e.c.now)
	}
	k.step++
	k.stepAt = b.e.c.now + k.length()
	if b.e.in.more || b.e.runningN > 0 || k.loading > 0 {
		k.busyAt = b.e.c.now
	}
	if b.e.cfg.Until > 0 || b.e.c.now-k.busyAt < patientSteps {
		b.lookAt(k.stepAt)
	}
}

// callOff takes back at most n orders, the newest first.
func (b *buying) callOff(k *boughtPool, n int) {
	s := &b.e.c.state[k.pool]
	for ; n > 0 && k.loading > 0; n-- {
		newest := -1
		for i := s.first; i < s.first+s.n; i++ {
			t := &b.lots[i]
			if t.life > 0 && !t.up && (newest < 0 || t.life > b.lots[newest].life) {
				newest = i
			}
		}
		b.endNode(newest, false)
	}
}

// scaleState returns what the scaler of a pool sees. What is held is the mean over the step; what waits is
// as it is now; waits reports whether any job does.
func (b *buying) scaleState(k *boughtPool) (s ScaleState, waits bool) {
	length := int64(k.length())
	s = ScaleState{
		Step: k.step, Length: k.length(), Now: b.e.c.now, Start: b.e.ledger.rec.Start,
		Ready: k.there, Loading: k.loading, PerUnit: b.nodeMilli(k),
	}
	s.Backlog, s.Pending, waits = b.waitsFor(k.pool)
	sum := b.spanOf(k.pool)
	s.Served = int64(sum.Used-k.usedWas) / length
	k.usedWas = sum.Used
	s.Demand = s.Served + s.Backlog
	s.Load = s.Demand
	s.Spent = int64(sum.Offered) / s.PerUnit * 1000 / int64(capcli.Hour)
	for _, o := range b.pools {
		if o != k && b.sharesJobs(o.pool, k.pool) {
			s.Elsewhere += b.e.c.state[o.pool].account.used
		}
	}
	return s, waits
}

// sharesJobs reports whether some class of jobs may use both pools.
func (b *buying) sharesJobs(p, q int) bool {
	return slices.ContainsFunc(b.e.classes.list, func(c *Reach) bool { return slices.Contains(c.bought, p) && slices.Contains(c.bought, q) })
}

// waitsFor returns what waiting jobs and replicas that may use pool p now want: thousandths of GPUs, and the work that
// the jobs are believed to have left. some reports whether there are any.
func (b *buying) waitsFor(p int) (milli int64, work capcli.GPUTime, some bool) {
	if !b.anyWaits() {
		return 0, 0, false
	}
	for _, s := range b.e.svc.list {
		if n := len(s.wanting); n > 0 && slices.Contains(s.pools, p) {
			some = true
			milli += int64(n) * s.milli()
		}
	}
	for l := range b.e.allWaiting() {
		if l.state != waiting || !slices.Contains(l.class.bought, p) || l.OverQuota() {
			continue
		}
		if slices.Contains(l.class.ranks[0], p) || b.e.opened(l) {
			some = true
			milli += l.Milli()
			work += capcli.GPUTime(int64(l.LeftBelieved(b.e.c.now)) * l.Milli())
		}
	}
	return milli, work, some
}

// spanOf returns what has become of pool p so far.
func (b *buying) spanOf(p int) (sum Span) {
	b.e.touchPool(p)
	for m := range b.e.ledger.rec.Months {
		sum.Add(b.e.ledger.rec.Months[m].Pools[p])
	}
	return sum
}

// wantedBought adds l's GPUs to the waiting demand on the pools of bought nodes that it may use or will be
// allowed to (sign +1), or subtracts them (-1).
func (b *buying) wantedBought(l *Live, sign int64) {
	goesOn := b.e.cfg.Overflow.patienceOf(l) >= 0
	for _, p := range l.class.bought {
		if goesOn || slices.Contains(l.class.ranks[0], p) {
			a := &b.e.c.state[p].account
			b.e.ledger.touch(p, a, b.e.c.now)
			a.wanted += sign * l.Milli()
		}
	}
}

// boughtPools returns what became of the pools of bought nodes.
func (b *buying) boughtPools() (out []BoughtPool) {
	for _, k := range b.pools {
		k.sum.Span = b.spanOf(k.pool)
		out = append(out, k.sum)
	}
	return out
}

// checkNodes compares the lives of bought nodes with what their pools offered.
func (r *Record) checkNodes() error {
	for p := range r.Pools {
		if r.Pools[p].Buy == nil {
			continue
		}
		var lives, offered capcli.GPUTime
		for i := range r.Nodes {
			if n := &r.Nodes[i]; n.Pool == p {
				lives += capcli.GPUTime(1000 * int64(r.Pools[p].GPUsPerNode) * int64(n.To-n.From+n.Beyond))
			}
		}
		for m := range r.Months {
			offered += r.Months[m].Pools[p].Offered
		}
		if lives != offered {
			return &AccountError{"pool " + r.Pools[p].Name + ": its nodes were billed for other GPU time than it offered"}
		}
	}
	return nil
}

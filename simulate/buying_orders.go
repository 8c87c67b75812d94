package simulate

import (
	"slices"

	"capcli"
)

// settleNodes does at the end of an instant what is due for bought nodes: it orders, gives back and
// consolidates. Nodes that come at once give the queues another turn.
func (e *engine) settleNodes() {
	for range maxPasses {
		e.buy.came, e.buy.sound = false, false
		for _, k := range e.buy.pools {
			e.decide(k)
			if short := k.Warm - k.there - k.loading; short > 0 && k.open && e.c.now >= k.retryAt {
				e.buyNodes(k, short) // warm nodes that were lost
			}
		}
		if e.buy.changed {
			e.foresee(true)
		}
		for _, k := range e.buy.pools {
			e.giveBack(k)
			e.consolidate(k)
		}
		switch {
		case e.buy.came || e.anyDirty():
			if e.svc != nil {
				e.settleServices()
			}
			e.turns()
		case !e.buy.changed || !e.anyWaits():
			return
		}
	}
}

// anyDirty reports whether a queue wants a turn now.
func (e *engine) anyDirty() bool {
	for _, q := range e.queues {
		if q.dirty && e.cfg.Settings.Round <= 0 {
			return true
		}
	}
	return false
}

// anyWaits reports whether a job or a replica waits.
func (e *engine) anyWaits() bool {
	return e.meter.queueNow > 0 || e.svc != nil && slices.ContainsFunc(e.svc.list, func(s *service) bool { return len(s.wanting) > 0 })
}

// foresee finds out which waiting jobs fit on what is free and on the nodes on their way, in the order of
// their queues, and keeps that as buying.ahead. If order is set, jobs that fit nowhere order nodes.
func (e *engine) foresee(order bool) {
	b := e.buy
	b.changed = false
	for _, k := range b.pools {
		e.settleWait(k)
		k.waitNow = [2]int64{}
	}
	if !e.anyWaits() || !e.mayForesee() {
		return
	}
	b.ahead = e.c.copyTo(b.ahead)
	b.sound = true
	b.round++
	for n := range b.lots {
		if t := &b.lots[n]; t.life > 0 && !t.up {
			b.ahead.setUp(n, true, false)
		}
	}
	if e.svc != nil { // replicas go first
		for _, s := range e.svc.list {
			for range s.wanting {
				e.foreseeJob(&s.want, true, order)
			}
		}
	}
	for _, q := range e.queues {
		e.foreseeQueue(q, order)
	}
}

// foreseeQueue takes what the jobs of a queue would take in buying.ahead.
func (e *engine) foreseeQueue(q *queue, order bool) {
	i := 0
	for _, chunk := range q.list.Chunks {
		for c := range chunk {
			l := chunk[c].Value.job
			if l.state == waiting && len(l.class.bought) > 0 && !l.OverQuota() {
				last := e.cfg.Overflow.QueueMax > 0 && i >= e.cfg.Overflow.QueueMax
				e.foreseeJob(l, last || e.opened(l), order)
			}
			i++
		}
	}
}

// mayForesee reports whether an outlook can matter: a node is on its way or can be ordered, or one that
// is empty could be given back.
func (e *engine) mayForesee() bool {
	for _, k := range e.buy.pools {
		if k.loading > 0 || k.open && k.there+k.leaving+k.loading < e.c.state[k.pool].n || k.checkAt > 0 {
			return true
		}
	}
	return false
}

// foreseeJob takes what l would take in buying.ahead, with new nodes where it has no room. opened says
// whether it may use pools beyond its first rank.
func (e *engine) foreseeJob(l *Live, opened, order bool) {
	b, c := e.buy, l.class
	for r, pools := range c.ranks {
		if r > 0 && !opened {
			return
		}
		if s := e.foreseeIn(l, pools, r); len(s) > 0 {
			if k := b.of[s[0].Pool]; k != nil && e.onItsWay(s) {
				k.waitNow[0]++
			}
			b.ahead.take(s)
			return
		}
		for _, p := range pools {
			k := b.of[p]
			if k == nil || !k.open {
				continue
			}
			if order && k.scaler == nil && e.orderFor(k, l) {
				k.waitNow[0]++
				return
			}
		}
	}
	for _, p := range c.bought { // it fits nowhere: is that for want of nodes to be had?
		if k := b.of[p]; e.c.now < k.retryAt {
			k.waitNow[1]++
			return
		}
	}
}

// foreseeIn returns room for l in pools of buying.ahead. Within one outlook capacity only goes, so a class
// remembers the least number of GPUs that had no room in a rank.
func (e *engine) foreseeIn(l *Live, pools []int, rank int) []Slice {
	c, plain := l.class, l.GPUMilli == 0 && l.mould == nil && !l.class.hosted && rank < len(l.class.failed)
	if plain && c.failedIn == e.buy.round && c.failed[rank] > 0 && l.GPUs >= c.failed[rank] {
		return nil
	}
	s := e.findIn(e.buy.ahead, l, pools)
	if len(s) == 0 && plain {
		if c.failedIn != e.buy.round {
			c.failedIn, c.failed = e.buy.round, [2]int{}
		}
		c.failed[rank] = l.GPUs
	}
	return s
}

// onItsWay reports whether one of the slices is on a node that is not there yet.
func (e *engine) onItsWay(slices []Slice) bool {
	for i := range slices {
		if t := &e.buy.lots[slices[i].Node]; t.life > 0 && !t.up {
			return true
		}
	}
	return false
}

// orderFor orders as few nodes of a pool as let l fit there, and takes its place in buying.ahead. It
// reports false, and orders none, if l would not fit or the nodes cannot be had.
func (e *engine) orderFor(k *boughtPool, l *Live) bool {
	s, ahead, size := &e.c.state[k.pool], e.buy.ahead, e.c.pools[k.pool].GPUsPerNode
	if e.c.now < k.retryAt {
		return false
	}
	most := max(1, (l.GPUs+size-1)/size)
	least := max(1, (l.GPUs-ahead.state[k.pool].free+size-1)/size)
	if s.n-k.there-k.leaving-k.loading < least {
		return false
	}
	var found []Slice
	first, count, n := -1, 0, s.first
	for ; n < s.first+s.n && count < most; n++ {
		if !e.canOrder(n) {
			continue
		}
		if first < 0 {
			first = n
		}
		ahead.setUp(n, true, false)
		if count++; count >= least {
			if found = e.findIn(ahead, l, e.listOf(k.pool)); len(found) > 0 {
				break
			}
		}
	}
	fits := len(found) > 0
	if fits {
		ahead.take(found)
		fits = e.canHave(k, count)
	}
	if fits {
		e.orderFrom(k, first, count)
		e.buy.round++ // there is new room
		return true
	}
	if len(found) > 0 {
		ahead.release(found)
	}
	for n := first; n >= 0 && n < s.first+s.n && count > 0; n++ {
		if e.canOrder(n) {
			ahead.setUp(n, false, false)
			count--
		}
	}
	return false
}

// listOf returns a list of one pool, valid until the next call.
func (e *engine) listOf(p int) []int {
	e.others = append(e.others[:0], p)
	return e.others
}

// canHave reports whether n more nodes of a pool can be had now. If not, the pool is left alone for a
// while.
func (e *engine) canHave(k *boughtPool, n int) bool {
	return e.grantedOf(k, n) == n
}

// grantedOf returns how many of n more nodes of a pool can be had now.
func (e *engine) grantedOf(k *boughtPool, n int) int {
	if k.Shortage == nil {
		return n
	}
	granted, next := k.Shortage.Available(e.c.now, k.there+k.leaving+k.loading, n)
	if granted = min(max(granted, 0), n); granted == n {
		return n
	}
	k.sum.Tries++
	k.sum.Refused += int64(n - granted)
	wait := k.Retry
	if wait <= 0 {
		wait = retryOrders
	}
	k.retryAt = e.c.now + wait
	if next > e.c.now { // where it is never to be had again, nobody asks
		e.buy.changed = e.buy.changed || k.retryAt <= e.c.now
		e.lookAt(k.retryAt)
	}
	return granted
}

// buyNodes orders at most want nodes of a pool: as many as there are places for, and as can be had.
func (e *engine) buyNodes(k *boughtPool, want int) {
	s, places := &e.c.state[k.pool], 0
	for n := s.first; n < s.first+s.n && places < want; n++ {
		if e.canOrder(n) {
			places++
		}
	}
	if places > 0 {
		e.orderFrom(k, s.first, e.grantedOf(k, places))
	}
}

// orderFrom orders count nodes in the first empty places from n on.
func (e *engine) orderFrom(k *boughtPool, n, count int) {
	for ; count > 0; n++ {
		if !e.canOrder(n) {
			continue
		}
		lead := e.c.pools[k.pool].Lead
		if k.Lead != nil {
			lead = max(0, k.Lead(k.orders))
		}
		k.orders++
		k.sum.Ordered++
		e.order(k, n, lead)
		count--
	}
}

// settleWait counts the time that jobs waited for nodes of a pool since the last outlook.
func (e *engine) settleWait(k *boughtPool) {
	dt := e.c.now - k.waitFrom
	k.sum.LeadWait += dt * capcli.Seconds(k.waitNow[0])
	k.sum.ShortWait += dt * capcli.Seconds(k.waitNow[1])
	k.waitFrom = e.c.now
}

// giveBack gives back nodes that have been empty for long enough, those empty the longest first, and of
// equal ones the last. It keeps the warm nodes, or as many as the scaler wants, and nodes that waiting
// jobs would take. A node that has notice of its loss goes when it is empty.
func (e *engine) giveBack(k *boughtPool) {
	now := e.c.now
	if k.checkAt == 0 || k.checkAt > now && k.checkAt > 1 {
		return
	}
	k.checkAt = 0
	s, next := &e.c.state[k.pool], capcli.Seconds(-1)
	keeping := e.buy.keeping[:0]
	for n := s.first; n < s.first+s.n; n++ {
		t := &e.buy.lots[n]
		if t.life == 0 || !t.up || t.held > 0 {
			continue
		}
		due := t.empty + k.Idle
		switch {
		case t.leaving:
			e.endNode(n, false)
		case due > now:
			if next < 0 || due < next {
				next = due
			}
		case e.isAwaited(n):
			if again := now + max(capcli.Minute, k.Idle); next < 0 || again < next {
				next = again
			}
		default:
			keeping = append(keeping, n)
		}
	}
	e.buy.keeping = keeping
	for spare := k.there + k.loading - max(k.Warm, k.wanted); spare > 0 && len(keeping) > 0; spare-- {
		worst := 0
		for i, n := range keeping {
			if e.buy.lots[n].empty <= e.buy.lots[keeping[worst]].empty {
				worst = i
			}
		}
		e.endNode(keeping[worst], false)
		keeping = append(keeping[:worst], keeping[worst+1:]...)
	}
	if next >= 0 {
		e.planCheck(k, next)
	}
}

// isAwaited reports whether waiting jobs would take something of the empty node n.
func (e *engine) isAwaited(n int) bool {
	if !e.anyWaits() {
		return false
	}
	if !e.buy.sound {
		e.foresee(false)
	}
	return e.buy.sound && e.buy.ahead.FreeMilli(n) < e.c.FreeMilli(n)
}

package simulate

import (
	"slices"

	"capcli"
)

// settle does at the end of an instant what is due for bought nodes: it orders, gives back and
// consolidates. Nodes that come at once give the queues another turn.
func (b *buying) settle() {
	for range maxPasses {
		b.came, b.sound = false, false
		for _, k := range b.pools {
			b.decide(k)
			if short := k.Warm - k.there - k.loading; short > 0 && k.open && b.e.c.now >= k.retryAt {
				b.buyNodes(k, short) // warm nodes that were lost
			}
		}
		if b.changed {
			b.foresee(true)
		}
		for _, k := range b.pools {
			b.giveBack(k)
			b.consolidate(k)
		}
		switch {
		case b.came || b.anyDirty():
			b.e.svc.settle()
			b.e.turns()
		case !b.changed || !b.anyWaits():
			return
		}
	}
}

// anyDirty reports whether a queue wants a turn now.
func (b *buying) anyDirty() bool {
	for _, q := range b.e.queues {
		if q.dirty && b.e.cfg.Settings.Round <= 0 {
			return true
		}
	}
	return false
}

// anyWaits reports whether a job or a replica waits.
func (b *buying) anyWaits() bool {
	return b.e.meter.queueNow > 0 || slices.ContainsFunc(b.e.svc.list, func(s *service) bool { return len(s.wanting) > 0 })
}

// foresee finds out which waiting jobs fit on what is free and on the nodes on their way, in the order of
// their queues, and keeps that as buying.ahead. If order is set, jobs that fit nowhere order nodes.
func (b *buying) foresee(order bool) {
	b.changed = false
	for _, k := range b.pools {
		b.settleWait(k)
		k.waitNow = [2]int64{}
	}
	if !b.anyWaits() || !b.mayForesee() {
		return
	}
	b.ahead = b.e.c.copyTo(b.ahead)
	b.sound = true
	b.round++
	for n := range b.lots {
		if t := &b.lots[n]; t.life > 0 && !t.up {
			b.ahead.setUp(n, true, false)
		}
	}
	for _, s := range b.e.svc.list { // replicas go first
		for range s.wanting {
			b.foreseeJob(&s.want, true, order)
		}
	}
	for _, q := range b.e.queues {
		b.foreseeQueue(q, order)
	}
}

// foreseeQueue takes what the jobs of a queue would take in buying.ahead.
func (b *buying) foreseeQueue(q *queue, order bool) {
	i := 0
	for _, chunk := range q.list.Chunks {
		for c := range chunk {
			l := chunk[c].Value.job
			if l.state == waiting && len(l.class.bought) > 0 && !l.OverQuota() {
				last := b.e.cfg.Overflow.QueueMax > 0 && i >= b.e.cfg.Overflow.QueueMax
				b.foreseeJob(l, last || b.e.opened(l), order)
			}
			i++
		}
	}
}

// mayForesee reports whether an outlook can matter: a node is on its way or can be ordered, or one that
// is empty could be given back.
func (b *buying) mayForesee() bool {
	for _, k := range b.pools {
		if k.loading > 0 || k.open && k.there+k.leaving+k.loading < b.e.c.state[k.pool].n || k.checkAt > 0 {
			return true
		}
	}
	return false
}

// foreseeJob takes what l would take in buying.ahead, with new nodes where it has no room. opened says
// whether it may use pools beyond its first rank.
func (b *buying) foreseeJob(l *Live, opened, order bool) {
	c := l.class
	for r, pools := range c.ranks {
		if r > 0 && !opened {
			return
		}
		if s := b.foreseeIn(l, pools, r); len(s) > 0 {
			if k := b.of[s[0].Pool]; k != nil && b.onItsWay(s) {
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
			if order && k.scaler == nil && b.orderFor(k, l) {
				k.waitNow[0]++
				return
			}
		}
	}
	for _, p := range c.bought { // it fits nowhere: is that for want of nodes to be had?
		if k := b.of[p]; b.e.c.now < k.retryAt {
			k.waitNow[1]++
			return
		}
	}
}

// foreseeIn returns room for l in pools of buying.ahead. Within one outlook capacity only goes, so a class
// remembers the least number of GPUs that had no room in a rank.
func (b *buying) foreseeIn(l *Live, pools []int, rank int) []Slice {
	c, plain := l.class, l.GPUMilli == 0 && l.mould == nil && !l.class.hosted && rank < len(l.class.failed)
	if plain && c.failedIn == b.round && c.failed[rank] > 0 && l.GPUs >= c.failed[rank] {
		return nil
	}
	s := b.e.findIn(b.ahead, l, pools)
	if len(s) == 0 && plain {
		if c.failedIn != b.round {
			c.failedIn, c.failed = b.round, [2]int{}
		}
		c.failed[rank] = l.GPUs
	}
	return s
}

// onItsWay reports whether one of the slices is on a node that is not there yet.
func (b *buying) onItsWay(slices []Slice) bool {
	for i := range slices {
		if t := &b.lots[slices[i].Node]; t.life > 0 && !t.up {
			return true
		}
	}
	return false
}

// orderFor orders as few nodes of a pool as let l fit there, and takes its place in buying.ahead. It
// reports false, and orders none, if l would not fit or the nodes cannot be had.
func (b *buying) orderFor(k *boughtPool, l *Live) bool {
	s, ahead, size := &b.e.c.state[k.pool], b.ahead, b.e.c.pools[k.pool].GPUsPerNode
	if b.e.c.now < k.retryAt {
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
		if !b.canOrder(n) {
			continue
		}
		if first < 0 {
			first = n
		}
		ahead.setUp(n, true, false)
		if count++; count >= least {
			if found = b.e.findIn(ahead, l, b.listOf(k.pool)); len(found) > 0 {
				break
			}
		}
	}
	fits := len(found) > 0
	if fits {
		ahead.take(found)
		fits = b.canHave(k, count)
	}
	if fits {
		b.orderFrom(k, first, count)
		b.round++ // there is new room
		return true
	}
	if len(found) > 0 {
		ahead.release(found)
	}
	for n := first; n >= 0 && n < s.first+s.n && count > 0; n++ {
		if b.canOrder(n) {
			ahead.setUp(n, false, false)
			count--
		}
	}
	return false
}

// listOf returns a list of one pool, valid until the next call.
func (b *buying) listOf(p int) []int {
	b.e.others = append(b.e.others[:0], p)
	return b.e.others
}

// canHave reports whether n more nodes of a pool can be had now. If not, the pool is left alone for a
// while.
func (b *buying) canHave(k *boughtPool, n int) bool { return b.grantedOf(k, n) == n }

// grantedOf returns how many of n more nodes of a pool can be had now.
func (b *buying) grantedOf(k *boughtPool, n int) int {
	if k.Shortage == nil {
		return n
	}
	granted, next := k.Shortage.Available(b.e.c.now, k.there+k.leaving+k.loading, n)
	if granted = min(max(granted, 0), n); granted == n {
		return n
	}
	k.sum.Tries++
	k.sum.Refused += int64(n - granted)
	wait := k.Retry
	if wait <= 0 {
		wait = retryOrders
	}
	k.retryAt = b.e.c.now + wait
	if next > b.e.c.now { // where it is never to be had again, nobody asks
		b.changed = b.changed || k.retryAt <= b.e.c.now
		b.lookAt(k.retryAt)
	}
	return granted
}

// buyNodes orders at most want nodes of a pool: as many as there are places for, and as can be had.
func (b *buying) buyNodes(k *boughtPool, want int) {
	s, places := &b.e.c.state[k.pool], 0
	for n := s.first; n < s.first+s.n && places < want; n++ {
		if b.canOrder(n) {
			places++
		}
	}
	if places > 0 {
		b.orderFrom(k, s.first, b.grantedOf(k, places))
	}
}

// orderFrom orders count nodes in the first empty places from n on.
func (b *buying) orderFrom(k *boughtPool, n, count int) {
	for ; count > 0; n++ {
		if !b.canOrder(n) {
			continue
		}
		lead := b.e.c.pools[k.pool].Lead
		if k.Lead != nil {
			lead = max(0, k.Lead(k.orders))
		}
		k.orders++
		k.sum.Ordered++
		b.order(k, n, lead)
		count--
	}
}

// settleWait counts the time that jobs waited for nodes of a pool since the last outlook.
func (b *buying) settleWait(k *boughtPool) {
	dt := b.e.c.now - k.waitFrom
	k.sum.LeadWait += dt * capcli.Seconds(k.waitNow[0])
	k.sum.ShortWait += dt * capcli.Seconds(k.waitNow[1])
	k.waitFrom = b.e.c.now
}

// giveBack gives back nodes that have been empty for long enough, those empty the longest first, and of
// equal ones the last. It keeps the warm nodes, or as many as the scaler wants, and nodes that waiting
// jobs would take. A node that has notice of its loss goes when it is empty.
func (b *buying) giveBack(k *boughtPool) {
	now := b.e.c.now
	if k.checkAt == 0 || k.checkAt > now && k.checkAt > 1 {
		return
	}
	k.checkAt = 0
	s, next := &b.e.c.state[k.pool], capcli.Seconds(-1)
	keeping := b.keeping[:0]
	for n := s.first; n < s.first+s.n; n++ {
		t := &b.lots[n]
		if t.life == 0 || !t.up || t.held > 0 {
			continue
		}
		due := t.empty + k.Idle
		switch {
		case t.leaving:
			b.endNode(n, false)
		case due > now:
			if next < 0 || due < next {
				next = due
			}
		case b.isAwaited(n):
			if again := now + max(capcli.Minute, k.Idle); next < 0 || again < next {
				next = again
			}
		default:
			keeping = append(keeping, n)
		}
	}
	b.keeping = keeping
	for spare := k.there + k.loading - max(k.Warm, k.wanted); spare > 0 && len(keeping) > 0; spare-- {
		worst := 0
		for i, n := range keeping {
			if b.lots[n].empty <= b.lots[keeping[worst]].empty {
				worst = i
			}
		}
		b.endNode(keeping[worst], false)
		keeping = append(keeping[:worst], keeping[worst+1:]...)
	}
	if next >= 0 {
		b.planCheck(k, next)
	}
}

// isAwaited reports whether waiting jobs would take something of the empty node n.
func (b *buying) isAwaited(n int) bool {
	if !b.anyWaits() {
		return false
	}
	if !b.sound {
		b.foresee(false)
	}
	return b.sound && b.ahead.FreeMilli(n) < b.e.c.FreeMilli(n)
}

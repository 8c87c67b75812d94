package simulate

import (
	"errors"
	"fmt"

	"capcli"
)

// buying is the state of the pools of bought nodes in a run.
type buying struct {
	e     *engine
	pools []*boughtPool // in order of number
	of    []*boughtPool // by pool; nil for pools whose nodes are not bought
	lots  []lot         // by node of the cluster

	changed bool     // what waits or what is free has changed since the last outlook
	came    bool     // a node came at once, so that the queues want another turn
	ahead   *Cluster // with the nodes on their way, less what waiting jobs would take: see foresee
	sound   bool     // whether ahead is of this instant
	round   uint32   // number of the outlook, for Reach.failed
	keeping []int    // buffer of giveBack
	trial   *Cluster // buffer of placesWithout
}

// boughtPool is the state of one pool.
type boughtPool struct {
	*Buying
	sum     BoughtPool
	pool    int
	open    bool // delivered by its dates, and not ended
	scaler  Scaler
	orders  int64
	there   int // nodes that are up, without those with notice of their loss
	loading int
	leaving int // nodes that are up and have notice of their loss

	checkAt  capcli.Seconds // planned look at empty nodes; 0 is none
	retryAt  capcli.Seconds // no order before
	stepAt   capcli.Seconds // next decision of the scaler
	wanted   int            // by the scaler
	step     int            // number of the next decision
	busyAt   capcli.Seconds // last decision while something ran or was on its way
	usedWas  capcli.GPUTime // until the last decision
	moveAt   capcli.Seconds // next round of consolidation; 0 is none planned
	waitNow  [2]int64       // jobs that wait for nodes on their way, and for nodes that cannot be had
	waitFrom capcli.Seconds
}

// lot is the state of one place for a node.
type lot struct {
	life    int32          // index in Record.Nodes, from 1; 0 is no node
	held    int32          // parts of jobs on it
	up      bool           // there; if not, it is on its way
	leaving bool           // there, and has notice of its loss
	comes   capcli.Seconds // when it comes
	empty   capcli.Seconds // since when nothing is on it
	touched capcli.Seconds // last start or end of a job on it
}

// lookAtNodes is the handler of a look at bought nodes: the engine does all that is due.
func lookAtNodes(e *engine, _ planned) { e.buy.changed = true }

func nodeComes(e *engine, p planned) { e.buy.nodeCame(p.arg) }

// billEnds is the handler of the end of the billing of a node of a pool that is gone.
func billEnds(e *engine, p planned) { e.buy.billEnded(p.arg) }

// newBuying returns the state of the pools of bought nodes.
func newBuying(e *engine) (buying, error) {
	cfg := &e.cfg
	b := buying{e: e, of: make([]*boughtPool, len(cfg.Pools))}
	for p := range cfg.Pools {
		pool := &cfg.Pools[p]
		if pool.Buy == nil {
			continue
		}
		switch {
		case pool.Terms.Committed():
			return b, fmt.Errorf("pool %s: only nodes of on-demand and spot pools are bought", pool.Name)
		case len(pool.Windows) > 0 || len(pool.Withheld) > 0:
			return b, fmt.Errorf("pool %s: bought nodes have no windows and no withheld capacity", pool.Name)
		case pool.GPUsPerNode <= 0:
			return b, errors.New("pool " + pool.Name + ": bought nodes need GPUs")
		}
		if b.lots == nil {
			b.lots = make([]lot, len(e.c.nodes))
		}
		k := &boughtPool{Buying: pool.Buy, pool: p, sum: BoughtPool{Pool: p}}
		if k.Scaler != nil {
			k.scaler = k.Scaler()
		}
		b.pools, b.of[p] = append(b.pools, k), k
	}
	return b, nil
}

// openBought opens or ends a pool of bought nodes by its dates. Its warm nodes are there at once.
func (b *buying) openBought(k *boughtPool, open bool) {
	s := &b.e.c.state[k.pool]
	b.changed = true
	if k.open = open; !open {
		for n := s.first; n < s.first+s.n; n++ {
			if b.lots[n].life > 0 {
				b.e.evictFrom(n)
				b.endNode(n, false)
			}
		}
		return
	}
	for n := s.first; n < s.first+s.n && k.there < k.Warm; n++ {
		if b.canOrder(n) {
			k.sum.Warm++
			b.order(k, n, 0)
		}
	}
	if k.scaler != nil {
		k.stepAt = b.e.c.now + k.length()
		b.lookAt(k.stepAt)
	}
}

// canOrder reports whether the place n is empty and can have a node.
func (b *buying) canOrder(n int) bool {
	nd := &b.e.c.nodes[n]
	return b.lots[n].life == 0 && !nd.lost && !nd.leaving
}

// gpus returns the size of a node of the pool in thousandths of GPUs.
func (b *buying) nodeMilli(k *boughtPool) int64 { return 1000 * int64(b.e.c.pools[k.pool].GPUsPerNode) }

// order buys a node in place n, which comes after lead.
func (b *buying) order(k *boughtPool, n int, lead capcli.Seconds) {
	now, t := b.e.c.now, &b.lots[n]
	b.e.ledger.rec.Nodes = append(b.e.ledger.rec.Nodes, BoughtNode{
		Pool: k.pool, Node: b.e.c.NodeNumber(n), Ordered: now, Came: -1, Ended: -1, From: -1, To: -1,
	})
	*t = lot{life: int32(len(b.e.ledger.rec.Nodes)), comes: now + lead, empty: now, touched: now}
	k.loading++
	b.e.c.nodes[n].coming = true
	k.sum.Most = max(k.sum.Most, k.there+k.loading+k.leaving)
	if k.FromOrder {
		b.bill(k, t)
	}
	if lead > 0 {
		b.e.agenda.add(t.comes, Gain, nodeComes, nil, n)
		return
	}
	b.nodeCame(n)
	b.came = true
}

// bill begins to bill a node.
func (b *buying) bill(k *boughtPool, t *lot) {
	b.e.touchPool(k.pool)
	b.e.c.state[k.pool].account.offered += b.nodeMilli(k)
	b.e.ledger.rec.Nodes[t.life-1].From = b.e.c.now
}

// nodeCame makes a node that was on its way usable. An event of an order that was called off has no
// effect.
func (b *buying) nodeCame(n int) {
	t, now := &b.lots[n], b.e.c.now
	if t.life == 0 || t.up || t.comes != now {
		return
	}
	p := int(b.e.c.nodes[n].pool)
	k := b.of[p]
	life := &b.e.ledger.rec.Nodes[t.life-1]
	life.Came, t.up, t.empty, t.touched = now, true, now, now
	k.sum.Lead += now - life.Ordered
	k.sum.Came++
	if !k.FromOrder {
		b.bill(k, t)
	}
	k.loading--
	k.there++
	b.e.c.nodes[n].coming = false
	b.e.setNode(n, true, false, false)
	b.changed = true
	b.planCheck(k, now+k.Idle)
	b.planMoves(k)
	b.e.tell(Gain, nil, p, n)
}

// endNode gives the node in place n back, or calls its order off. A lost node is billed to now, others by
// their minimum and unit.
func (b *buying) endNode(n int, lost bool) {
	t, now := &b.lots[n], b.e.c.now
	nd := &b.e.c.nodes[n]
	k := b.of[nd.pool]
	life := &b.e.ledger.rec.Nodes[t.life-1]
	life.Ended, life.Lost = now, lost
	if t.up {
		if t.leaving {
			k.leaving--
		} else {
			k.there--
		}
		b.e.setNode(n, false, nd.lost, nd.leaving)
	} else {
		nd.coming = false
		k.loading--
		k.sum.Lead += now - life.Ordered
	}
	if life.From >= 0 {
		life.To = now
		if !lost {
			life.To = life.From + k.billed(now-life.From)
		}
		k.sum.Billed += life.To - life.From
		b.e.touchPool(k.pool)
		a := &b.e.c.state[k.pool].account
		if life.To > now {
			a.over += b.nodeMilli(k)
			b.e.agenda.add(life.To, Gain, billEnds, nil, k.pool)
		} else {
			a.offered -= b.nodeMilli(k)
		}
	}
	if lost {
		k.sum.Lost++
	}
	up := t.up
	*t = lot{}
	b.changed = true
	if up && !lost {
		b.e.tell(Lose, nil, k.pool, n)
	}
}

// billEnded ends the billing of a node that is gone.
func (b *buying) billEnded(p int) {
	b.e.touchPool(p)
	a, milli := &b.e.c.state[p].account, b.nodeMilli(b.of[p])
	a.over -= milli
	a.offered -= milli
}

// billed returns the time billed for a node that was billed for some time.
func (k *Buying) billed(time capcli.Seconds) capcli.Seconds {
	if time <= 0 {
		return 0
	}
	time = max(time, k.Least)
	if over := time % max(1, k.Unit); over > 0 {
		time += k.Unit - over
	}
	return time
}

// boughtChange follows a change of place n by the pool's supply. The jobs on it are gone already.
func (b *buying) boughtChange(n int, kind Kind) {
	t := &b.lots[n]
	k := b.of[b.e.c.nodes[n].pool]
	b.changed = true
	switch {
	case t.life == 0:
	case kind == Lose:
		b.endNode(n, true)
	case kind == Drain && t.up:
		t.leaving = true
		k.there--
		k.leaving++
		b.planCheck(k, b.e.c.now)
	case kind == Drain: // ordered, and it will not come
		b.endNode(n, true)
	case t.leaving: // it stays after all
		t.leaving = false
		k.there++
		k.leaving--
	}
}

func (b *buying) joined(*Live)    { b.changed = true }
func (b *buying) started(l *Live) { b.countParts(l.slices, 1) }
func (b *buying) stopped(l *Live) { b.countParts(l.slices, -1) }

// countParts counts parts of a job on bought nodes that start (sign 1) or end (-1).
func (b *buying) countParts(slices []Slice, sign int32) {
	b.changed = true
	k := b.of[slices[0].Pool]
	if k == nil {
		return
	}
	now := b.e.c.now
	for i := range slices {
		t := &b.lots[slices[i].Node]
		t.touched = now
		if t.held += sign; t.held == 0 {
			t.empty = now
			if t.leaving {
				b.planCheck(k, now)
			} else {
				b.planCheck(k, now+k.Idle)
			}
		}
	}
}

// planCheck plans a look at the empty nodes of a pool.
func (b *buying) planCheck(k *boughtPool, at capcli.Seconds) {
	if k.checkAt > 0 && k.checkAt <= at {
		return
	}
	k.checkAt = max(at, 1)
	b.lookAt(at)
}

// lookAt plans a look at bought nodes.
func (b *buying) lookAt(at capcli.Seconds) {
	if at > b.e.c.now {
		b.e.agenda.call(at, lookAtNodes)
	}
}

// closeBought ends all lives at the end of the run. What is billed beyond it counts in its last second.
func (b *buying) closeBought(end capcli.Seconds) {
	for _, k := range b.pools {
		b.settleWait(k)
	}
	beyond := make([]capcli.GPUTime, len(b.e.c.pools))
	for i := range b.e.ledger.rec.Nodes {
		life := &b.e.ledger.rec.Nodes[i]
		k := b.of[life.Pool]
		if life.Ended < 0 {
			life.Ended, life.Stands = end, true
			if life.Came < 0 {
				k.sum.Lead += end - life.Ordered
			}
			if life.From >= 0 {
				life.To = life.From + k.billed(end-life.From)
				k.sum.Billed += life.To - life.From
			}
		}
		if life.To > end {
			life.Beyond, life.To = life.To-end, end
			beyond[life.Pool] += capcli.GPUTime(b.nodeMilli(k) * int64(life.Beyond))
		}
	}
	for p, d := range beyond {
		if d > 0 {
			b.e.ledger.addIdle(p, max(0, end-1), d)
		}
	}
}

// addIdle adds idle time of pool p that is billed at a time.
func (g *ledger) addIdle(p int, at capcli.Seconds, time capcli.GPUTime) {
	g.rec.Months[g.monthAt(at)].Pools[p].Add(Span{Offered: time, Idle: time})
	if g.over != nil {
		g.over.addMinimum(p, at, time)
	}
}

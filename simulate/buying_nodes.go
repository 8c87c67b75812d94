package simulate

import (
	"errors"
	"fmt"

	"capcli"
)

// buying is the state of the pools of bought nodes in a run.
type buying struct {
	pools []*boughtPool // in order of number
	of    []*boughtPool // by pool; nil for others
	lots  []lot         // by node of the cluster

	changed bool     // what waits or what is free has changed since the last outlook
	came    bool     // a node came at once, so that the queues want another turn
	ahead   *Cluster // with the nodes on their way, less what waiting jobs would take: see foresee
	sound   bool     // whether ahead is of this instant
	round   uint32   // number of the outlook, for Reach.failed
	keeping []int    // buffer of giveBack
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

// nodeComes is the handler of the coming of a node.
func nodeComes(e *engine, p planned) { e.nodeCame(p.arg) }

// billEnds is the handler of the end of the billing of a node of a pool that is gone.
func billEnds(e *engine, p planned) { e.billEnded(p.arg) }

// newBuying returns the state of the pools of bought nodes; nil if there are none.
func newBuying(cfg *Config, c *Cluster) (*buying, error) {
	var b *buying
	for p := range cfg.Pools {
		pool := &cfg.Pools[p]
		if pool.Buy == nil {
			continue
		}
		switch {
		case pool.Terms.Committed():
			return nil, fmt.Errorf("pool %s: only nodes of on-demand and spot pools are bought", pool.Name)
		case len(pool.Windows) > 0 || len(pool.Withheld) > 0:
			return nil, fmt.Errorf("pool %s: bought nodes have no windows and no withheld capacity", pool.Name)
		case pool.GPUsPerNode <= 0:
			return nil, errors.New("pool " + pool.Name + ": bought nodes need GPUs")
		}
		if b == nil {
			b = &buying{of: make([]*boughtPool, len(cfg.Pools)), lots: make([]lot, len(c.nodes))}
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
func (e *engine) openBought(k *boughtPool, open bool) {
	s := &e.c.state[k.pool]
	e.buy.changed = true
	if k.open = open; !open {
		for n := s.first; n < s.first+s.n; n++ {
			if e.buy.lots[n].life > 0 {
				e.evictFrom(n)
				e.endNode(n, false)
			}
		}
		return
	}
	for n := s.first; n < s.first+s.n && k.there < k.Warm; n++ {
		if e.canOrder(n) {
			k.sum.Warm++
			e.order(k, n, 0)
		}
	}
	if k.scaler != nil {
		k.stepAt = e.c.now + k.length()
		e.lookAt(k.stepAt)
	}
}

// canOrder reports whether the place n is empty and can have a node.
func (e *engine) canOrder(n int) bool {
	nd := &e.c.nodes[n]
	return e.buy.lots[n].life == 0 && !nd.lost && !nd.leaving
}

// gpus returns the size of a node of the pool in thousandths of GPUs.
func (e *engine) nodeMilli(k *boughtPool) int64 { return 1000 * int64(e.c.pools[k.pool].GPUsPerNode) }

// order buys a node in place n, which comes after lead.
func (e *engine) order(k *boughtPool, n int, lead capcli.Seconds) {
	now, t := e.c.now, &e.buy.lots[n]
	e.ledger.rec.Nodes = append(e.ledger.rec.Nodes, BoughtNode{
		Pool: k.pool, Node: e.c.NodeNumber(n), Ordered: now, Came: -1, Ended: -1, From: -1, To: -1,
	})
	*t = lot{life: int32(len(e.ledger.rec.Nodes)), comes: now + lead, empty: now, touched: now}
	k.loading++
	e.c.nodes[n].coming = true
	k.sum.Most = max(k.sum.Most, k.there+k.loading+k.leaving)
	if k.FromOrder {
		e.bill(k, t)
	}
	if lead > 0 {
		e.agenda.add(t.comes, Gain, nodeComes, nil, n)
		return
	}
	e.nodeCame(n)
	e.buy.came = true
}

// bill begins to bill a node.
func (e *engine) bill(k *boughtPool, t *lot) {
	e.touchPool(k.pool)
	e.c.state[k.pool].account.offered += e.nodeMilli(k)
	e.ledger.rec.Nodes[t.life-1].From = e.c.now
}

// nodeCame makes a node that was on its way usable. An event of an order that was called off has no
// effect.
func (e *engine) nodeCame(n int) {
	t, now := &e.buy.lots[n], e.c.now
	if t.life == 0 || t.up || t.comes != now {
		return
	}
	p := int(e.c.nodes[n].pool)
	k := e.buy.of[p]
	life := &e.ledger.rec.Nodes[t.life-1]
	life.Came, t.up, t.empty, t.touched = now, true, now, now
	k.sum.Lead += now - life.Ordered
	k.sum.Came++
	if !k.FromOrder {
		e.bill(k, t)
	}
	k.loading--
	k.there++
	e.c.nodes[n].coming = false
	e.setNode(n, true, false, false)
	e.buy.changed = true
	e.planCheck(k, now+k.Idle)
	e.planMoves(k)
	e.tell(Gain, nil, p, n)
}

// endNode gives the node in place n back, or calls its order off. A lost node is billed to now, others by
// their minimum and unit.
func (e *engine) endNode(n int, lost bool) {
	t, now := &e.buy.lots[n], e.c.now
	nd := &e.c.nodes[n]
	k := e.buy.of[nd.pool]
	life := &e.ledger.rec.Nodes[t.life-1]
	life.Ended, life.Lost = now, lost
	if t.up {
		if t.leaving {
			k.leaving--
		} else {
			k.there--
		}
		e.setNode(n, false, nd.lost, nd.leaving)
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
		e.touchPool(k.pool)
		a := &e.c.state[k.pool].account
		if life.To > now {
			a.over += e.nodeMilli(k)
			e.agenda.add(life.To, Gain, billEnds, nil, k.pool)
		} else {
			a.offered -= e.nodeMilli(k)
		}
	}
	if lost {
		k.sum.Lost++
	}
	up := t.up
	*t = lot{}
	e.buy.changed = true
	if up && !lost {
		e.tell(Lose, nil, k.pool, n)
	}
}

// billEnded ends the billing of a node that is gone.
func (e *engine) billEnded(p int) {
	e.touchPool(p)
	a, milli := &e.c.state[p].account, e.nodeMilli(e.buy.of[p])
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
func (e *engine) boughtChange(n int, kind Kind) {
	t := &e.buy.lots[n]
	k := e.buy.of[e.c.nodes[n].pool]
	e.buy.changed = true
	switch {
	case t.life == 0:
	case kind == Lose:
		e.endNode(n, true)
	case kind == Drain && t.up:
		t.leaving = true
		k.there--
		k.leaving++
		e.planCheck(k, e.c.now)
	case kind == Drain: // ordered, and it will not come
		e.endNode(n, true)
	case t.leaving: // it stays after all
		t.leaving = false
		k.there++
		k.leaving--
	}
}

// countParts counts parts of a job on bought nodes that start (sign 1) or end (-1).
func (e *engine) countParts(slices []Slice, sign int32) {
	e.buy.changed = true
	k := e.buy.of[slices[0].Pool]
	if k == nil {
		return
	}
	now := e.c.now
	for i := range slices {
		t := &e.buy.lots[slices[i].Node]
		t.touched = now
		if t.held += sign; t.held == 0 {
			t.empty = now
			if t.leaving {
				e.planCheck(k, now)
			} else {
				e.planCheck(k, now+k.Idle)
			}
		}
	}
}

// planCheck plans a look at the empty nodes of a pool.
func (e *engine) planCheck(k *boughtPool, at capcli.Seconds) {
	if k.checkAt > 0 && k.checkAt <= at {
		return
	}
	k.checkAt = max(at, 1)
	e.lookAt(at)
}

// lookAt plans a look at bought nodes.
func (e *engine) lookAt(at capcli.Seconds) {
	if at > e.c.now {
		e.agenda.call(at, lookAtNodes)
	}
}

// closeBought ends all lives at the end of the run. What is billed beyond it counts in its last second.
func (e *engine) closeBought(end capcli.Seconds) {
	if e.buy == nil {
		return
	}
	for _, k := range e.buy.pools {
		e.settleWait(k)
	}
	beyond := make([]capcli.GPUTime, len(e.c.pools))
	for i := range e.ledger.rec.Nodes {
		life := &e.ledger.rec.Nodes[i]
		k := e.buy.of[life.Pool]
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
			beyond[life.Pool] += capcli.GPUTime(e.nodeMilli(k) * int64(life.Beyond))
		}
	}
	for p, d := range beyond {
		if d > 0 {
			e.ledger.addIdle(p, max(0, end-1), d)
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

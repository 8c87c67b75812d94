package simulate

import (
	"slices"

	"capcli"
)

// Window is a time in which a part of a pool is not there for all: maintenance, or an advance
// reservation for some tenants. From when it is announced, a job starts only if it is believed to
// end before the window begins, or fits in what is left of the pool then. So every policy respects
// windows, and the pool drains before them.
//
// A job that runs longer than believed keeps its GPUs; the window gets them when the job ends. With
// Kill the window takes them at its start instead, and no job looks ahead to it.
type Window struct {
	Start, End capcli.Seconds
	Milli      int64          // thousandths of GPUs, of whatever nodes; 0 with Nodes
	FirstNode  int            // the nodes FirstNode to FirstNode + Nodes - 1 of the pool
	Nodes      int            // 0 with Milli
	Lead       capcli.Seconds // announced so long before Start; 0 is from the beginning of the run
	Kill       bool           // jobs are stopped at Start until the rest fits; the last started first
	For        []string       // tenants that may use it: a reservation of Milli GPUs; nil is nobody
}

// window is a Window during a run.
type window struct {
	*Window
	pool int
	held int64 // open reservations: what the tenants of For hold in the pool now, in thousandths
	open bool
	left int64  // capacity that is left for others at Start; valid while of is the pool's count
	of   uint64 // see windows.changes
}

// knownAt reports whether a scheduler at a time takes account of the coming window.
func (w *window) knownAt(now capcli.Seconds) bool {
	return !w.Kill && w.Start > now && (w.Lead == 0 || now >= w.Start-w.Lead)
}

// countsAt reports whether the window takes capacity at a time, as a scheduler sees it now.
func (w *window) countsAt(at, now capcli.Seconds) bool {
	return w.Start <= at && (w.End == 0 || w.End > at) && (w.open || w.knownAt(now))
}

// admits reports whether a tenant may use the window's capacity.
func (w *window) admits(t *Tenant) bool { return slices.Contains(w.For, t.Name) }

// keeps returns what an open reservation still keeps for its tenants, in thousandths of GPUs.
func (w *window) keeps() int64 {
	if !w.open || len(w.For) == 0 {
		return 0
	}
	return max(0, w.Milli-w.held)
}

// windows are the windows of a run: see Window. Without any they cost the test of a flag.
type windows struct {
	e       *engine
	list    []*window
	byPool  [][]*window // in order of start
	counted []bool      // by pool: whether a window takes GPUs of whatever nodes
	changes []uint64    // by pool: starts and stops of jobs so far
	guard   bool        // whether starts are checked: there are windows, and the run has begun
	masked  []int       // nodes hidden from the current search
	fitting []int       // pools of the current search
	closed  []uint8     // by node: number of open windows that it is in
	ending  *window     // the window that stops jobs now
	killed  int64       // stops by windows
}

// planWindows plans the starts and ends of all windows.
func (ws *windows) planWindows() {
	n := len(ws.e.c.pools)
	ws.byPool, ws.counted, ws.changes = make([][]*window, n), make([]bool, n), make([]uint64, n)
	for p := range ws.e.c.pools {
		pool := &ws.e.c.pools[p]
		for i := range pool.Windows {
			w := &window{Window: &pool.Windows[i], pool: p}
			ws.list = append(ws.list, w)
			ws.byPool[p] = append(ws.byPool[p], w)
			ws.counted[p] = ws.counted[p] || w.Nodes == 0
		}
		slices.SortStableFunc(ws.byPool[p], func(a, b *window) int { return int(a.Start - b.Start) })
	}
	if len(ws.list) == 0 {
		return
	}
	ws.closed = make([]uint8, len(ws.e.c.nodes))
	for k, w := range ws.list { // ends first: at one instant capacity comes before it goes
		if w.End > 0 {
			ws.e.agenda.add(w.End, Gain, windowEnds, nil, k)
		}
	}
	for k, w := range ws.list {
		ws.e.agenda.add(max(0, w.Start), Gain, windowStarts, nil, k)
	}
}

func windowStarts(e *engine, p planned) { e.win.windowChange(e.win.list[p.arg], true) }

func windowEnds(e *engine, p planned) { e.win.windowChange(e.win.list[p.arg], false) }

// takes returns the capacity of the pool that w takes at a time, in thousandths of GPUs.
func (ws *windows) takes(w *window) int64 {
	if w.Nodes > 0 {
		return int64(w.Nodes*ws.e.c.pools[w.pool].GPUsPerNode) * 1000
	}
	return w.Milli
}

// withholdMore changes what is withheld of pool p.
func (ws *windows) withholdMore(p int, milli int64) {
	s := &ws.e.c.state[p]
	ws.e.touchPool(p)
	s.account.usable -= milli
	s.withheld += milli
}

// windowChange opens or closes a window.
func (ws *windows) windowChange(w *window, open bool) {
	w.open = open
	ws.changes[w.pool]++
	for _, q := range ws.e.c.state[w.pool].queues {
		q.dirty, q.freed = true, true
	}
	sign := int64(-1)
	if open {
		sign = 1
	}
	switch {
	case w.Nodes > 0:
		ws.closeNodes(w, sign)
	case len(w.For) > 0:
		if open {
			w.held = ws.heldBy(w)
		}
		ws.withholdMore(w.pool, sign*max(0, w.Milli-w.held))
	default:
		ws.withholdMore(w.pool, sign*w.Milli)
	}
	if open && w.Kill {
		ws.stopFor(w)
	}
	if open {
		ws.e.svc.yieldTo(w)
	}
	ws.e.tell(Gain, nil, w.pool, -1)
}

// heldBy returns what the tenants of a reservation hold in its pool, in thousandths of GPUs.
func (ws *windows) heldBy(w *window) (milli int64) {
	for l := range ws.e.runningIn(w.pool) {
		if w.admits(l.tenant) {
			milli += l.Milli()
		}
	}
	return milli + ws.e.svc.heldBy(w)
}

// runningIn yields the jobs that run in pool p.
func (e *engine) runningIn(p int) func(yield func(*Live) bool) {
	return func(yield func(*Live) bool) {
		queues := e.c.state[p].queues
		if len(queues) == 0 {
			return
		}
		for en := range e.running(queues[0].cell).All() {
			if l := en.Value.job; l.Pool() == p && !yield(l) {
				return
			}
		}
	}
}

// closeNodes lets the nodes of a window take no new work (sign 1), or again (-1).
func (ws *windows) closeNodes(w *window, sign int64) {
	first, _ := ws.e.c.NodesOf(w.pool)
	for n := first + w.FirstNode; n < first+w.FirstNode+w.Nodes; n++ {
		nd := &ws.e.c.nodes[n]
		ws.closed[n] = uint8(int64(ws.closed[n]) + sign)
		// A node that has notice of its loss goes on draining when a window ends.
		ws.e.setNode(n, nd.delivered, nd.lost, nd.leaving)
	}
}

// stopFor stops jobs until the window has what it takes: those on its nodes, or the last started
// first, ties by the higher id.
func (ws *windows) stopFor(w *window) {
	var gone []*Live
	for l := range ws.e.runningIn(w.pool) {
		if w.Nodes == 0 || w.holds(ws.e.c, l.slices) {
			gone = append(gone, l)
		}
	}
	slices.SortFunc(gone, func(a, b *Live) int {
		switch {
		case a.Since != b.Since:
			return int(b.Since - a.Since)
		case inOrderOfID(a.ID, b.ID) != 0:
			return inOrderOfID(b.ID, a.ID)
		}
		return int(b.seq) - int(a.seq)
	})
	ws.ending = w
	for _, l := range gone {
		if w.Nodes == 0 && ws.e.c.state[w.pool].account.usable >= 0 {
			break
		}
		if len(w.For) > 0 && w.admits(l.tenant) {
			continue
		}
		ws.killed++
		ws.e.evict(l, true)
		ws.e.enqueue(l)
		ws.e.planPatience(l)
	}
	ws.ending = nil
}

// holds reports whether one of the slices is on the window's nodes.
func (w *window) holds(c *Cluster, slices []Slice) bool {
	for i := range slices {
		if n := c.NodeNumber(int(slices[i].Node)) - w.FirstNode; n >= 0 && n < w.Nodes {
			return true
		}
	}
	return false
}

// inOrderOfID compares ids: numbers by value, other ids as bytes.
func inOrderOfID(a, b string) int {
	if isNumber(a) && isNumber(b) && len(a) != len(b) {
		return len(a) - len(b)
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && (s[0] != '0' || s == "0")
}

// warns reports whether a window that stops jobs was announced early enough for a last checkpoint.
func (w *window) warns(rc *RestartClass) bool {
	notice := w.Lead
	if notice == 0 {
		notice = w.Start
	}
	return rc.Interval > 0 && notice > 0 && notice >= rc.Cost+rc.Write
}

func (ws *windows) started(l *Live) { ws.occupyBy(l.tenant, l.Pool(), l.Milli()) }
func (ws *windows) stopped(l *Live) { ws.occupyBy(l.tenant, l.Pool(), -l.Milli()) }

// occupyBy counts that a tenant holds milli thousandths of GPUs more of pool p.
func (ws *windows) occupyBy(t *Tenant, p int, milli int64) {
	ws.changes[p]++
	for _, w := range ws.byPool[p] {
		if w.open && len(w.For) > 0 && w.admits(t) {
			kept := w.keeps()
			w.held += milli
			ws.withholdMore(p, w.keeps()-kept)
		}
	}
}

// findGuarded is findIn for a run with windows. It shows the placement only the pools and nodes that
// l may have for as long as it is believed to run.
func (ws *windows) findGuarded(l *Live, pools []int) []Slice {
	ws.fitting, ws.masked = ws.fitting[:0], ws.masked[:0]
	for _, p := range pools {
		list := ws.byPool[p]
		if len(list) == 0 {
			ws.fitting = append(ws.fitting, p)
			continue
		}
		end := ws.e.c.now + ws.e.stayBelieved(l, p)
		if !ws.counted[p] || ws.fitsWindows(l, list, end) {
			ws.fitting = append(ws.fitting, p)
			ws.mask(list, end)
			ws.lend(l, p, 1)
		}
	}
	s := ws.e.c.Find(ws.e.cfg.Placement, l, ws.fitting)
	if len(s) > 0 && l.rc.isOpen() && !ws.clearsLonger(l, s) {
		s = nil
	}
	for _, p := range ws.fitting {
		ws.lend(l, p, -1)
	}
	for _, n := range ws.masked {
		ws.e.c.setUp(n, true, false)
	}
	return s
}

// clearsLonger is the check of findGuarded once more for a job whose checkpoints, and so its stay,
// depend on where it runs.
func (ws *windows) clearsLonger(l *Live, s []Slice) bool {
	was := l.rc
	l.rc = &ws.e.savings.savingOf(l, s).RestartClass
	p := int(s[0].Pool)
	end := ws.e.c.now + ws.e.stayBelieved(l, p)
	l.rc = was
	for _, w := range ws.byPool[p] {
		if w.Nodes > 0 && w.Start < end && w.knownAt(ws.e.c.now) && w.holds(ws.e.c, s) {
			return false
		}
	}
	return !ws.counted[p] || ws.fitsWindows(l, ws.byPool[p], end)
}

// lend shows l what open reservations of pool p keep for its tenant (sign 1), or ends that (-1).
func (ws *windows) lend(l *Live, p int, sign int64) {
	for _, w := range ws.byPool[p] {
		if milli := w.keeps(); milli > 0 && w.admits(l.tenant) {
			ws.e.c.state[p].account.usable += sign * milli
			ws.e.c.state[p].withheld -= sign * milli
		}
	}
}

// keptIn returns what open reservations of pool p keep, in thousandths of GPUs.
func (ws *windows) keptIn(p int) (milli int64) {
	for _, w := range ws.byPool[p] {
		milli += w.keeps()
	}
	return milli
}

// fitsWindows reports whether l, if it starts now and holds its GPUs until end, fits at the start of
// each window that is known. Only starts matter, for within a window jobs only end.
func (ws *windows) fitsWindows(l *Live, list []*window, end capcli.Seconds) bool {
	now := ws.e.c.now
	for _, w := range list {
		if w.Start >= end {
			return true
		}
		if !w.knownAt(now) {
			continue
		}
		if w.of != ws.changes[w.pool]+1 {
			w.left, w.of = ws.leftAt(w.Start, list, nil), ws.changes[w.pool]+1
		}
		if w.left < l.Milli() && (!isOfSome(list, l.tenant) || ws.leftAt(w.Start, list, l.tenant) < l.Milli()) {
			return false
		}
	}
	return true
}

func isOfSome(list []*window, t *Tenant) bool {
	return slices.ContainsFunc(list, func(w *window) bool { return w.admits(t) })
}

// leftAt returns the capacity of a pool that is left at a time for a job of tenant t; nil is one
// without reservations. It is all capacity, without what running jobs are believed to hold beyond
// that time, what windows take then, and what reservations keep then beyond what their own tenants
// hold.
func (ws *windows) leftAt(at capcli.Seconds, list []*window, t *Tenant) int64 {
	p, now := list[0].pool, ws.e.c.now
	left := int64(ws.e.c.pools[p].Capacity())*1000 - ws.heldBeyond(p, at, nil)
	for _, w := range list {
		switch {
		case !w.countsAt(at, now):
		case len(w.For) == 0:
			left -= ws.takes(w)
		case t == nil || !w.admits(t):
			left -= max(0, w.Milli-ws.heldBeyond(p, at, w))
		}
	}
	return left
}

// heldBeyond returns what running jobs of pool p are believed to hold beyond a time, in thousandths of
// GPUs: those of the tenants of w, or all if w is nil.
func (ws *windows) heldBeyond(p int, at capcli.Seconds, w *window) (milli int64) {
	for l := range ws.e.runningIn(p) {
		if l.believes > at && (w == nil || w.admits(l.tenant)) {
			milli += l.Milli()
		}
	}
	return milli
}

func (ws *windows) afterWindows(l *Live, p int, at capcli.Seconds) capcli.Seconds {
	list, now := ws.byPool[p], ws.e.c.now
	stay := ws.e.stayBelieved(l, p)
	for _, w := range list { // in order of start, so a later time meets only later windows
		if w.End == 0 || w.End <= at || w.Start >= at+stay || !w.open && !w.knownAt(now) {
			continue
		}
		left := int64(ws.e.c.pools[p].Capacity()) * 1000
		for _, x := range list {
			if x.countsAt(max(at, w.Start), now) && (len(x.For) == 0 || !x.admits(l.tenant)) {
				left -= ws.takes(x)
			}
		}
		if left < l.Milli() {
			at = w.End
		}
	}
	return at
}

// mask hides the nodes of windows that are known and begin before end.
func (ws *windows) mask(list []*window, end capcli.Seconds) {
	for _, w := range list {
		if w.Start >= end {
			return
		}
		if w.Nodes == 0 || !w.knownAt(ws.e.c.now) {
			continue
		}
		first, _ := ws.e.c.NodesOf(w.pool)
		for n := first + w.FirstNode; n < first+w.FirstNode+w.Nodes; n++ {
			if nd := &ws.e.c.nodes[n]; nd.up && !nd.draining {
				ws.e.c.setUp(n, true, true)
				ws.masked = append(ws.masked, n)
			}
		}
	}
}

// stayBelieved returns how long l is believed to hold GPUs of pool p if it starts now.
func (e *engine) stayBelieved(l *Live, p int) capcli.Seconds {
	left := max(0, l.Believed-l.saved)
	if l.HasWays() && !l.mould.worn {
		if way := l.mould.askedIn(l, p); way >= 0 {
			left = l.leftIn(&l.Shape.Ways[way], e.c.now)
		}
	}
	stay := l.overhead + l.rc.wall(left)
	if e.cfg.KillAtLimit && l.Limit > 0 {
		stay = min(stay, l.Limit-l.spent)
	}
	if pool := &e.c.pools[p]; !pool.PaidWhole() {
		stay += pool.Lead
	}
	return stay
}

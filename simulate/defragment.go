package simulate

import (
	"cmp"
	"slices"

	"capcli"
)

// Defragment moves running jobs so that a waiting gang fits: each Every, the first waiting job of a
// queue that has enough free GPUs in a committed pool, but not where its placement wants them. A move
// saves the job's work, takes its GPUs away, and restarts it elsewhere in the pool at once, in the
// manner of the migration of Gandiva (Xiao et al., OSDI 2018). It costs the pause of a checkpoint,
// its write and a restart, and no other work.
//
// Only jobs that can save their work move, while they have more of it left than a move costs. Pools
// with windows, runs in which jobs share GPUs, and runs with a guard against starvation are left as
// they are.
type Defragment struct {
	Every     capcli.Seconds // 0 is never
	MostMoves int            // most jobs moved at once; 0 is 1
}

// Moves counts the moves of a run.
type Moves struct {
	Jobs   int64          `json:"jobs"`           // jobs moved
	Gangs  int64          `json:"gangs_started"`  // waiting jobs that this let start
	Paused capcli.GPUTime `json:"lost_gpu_hours"` // GPU time of the moves
}

// beginRound is the handler of the time of a round of moves.
func beginRound(e *engine, _ planned) { e.defrag.due, e.defrag.planned = true, false }

// defrag is the state of moves in a run.
type defrag struct {
	e *engine
	Moves
	due     bool // a round is due after the turns of this instant
	changed bool // something happened since the last round
	planned bool
	copy    *Cluster
}

func (d *defrag) joined(*Live)  { d.changed = true }
func (d *defrag) stopped(*Live) { d.changed = true }

// settle holds a round if one is due, and plans the next.
func (d *defrag) settle() {
	if d.due {
		d.defragment()
		d.e.turns()
	}
	d.planDefrag()
}

// planDefrag plans the next round if jobs wait and something has changed since the last.
func (d *defrag) planDefrag() {
	if every := d.e.cfg.Defragment.Every; d.changed && !d.planned && d.e.meter.queueNow > 0 {
		d.planned = true
		d.e.agenda.call(d.e.c.now/every*every+every, beginRound)
	}
}

// defragment holds a round: one waiting job for each queue.
func (d *defrag) defragment() {
	d.due, d.changed = false, false
	if d.e.c.shares != nil || d.e.guard.after > 0 {
		return
	}
	for _, q := range d.e.queues {
		for en := range q.list.All() {
			l := en.Value.job
			if l.state != waiting || l.OverQuota() || len(l.class.ranks) == 0 {
				continue
			}
			if slices.ContainsFunc(l.class.ranks[0], func(p int) bool { return d.makeRoom(l, p) }) {
				d.e.turn.sweep()
			}
			break // one job a queue, the first that may start
		}
	}
}

// makeRoom moves jobs of pool p so that l fits, and starts it. It reports whether it did.
func (d *defrag) makeRoom(l *Live, p int) bool {
	pool := &d.e.c.pools[p]
	if !pool.Terms.Committed() || len(pool.Windows) > 0 || l.GPUs == 0 || d.e.c.Usable(p) < l.Milli() || len(d.e.findIn(d.e.c, l, []int{p})) > 0 {
		return false
	}
	groups := d.movable(p)
	var moved []*Live
	for _, g := range groups {
		if len(moved)+len(g) > max(1, d.e.cfg.Defragment.MostMoves) {
			continue
		}
		moved = append(moved, g...)
		if places := d.tryMoves(l, moved, p); places != nil {
			d.move(l, moved, places)
			return true
		}
	}
	return false
}

// movable returns the jobs of pool p that may move, by the node that they would empty: those with the
// fewest held GPUs first. A job on several nodes is with the first of them.
func (d *defrag) movable(p int) (out [][]*Live) {
	byNode := map[int32][]*Live{}
	held := map[int32]int64{}
	var nodes []int32
	for l := range d.e.runningIn(p) {
		for i := range l.slices {
			held[l.slices[i].Node] += int64(l.slices[i].GPUs)
		}
		if n := l.slices[0].Node; d.e.mayMove(l) {
			if byNode[n] == nil {
				nodes = append(nodes, n)
			}
			byNode[n] = append(byNode[n], l)
		}
	}
	slices.SortFunc(nodes, func(a, b int32) int { return cmp.Or(cmp.Compare(held[a], held[b]), cmp.Compare(a, b)) })
	for _, n := range nodes {
		g := byNode[n]
		slices.SortFunc(g, func(a, b *Live) int { return cmp.Or(cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(a.seq, b.seq)) })
		out = append(out, g)
	}
	return out
}

// pause returns what a move costs l.
func (l *Live) pause() capcli.Seconds { return l.rc.Cost + l.rc.Write + l.rc.Restart }

// mayMove reports whether l can save its work and has more of it left than a move costs.
func (e *engine) mayMove(l *Live) bool {
	now := e.c.now
	if l.GPUs == 0 || l.rc.Interval == 0 || l.Leaves() || l.Since > now || l.LeftBelieved(now) <= l.pause() || l.Restarting(now) > 0 {
		return false
	}
	if e.cfg.KillAtLimit && l.Limit > 0 { // a move must not end it at its limit
		kept, loose := l.rc.progress(l.ran(now))
		left := l.rc.wall(max(0, l.Believed-l.saved-kept-loose))
		if l.spent+now-l.Since+l.pause()+left > l.Limit {
			return false
		}
	}
	return !slices.ContainsFunc(l.slices, func(s Slice) bool { return e.c.nodes[s.Node].draining })
}

// tryMoves returns where l and then each of the jobs would go in pool p if all of them were moved; nil
// if one of them has no room.
func (d *defrag) tryMoves(l *Live, moved []*Live, p int) [][]Slice {
	w := d.e.c.copyTo(d.copy)
	d.copy = w
	for _, m := range moved {
		w.release(m.slices)
	}
	pools := []int{p}
	var out [][]Slice
	for _, x := range append([]*Live{l}, moved...) {
		s := slices.Clone(d.e.findIn(w, x, pools))
		if len(s) == 0 {
			return nil
		}
		w.take(s)
		out = append(out, s)
	}
	return out
}

// move takes the GPUs of the moved jobs away, starts l, and restarts them at their new places.
func (d *defrag) move(l *Live, moved []*Live, places [][]Slice) {
	for _, m := range moved {
		d.e.takeOff(m)
		d.Jobs++
		d.Paused += capcli.GPUTime(int64(m.overhead) * m.Milli())
	}
	d.e.start(l, places[0])
	d.Gangs++
	for i, m := range moved {
		d.e.start(m, places[i+1])
	}
}

// takeOff takes the GPUs of m away to move it: all its work is saved, and it waits for a moment.
func (e *engine) takeOff(m *Live) {
	now := e.c.now
	stay := now - m.Since
	kept, loose := m.rc.progress(m.ran(now))
	e.savings.firstSaved(m, kept)
	saved := min(m.saved+kept+loose, m.Run)
	e.stop(m, saved, stay-(saved-m.saved))
	m.state = waiting
	m.wait(1)
	m.spent += stay
	m.overhead = m.pause()
	m.run++
	m.Since = now
	e.comeBack(m)
	e.enqueue(m)
}

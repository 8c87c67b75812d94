package simulate

import (
	"fmt"
	"slices"

	"capcli"
)

// mould is the state of a job that has a Shape. While the job waits, its Job is as it was submitted. When
// it starts it is reshaped: its GPUs, CPUs, memory, run time, estimate and saved work become those of the
// way, so that all of a stay is in seconds of that stay. When it stops it is as submitted again, with the
// work that is left.
//
// The limit stays as it is: the job may hold GPUs for so long in any way. Its estimate changes with the
// way, as its run time does.
type mould struct {
	gpus          int // as submitted; of a job that can never run so, those of the widest way in which it can
	cpu, mem      int64
	run, believed capcli.Seconds
	left          work     // work left at the last start or stop
	open          []Choice // ways that fit an empty cluster; nil for a job without ways
	least         int      // fewest GPUs of a way that may be chosen
	found         int32    // way of the last room found; -1 is as submitted
	way           int32    // way of the current stay, or of the last; -1 is as submitted
	worn          bool     // the job has the form of a way now
	num, den      int64    // run time of the stay, as a multiple of that as submitted
	began         capcli.Seconds
	useful, lost  capcli.GPUTime // GPU time of former stays: work that stands, and the rest
	use           *WayUse        // of the current stay, or of the last
}

// shapes are what jobs with a Shape need in a run.
type shapes struct {
	e       *engine
	looks   Waiter             // Config.Chooser, if its choices change with time; else nil
	wayUse  map[wayKey]*WayUse // what the ways of shapes did
	onTime  bool               // findWay passes over choices that miss the deadline
	asks    bool               // jobs run in the width and the model that they asked for: see Config.Chooser
	seeding bool               // jobs start as they ask: the first of Config.Seeded, and those of Ways.StartAsked
	accept  func([]Slice) bool // what room will do: see Ways.FindIf; nil is any
	choices []Choice           // buffer of findWay
	tried   []int              // buffer of findWay
	planned []int              // buffer of Planning.Pools
	one     [1]int             // buffer of FindAs
}

// joined plans the next look at the choices for l.
func (sh *shapes) joined(l *Live) {
	if l.HasWays() {
		sh.planLook(l)
	}
}

// factor returns by how much the run time of l, which starts on the slices, differs from that as
// submitted: num / den. It is the product of all that makes a stay slower or faster.
func (sh *shapes) factor(l *Live, s []Slice) (num, den int64) {
	num, den = 1, 1
	if w := l.mould.found; w >= 0 {
		num, den = l.Shape.Ways[w].Num, l.Shape.Ways[w].Den
	}
	if l.layout != nil {
		f := sh.e.topo.nearFactor(l, s)
		num, den = timesRatio(num, den, f.num, f.den)
	}
	if l.GPUMilli > 0 && sh.e.classes.needs.slows {
		n, d := sh.e.c.crowding(s)
		num, den = timesRatio(num, den, n, d)
	}
	return num, den
}

// shape prepares l, which arrives, for its ways.
func (sh *shapes) shape(l *Live) {
	m := &mould{}
	if s := &sh.e.slab; len(s.moulds) > 0 {
		n := len(s.moulds) - 1
		m, s.moulds = s.moulds[n], s.moulds[:n]
	}
	*m = mould{gpus: l.GPUs, cpu: l.CPUMilli, mem: l.MemMiB, run: l.Run, believed: l.Believed, left: work{whole: l.Run}, least: l.GPUs, way: -1, found: -1, num: 1, den: 1}
	l.mould = m
	if !l.class.hasWays() {
		return
	}
	m.open = sh.openWays(l)
	sh.settleForm(l)
}

// hasWays reports whether the jobs of the class may run in several ways.
func (c *Reach) hasWays() bool { return c.gpus > 0 }

// settleForm finds the fewest GPUs that l, which arrives, may start with. If l can never run as
// submitted, but can in a way, the widest such way takes the place of what it asked for.
func (sh *shapes) settleForm(l *Live) {
	m, best := l.mould, -1
	asked := false
	m.least = 0
	for i, o := range m.open {
		w := &l.Shape.Ways[o.Way]
		if sh.e.neverMay(l, demandIn(l, w)) {
			continue
		}
		if w.GPUs == m.gpus {
			asked = true
		}
		if m.least == 0 || w.GPUs < m.least {
			m.least = w.GPUs
		}
		if best < 0 || w.GPUs > l.Shape.Ways[m.open[best].Way].GPUs {
			best = i
		}
	}
	if best < 0 {
		m.open, m.least = nil, m.gpus
		return
	}
	if !asked {
		w := &l.Shape.Ways[m.open[best].Way]
		cpu, mem := m.share(w)
		m.gpus, m.cpu, m.mem = w.GPUs, cpu, mem
		m.back(l)
	}
	if sh.asks {
		m.least = m.gpus
	}
}

// demand is what a quota, a cap or a budget counts of a job that waits.
type demand struct {
	gpus  int
	milli int64
	left  capcli.Seconds // by the estimate
}

// demandOf returns the demand of l as it is.
func demandOf(l *Live) demand { return demand{l.GPUs, l.Milli(), l.LeftBelieved(0)} }

func demandIn(l *Live, w *capcli.Way) demand {
	j := capcli.Job{GPUs: w.GPUs, GPUMilli: l.GPUMilli}
	return demand{w.GPUs, j.Milli(), l.leftIn(w, 0)}
}

// neverMay reports whether the quota, a cap or a budget forbids a demand of l for ever.
func (e *engine) neverMay(l *Live, d demand) bool {
	return l.tenant.Quota > 0 && d.gpus > l.tenant.Quota || len(l.allowances) > 0 && e.classes.whyHeld(l, d) != ""
}

// share returns the CPUs and the memory of a way: as submitted, in proportion to the GPUs, rounded up.
func (m *mould) share(w *capcli.Way) (cpu, mem int64) {
	if w.GPUs == m.gpus {
		return m.cpu, m.mem
	}
	all, g := int64(m.gpus), int64(w.GPUs)
	return (m.cpu*g + all - 1) / all, (m.mem*g + all - 1) / all
}

// put gives l the form of a way, with num/den times the run time; a nil way changes the times alone.
func (m *mould) put(l *Live, w *capcli.Way, num, den int64) {
	if w != nil {
		l.CPUMilli, l.MemMiB = m.share(w)
		l.GPUs = w.GPUs
	}
	l.Run, l.Believed = work{whole: m.run}.wall(num, den), work{whole: m.believed}.wall(num, den)
	l.saved = l.Run - m.left.wall(num, den)
	m.worn = true
}

// back gives l the form that it has while it waits.
func (m *mould) back(l *Live) {
	l.GPUs, l.CPUMilli, l.MemMiB, l.Run, l.Believed = m.gpus, m.cpu, m.mem, m.run, m.believed
	l.saved = l.Run - m.left.seconds()
	m.worn = false
}

// reshape gives l, which starts on the slices, the form of the way that was found.
func (sh *shapes) reshape(l *Live, s []Slice) {
	m := l.mould
	if m.found < 0 && m.open != nil {
		m.found = m.askedIn(l, int(s[0].Pool))
	}
	m.way = m.found
	m.num, m.den = sh.factor(l, s)
	var w *capcli.Way
	if m.way >= 0 {
		w = &l.Shape.Ways[m.way]
	}
	if m.put(l, w, m.num, m.den); l.GPUs != m.gpus {
		l.rc = sh.e.cfg.Restarts.ClassOf(&l.Job)
	}
	m.began = l.saved
	if m.open != nil {
		sh.countWay(l, int(s[0].Pool))
	}
}

// unshape counts the work of l's last stay and gives l the form that it has while it waits.
func (sh *shapes) unshape(l *Live) {
	m := l.mould
	before := m.left.seconds()
	m.settle(l, l.saved)
	m.counts(l, before)
	other := l.GPUs != m.gpus
	if m.back(l); other {
		l.rc = sh.e.cfg.Restarts.ClassOf(&l.Job)
	}
}

// counts counts what a stay that ends has done since so many seconds of work were left.
func (m *mould) counts(l *Live, before capcli.Seconds) {
	if m.use != nil {
		m.use.add(l, before-m.left.seconds())
	}
}

// settle sets the work that is left of l when saved seconds of the current way are done.
func (m *mould) settle(l *Live, saved capcli.Seconds) {
	switch {
	case saved >= l.Run:
		m.left = work{}
	case saved <= 0 || saved < m.began:
		m.left = work{whole: m.run}
	default:
		m.left = m.left.minusWall(saved-m.began, m.num, m.den)
	}
}

// charge counts the GPU time of a stay that ends: wall seconds, of which lost made no progress that stands,
// and in waited it waited for its data. More may be lost than the stay took.
func (m *mould) charge(l *Live, wall, lost, waited capcli.Seconds) {
	stay := capcli.GPUTime(int64(wall) * l.Milli())
	if m.use != nil {
		m.use.Held += stay
	}
	if wall, stay = wall-waited, stay-capcli.GPUTime(int64(waited)*l.Milli()); lost > wall { // former stays too
		m.lost += m.useful + stay
		m.useful = 0
		return
	}
	d := capcli.GPUTime(int64(lost) * l.Milli())
	m.lost += d
	m.useful += stay - d
}

// workDone returns the whole seconds of the way as submitted that l has done, if saved seconds of the current
// way are.
func (m *mould) workDone(l *Live, saved capcli.Seconds) capcli.Seconds {
	if !m.worn {
		return saved
	}
	was := m.left
	m.settle(l, saved)
	d := m.run - m.left.seconds()
	m.left = was
	return d
}

// AskedGPUs returns the number of GPUs that the job asked for, whatever it holds now.
func (l *Live) AskedGPUs() int {
	if l.mould != nil {
		return l.mould.gpus
	}
	return l.GPUs
}

// askedMilli is Job.Milli of the job as submitted.
func (l *Live) askedMilli() int64 {
	if l.mould == nil || !l.mould.worn {
		return l.Milli()
	}
	if l.GPUMilli > 0 {
		return int64(l.GPUMilli) * int64(l.mould.gpus)
	}
	return int64(l.mould.gpus) * 1000
}

// askedRun is the run time of the job as submitted.
func (l *Live) askedRun() capcli.Seconds {
	if l.mould != nil {
		return l.mould.run
	}
	return l.Run
}

// LeastGPUs returns the fewest GPUs that the job can start with; what it holds while it runs.
func (l *Live) LeastGPUs() int {
	if l.mould == nil || l.mould.worn {
		return l.GPUs
	}
	return l.mould.least
}

// LeastMilli is LeastGPUs in thousandths, with a share of a GPU as it is.
func (l *Live) LeastMilli() int64 {
	if l.GPUMilli > 0 {
		return l.Milli()
	}
	return int64(l.LeastGPUs()) * 1000
}

// HasWays reports whether the job may start in other ways than it asked for.
func (l *Live) HasWays() bool { return l.mould != nil && l.mould.open != nil }

// Way returns the way in which the job runs, as an index of Shape.Ways; -1 if it waits or has no ways.
func (l *Live) Way() int {
	if l.mould == nil || l.state != running {
		return -1
	}
	return int(l.mould.way)
}

// Ways appends all ways of l, which waits, in the pools to dst that would fit if nothing else ran. A job
// without ways has one for each pool, with Way -1.
func (l *Live) Ways(pools []int, dst []Choice) []Choice { return l.waysAt(pools, l.Since, dst) }

// waysAt is Ways at a time; of a job that runs, for the case that it stopped then without loss.
func (l *Live) waysAt(pools []int, now capcli.Seconds, dst []Choice) []Choice {
	over := l.overhead
	if l.state == running {
		over = l.Restarting(now) + l.rc.Restart
	}
	if !l.HasWays() {
		for _, p := range pools {
			dst = append(dst, Choice{Way: -1, Pool: p, Left: over + l.rc.wall(l.LeftBelieved(now))})
		}
		return dst
	}
	for _, o := range l.mould.open {
		if slices.Contains(pools, o.Pool) {
			o.Left = over + l.rc.wall(l.leftIn(&l.Shape.Ways[o.Way], now))
			dst = append(dst, o)
		}
	}
	return dst
}

// leftIn returns the time that the rest of l takes in a way by its estimate, without restart and
// checkpoints, at least 1 s.
func (l *Live) leftIn(w *capcli.Way, now capcli.Seconds) capcli.Seconds {
	m := l.mould
	left := m.left
	if l.state == running {
		left = left.minusWall(l.ran(now), m.num, m.den)
	}
	run, believed := work{whole: m.run}.wall(w.Num, w.Den), work{whole: m.believed}.wall(w.Num, w.Den)
	return max(1, believed-(run-left.wall(w.Num, w.Den)))
}

// allows reports whether the jobs of the class may run in a way in pool p: the pool has the way's GPU
// model, or, of a way that names none, the one that the job wants. Where nobody chooses, it must be the
// width and the model that the job asked for.
func (sh *shapes) allows(c *Reach, w *capcli.Way, p *Pool) bool {
	if w.Model == "" || sh.asks {
		if !modelFits(c.model, p.GPUModel) || w.Model != "" && !modelFits(c.model, w.Model) {
			return false
		}
	}
	return modelFits(w.Model, p.GPUModel) && (!sh.asks || w.GPUs == c.gpus)
}

// serves reports whether the jobs of the class may run in pool p in some way.
func (sh *shapes) serves(c *Reach, p *Pool) bool {
	if !c.hasWays() {
		return p.Serves(c.partition, c.model)
	}
	if p.Partition != "" && p.Partition != c.partition {
		return false
	}
	return slices.ContainsFunc(c.shape.Ways, func(w capcli.Way) bool { return sh.allows(c, &w, p) })
}

// openWays returns the ways in which l could run if all pools were empty, by pool in order of preference.
// Jobs of a class that want the same share the list.
func (sh *shapes) openWays(l *Live) []Choice {
	c := l.class
	reach := sh.e.classes.reachOf(l)
	key := hostDemand{len(reach), l.GPUs, l.GPUMilli, l.CPUMilli, l.MemMiB}
	if open, known := c.open[key]; known {
		return open
	}
	if c.open == nil || len(c.open) == mostHosted {
		c.open = map[hostDemand][]Choice{}
	}
	var open []Choice
	for _, pools := range reach {
		for _, p := range pools {
			open = sh.openIn(l, p, open)
		}
	}
	c.open[key] = open
	return open
}

// openIn appends the ways in which l fits pool p when it is empty.
func (sh *shapes) openIn(l *Live, p int, open []Choice) []Choice {
	m, from := l.mould, len(open)
	for i := range l.Shape.Ways {
		w := &l.Shape.Ways[i]
		if !sh.allows(l.class, w, &sh.e.c.pools[p]) || l.GPUMilli > 0 && w.GPUs != l.GPUs || sh.asks && len(open) > from {
			continue
		}
		m.put(l, w, w.Num, w.Den)
		if l.Run < capcli.MaxSeconds && sh.e.classes.fitsEmpty(l, [][]int{{p}}) {
			open = append(open, Choice{Way: i, Pool: p})
		}
		m.back(l)
	}
	return open
}

// findWay is findIn for a job with a mould.
func (sh *shapes) findWay(c *Cluster, l *Live, pools []int) []Slice {
	m := l.mould
	switch {
	case m.worn: // it is tried in a way, or it is moved and keeps its way
		return sh.e.place(c, l, pools)
	case m.open == nil:
		m.found = -1
		return sh.e.place(c, l, pools)
	case sh.e.cfg.Chooser == nil || sh.seeding:
		return sh.findAsked(c, l, pools)
	}
	sh.choices = sh.e.cfg.Chooser.Choose(c, l, pools, sh.choices[:0])
	if sh.onTime {
		sh.choices = slices.DeleteFunc(sh.choices, func(c Choice) bool { return c.Late })
	}
	for i := 0; i < len(sh.choices); {
		way, j := sh.choices[i].Way, i+1
		sh.tried = append(sh.tried[:0], sh.choices[i].Pool)
		for ; j < len(sh.choices) && sh.choices[j].Equal && sh.choices[j].Way == way; j++ {
			sh.tried = append(sh.tried, sh.choices[j].Pool)
		}
		if s := sh.tryWay(c, l, way, sh.tried); len(s) > 0 && (sh.accept == nil || sh.accept(s)) {
			return s
		}
		i = j
	}
	return nil
}

// findAsked returns room for l with the GPUs that it asked for, in the first pools of its model.
func (sh *shapes) findAsked(c *Cluster, l *Live, pools []int) []Slice {
	m := l.mould
	m.found = -1
	sh.tried = sh.tried[:0]
	for _, p := range pools {
		if m.askedIn(l, p) >= 0 && (c != sh.e.c || sh.e.guard.admits(l, p)) {
			sh.tried = append(sh.tried, p)
		}
	}
	if len(sh.tried) == 0 {
		return nil
	}
	if sh.accept == nil {
		return sh.e.place(c, l, sh.tried)
	}
	for i := range sh.tried {
		if s := sh.e.place(c, l, sh.tried[i:i+1]); len(s) > 0 && sh.accept(s) {
			return s
		}
	}
	return nil
}

// askedIn returns the way in pool p that l asked for; -1 if there is none.
func (m *mould) askedIn(l *Live, p int) int32 {
	for _, o := range m.open {
		if w := &l.Shape.Ways[o.Way]; o.Pool == p && w.GPUs == m.gpus && (w.Model == "" || modelFits(l.GPUModel, w.Model)) {
			return int32(o.Way)
		}
	}
	return -1
}

// poolsAsAsked returns the pools of the first rank in which l can run as it asks; all of the rank if there are
// none.
func (sh *shapes) poolsAsAsked(l *Live) []int {
	sh.planned = sh.planned[:0]
	for _, p := range l.class.ranks[0] {
		if l.mould.askedIn(l, p) >= 0 {
			sh.planned = append(sh.planned, p)
		}
	}
	if len(sh.planned) == 0 {
		return l.class.ranks[0]
	}
	return sh.planned
}

// tryWay returns room for l in a way in the pools; nil if there is none, or its tenant may not hold so much.
func (sh *shapes) tryWay(c *Cluster, l *Live, way int, pools []int) []Slice {
	m := l.mould
	w := &l.Shape.Ways[way]
	m.put(l, w, w.Num, w.Den)
	defer m.back(l)
	if q := l.tenant.Quota; q > 0 && l.GPUs > q || c == sh.e.c && l.OverQuota() {
		return nil
	}
	if c == sh.e.c && sh.e.guard.shut > 0 {
		pools = slices.DeleteFunc(pools, func(p int) bool { return !sh.e.guard.admits(l, p) })
	}
	if len(pools) == 0 {
		return nil
	}
	m.found = int32(way)
	return sh.e.place(c, l, pools)
}

// whyNoWay returns why no way of l ever fits, as text; "" if that is not why.
func (sh *shapes) whyNoWay(l *Live) string {
	if !l.class.hasWays() || l.mould.open != nil {
		return ""
	}
	if sh.asks {
		return fmt.Sprintf("shape %q has no way on %d GPUs that fits an empty pool", l.Shape.Name, l.GPUs)
	}
	return fmt.Sprintf("none of the %d %s of shape %q fits an empty pool", len(l.Shape.Ways), capcli.Plural(int64(len(l.Shape.Ways)), "way"), l.Shape.Name)
}

// finishShaped gives l, which has ended, the form as submitted. The work that it did before its limit is all
// of its work.
func (sh *shapes) finishShaped(l *Live) {
	m := l.mould
	if m.use != nil {
		m.use.Finished++
	}
	if l.cut {
		before := m.left.seconds()
		m.left = m.left.minusWall(l.saved-m.began, m.num, m.den)
		m.counts(l, before)
		m.run -= m.left.seconds()
		m.left = work{}
		m.back(l)
	} else {
		sh.unshape(l)
	}
}

// figures returns what a scan of a queue reads of l: the least that it can start with, for a job with ways.
func (l *Live) figures(now capcli.Seconds) figures {
	f := figures{l, l.LeastMilli(), l.LeftBelieved(now)}
	if l.HasWays() {
		f.est = l.leastLeft(f.est)
	}
	return f
}

// leastLeft returns the shortest time left of l, which waits, in any of its ways, by its estimate.
func (l *Live) leastLeft(asked capcli.Seconds) capcli.Seconds {
	least := asked
	for _, o := range l.mould.open {
		w := &l.Shape.Ways[o.Way]
		least = min(least, l.leftIn(w, l.Since))
	}
	return least
}

// lookAgain is the handler of a time at which the choices for a job may have changed: see Waiter.
func lookAgain(e *engine, p planned) {
	p.job.queue.letIn(p.job)
	e.shapes.planLook(p.job)
}

// planLook plans a turn for the next time at which the choices for l, which waits, may change.
func (sh *shapes) planLook(l *Live) {
	if at, some := sh.looks.NextLook(sh.e.c, l, slices.Concat(l.class.ranks...)); some {
		sh.e.agenda.wake(max(at, sh.e.c.now+1), lookAgain, l)
	}
}

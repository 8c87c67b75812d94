package simulate

import (
	"cmp"
	"math"
	"slices"

	"capcli"
)

// sweepRun is the state of a sweep in a run.
type sweepRun struct {
	active int       // trials that have arrived and have not ended
	queue  []int32   // trials held back by MaxParallel, in order
	rungs  []rungRun // what the trials reported, by rung
	at     map[int32]int
}

// rungRun is what the trials of a sweep reported at one rung.
type rungRun struct {
	losses []float64 // at this rung, ascending
	means  []float64 // of all rungs up to this one, ascending
}

// rungComes is the handler of a trial that reaches a rung.
func rungComes(e *engine, p planned) { e.stages.judge(p.job) }

// sweepOf returns the state of the sweep of job i; nil if it is no trial.
func (r *stageRun) sweepOf(i int32) *sweepRun {
	s := r.list[i].Stage
	if s == nil || s.Sweep == nil {
		return nil
	}
	w := r.sweeps[s.Sweep]
	if w == nil {
		w = &sweepRun{rungs: make([]rungRun, len(s.Sweep.Rungs)), at: map[int32]int{}}
		r.sweeps[s.Sweep] = w
	}
	return w
}

// lets reports whether the sweep of job i lets it arrive. If not, it arrives when a trial has ended.
func (r *stageRun) lets(i int32) bool {
	w := r.sweepOf(i)
	if w == nil {
		return true
	}
	if most := r.list[i].Stage.Sweep.MaxParallel; most > 0 && w.active >= most {
		w.queue = append(w.queue, i)
		return false
	}
	w.active++
	return true
}

// leaveSweep lets the next trial of the sweep of job i arrive, which has ended or was cancelled.
func (r *stageRun) leaveSweep(i int32) {
	w := r.sweepOf(i)
	if w == nil || r.state[i] != arrived {
		return
	}
	w.active--
	delete(w.at, i)
	if len(w.queue) > 0 {
		r.ready = append(r.ready, w.queue[0])
		w.queue = w.queue[1:]
	}
}

// began notes that l has got its GPUs, and plans the next rung of a trial.
func (r *stageRun) began(l *Live, _ capcli.Seconds) {
	r.noteStart(l.index(), l.Since-r.e.c.now)
	r.replan(l)
}

// replan plans the next report of l, if it is a trial that reports.
func (r *stageRun) replan(l *Live) {
	if w := r.sweepOf(l.index()); w != nil && l.Stage.Sweep.Stop != capcli.StopNever {
		r.planRung(w, l)
	}
}

// planRung plans the event of the next rung that l has not reported, which is in its current stay.
func (r *stageRun) planRung(w *sweepRun, l *Live) {
	if at, some := w.rungAt(l); some {
		r.e.agenda.wake(max(at, r.e.c.now), rungComes, l)
	}
}

// rungAt returns when l comes to the next rung; false if there is none before its end.
func (w *sweepRun) rungAt(l *Live) (at capcli.Seconds, some bool) {
	k := w.at[l.index()]
	if k >= min(len(l.Stage.Sweep.Rungs), len(l.Stage.Scores)) {
		return 0, false
	}
	work := capcli.Seconds(math.Ceil(l.Stage.Sweep.Rungs[k] * float64(l.Run)))
	if work >= l.Run {
		return 0, false
	}
	return l.reaches(l.rc.wall(max(0, work-l.saved))), true
}

// judge takes the report of the running trial l at a rung, and ends it if its sweep's rule says so.
func (r *stageRun) judge(l *Live) {
	i := l.index()
	w, s := r.sweepOf(i), l.Stage.Sweep
	if at, some := w.rungAt(l); l.pace.isOn() && (!some || at > r.e.c.now) {
		return // its pace has changed since the event was planned
	}
	k := w.at[i]
	w.at[i]++
	if w.report(s, k, l.Stage.Scores) {
		r.planRung(w, l)
		return
	}
	r.res.EndedEarly++
	kept, loose := l.rc.progress(l.ran(r.e.c.now))
	done := min(l.Run, l.saved+kept+loose)
	r.res.Spared += capcli.GPUTime(int64(l.Run-done) * l.Milli())
	l.Run = done
	r.e.finish(l)
}

// report notes the losses of a trial up to rung k, and reports whether it goes on.
//
// StopHalving is asynchronous successive halving in the form that stops trials (Li et al., "A System for
// Massively Parallel Hyperparameter Tuning", MLSys 2020): of the n trials that have reported at a rung,
// with this one, the best n / Keep go on, rounded up. StopMedian is the rule of Golovin et al. ("Google
// Vizier", KDD 2017): a trial ends if its best loss so far is above the median of the means of the losses,
// up to the same rung, of the trials that reported before. Ties go on.
func (w *sweepRun) report(s *capcli.Sweep, k int, scores []float64) bool {
	g := &w.rungs[k]
	var sum float64
	best := scores[0]
	for _, x := range scores[:k+1] {
		sum += x
		best = min(best, x)
	}
	on := true
	if n := len(g.means); s.Stop == capcli.StopMedian && n >= max(1, s.Grace) {
		on = best <= (g.means[(n-1)/2]+g.means[n/2])/2
	}
	g.means = insert(g.means, sum/float64(k+1))
	g.losses = insert(g.losses, scores[k])
	if keep := max(2, s.Keep); s.Stop == capcli.StopHalving {
		on = scores[k] <= g.losses[(len(g.losses)+keep-1)/keep-1]
	}
	return on
}

// insert adds x to an ascending list.
func insert(list []float64, x float64) []float64 {
	at, _ := slices.BinarySearchFunc(list, x, cmp.Compare[float64])
	return slices.Insert(list, at, x)
}

// earliest returns when l could have started at the earliest, had no job before it waited.
func (r *stageRun) earliest(l *Live) capcli.Seconds {
	return min(l.Submitted, r.early[l.index()]-capcli.Seconds(r.e.ledger.rec.Start))
}

// leftHeld counts j, job i of the list, which is held at the end of the run, as unserved.
func (e *engine) leftHeld(j *capcli.Job, i int) {
	e.in.seq = uint64(i)
	l := e.live(j)
	l.state = waiting
	for len(e.meter.byTenant) <= l.tenant.index {
		e.meter.byTenant = append(e.meter.byTenant, group{})
	}
	e.serve(l, 0)
	e.slab.put(l)
}

package simulate_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/testdata/golden"
)

// stageAuditor follows jobs by id, and knows nothing of how the engine holds them.
type stageAuditor struct {
	jobs   map[string]*capcli.Job
	lives  map[string]*stageLife
	active map[*capcli.Sweep]int
	fault  string
}

// stageLife is what an observer saw of a job; times are -1 before.
type stageLife struct {
	came, started, ended capcli.Seconds
	well, dropped        bool
	tries                int
}

func (a *stageAuditor) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil {
		return
	}
	l := a.lives[e.Job.ID]
	if l == nil {
		l = &stageLife{came: -1, started: -1, ended: -1}
		a.lives[e.Job.ID] = l
	}
	sweep := (*capcli.Sweep)(nil)
	if s := a.jobs[e.Job.ID].Stage; s != nil {
		sweep = s.Sweep
	}
	switch e.Kind {
	case simulate.Arrive:
		l.came = e.At
		if a.active[sweep]++; e.Job.Refused() {
			l.ended, l.dropped = e.At, true
			a.active[sweep]--
		}
	case simulate.Start:
		if l.tries++; l.started < 0 {
			l.started = e.Job.Since
		}
	case simulate.Finish:
		l.ended, l.well = e.At, !e.Job.Spoilt()
		a.active[sweep]--
	case simulate.Drop:
		l.ended, l.dropped = e.At, true
		a.active[sweep]--
	default:
	}
	if sweep != nil && sweep.MaxParallel > 0 && a.active[sweep] > sweep.MaxParallel && e.Kind == simulate.Arrive && l.ended < 0 {
		a.fault = fmt.Sprintf("sweep %s has %d trials at once", sweep.Name, a.active[sweep])
	}
}

// met reports whether a dependency was satisfied by a time, as far as events tell; known is false for one
// on a job of which they tell nothing.
func (a *stageAuditor) met(d capcli.After, by capcli.Seconds) (is, known bool) {
	l := a.lives[d.ID]
	if l == nil || l.came < 0 {
		return false, false
	}
	at := l.ended
	ok := true
	switch d.When {
	case capcli.AfterOK:
		ok = l.well
	case capcli.AfterNotOK:
		ok = !l.well
	case capcli.AfterStart:
		if l.started >= 0 && (l.ended < 0 || l.started < l.ended) {
			at = l.started
		}
	case capcli.AfterAny, capcli.AfterSome:
	}
	return ok && at >= 0 && at+d.Delay <= by, true
}

// check compares what happened with what the jobs wait for.
func (a *stageAuditor) check() string {
	for id, l := range a.lives {
		j := a.jobs[id]
		if j.Stage == nil || len(j.Stage.After) == 0 {
			continue
		}
		some, all, known, best, rest := false, true, true, false, false
		for _, d := range j.Stage.After {
			if a.jobs[d.ID] == nil { // not there: satisfied
				some = true
				continue
			}
			is, sure := a.met(d, l.came)
			known = known && sure
			some, all = some || is, all && is
			if d.When == capcli.AfterSome && sure {
				best, rest = best || a.lives[d.ID].well, true
			}
		}
		good := all && (best || !rest)
		if j.Stage.One {
			good = some
		}
		switch {
		case !known:
		case l.started >= 0 && !good:
			return fmt.Sprintf("%s came at %d and ran, and what it waits for had not happened: %+v", id, l.came, j.Stage.After)
		}
	}
	return a.fault
}

// drawStages gives jobs dependencies on each other, failures and sweeps.
func drawStages(t *rapid.T, jobs []capcli.Job) {
	sweeps := []*capcli.Sweep{nil, nil, {Name: "two", MaxParallel: 2, Stop: capcli.StopHalving, Keep: 2, Rungs: []float64{0.3, 0.6}}, {Name: "med", Stop: capcli.StopMedian, Grace: 1, Rungs: []float64{0.5}}}
	order := rapid.Permutation(intsTo(len(jobs))).Draw(t, "order") // dependencies go back in this order, so that there is no circle
	for k, i := range order {
		if !rapid.Bool().Draw(t, "staged") {
			continue
		}
		s := &capcli.Stage{
			Fails: rapid.IntRange(0, 5).Draw(t, "fails") == 0, FailTries: rapid.IntRange(0, 2).Draw(t, "fail tries"), Retries: rapid.IntRange(0, 2).Draw(t, "retries"),
			Sweep: rapid.SampledFrom(sweeps).Draw(t, "sweep"), Scores: []float64{rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")},
		}
		for range rapid.IntRange(0, min(3, k)).Draw(t, "dependencies") {
			at := order[rapid.IntRange(0, k-1).Draw(t, "on")]
			s.After = append(s.After, capcli.After{ID: jobs[at].ID, When: capcli.AfterWhen(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4}).Draw(t, "when")), Delay: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 7}).Draw(t, "delay"))})
		}
		if rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
			s.After = append(s.After, capcli.After{ID: "nobody"})
		}
		s.One = rapid.IntRange(0, 3).Draw(t, "one") == 0
		jobs[i].Stage = s
	}
}

func intsTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// TestStageLaws holds every policy with every placement to the laws of dependencies, on drawn worlds with
// losses and preemption: nothing starts before what it waits for, no job is lost, the same run twice is the
// same.
func TestStageLaws(t *testing.T) {
	limitDraws(t, 5)
	cancelled, retried, early := int64(0), int64(0), int64(0)
	for _, pol := range policy.Catalog.All() {
		for _, pl := range placement.Catalog.All() {
			t.Run(pol.Name+"/"+pl.Name, rapid.MakeCheck(func(rt *rapid.T) {
				w := drawWorld(rt)
				drawStages(rt, w.jobs)
				stages, err := simulate.NewStages(w.jobs)
				if err != nil {
					rt.Fatal(err)
				}
				var audit *stageAuditor
				change := w.change
				w.change = func(c *simulate.Config) {
					if change != nil {
						change(c)
					}
					audit = &stageAuditor{jobs: map[string]*capcli.Job{}, lives: map[string]*stageLife{}, active: map[*capcli.Sweep]int{}}
					for i := range w.jobs {
						audit.jobs[w.jobs[i].ID] = &w.jobs[i]
					}
					c.Jobs, c.Stages, c.Observers = nil, stages, append(c.Observers, audit)
				}
				r, a := w.play(t, pol.Value, pl.Value(), w.jobs)
				if a.fault != "" {
					rt.Fatal(a.fault)
				}
				if why := audit.check(); why != "" {
					rt.Fatal(why)
				}
				if c := r.Jobs; c.Waiting != 0 || c.Running != 0 || c.Read != int64(len(w.jobs)) || c.Finished+c.Unplaceable+c.Dropped+c.CPUOnly+c.Cancelled != c.Read || c.Failed > c.Finished+c.CPUOnly {
					rt.Fatalf("jobs are lost: %+v", c)
				}
				if used := usedIn(r.Record); used != r.Goodput+r.Redone {
					rt.Fatalf("all jobs ended, and of %d that was used %d was progress and %d was not", used, r.Goodput, r.Redone)
				}
				r2, b := w.play(t, pol.Value, pl.Value(), w.jobs)
				if a.log.String() != b.log.String() || fmt.Sprintf("%+v", r.Record.Months) != fmt.Sprintf("%+v", r2.Record.Months) || fmt.Sprint(*r.Stages) != fmt.Sprint(*r2.Stages) {
					rt.Fatal("the same config gave two different runs")
				}
				cancelled, retried, early = cancelled+r.Stages.Cancelled, retried+r.Stages.Retries, early+r.Stages.EndedEarly
			}))
		}
	}
	if golden.Full() && (cancelled == 0 || retried == 0 || early == 0) {
		t.Errorf("the draws cancelled %d, retried %d and ended %d early: all should happen", cancelled, retried, early)
	}
}

package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/simulate/workflow"
)

// Stages are the dependencies between the jobs of a list, for Config.Stages. Runs may share them.
//
// A job that waits for others is held: it is in no queue, and no policy sees it. It arrives at the instant
// at which the last thing that it waits for has happened, and its wait counts from then. What it waits for
// can also become impossible; then it is cancelled at that instant, and so are all that wait for it to end
// well, as Slurm does with kill_invalid_depend. In the order of arrival, jobs count by this instant, ties
// by their place in the list.
//
// A job that can never run, that the policy drops or that is ended at its limit has not ended well. Of a
// log, neither has one that the log says failed. A dependency on a job that is not in the list counts as
// satisfied. A job without GPUs that the run leaves out takes its run time and no capacity.
type Stages struct {
	Graph *workflow.Graph
	list  []capcli.Job
	order []int32          // by submission; nil if the list is in that order
	tails []capcli.Seconds // longest paths by the estimates of run times
	early []capcli.Seconds // earliest starts without any wait, since 1970
}

// NewStages returns the dependencies of the jobs. It fails with *capcli.InputError where jobs wait for
// each other in a circle. Other than Config.List, the jobs need not be in order of submission; ties are
// broken by their order in the list.
func NewStages(jobs []capcli.Job) (*Stages, error) {
	g, err := workflow.NewGraph(jobs)
	if err != nil {
		return nil, err
	}
	s := &Stages{Graph: g, list: jobs}
	if !slices.IsSortedFunc(jobs, bySubmit) {
		s.order = make([]int32, len(jobs))
		for i := range s.order {
			s.order[i] = int32(i)
		}
		slices.SortStableFunc(s.order, func(a, b int32) int { return bySubmit(jobs[a], jobs[b]) })
	}
	s.tails = g.Tails(func(i int) capcli.Seconds { return jobs[i].Estimate() })
	s.early = g.Times(func(i int) capcli.Seconds { return jobs[i].Run }, func(i int) capcli.Seconds { return capcli.Seconds(jobs[i].Submit) }).Early
	for i := range jobs {
		if st := jobs[i].Stage; st != nil && st.Tail > 0 {
			s.tails[i] = st.Tail
		}
	}
	return s, nil
}

func bySubmit(a, b capcli.Job) int { return cmp.Compare(a.Submit, b.Submit) }

// StagesError is the error of a stream of jobs that depend on others: a run can play them only from a list,
// with Config.Stages.
type StagesError struct{ ID string }

func (e *StagesError) Error() string {
	return fmt.Sprintf("job %s waits for others: the jobs must be in memory", e.ID)
}

// needsStages reports whether j waits for others or its trials do.
func needsStages(j *capcli.Job) bool {
	return j.Stage != nil && (len(j.Stage.After) > 0 || j.Stage.Sweep != nil || j.Stage.FailTries > 0 || j.Stage.Fails)
}

func anyNeedsStages(jobs []capcli.Job) bool {
	for i := range jobs {
		if needsStages(&jobs[i]) {
			return true
		}
	}
	return false
}

// stageState is how far a job of a run with stages has come.
type stageState uint8

const (
	notSubmitted stageState = iota
	held                    // submitted, and waits for others
	arrived                 // waits, runs or has ended
	cancelled
)

// stageRun is the state of the dependencies in a run.
type stageRun struct {
	*Stages
	e       *engine
	at      int // jobs submitted so far
	state   []stageState
	open    []int32 // what a job still waits for; where one is enough, how many may still come
	from    []capcli.Seconds
	started []bool
	gone    []bool  // jobs that have ended
	good    []bool  // whether a job ended well that the job waits for with AfterSome; nil if none does
	ready   []int32 // arrive at this instant
	planned int     // jobs whose time has yet to pass, planned in the agenda
	sweeps  map[*capcli.Sweep]*sweepRun
	res     StageResult
	held    tally // times held of the jobs that became ready
}

// StageResult is what dependencies made of the jobs of a run.
type StageResult struct {
	Dependent   int64          // jobs that wait for others, of those submitted
	Held        int64          // jobs still held at the end, by others or by their sweep
	Cancelled   int64          // jobs cancelled, because what they waited for cannot happen any more
	Undone      capcli.GPUTime // work of the cancelled jobs
	Failed      int64          // jobs that ended in failure for good
	Spoilt      capcli.GPUTime // GPU time of their runs and of all tries that failed
	Retries     int64          // tries after the first
	EndedEarly  int64          // trials that their sweep ended early
	Spared      capcli.GPUTime // work that these did not have to do
	HeldTime    Stats          // submission to readiness, of the dependent jobs that were not cancelled
	Steps       int64          // steps without GPUs, which took their time and no capacity
	Missing     int64          // dependencies on jobs that are not among the jobs
	MissingID   string         // the first such job
	MissingFrom string         // the job that names it
}

func newStageRun(e *engine, s *Stages) *stageRun {
	n := len(s.list)
	r := &stageRun{
		Stages: s, e: e, state: make([]stageState, n), open: make([]int32, n), from: make([]capcli.Seconds, n),
		started: make([]bool, n), gone: make([]bool, n), sweeps: map[*capcli.Sweep]*sweepRun{},
	}
	for i := range n {
		r.open[i] = int32(len(s.Graph.After(i)))
	}
	r.res.Missing, r.res.MissingID, r.res.MissingFrom = s.Graph.Missing, s.Graph.FirstMissing, s.Graph.By
	return r
}

// pull returns the jobs in order of submission.
func (r *stageRun) pull() (*capcli.Job, error, bool) {
	if r.at >= len(r.list) {
		return nil, nil, false
	}
	r.at++
	return &r.list[r.lastIndex()], nil, true
}

// lastIndex returns the index of the job that pull returned last.
func (r *stageRun) lastIndex() int32 {
	if r.order != nil {
		return r.order[r.at-1]
	}
	return int32(r.at - 1)
}

// isOpen reports whether something of the run is still to come that no live job stands for.
func (r *stageRun) isOpen() bool { return r.planned > 0 }

// settle gives turns to jobs that others of this instant have let in, until none is left.
func (r *stageRun) settle() {
	for r.come() {
		r.e.turns()
	}
}

// submit takes the next job of the stream.
func (r *stageRun) submit() {
	i := r.lastIndex()
	if r.Graph.Waits(int(i)) {
		r.res.Dependent++
	}
	if r.state[i] != notSubmitted { // cancelled before
		return
	}
	if r.state[i] = held; r.open[i] == 0 {
		r.free(i)
	}
}

// free lets job i arrive, at once or when its delay has passed. All that it waits for has happened.
func (r *stageRun) free(i int32) {
	if r.from[i] > r.e.c.now {
		r.plan(r.from[i], i, heldEnds)
		return
	}
	r.ready = append(r.ready, i)
}

// plan plans what happens to job i, which is not live.
func (r *stageRun) plan(at capcli.Seconds, i int32, do handler) {
	r.planned++
	r.e.agenda.add(at, Wake, do, nil, int(i))
}

// heldEnds is the handler of the time at which a job that was held arrives.
func heldEnds(e *engine, p planned) {
	e.stages.planned--
	e.stages.ready = append(e.stages.ready, int32(p.arg))
}

// stepEnds is the handler of the end of a step without GPUs.
func stepEnds(e *engine, p planned) {
	r, i := e.stages, int32(p.arg)
	r.planned--
	r.res.Retries += int64(r.spoilt(i))
	if r.fails(i) {
		r.res.Failed++
	}
	r.conclude(i, !r.fails(i))
}

// come lets the jobs arrive that are ready. It reports whether there was one.
func (r *stageRun) come() (any bool) {
	for len(r.ready) > 0 {
		any = true
		batch := slices.Clone(r.ready)
		r.ready = r.ready[:0]
		slices.Sort(batch)
		for _, i := range batch {
			if r.state[i] == held && r.lets(i) {
				r.arrive(i)
			}
		}
	}
	return any
}

// arrive makes job i one of the run.
func (r *stageRun) arrive(i int32) *Live {
	e, j := r.e, &r.list[i]
	r.state[i] = arrived
	if r.Graph.Waits(int(i)) {
		r.held.add(e.c.now - capcli.Seconds(j.Submit-e.ledger.rec.Start))
	}
	e.in.seq = uint64(i)
	l := e.arrive(j)
	switch {
	case j.GPUs == 0 && !e.cfg.CPUJobs:
		r.res.Steps++
		r.noteStart(i, 0)
		r.plan(e.c.now+j.Run*capcli.Seconds(1+r.spoilt(i)), i, stepEnds)
	case l == nil:
		r.conclude(i, false)
	}
	return l
}

// seed makes the next job of the stream one of the run, which runs already.
func (r *stageRun) seed() *Live {
	i := r.lastIndex()
	r.open[i] = 0
	return r.arrive(i)
}

// noteStart tells the jobs that wait for job i to start that it does after lead.
func (r *stageRun) noteStart(i int32, lead capcli.Seconds) {
	if r.started[i] {
		return
	}
	r.started[i] = true
	for _, d := range r.Graph.Next(int(i)) {
		if d.When == capcli.AfterStart {
			r.met(d, lead)
		}
	}
}

// conclude tells the jobs that wait for the end of job i that it has ended, well or not.
func (r *stageRun) conclude(i int32, well bool) {
	if r.gone[i] {
		return
	}
	r.gone[i] = true
	r.noteStart(i, 0)
	for _, d := range r.Graph.Next(int(i)) {
		switch {
		case d.When == capcli.AfterStart:
		case d.When == capcli.AfterSome:
			if r.good == nil {
				r.good = make([]bool, len(r.list))
			}
			r.good[d.Job] = r.good[d.Job] || well
			r.met(d, 0)
		case d.When == capcli.AfterAny, (d.When == capcli.AfterOK) == well:
			r.met(d, 0)
		default:
			r.ruleOut(d.Job)
		}
	}
	r.leaveSweep(i)
}

// met notes that a dependency is satisfied.
func (r *stageRun) met(d workflow.Edge, lead capcli.Seconds) {
	i := d.Job
	if r.open[i] == 0 || r.state[i] > held {
		return
	}
	if r.from[i] = max(r.from[i], r.e.c.now+lead+d.Delay); r.list[i].Stage.One {
		r.open[i] = 0
	} else {
		r.open[i]--
	}
	switch {
	case r.open[i] > 0:
	case !r.hasGood(d):
		r.cancel(i)
	case r.state[i] == held:
		r.free(i)
	}
}

// hasGood reports whether one of the jobs ended well of which job d.Job needs one. d is the last dependency
// to be satisfied.
func (r *stageRun) hasGood(d workflow.Edge) bool {
	if r.good == nil || r.good[d.Job] {
		return true
	}
	return !slices.ContainsFunc(r.Graph.After(int(d.Job)), func(e workflow.Edge) bool { return e.When == capcli.AfterSome })
}

// ruleOut notes that a dependency of job i cannot be satisfied any more.
func (r *stageRun) ruleOut(i int32) {
	if r.open[i] == 0 || r.state[i] > held {
		return
	}
	if r.list[i].Stage.One {
		if r.open[i]--; r.open[i] > 0 {
			return
		}
	}
	r.cancel(i)
}

// cancel gives up job i, which is held or not yet submitted.
func (r *stageRun) cancel(i int32) {
	e := r.e
	r.state[i] = cancelled
	r.res.Cancelled++
	r.res.Undone += r.list[i].Work()
	e.meter.cancelled(e, &r.list[i])
	if len(e.cfg.Observers) > 0 {
		e.in.seq = uint64(i)
		l := e.live(&r.list[i])
		l.state = waiting
		e.tell(Arrive, l, 0, 0)
		l.state = dropped
		e.tell(Drop, l, 0, 0)
		e.slab.put(l)
	}
	r.conclude(i, false)
}

// fails reports whether job i ends in failure at every try.
func (r *stageRun) fails(i int32) bool {
	s := r.list[i].Stage
	if s != nil && (s.Fails || s.FailTries > s.Retries) {
		return true
	}
	return len(r.Graph.Next(int(i))) > 0 && endedBadly(r.list[i].State)
}

// endedBadly reports whether a job of a log ended in failure, by its state in Slurm's words.
func endedBadly(state string) bool {
	switch state {
	case "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE", "NODE_FAIL", "BOOT_FAIL":
		return true
	}
	return false
}

// spoilt returns how many tries of job i fail before its last.
func (r *stageRun) spoilt(i int32) int {
	s := r.list[i].Stage
	switch {
	case s == nil:
		return 0
	case s.Fails:
		return s.Retries
	}
	return min(s.FailTries, s.Retries)
}

func (l *Live) index() int32 { return int32(l.seq - 1) }

// retry puts l, whose work is done and whose try has failed, back into its queue. It reports false if
// this was its last try, or a good one.
func (r *stageRun) retry(l *Live) bool {
	e, i := r.e, l.index()
	if l.cut || l.over || int(l.tries) >= r.spoilt(i) {
		l.spoilt = r.fails(i)
		return false
	}
	l.tries++
	r.res.Retries++
	r.res.Spoilt += capcli.GPUTime(int64(l.Run) * l.Milli())
	e.stop(l, 0, e.c.now-l.Since+l.saved)
	l.state = waiting
	l.wait(1)
	l.spent, l.overhead, l.leaves = 0, 0, 0
	l.run++
	l.Since = e.c.now
	e.comeBack(l)
	e.enqueue(l)
	e.planPatience(l)
	return true
}

// ended notes the end of l, or that it was given up.
func (r *stageRun) ended(l *Live) {
	i := l.index()
	if l.state != finished {
		r.conclude(i, false)
		return
	}
	bad := r.fails(i)
	if bad {
		r.res.Failed++
		r.res.Spoilt += r.e.meter.spoil(l)
	}
	r.conclude(i, !bad && !l.cut && !l.over)
}

// LongestPath returns the longest path from the job's start to the end of its workflow, by the estimates of
// run times, its own included; without a workflow its own estimate.
func (l *Live) LongestPath() capcli.Seconds {
	if tails := l.queue.tails; tails != nil && tails[l.index()] > 0 {
		return tails[l.index()]
	}
	return l.Believed
}

// close returns the figures at the end of the run, and counts the jobs still held.
func (r *stageRun) close(end capcli.Seconds) *StageResult {
	if r == nil {
		return nil
	}
	all := firstWaits{over: r.held}
	for i, s := range r.state {
		if s != held {
			continue
		}
		j := &r.list[i]
		at := capcli.Seconds(j.Submit - r.e.ledger.rec.Start)
		if r.Graph.Waits(i) {
			all.cut.add(end - at)
		}
		if j.GPUs > 0 || r.e.cfg.CPUJobs {
			r.res.Held++
			r.e.leftHeld(j, i)
		} else {
			r.res.Steps++
			r.e.meter.cpuOnly++
		}
	}
	r.res.HeldTime = all.stats()
	return &r.res
}

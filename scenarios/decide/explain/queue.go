package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// Queue says what stood before one job of a run: the document capcli/queue/v1. Times are seconds
// since the run began.
type Queue struct {
	Schema    string         `json:"schema"`
	Scenario  string         `json:"scenario"`
	Policy    string         `json:"policy"`
	JobID     string         `json:"job_id"`
	Tenant    string         `json:"tenant"`
	GPUs      int            `json:"gpus"`
	Limit     capcli.Seconds `json:"limit_s"`
	Submitted capcli.Seconds `json:"submitted_s"`

	// At its submission. Jobs count that may use a pool that the job may use.
	Position    int     `json:"position"` // 1 is the first in line
	AheadGPUs   float64 `json:"ahead_gpus"`
	RunningJobs int     `json:"running_jobs"`
	RunningGPUs float64 `json:"running_gpus"`
	FreeGPUs    float64 `json:"free_gpus"` // in the pools that it may use first

	// As the policy believed then: nobody else comes, and each job lasts as the policy assumes.
	BelievedStart *capcli.Seconds `json:"believed_start_s"` // null: never
	BelievedWait  *capcli.Seconds `json:"believed_wait_s"`
	WouldPreempt  Names           `json:"would_preempt"`
	StartsNow     int             `json:"starts_now_gpus"` // the most GPUs with which it would have started at once

	// What happened.
	Start       *capcli.Seconds `json:"start_s"` // null: it did not start
	Wait        *capcli.Seconds `json:"wait_s"`
	Preempted   Names           `json:"preempted"` // jobs that lost their GPUs for its first start
	EndedBefore []Ended         `json:"ended_before"`
	Overtaken   Names           `json:"overtaken_by"` // jobs submitted later that started first
	LostGPUs    int             `json:"times_preempted"`
	Notes       []string        `json:"notes"`
}

// Ended is a job that ran at a submission and left its GPUs before the job looked at started.
type Ended struct {
	JobID    string         `json:"job_id"`
	Tenant   string         `json:"tenant"`
	GPUs     int            `json:"gpus"`
	Believed capcli.Seconds `json:"believed_end_s"` // as of the submission
	End      capcli.Seconds `json:"end_s"`
	How      string         `json:"how"` // finish, preempt or drop
}

// Names are the names of jobs.
type Names []string

// Cell returns the names as the cell of a table: the first eight, and how many more there are.
func (n Names) Cell() any { return strings.Join(capcli.Abridge(n, 8), ", ") }

// Lead returns the answer in one sentence.
func (q *Queue) Lead() string {
	text := fmt.Sprintf("Job %s was number %d in the queue", q.JobID, q.Position)
	if q.BelievedWait != nil {
		text += fmt.Sprintf("; %s expected it to wait %s", q.Policy, *q.BelievedWait)
	}
	if q.Wait == nil {
		return text + ". It did not start."
	}
	return text + fmt.Sprintf(". It waited %s.", *q.Wait)
}

// LookAtJob plays a case once and says what stood before the job called id. It fails where no such
// job is in the run, or where it can never run.
func LookAtJob(ctx context.Context, c *play.Case, id string, q play.Request) (*Queue, error) {
	w := &queueWatch{id: id}
	own := *c
	own.Prepare = func(run int, cfg *simulate.Config) error {
		if c.Prepare != nil {
			if err := c.Prepare(run, cfg); err != nil {
				return err
			}
		}
		*w = queueWatch{id: id, keyed: keyedOf(cfg), live: map[*simulate.Live]bool{}}
		cfg.Observers = append(slices.Clip(cfg.Observers), w)
		return nil
	}
	q.Runs = 1
	if _, err := play.Play(ctx, []*play.Case{&own}, q); err != nil {
		return nil, err
	}
	switch {
	case w.out == nil:
		return nil, &capcli.RequestError{Field: "explain-queue", Text: fmt.Sprintf(": no job %q came in this run", id), Hint: "the name is that of --jobs-out, column job_id"}
	case w.refused:
		return nil, &capcli.RequestError{Field: "explain-queue", Text: fmt.Sprintf(": job %q can never run on this capacity", id)}
	}
	w.out.Schema, w.out.Scenario, w.out.Policy = "capcli/queue/v1", c.Scenario.Name, c.Scenario.PolicyName()
	return w.out, w.believe(ctx, c)
}

// keyedOf returns the policy of a run if it has an order of its own, else nil.
func keyedOf(cfg *simulate.Config) simulate.Keyed {
	keyed, _ := cfg.Policy(cfg.Settings).(simulate.Keyed)
	return keyed
}

// queueWatch follows one job of a run.
type queueWatch struct {
	id      string
	keyed   simulate.Keyed
	run     *simulate.View
	live    map[*simulate.Live]bool // jobs that wait or run
	target  *simulate.Live          // nil before its arrival and after its first start
	out     *Queue
	refused bool
	at      capcli.Time
	before  map[*simulate.Live]capcli.Seconds // running at the submission, with their believed ends
	lost    []string                          // preempted since the last start of this instant
	when    capcli.Seconds

	most             int          // GPUs of the pools that it may use first
	running, waiting []capcli.Job // the state at the submission, for another run
	job              capcli.Job
}

// Watch implements simulate.Watcher.
func (w *queueWatch) Watch(run *simulate.View) { w.run = run }

// Observe implements simulate.Observer.
func (w *queueWatch) Observe(e simulate.Event, c *simulate.Cluster) {
	if e.Job == nil {
		return
	}
	if e.At != w.when {
		w.when, w.lost = e.At, nil
	}
	switch e.Kind {
	case simulate.Arrive:
		if w.out == nil && e.Job.ID == w.id {
			w.arrive(e.Job, c)
		}
		if !e.Job.Refused() {
			w.live[e.Job] = true
		}
	case simulate.Start:
		w.start(e)
	case simulate.Finish, simulate.Drop:
		delete(w.live, e.Job)
		w.ended(e)
	case simulate.Preempt:
		w.lost = append(w.lost, e.Job.ID)
		w.ended(e)
		if w.out != nil && e.Job.ID == w.id {
			w.out.LostGPUs++
		}
	default:
	}
}

// start takes in that a job starts.
func (w *queueWatch) start(e simulate.Event) {
	lost := w.lost
	w.lost = nil
	switch {
	case w.target == nil:
	case e.Job == w.target:
		wait := e.At - w.out.Submitted
		w.out.Start, w.out.Wait = &e.At, &wait
		w.out.Preempted = append(w.out.Preempted, lost...)
		w.target = nil
	case e.Job.Index() > w.target.Index():
		w.out.Overtaken = append(w.out.Overtaken, e.Job.ID)
	}
}

// ended takes in that a job leaves its GPUs.
func (w *queueWatch) ended(e simulate.Event) {
	if w.target == nil {
		return
	}
	if believed, was := w.before[e.Job]; was {
		delete(w.before, e.Job)
		w.out.EndedBefore = append(w.out.EndedBefore, Ended{e.Job.ID, e.Job.Tenant, e.Job.GPUs, believed, e.At, e.Kind.String()})
	}
}

// arrive records the queue as the job looked at finds it.
func (w *queueWatch) arrive(l *simulate.Live, c *simulate.Cluster) {
	w.out = &Queue{
		JobID: l.ID, Tenant: l.Tenant, GPUs: l.GPUs, Limit: l.Limit, Submitted: l.Submitted, Position: 1,
		WouldPreempt: Names{}, Preempted: Names{}, EndedBefore: []Ended{}, Overtaken: Names{}, Notes: []string{},
	}
	if w.refused = l.Refused(); w.refused {
		return
	}
	now := c.Now()
	w.target, w.at, w.before = l, w.run.Start()+capcli.Time(now), map[*simulate.Live]capcli.Seconds{}
	key := int64(l.Submitted) // the order where a policy has none of its own
	if w.keyed != nil {
		key = w.keyed.Key(l)
	}
	for _, o := range w.inOrder() {
		meets := sharesPool(o, l)
		if o.Running() {
			job := o.Job
			job.Run, job.Limit = max(1, o.EndBelieved()-now), max(1, o.EndBelieved()-now)
			w.running = append(w.running, job)
			if meets {
				w.before[o] = o.EndBelieved()
				w.out.RunningJobs++
				w.out.RunningGPUs += float64(o.Milli()) / 1000
			}
			continue
		}
		job := o.Job
		job.Run, job.Limit = o.LeftBelieved(now), o.LeftBelieved(now)
		w.waiting = append(w.waiting, job)
		if meets && o.Key <= key {
			w.out.Position++
			w.out.AheadGPUs += float64(o.Milli()) / 1000
		}
	}
	w.job = l.Job
	w.job.Run, w.job.Limit = l.Believed, l.Believed
	for _, p := range l.Reach().Ranks()[0] {
		w.out.FreeGPUs += float64(c.Usable(p)) / 1000
		w.most += c.Pool(p).Capacity()
	}
}

// inOrder returns the jobs that wait or run, in the policy's order, then in that of arrival.
func (w *queueWatch) inOrder() []*simulate.Live {
	out := make([]*simulate.Live, 0, len(w.live))
	for l := range w.live {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *simulate.Live) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Index(), b.Index()))
	})
	return out
}

// sharesPool reports whether two jobs may use a pool in common.
func sharesPool(a, b *simulate.Live) bool {
	for _, x := range a.Reach().Ranks() {
		for _, y := range b.Reach().Ranks() {
			if slices.ContainsFunc(x, func(p int) bool { return slices.Contains(y, p) }) {
				return true
			}
		}
	}
	return false
}

// believe plays the queue on from the submission, as the policy believed it: nobody else arrives.
func (w *queueWatch) believe(ctx context.Context, c *play.Case) error {
	start, lost, err := w.playOn(ctx, c, w.job.GPUs, 0)
	if err != nil {
		return err
	}
	w.out.WouldPreempt = append(w.out.WouldPreempt, lost...)
	if start >= 0 {
		at := w.out.Submitted + start
		w.out.BelievedStart, w.out.BelievedWait = &at, &start
	}
	low, high := 0, w.most
	if w.job.GPUMilli > 0 {
		high = 1 // a share of one GPU
	}
	for low < high {
		mid := (low + high + 1) / 2
		start, _, err := w.playOn(ctx, c, mid, 1)
		if err != nil {
			return err
		}
		if start == 0 {
			low = mid
		} else {
			high = mid - 1
		}
	}
	w.out.StartsNow = low
	w.out.Notes = append(w.out.Notes, "the policy's expectation leaves out failures, later arrivals, and what it has learnt of tenants")
	return nil
}

// playOn plays the state at the submission on, with so many GPUs for the job, for so long; 0 is
// until it starts. It returns how long the job waits, -1 for ever, and who loses GPUs for it.
func (w *queueWatch) playOn(ctx context.Context, c *play.Case, gpus int, until capcli.Seconds) (wait capcli.Seconds, lost []string, err error) {
	cfg, err := c.Scenario.Config(nil, scenarios.Options{Seed: c.Seed, Open: c.Open})
	if err != nil {
		return 0, nil, err
	}
	job := w.job
	job.GPUs = gpus
	cfg.Jobs, cfg.Start, cfg.Until, cfg.Seeded, cfg.Cuts, cfg.Hourly = nil, w.at, until, len(w.running), nil, false
	cfg.Stages = nil
	cfg.List = slices.Concat(w.running, w.waiting, []capcli.Job{job})
	for i := range cfg.List {
		cfg.List[i].Submit, cfg.List[i].Eligible, cfg.List[i].Stage = w.at, capcli.NoTime, nil
	}
	pools := slices.Clone(cfg.Pools)
	for p := range pools {
		pools[p].From = max(0, pools[p].From-w.out.Submitted)
		if pools[p].Until > 0 {
			pools[p].Until = max(1, pools[p].Until-w.out.Submitted)
		}
		pools[p].Supply, pools[p].Withheld, pools[p].Windows = nil, nil, nil
	}
	cfg.Pools = pools
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := &startWatch{id: w.id, wait: -1, stop: func() { cancel(errStarted) }}
	cfg.Observers = []simulate.Observer{found}
	if _, err = simulate.Run(ctx, cfg); err != nil && found.wait < 0 {
		return 0, nil, err
	}
	return found.wait, found.taken, nil
}

// errStarted ends a run whose question is answered.
var errStarted = errors.New("the job has started")

// startWatch finds the first start of a job, and stops the run.
type startWatch struct {
	id    string
	wait  capcli.Seconds // -1 before
	lost  []string
	taken []string
	stop  func()
}

// Observe implements simulate.Observer.
func (s *startWatch) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Preempt:
		s.lost = append(s.lost, e.Job.ID)
	case simulate.Start:
		if s.wait < 0 && e.Job.ID == s.id {
			s.wait, s.taken = e.At, s.lost
			s.stop()
		}
		s.lost = nil
	default:
	}
}

package eta

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// Blocker is a running job that must end before the job asked about starts.
type Blocker struct {
	JobID       string         `json:"job_id"`
	Tenant      string         `json:"tenant"`
	GPUs        float64        `json:"gpus"`
	Started     capcli.Time    `json:"started"`
	BelievedEnd capcli.Time    `json:"believed_end"` // by its tenant's last runs, at most its limit
	In          capcli.Seconds `json:"ends_in_s"`
}

// Answer says when a job would start: the document capcli/eta/v1.
type Answer struct {
	Schema    string         `json:"schema"`
	Source    string         `json:"source"` // what the queue was read from
	At        capcli.Time    `json:"at"`
	GPUs      int            `json:"gpus"`
	Limit     capcli.Seconds `json:"limit_s"` // 0 is unknown
	Partition string         `json:"partition"`
	Tenant    string         `json:"tenant"`

	Position    int     `json:"position"` // 1 is the first in line
	AheadGPUs   float64 `json:"ahead_gpus"`
	RunningJobs int     `json:"running_jobs"`
	RunningGPUs float64 `json:"running_gpus"`
	FreeGPUs    float64 `json:"free_gpus"`
	Held        []Held  `json:"held,omitempty"` // waiting jobs that no free GPU would start; they are not in the line

	Estimate   capcli.Seconds `json:"estimate_s"`
	Lo         capcli.Seconds `json:"lo_s"`
	Hi         capcli.Seconds `json:"hi_s"`
	Start      capcli.Time    `json:"start"`
	StartLo    capcli.Time    `json:"start_lo"`
	StartHi    capcli.Time    `json:"start_hi"`
	OverHour   float64        `json:"p_over_1h"`
	OverMinute float64        `json:"p_over_1min"`
	ByLimits   capcli.Seconds `json:"replay_limits_s"`    // EASY, every job lasts its limit
	ByRuns     capcli.Seconds `json:"replay_predicted_s"` // EASY, every job lasts as its tenant's last two

	MustEnd    []Blocker    `json:"must_end_first"`
	UnderRule  *PolicyStart `json:"under_policy,omitempty"`
	Preempts   Names        `json:"preempts"` // jobs that would lose their GPUs under that policy
	StartsNow  int          `json:"starts_now_gpus"`
	NowLimit   NowLimit     `json:"starts_now_limit_s"` // longest limit with which the job would start now; 0 is none, -1 is any
	Capacity   float64      `json:"capacity_gpus"`
	CapacityIs string       `json:"capacity_from"`
	LearntFrom int          `json:"learnt_from_jobs"`
	Notes      []string     `json:"notes"`
}

// Names are the names of jobs.
type Names []string

// Cell returns the names as the cell of a table: the first eight, and how many more there are.
func (n Names) Cell() any {
	if len(n) == 0 {
		return "none"
	}
	return strings.Join(capcli.Abridge(n, 8), ", ")
}

// NowLimit is the longest limit with which a job would start now: 0 is none, -1 is any.
type NowLimit capcli.Seconds

// Cell returns the start under a policy as the cell of a table.
func (p *PolicyStart) Cell() any {
	switch {
	case p == nil:
		return nil
	case p.Wait == nil:
		return "never"
	}
	return *p.Wait
}

// Cell returns the limit as the cell of a table.
func (l NowLimit) Cell() any {
	switch l {
	case 0:
		return "none"
	case -1:
		return "any"
	}
	return capcli.Seconds(l)
}

// Lead returns the answer in one sentence.
func (a *Answer) Lead() string {
	job := fmt.Sprintf("A job of %d %s", a.GPUs, capcli.Plural(int64(a.GPUs), "GPU"))
	if a.Limit > 0 {
		job += " for " + a.Limit.String()
	}
	if a.Hi == 0 {
		return fmt.Sprintf("%s submitted %s would start at once.", job, a.At)
	}
	return fmt.Sprintf("%s submitted %s would wait about %s, with a chance of 80%% between %s and %s; over an hour: %.0f%%.",
		job, a.At, a.Estimate, a.Lo, a.Hi, 100*a.OverHour)
}

// answerJobs is the most jobs before the moment that an answer learns from.
const answerJobs = 30_000

// Answer estimates when one job would start that is submitted at q.At. It uses what was known then.
func (h *History) Answer(ctx context.Context, q Request, progress func(done, total int64)) (*Answer, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	if !q.At.IsKnown() {
		q.At = h.Last
	}
	capacityIs := capacityFrom(q.Capacity)
	if q.Capacity == 0 && h.nodeGPUs > 0 {
		q.Capacity, capacityIs = h.nodeGPUs, "the nodes that take jobs now"
		if err := q.Check(); err != nil {
			return nil, err
		}
	}
	if q.At < h.First || q.At > h.End {
		return nil, &capcli.RequestError{
			Field: "at", Text: fmt.Sprintf("wants a time of the log, %s to %s, found %s", h.First, h.End, q.At),
			Hint: "the queue at another time is not known",
		}
	}
	if err := h.dropLarge(int64(q.Capacity) * milli); err != nil {
		return nil, err
	}
	l := h.logAt(&q)
	out := &Answer{
		Schema: "capcli/eta/v1", Source: q.Input, At: q.At, GPUs: q.GPUs, Limit: q.Limit, Partition: q.Partition, Tenant: q.Tenant,
		MustEnd: []Blocker{}, Preempts: Names{}, CapacityIs: capacityIs, Held: h.Held, Notes: h.notes(),
	}
	last := len(l.Jobs) - 1
	var failed error
	p := &pass{log: l, seed: q.Seed, progress: progress, each: func(p *pass, i int, s *queueState, e *Estimate, d *distribution) {
		if i == last {
			out.estimate(p, e, d)
			out.queue(p, s)
			if q.Policy != "" {
				failed = out.play(ctx, q.Policy, p.beliefs, s)
			}
		}
	}}
	if _, err := p.run(ctx); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	out.remark(h)
	return out, nil
}

// logAt returns the jobs that were submitted by the moment of the request, and the job asked about
// as the last.
func (h *History) logAt(q *Request) *Log {
	jobs := make([]Job, 0, min(len(h.Jobs), answerJobs)+1)
	sorted := NewLog(slices.Clone(h.Jobs), 0).Jobs
	n, _ := slices.BinarySearchFunc(sorted, q.At+1, func(j Job, at capcli.Time) int { return int(j.Queued - at) })
	for i, j := range sorted[:n] {
		open := !j.Start.IsKnown() || !j.End.IsKnown() || j.End > q.At
		if i >= n-answerJobs || open {
			jobs = append(jobs, j)
		}
	}
	jobs = append(jobs, Job{
		Tenant: q.Tenant, Partition: q.Partition, Queued: q.At, Start: capcli.NoTime, End: capcli.NoTime,
		Units: int64(q.GPUs) * milli, Limit: q.Limit, Priority: q.Priority,
	})
	return gpuLog(jobs, q.Capacity)
}

// estimate fills in what is estimated of the wait.
func (a *Answer) estimate(p *pass, e *Estimate, d *distribution) {
	i := len(p.log.Jobs) - 1
	a.Estimate, a.Lo, a.Hi = capcli.Seconds(e.Wait), capcli.Seconds(e.Lo), capcli.Seconds(e.Hi)
	a.Start, a.StartLo, a.StartHi = a.At+capcli.Time(a.Estimate), a.At+capcli.Time(a.Lo), a.At+capcli.Time(a.Hi)
	a.OverHour, a.OverMinute = e.OverHour, d.chanceAbove(60)
	a.ByLimits, a.ByRuns = p.out.Replays.Limits[i], p.out.Replays.Predicted[i]
	a.LearntFrom = p.learner.known
}

// queue fills in what the queue looks like, what must end first and what would start at once.
func (a *Answer) queue(p *pass, s *queueState) {
	l, i := p.log, len(p.log.Jobs)-1
	a.Position, a.RunningJobs = len(s.waiting), len(s.running)
	var ahead int64
	for _, k := range s.waiting[:len(s.waiting)-1] {
		ahead += l.Jobs[k].Units
	}
	start := a.At + capcli.Time(a.ByRuns)
	for _, k := range s.running {
		j := &l.Jobs[k]
		end := BelievedEnd(a.At, j.Start, p.beliefs.runs[k], j.Limit)
		if a.ByRuns > 0 && end <= start {
			a.MustEnd = append(a.MustEnd, Blocker{j.ID, j.Tenant, float64(j.Units) / milli, j.Start, end, capcli.Seconds(end - a.At)})
		}
	}
	slices.SortStableFunc(a.MustEnd, func(x, y Blocker) int { return int(x.In - y.In) })
	a.AheadGPUs, a.RunningGPUs = float64(ahead)/milli, float64(s.held)/milli
	a.FreeGPUs = float64(max(0, l.capacityAt(i, s)-s.held)) / milli
	a.Capacity = float64(l.capacityAt(i, s)) / milli
	w := p.replay.atOnce(p.beliefs, i, s)
	a.StartsNow = int(w.size(l.capacityAt(i, s)-s.held) / milli)
	a.NowLimit = NowLimit(w.limit(l.Jobs[i].Units))
}

// play fills in what a policy would do.
func (a *Answer) play(ctx context.Context, name string, b *beliefs, s *queueState) error {
	rule, lost, err := underPolicy(ctx, name, b, len(b.log.Jobs)-1, s)
	if err != nil {
		return err
	}
	a.UnderRule, a.Preempts = rule, append(a.Preempts, lost...)
	return nil
}

// remark adds what a reader must know.
func (a *Answer) remark(h *History) {
	if a.LearntFrom < learnFirst {
		a.Notes = append(a.Notes, fmt.Sprintf("only %d jobs had started, too few to learn from: the estimate is that of the replay", a.LearntFrom))
	}
	if a.At >= h.Last && !h.isNow {
		a.Notes = append(a.Notes, "the log ends here: jobs that ran or waited and are not in it count as gone")
	}
	if a.UnderRule == nil {
		a.Notes = append(a.Notes, "the queue's order is by submission, and nobody is preempted: the log does not record the scheduler's priorities (--policy NAME says what a policy would do)")
	}
}

// atOnce tries jobs in place of the last one waiting.
type atOnce struct {
	r        *replay
	capacity int64
	now      capcli.Time
}

// atOnce returns a trial of the queue at the submission of job i, with the users' limits: they are
// what a scheduler goes by.
func (r *replay) atOnce(b *beliefs, i int, s *queueState) *atOnce {
	r.wait(b, i, s, b.limits)
	return &atOnce{r, b.log.capacityAt(i, s), b.log.Jobs[i].Queued}
}

func (t *atOnce) starts(units int64, lasts capcli.Seconds) bool {
	last := &t.r.waiting[len(t.r.waiting)-1]
	own := *last
	*last = Waiting{units, lasts}
	at := t.r.player.Forward(t.capacity, t.now, t.r.running, t.r.waiting)
	*last = own
	return at == t.now
}

// size returns the most whole GPUs, in thousandths, with which the job would start now.
func (t *atOnce) size(free int64) int64 {
	lasts := t.r.waiting[len(t.r.waiting)-1].Lasts
	low, high := int64(0), max(0, free/milli)
	for low < high {
		mid := (low + high + 1) / 2
		if t.starts(mid*milli, lasts) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low * milli
}

// limit returns the longest limit with which a job of so many units would start now: 0 for none, -1
// for any.
func (t *atOnce) limit(units int64) capcli.Seconds {
	const longest = 10 * 365 * capcli.Day
	if t.starts(units, longest) {
		return -1
	}
	low, high := capcli.Seconds(0), longest
	for low < high {
		mid := (low + high + 1) / 2
		if t.starts(units, mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

package eta

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"capcli"
	"capcli/simulate/policy"
)

// Request asks for estimates from a log.
type Request struct {
	Input     string   // name of the log, for the answer
	Now       []string // names of what squeue and sinfo print now: the queue of this moment; none is as the log ends
	Capacity  int      // GPUs that there are; 0 takes the highest use so far at each moment
	Partition string   // only jobs of this partition; "" is all
	Seed      capcli.Seed
	Every     bool // asks for every job of the log, to score the estimates; what follows asks for one job

	At     capcli.Time    // when the job is submitted; NoTime is the log's last submission
	GPUs   int            // GPUs of the job
	Limit  capcli.Seconds // its time limit; 0 is unknown
	Tenant string         // whose it is

	Policy   string // also says what this policy would do; "" is none
	Priority int    // of the job, for the policy
}

// SetTimes sets the moment and the limit of the request from text; "" leaves each unknown. A time
// without a zone is in zone, and a whole number counts seconds since 1970, as in logs without a
// calendar.
func (q *Request) SetTimes(at, limit string, zone *time.Location) error {
	q.At = capcli.NoTime
	var err error
	if limit != "" {
		if q.Limit, err = capcli.ParseSeconds(limit); err != nil {
			return &capcli.RequestError{Field: "limit", Text: ": " + err.Error()}
		}
	}
	if at == "" {
		return nil
	}
	if n, err := strconv.ParseInt(at, 10, 64); err == nil && len(at) > 4 {
		q.At = capcli.Time(n)
		return nil
	}
	if q.At, err = capcli.ParseTime(at, zone, false); err != nil {
		return &capcli.RequestError{Field: "at", Text: err.Error(), Hint: "at=2026-03-01T12:00, or seconds since 1970"}
	}
	return nil
}

// Check refuses a request that is wrong in itself.
func (q *Request) Check() error {
	switch {
	case q.Capacity < 0:
		return &capcli.RequestError{Field: "capacity", Text: fmt.Sprintf("wants GPUs, found %d", q.Capacity)}
	case !q.Every:
		return q.checkJob()
	case q.GPUs != 0 || q.Limit != 0 || q.Tenant != "" || q.Policy != "" || q.Priority != 0 || q.At.IsKnown() || len(q.Now) > 0:
		return &capcli.RequestError{Field: "score", Text: "estimates every job of the log; at, now, gpus, limit, tenant, policy and priority ask for one job"}
	}
	return nil
}

// checkJob refuses a request for one job's start that is wrong in itself.
func (q *Request) checkJob() error {
	switch {
	case q.GPUs < 1:
		return &capcli.RequestError{Field: "gpus", Text: fmt.Sprintf("wants a number of GPUs from 1, found %d", q.GPUs), Hint: "gpus=8, the size of the job; or score for all jobs of the log"}
	case q.Limit < 0:
		return &capcli.RequestError{Field: "limit", Text: "wants a time, found one below 0"}
	case q.Capacity > 0 && q.GPUs > q.Capacity:
		return &capcli.RequestError{Field: "gpus", Text: fmt.Sprintf("wants at most the capacity, %d, found %d: such a job never starts", q.Capacity, q.GPUs)}
	}
	if q.Policy != "" {
		_, err := policy.Catalog.Get(q.Policy)
		return err
	}
	return nil
}

// JobEstimate is the estimate of one job of a log, and its wait.
type JobEstimate struct {
	JobID    string         `json:"job_id"`
	Estimate capcli.Seconds `json:"estimate_s"`
	Lo       capcli.Seconds `json:"lo_s"`
	Hi       capcli.Seconds `json:"hi_s"`
	OverHour float64        `json:"p_over_1h"`
	Wait     capcli.Seconds `json:"wait_s"`
}

// Rated is the score of one method on one set of jobs.
type Rated struct {
	Method string `json:"method"`
	Of     string `json:"of"` // all, or waited_over_60_s
	Score
}

// methodOwn is the name of our own estimates among the methods.
const methodOwn = "learnt from the log"

// Scored says how good the estimates of a log's jobs were: the document capcli/eta_score/v1.
type Scored struct {
	Schema       string        `json:"schema"`
	Input        string        `json:"input"`
	Partition    string        `json:"partition,omitempty"`
	Capacity     float64       `json:"capacity_gpus"`
	CapacityFrom string        `json:"capacity_from"`
	Started      int           `json:"jobs_started"`
	WarmUp       float64       `json:"warm_up_days"` // jobs of these first days are not scored
	Scores       []Rated       `json:"scores"`
	Notes        []string      `json:"notes"`
	Estimates    []JobEstimate `json:"-"` // of each job that started, in order of submission
}

// Score estimates each job of a history as of its submission, and scores that. It fails where the
// history is too short to score any.
func (h *History) Score(ctx context.Context, q Request, progress func(done, total int64)) (*Scored, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	if err := h.dropLarge(int64(q.Capacity) * milli); err != nil {
		return nil, err
	}
	l := gpuLog(h.Jobs, q.Capacity)
	f, err := Predict(ctx, l, q.Seed, progress)
	if err != nil {
		return nil, err
	}
	out := &Scored{
		Schema: "capcli/eta_score/v1", Input: q.Input, Partition: q.Partition, CapacityFrom: capacityFrom(q.Capacity),
		WarmUp: float64(l.warmUp()) / float64(capcli.Day), Notes: h.notes(),
	}
	for i := range l.Jobs {
		j, e := &l.Jobs[i], &f.Estimates[i]
		if !j.Start.IsKnown() {
			continue
		}
		out.Estimates = append(out.Estimates, JobEstimate{
			JobID: j.ID, Estimate: capcli.Seconds(e.Wait), Lo: capcli.Seconds(e.Lo), Hi: capcli.Seconds(e.Hi), OverHour: e.OverHour, Wait: j.Wait(),
		})
	}
	out.Capacity, out.Started = float64(max(l.Capacity, l.highest[len(l.highest)-1]))/milli, len(out.Estimates)
	if n := len(l.Jobs) - out.Started; n > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%s %s never started: they count in the queue and have no row", capcli.Grouped(int64(n)), capcli.Plural(int64(n), "job")))
	}
	pairs := append([]ScorePair{l.Rate(methodOwn, f.Estimates)}, l.Baselines(f.Replays)...)
	for _, p := range pairs {
		out.Scores = append(out.Scores, Rated{p.Method, "all", p.All})
	}
	for _, p := range pairs {
		out.Scores = append(out.Scores, Rated{p.Method, "waited_over_60_s", p.Waited})
	}
	if pairs[0].Waited.Jobs < 50 {
		out.Notes = append(out.Notes, fmt.Sprintf("only %d scored jobs waited over a minute: this log says little about ranges", pairs[0].Waited.Jobs))
	}
	return out, nil
}

// Lead returns the result in one sentence.
func (s *Scored) Lead() string {
	own, waited := &s.Scores[0], &s.Scores[len(s.Scores)/2]
	if own.Jobs == 0 {
		return "No job is scored: the log is too short."
	}
	best := s.Scores[1].MAE
	for _, r := range s.Scores[1 : len(s.Scores)/2] {
		best = min(best, r.MAE)
	}
	text := fmt.Sprintf("80%% ranges held %.0f%% of %s %s", 100**own.Cover, capcli.Grouped(int64(own.Jobs)), capcli.Plural(int64(own.Jobs), "job"))
	if waited.Jobs > 0 {
		text += fmt.Sprintf(", and %.0f%% of the %s that waited over a minute", 100**waited.Cover, capcli.Grouped(int64(waited.Jobs)))
	}
	return text + fmt.Sprintf(". The mean error is %.3f in log10(wait + 60 s); the best simple method has %.3f.", own.MAE, best)
}

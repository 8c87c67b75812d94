package service

import (
	"context"
	"fmt"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/simulate/serving"
	"capcli/simulate/serving/agents"
)

// PlayRequest asks what a service makes of tasks.
type PlayRequest struct {
	Spec      string  // file of the service; "" plays nothing
	Workflows []int64 // tasks at work at once, each a play of its own; nil takes what the tasks' file says
	Replicas  int     // 0 finds the fewest that keep the promise
}

// Play is what a service makes of tasks. Times are microseconds.
type Play struct {
	Workflows int64   `json:"workflows,omitempty"` // tasks at work at once
	Rate      float64 `json:"rate,omitempty"`      // or tasks that begin in a second
	Replicas  int     `json:"replicas"`
	Fewest    bool    `json:"fewest"` // whether fewer replicas break the promise
	GPUs      int64   `json:"gpus"`
	Promise   Kept    `json:"promise"`
	agents.Played
	Summary serving.Summary `json:"summary"` // of the calls
}

// TasksOf returns how many tasks a play has: at least three for each that is at work at once, so that the
// start and the end are not all there is.
func TasksOf(w *agents.Workload) int64 { return max(w.Tasks, 3*w.Workflows) }

// run plays the tasks and adds the plays to r.
func (q *PlayRequest) run(ctx context.Context, open trace.Opener, w *agents.Workload, r *AgentsResult) error {
	if q.Spec == "" {
		if len(q.Workflows) > 0 || q.Replicas != 0 {
			return &capcli.RequestError{Field: "play", Text: "wants the service that answers the calls", Hint: "--play SPEC, a service block: capcli service init"}
		}
		return nil
	}
	if q.Replicas < 0 || q.Replicas > serving.MaxReplicas {
		return &capcli.RequestError{Field: "replicas", Text: fmt.Sprintf("wants 1 to %d, found %d", serving.MaxReplicas, q.Replicas)}
	}
	s, err := ReadSpec(open, q.Spec)
	if err != nil {
		return err
	}
	var loads []agents.Workload
	for _, n := range q.Workflows {
		own := *w
		own.Rate, own.Workflows = 0, n
		loads = append(loads, own)
	}
	if len(loads) == 0 {
		loads = append(loads, *w)
	}
	for _, own := range loads {
		own.Tasks = TasksOf(&own)
		if err := own.Check(); err != nil {
			return err
		}
		p, err := s.PlayAgents(ctx, &own, q.Replicas)
		if err != nil {
			return capcli.NameFile(err, q.Spec)
		}
		r.Plays = append(r.Plays, *p)
		if p.Failed > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s of %s tasks at %s failed: a call was too long for the model or the cache; raise max_len, or lower max_context", capcli.Grouped(p.Failed), capcli.Grouped(p.Tasks), p.load()))
		}
	}
	if w.Reuses {
		r.Notes = append(r.Notes, "the cache is taken to keep each agent's last turn; a cache that is short of room makes prompts, and GPUs, more (prefix_cache: false is the worst case)")
	}
	return nil
}

// PlayAgents plays tasks on a number of replicas, or for 0 on the fewest that keep the
// promise of the service. It fails with a *capcli.ResultError where none do.
func (s *Spec) PlayAgents(ctx context.Context, w *agents.Workload, replicas int) (*Play, error) {
	if replicas > 0 {
		return s.playOn(ctx, w, replicas)
	}
	if l := s.Config.SLO; l.TTFT == 0 && l.TPOT == 0 && l.E2E == 0 {
		return nil, &capcli.RequestError{Field: "slo", Text: "wants a limit of a call: ttft, tpot or e2e; without one, one replica is enough for everything", Hint: "or give the number of replicas"}
	}
	var kept *Play
	broken, most := 0, min(serving.MaxReplicas, int(4*w.Workflows)+64)
	for n := 1; kept == nil; n = min(2*n, most) {
		p, err := s.playOn(ctx, w, n)
		switch {
		case err != nil:
			return nil, err
		case p.Promise.Kept:
			kept = p
		case n == most:
			return nil, &capcli.ResultError{
				Kind: capcli.NoPlan, Text: fmt.Sprintf("%d replicas still keep the promise for only %s of the calls of %s, and %s is wanted", n, percent(float64(p.Promise.Found)), p.load(), percent(p.Promise.Share)),
				Hint: "the promise may be closer than a call alone on a replica takes",
			}
		default:
			broken = n
		}
	}
	for broken+1 < kept.Replicas {
		p, err := s.playOn(ctx, w, broken+(kept.Replicas-broken)/2)
		switch {
		case err != nil:
			return nil, err
		case p.Promise.Kept:
			kept = p
		default:
			broken = p.Replicas
		}
	}
	kept.Fewest = true
	return kept, nil
}

// playOn plays tasks on replicas that are all ready from the start on.
func (s *Spec) playOn(ctx context.Context, w *agents.Workload, replicas int) (*Play, error) {
	own := *s
	own.SetReplicas(replicas)
	c, err := own.Servable()
	if err != nil {
		return nil, err
	}
	_, played, r, err := agents.Play(ctx, c, w, capcli.Seed(w.Seed))
	if err != nil {
		return nil, err
	}
	p := &Play{Workflows: w.Workflows, Rate: w.Rate, Replicas: replicas, GPUs: c.GPUs * int64(replicas), Played: *played, Summary: r.Summary}
	p.Promise = Kept{TTFT: c.SLO.TTFT, TPOT: c.SLO.TPOT, E2E: c.SLO.E2E, Share: float64(s.Share) / 1000, Found: r.Summary.SLOShare}
	p.Promise.Kept = p.Promise.HasLimit() && r.Summary.SLOMet*1000 >= s.Share*r.Summary.Requests
	return p, nil
}

// load says what was played.
func (p *Play) load() string {
	if p.Workflows > 0 {
		return capcli.Grouped(p.Workflows) + " " + capcli.Plural(p.Workflows, "workflow")
	}
	return fmt.Sprintf("%g tasks a second", p.Rate)
}

func (p *Play) lead() string {
	fleet := fmt.Sprintf("%s %s (%s %s)", capcli.Grouped(int64(p.Replicas)), capcli.Plural(int64(p.Replicas), "replica"), capcli.Grouped(p.GPUs), capcli.Plural(p.GPUs, "GPU"))
	text := fmt.Sprintf("%s on %s: a task takes %s in the mean and %s at p99.", p.load(), fleet, capcli.MicrosText(float64(p.TaskMean)), capcli.MicrosText(float64(p.TaskP99)))
	switch {
	case p.Finished == 0:
		return fmt.Sprintf("%s on %s: no task was finished.", p.load(), fleet)
	case p.Fewest:
		return text + " Fewer break the promise."
	case p.Promise.HasLimit() && !p.Promise.Kept:
		return text + fmt.Sprintf(" The promise is broken: %s of the calls are within it, %s wanted.", percent(float64(p.Promise.Found)), percent(p.Promise.Share))
	}
	return text
}

// Count returns the workflows of a play; nil where tasks came at a rate.
func (p *Play) Count() *int64 {
	if p.Workflows == 0 {
		return nil
	}
	return &p.Workflows
}

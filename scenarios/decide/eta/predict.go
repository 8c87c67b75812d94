package eta

import (
	"context"
	"slices"

	"capcli"
)

// Forecasts are the estimates of a log's jobs, each as of its submission.
type Forecasts struct {
	Estimates []Estimate
	Replays   Replays
}

// playBudget is the most looks at jobs that one play of a queue takes. Beyond it the rest is
// spread evenly over the capacity.
const playBudget = 20_000

// Predict estimates the wait of each job of a log as of its submission, from what was known then.
// It grows its forests by chance of seed; the result does not depend on the number of cores.
// progress, which may be nil, receives the jobs done and their number.
func Predict(ctx context.Context, l *Log, seed capcli.Seed, progress func(done, total int64)) (*Forecasts, error) {
	p := &pass{log: l, seed: seed, progress: progress}
	return p.run(ctx)
}

// pass goes through a log once, in order of submission.
type pass struct {
	log      *Log
	seed     capcli.Seed
	progress func(done, total int64) // may be nil
	// each, which may be nil, receives each estimate. It must not keep the state.
	each func(p *pass, i int, s *queueState, e *Estimate, d *distribution)

	beliefs *beliefs
	learner *learner
	replay  replay
	out     Forecasts
}

func (p *pass) run(ctx context.Context) (*Forecasts, error) {
	l, n := p.log, len(p.log.Jobs)
	p.out = Forecasts{
		Estimates: make([]Estimate, n),
		Replays:   Replays{make([]capcli.Seconds, n), make([]capcli.Seconds, n)},
	}
	p.beliefs, p.learner = newBeliefs(l), newLearner(p.seed)
	p.replay.player.Budget = playBudget
	d := newDescriber(l, p.beliefs, &p.out.Replays)
	err := l.eachSubmission(func(i int, s *queueState) error {
		j := &l.Jobs[i]
		if i%1024 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			p.tell(i)
		}
		p.beliefs.believe(i)
		p.out.Replays.Limits[i], p.out.Replays.Predicted[i] = p.replay.waits(p.beliefs, i, s)
		if err := p.learner.advance(ctx, j.Queued); err != nil {
			return err
		}
		f := forecast{at: j.Queued, start: j.Start, ends: j.End, x: d.features(i, s)}
		var known *distribution
		p.out.Estimates[i], known = p.learner.estimate(f, coldWaits(&p.out.Replays, i))
		if p.each != nil {
			p.each(p, i, s, &p.out.Estimates[i], known)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.tell(n)
	return &p.out, nil
}

func (p *pass) tell(done int) {
	if p.progress != nil {
		p.progress(int64(done), int64(len(p.log.Jobs)))
	}
}

// coldWaits returns the waits that are believed of job i before anything is learnt: none, and those
// of the two replays.
func coldWaits(r *Replays, i int) []float32 {
	out := []float32{float32(logWait(0)), float32(logWait(float64(r.Limits[i]))), float32(logWait(float64(r.Predicted[i])))}
	slices.Sort(out)
	return out
}

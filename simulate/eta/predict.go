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
// It grows its forests by chance of seed; the result does not depend on the number of cores. progress, which may be
// nil, receives the jobs done and their number.
func Predict(ctx context.Context, l *Log, seed capcli.Seed, progress func(done, total int64)) (*Forecasts, error) {
	n := len(l.Jobs)
	out := &Forecasts{
		Estimates: make([]Estimate, n),
		Replays:   Replays{make([]capcli.Seconds, n), make([]capcli.Seconds, n)},
	}
	b := newBeliefs(l)
	d := newDescriber(l, b, &out.Replays)
	learner := newLearner(seed)
	var r replay
	r.player.Budget = playBudget
	err := l.eachSubmission(func(i int, s *queueState) error {
		j := &l.Jobs[i]
		if i%1024 == 0 {
			if progress != nil {
				progress(int64(i), int64(n))
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		b.believe(i)
		out.Replays.Limits[i], out.Replays.Predicted[i] = r.waits(b, i, s)
		if err := learner.advance(ctx, j.Queued); err != nil {
			return err
		}
		f := forecast{at: j.Queued, start: j.Start, ends: j.End, x: d.features(i, s)}
		out.Estimates[i] = learner.estimate(f, coldWaits(&out.Replays, i))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if progress != nil {
		progress(int64(n), int64(n))
	}
	return out, nil
}

// coldWaits returns the waits that are believed of job i before anything is learnt: none, and those of the two
// replays.
func coldWaits(r *Replays, i int) []float32 {
	out := []float32{float32(logWait(0)), float32(logWait(float64(r.Limits[i]))), float32(logWait(float64(r.Predicted[i])))}
	slices.Sort(out)
	return out
}

package mix

import (
	"context"
	"errors"

	"capcli"
	"capcli/simulate"
)

// errAbandoned ends a run of a mix that is known to have lost.
var errAbandoned = errors.New("the mix has lost")

// loss is the point at which a mix has certainly lost to rival: its p95 wait reaches wait. In the
// zero loss it never does.
type loss struct {
	known bool
	wait  capcli.Seconds
	rival int
}

// laterOf returns the later of two losses; a loss that never comes is the latest.
func (l loss) laterOf(other loss) loss {
	if !other.known || l.known && other.wait > l.wait {
		return other
	}
	return l
}

// lossOf returns when e has lost: as soon as it waits as long as a mix that was run in full, holds
// the limits and costs less than e's floor. Of such mixes it takes the least wait. It returns the
// zero loss where mixes are run more than once, for then the mean counts and no single run can
// lose, and where the goal is the cheapest mix.
func (s *search) lossOf(e *Entry) loss {
	var out loss
	if s.Problem.Runs != 1 || s.Goal != frontier {
		return out
	}
	floor := e.floor()
	for _, r := range s.finished {
		if own := r.Outcomes[0].WaitP95; r.CostWithWaits() < floor && r.holds(s.Hold) && (!out.known || own < out.wait) {
			out = loss{known: true, wait: own, rival: r.Index}
		}
	}
	return out
}

// take notes the outcome of the next run, and reports whether the mix has a price and has not lost.
func (e *Entry) take(o Outcome, limits []Limit) bool {
	switch {
	case o.Fault != "":
		e.Fate = ByFault
	case e.lost.known && o.WaitP95 >= e.lost.wait:
		e.Fate, e.Rival = ByBound, e.lost.rival
		return false
	}
	e.note(o, limits)
	return o.Fault == ""
}

// run simulates candidate c, and stops with errAbandoned as soon as it has certainly lost.
func (p *Problem) run(ctx context.Context, c *Candidate, run int, lost loss) (*simulate.Result, error) {
	cfg, err := p.config(c, run)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if n := len(cfg.List); lost.known {
		cfg.Observers = append(cfg.Observers, &slowStarts{wait: lost.wait, left: n / 20, seen: make([]uint64, n/64+1), stop: func() { stop(errAbandoned) }})
	}
	res, err := simulate.Run(ctx, cfg)
	if err != nil && errors.Is(context.Cause(ctx), errAbandoned) {
		return nil, errAbandoned
	}
	return res, err
}

// slowStarts counts jobs that waited at least this long for their first start. Once they are more
// than a twentieth of all jobs, the 95th percentile (nearest rank) is at least as long.
type slowStarts struct {
	wait capcli.Seconds
	left int
	seen []uint64
	stop func()
}

// Observe counts the start of a job.
func (s *slowStarts) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind != simulate.Start || e.Job.Wait() < s.wait {
		return
	}
	i := e.Job.Index()
	if bit := uint64(1) << (i % 64); s.seen[i/64]&bit == 0 {
		s.seen[i/64] |= bit
		if s.left--; s.left < 0 {
			s.stop()
		}
	}
}

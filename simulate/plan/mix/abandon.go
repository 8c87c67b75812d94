package mix

import (
	"context"
	"errors"

	"capcli"
	"capcli/simulate"
)

// errAbandoned ends a run whose mix is known to have lost.
var errAbandoned = errors.New("the mix has lost")

// loss is when a mix has lost to another for certain: once the 95th percentile of
// its waits has reached a wait. The zero loss is never.
type loss struct {
	known bool
	wait  capcli.Seconds
	rival int
}

// laterOf is the later of two losses, of which never is the last.
func (l loss) laterOf(other loss) loss {
	if !other.known || l.known && other.wait > l.wait {
		return other
	}
	return l
}

// lossOf finds the mixes that have run in full, hold the limits and cost less than
// e can, and of these the least wait. e has lost when it waits as long. Where a mix
// is run more than once the mean of the runs counts, and no run alone can lose.
func (s *search) lossOf(e *Entry) loss {
	var out loss
	if s.Problem.Runs != 1 || s.Goal != frontier {
		return out
	}
	floor := e.floor()
	for _, r := range s.finished {
		if own := r.Outcomes[0].WaitP95; r.Cost() < floor && r.holds(s.Hold) && (!out.known || own < out.wait) {
			out = loss{known: true, wait: own, rival: r.Index}
		}
	}
	return out
}

// take notes the outcome of the next run, and reports whether the mix has a price and
// has not lost.
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

// run simulates candidate c, and gives up with errAbandoned as soon as it has lost for
// certain.
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

// slowStarts counts jobs that waited at least so long for their first start. Once
// more than a twentieth of all jobs have, the 95th percentile (nearest rank) is no
// less.
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

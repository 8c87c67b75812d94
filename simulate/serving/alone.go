package serving

import "context"

// PlayAlone returns what each request sees where it is alone on a replica that is ready. No fleet serves a
// request sooner: other sequences in a batch can only add to the time of an iteration and take of its
// budget. Replicas of c are not used.
func PlayAlone(ctx context.Context, c *Config, requests []Request) ([]Served, error) {
	own := *c
	own.Replicas = []Replica{{Drain: -1, Down: -1}}
	p, err := newPlayer(&own, &slice{})
	if err != nil {
		return nil, err
	}
	p.ready = 1
	s := &p.fleet.servers[0]
	s.isReady = true
	p.served, p.sequences = make([]Served, 0, len(requests)), make([]sequence, 0, len(requests))
	now := int64(0)
	for i, r := range requests {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		now = max(now, s.use.LastFinish, r.Arrival)
		if err := r.check(i, 0); err != nil {
			return nil, err
		}
		was := r.Arrival
		r.Arrival = now
		p.fleet.now, p.last = now, now
		if err := p.arrive(r); err != nil {
			return nil, err
		}
		s.advance(never)
		p.served[i].shift(was - now)
	}
	return p.served, nil
}

// shift moves all times of a request.
func (w *Served) shift(by int64) {
	w.Arrival += by
	for _, t := range []*int64{&w.Admitted, &w.FirstToken, &w.Finish} {
		if *t >= 0 {
			*t += by
		}
	}
}

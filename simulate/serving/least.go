package serving

import (
	"context"
	"fmt"
	"math"
	"slices"

	"capcli"
)

// Least is the smallest fleet that keeps a promise.
type Least struct {
	Replicas int        `json:"replicas"`
	Tried    [][2]int64 `json:"tried"`    // number of replicas, requests within the promise
	Bound    int        `json:"bound"`    // no fewer replicas can keep it
	Alone    int64      `json:"alone"`    // requests that keep it where each is alone on a replica
	Requests int64      `json:"requests"` // in all
	Run      *Result    `json:"-"`        // of the fleet
}

// UnkeepableError says that no number of replicas keeps the promise for the share of requests that is wanted.
type UnkeepableError struct {
	Requests, Alone int64  // in all, and those that keep it where each is alone on a replica
	Share           int64  // wanted, in thousandths
	Binds           string // the limit that most of the others miss: ttft, tpot, e2e, or length for requests that are rejected
	Nearest         int64  // of that limit: the least at which the share could be kept, microseconds; 0 where none
	Tried           int    // fleets that were tried in vain, up to this; 0 where each alone shows it
}

func (e *UnkeepableError) Error() string {
	if e.Tried > 0 {
		return fmt.Sprintf("up to %d replicas keep the promise for less than %s of %d requests", e.Tried, permille(e.Share), e.Requests)
	}
	return fmt.Sprintf("no number of replicas keeps the promise: alone on a replica, %d of %d requests keep it, and %s is wanted", e.Alone, e.Requests, permille(e.Share))
}

func permille(n int64) string { return fmt.Sprintf("%d.%d %%", n/10, n%10) }

// LeastOptions say how LeastReplicas searches.
type LeastOptions struct {
	Share int64 // of requests within the promise, in thousandths
	Max   int   // most replicas to try; 0 is as many as there are requests
	Skip  bool  // begin at the bound, and stop a fleet that can no longer keep the promise
	// Alone asks first whether requests keep the promise each alone on a replica. Where too few do, no
	// fleet can keep it, and the search fails at once.
	Alone bool
}

// LeastReplicas returns the least number of equal replicas, all ready at 0, that keep the promise: requests
// within c.SLO times 1000 are at least share times requests. It tries 1, 2, …: more replicas are not always
// better under each router, so it stops at the first that keep it. Replicas of c are not used. The error is
// an *UnkeepableError where none does.
func LeastReplicas(ctx context.Context, c *Config, requests []Request, o LeastOptions) (*Least, error) {
	if len(requests) == 0 {
		return nil, &capcli.InputError{Text: "no requests: nothing says how many replicas they want"}
	}
	if o.Share < 0 || o.Share > 1000 {
		return nil, &capcli.RequestError{Field: "share", Text: fmt.Sprintf("is %d thousandths; want 0 to 1000", o.Share)}
	}
	l := &Least{Requests: int64(len(requests)), Bound: 1}
	own := *c
	own.Replicas = []Replica{{Drain: -1, Down: -1}}
	if o.Alone {
		alone, err := PlayAlone(ctx, &own, requests)
		if err != nil {
			return nil, err
		}
		if l.Alone = alone.met(&c.SLO); l.Alone*1000 < o.Share*l.Requests {
			return l, alone.unkeepable(&own, o.Share)
		}
	}
	if l.Bound = boundReplicas(&own, requests, o.Share); l.Bound < 1 {
		l.Bound = 1
	}
	most := o.Max
	if most <= 0 {
		most = min(len(requests), MaxReplicas)
	}
	first := 1
	if o.Skip {
		first = l.Bound
	}
	for n := first; n <= most; n++ {
		for len(own.Replicas) < n {
			own.Replicas = append(own.Replicas, own.Replicas[0])
		}
		r, err := Replay(ctx, &own, requests)
		if err != nil {
			return nil, err
		}
		l.Tried = append(l.Tried, [2]int64{int64(n), r.Summary.SLOMet})
		if r.Summary.SLOMet*1000 >= o.Share*l.Requests {
			l.Replicas, l.Run = n, r
			return l, nil
		}
	}
	return l, &UnkeepableError{Requests: l.Requests, Alone: l.Alone, Share: o.Share, Tried: most}
}

// Alone has what each request sees where it is alone on a replica that is ready. No fleet serves a request
// sooner: other sequences in a batch can only add to the time of an iteration and take of its budget.
type Alone []Served

// PlayAlone plays each request by itself.
func PlayAlone(ctx context.Context, c *Config, requests []Request) (Alone, error) {
	p, err := newPlayer(c, &slice{})
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

// met counts the requests within the promise.
func (a Alone) met(l *SLO) int64 {
	n := int64(0)
	for i := range a {
		if l.Keeps(&a[i]) {
			n++
		}
	}
	return n
}

// unkeepable says why too few requests keep the promise alone.
func (a Alone) unkeepable(c *Config, share int64) *UnkeepableError {
	e := &UnkeepableError{Requests: int64(len(a)), Alone: a.met(&c.SLO), Share: share}
	limits := []struct {
		name  string
		limit int64
		value func(*Served) int64
	}{
		{"ttft", c.SLO.TTFT, func(w *Served) int64 { return w.FirstToken - w.Arrival }},
		{"tpot", c.SLO.TPOT, func(w *Served) int64 {
			if w.Out == 1 {
				return 0
			}
			return (w.Finish - w.FirstToken + w.Out - 2) / (w.Out - 1)
		}},
		{"e2e", c.SLO.E2E, func(w *Served) int64 { return w.Finish - w.Arrival }},
	}
	e.Binds = "length"
	most := int64(0)
	for i := range a {
		if a[i].Status != OK {
			most++
		}
	}
	for _, x := range limits {
		if x.limit == 0 {
			continue
		}
		missed, values := int64(0), []int64(nil)
		for i := range a {
			if a[i].Status != OK {
				continue
			}
			v := x.value(&a[i])
			values = append(values, v)
			if v > x.limit {
				missed++
			}
		}
		if missed <= most {
			continue
		}
		most, e.Binds, e.Nearest = missed, x.name, 0
		slices.Sort(values)
		if at := (share*int64(len(a)) + 999) / 1000; at >= 1 && at <= int64(len(values)) {
			e.Nearest = values[at-1]
		}
	}
	return e
}

// boundReplicas returns a number below which no fleet keeps the promise, from the work that must be done:
// the share of requests with the least work must be finished before the last instant at which any request
// may be. It is 0 where the promise sets no such instant.
func boundReplicas(c *Config, requests []Request, share int64) int {
	each := make([]float64, 0, len(requests))
	last := int64(0)
	perToken := c.Time.leastPerToken(c.MaxTokens)
	for i := range requests {
		r := &requests[i]
		by, ok := c.SLO.lastFinish(r)
		if !ok {
			return 0
		}
		if c.Rejects(*r) {
			continue
		}
		last = max(last, by)
		in, cached, steps := float64(r.In), float64(min(r.Cached, r.In-1)), float64(r.Out-1)
		attended := (in + (steps+1)/2) * steps
		pairs := (in*(in+1) - cached*(cached+1)) / 2
		each = append(each, (in-cached+steps)*perToken+steps*float64(c.Time.Seq)+attended*float64(c.Time.KV)+pairs*float64(c.Time.PA))
	}
	want := (share*int64(len(requests)) + 999) / 1000
	window := float64(last-requests[0].Arrival) * 1e6
	if want > int64(len(each)) || window <= 0 {
		return 0
	}
	slices.Sort(each)
	work := 0.0
	for _, ps := range each[:want] {
		work += ps
	}
	return int(math.Ceil(work * (1 - 1e-9) / window))
}

// leastPerToken returns picoseconds below which no token comes, however full an iteration is.
func (t *Time) leastPerToken(tokens int64) float64 {
	least := 0.0
	for _, l := range t.Lin {
		flat := float64(t.C0 + l[0])
		if flat > 0 {
			flat /= float64(tokens)
		}
		least = max(least, flat+float64(l[1]))
	}
	return least
}

// lastFinish returns the last instant at which a request within the promise may be finished.
func (l *SLO) lastFinish(r *Request) (int64, bool) {
	by, ok := int64(0), false
	if l.E2E > 0 {
		by, ok = l.E2E, true
	}
	if l.TTFT > 0 && l.TPOT > 0 {
		if x := l.TTFT + l.TPOT*(r.Out-1); !ok || x < by {
			by, ok = x, true
		}
	}
	return r.Arrival + by, ok
}

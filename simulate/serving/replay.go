package serving

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"capcli"
)

// Result is what a replay gives.
type Result struct {
	Served   []Served // in order of id, which is the order of arrival
	Replicas []Use    // in the order of Config.Replicas
	Summary  Summary
}

// Use is what a replica did. Times are microseconds.
type Use struct {
	Iterations  int64 `json:"iterations"`
	Busy        int64 `json:"busy_us"`
	Prompts     int64 `json:"prompts_us"` // part of Busy that prompts took: what decoding alone would not have taken
	Peak        int64 `json:"peak_blocks"`
	Preemptions int64 `json:"preemptions"`
	Requests    int64 `json:"requests"`       // finished here
	LastFinish  int64 `json:"last_finish_us"` // 0 is none
	Paid        int64 `json:"paid_us"`
	GPUs        int64 `json:"gpus"`
}

// Source gives requests in order of arrival.
type Source interface {
	// Peek returns the arrival of the next request; ok is false where there is none.
	Peek() (arrival int64, ok bool)
	// Next returns it. Its id is the number of calls before.
	Next() Request
}

// Follower is a Source with requests that depend on others: a call of a tool that needs an answer. The
// replay tells it of each request that is finished or rejected; then it may have more requests, which
// arrive at that time or later. Where nothing is in flight and Peek has none, the replay ends.
type Follower interface {
	Source
	RequestDone(id int, s *Served, t int64)
}

// Replay plays requests, in order of arrival, on the replicas of a service. The error is a
// *capcli.RequestError for a wrong configuration, a *capcli.InputError for wrong requests.
func Replay(ctx context.Context, c *Config, requests []Request) (*Result, error) {
	p, err := newPlayer(c, &slice{rest: requests})
	if err != nil {
		return nil, err
	}
	p.served = make([]Served, 0, len(requests))
	p.sequences = make([]sequence, 0, len(requests))
	return p.play(ctx)
}

// ReplaySource plays the requests of a source, as Replay does.
func ReplaySource(ctx context.Context, c *Config, from Source) (*Result, error) {
	p, err := newPlayer(c, from)
	if err != nil {
		return nil, err
	}
	return p.play(ctx)
}

type slice struct{ rest []Request }

func (s *slice) Peek() (int64, bool) {
	if len(s.rest) == 0 {
		return 0, false
	}
	return s.rest[0].Arrival, true
}

func (s *slice) Next() Request {
	r := s.rest[0]
	s.rest = s.rest[1:]
	return r
}

// player plays one run.
type player struct {
	config    *Config
	from      Source
	follower  Follower // nil where from is none
	fleet     Fleet
	router    Router
	served    []Served
	sequences []sequence
	events    []event // of replicas, to come
	ready     int     // replicas
	homeless  []int32 // requests without a replica
	last      int64   // arrival
}

// event is a change of a replica.
type event struct {
	t       int64
	kind    uint8
	replica int
}

// The kinds of event in their order within an instant.
const (
	replicaDown uint8 = iota
	replicaDrained
	replicaReady
)

func newPlayer(c *Config, from Source) (*player, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	router, _ := Routers.Get(c.Router)
	batching, _ := Batchings.Get(c.Policy)
	p := &player{config: c, from: from, router: router(c)}
	p.follower, _ = from.(Follower)
	p.fleet.servers = make([]server, len(c.Replicas))
	for i, r := range c.Replicas {
		s := &p.fleet.servers[i]
		s.config, s.batching, s.sequences, s.served = c, batching, &p.sequences, &p.served
		if p.follower != nil {
			s.done = func(id int32, t int64) { p.follower.RequestDone(int(id), &p.served[id], t) }
		}
		s.reset(c)
		p.events = append(p.events, event{r.Ready, replicaReady, i})
		if r.Drain >= 0 {
			p.events = append(p.events, event{r.Drain, replicaDrained, i})
		}
		if r.Down >= 0 {
			p.events = append(p.events, event{r.Down, replicaDown, i})
		}
	}
	slices.SortFunc(p.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.kind, b.kind), cmp.Compare(a.replica, b.replica))
	})
	return p, nil
}

func (p *player) play(ctx context.Context) (*Result, error) {
	for n := 0; ; n++ {
		if n&0x3ff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t := p.nextInstant()
		if t == never {
			break
		}
		if err := p.playInstant(t); err != nil {
			return nil, err
		}
	}
	for i := range p.fleet.servers {
		p.fleet.servers[i].advance(never)
	}
	return p.result()
}

// nextInstant returns the time of the next arrival or change of a replica, and where requests follow
// others, of the next end of an iteration.
func (p *player) nextInstant() int64 {
	t := int64(never)
	if at, ok := p.from.Peek(); ok {
		t = at
	}
	if len(p.events) > 0 {
		t = min(t, p.events[0].t)
	}
	if p.follower == nil {
		return t
	}
	nearest, second := -1, t
	for i := range p.fleet.servers {
		if s := &p.fleet.servers[i]; s.busy && s.end < t {
			nearest, second, t = i, t, s.end
		} else if s.busy {
			second = min(second, s.end)
		}
	}
	if nearest >= 0 {
		s := &p.fleet.servers[nearest]
		if s.coasts() {
			s.coast(second)
		}
		return min(s.end, second)
	}
	return t
}

// playInstant plays what happens at t beside iterations. A replica is brought up to t only where something
// looks at it: until then nothing that happens to others concerns it.
func (p *player) playInstant(t int64) error {
	p.fleet.now = t
	if p.follower != nil {
		for i := range p.fleet.servers {
			p.fleet.servers[i].advance(t)
		}
	}
	for len(p.events) > 0 && p.events[0].t <= t {
		p.change(p.events[0])
		p.events = p.events[1:]
	}
	if len(p.homeless) > 0 && p.ready > 0 {
		slices.Sort(p.homeless)
		for _, id := range p.homeless {
			p.send(id)
		}
		p.homeless = p.homeless[:0]
	}
	for {
		if at, ok := p.from.Peek(); !ok || at > t {
			break
		}
		if err := p.arrive(p.from.Next()); err != nil {
			return err
		}
	}
	if p.follower != nil {
		for i := range p.fleet.servers {
			if s := &p.fleet.servers[i]; s.pending == t {
				s.form()
			}
		}
	}
	return nil
}

// change makes a replica ready, drained or lost.
func (p *player) change(e event) {
	s := &p.fleet.servers[e.replica]
	took := p.fleet.IsReady(e.replica)
	switch e.kind {
	case replicaDown:
		s.advance(e.t)
		from := len(p.homeless)
		p.homeless = s.lose(e.t, p.homeless)
		for _, id := range p.homeless[from:] {
			p.sequences[id].cached = 0
			p.served[id].Moves++
		}
	case replicaDrained:
		s.isDrained = true
	case replicaReady:
		s.isReady = true
	}
	switch takes := p.fleet.IsReady(e.replica); {
	case takes && !took:
		p.ready++
	case took && !takes:
		p.ready--
	}
}

// arrive takes the next request.
func (p *player) arrive(r Request) error {
	id := len(p.served)
	if err := r.check(id, p.last); err != nil {
		return err
	}
	p.last = r.Arrival
	r.Cached = min(r.Cached, r.In-1)
	p.served = append(p.served, Served{Request: r, Admitted: -1, FirstToken: -1, Finish: -1, Replica: -1, Status: Waiting})
	p.sequences = append(p.sequences, sequence{next: -1, prev: -1, hint: r.Cached})
	switch {
	case p.config.Rejects(r):
		w := &p.served[id]
		w.Status = Rejected
		if p.follower != nil {
			p.follower.RequestDone(id, w, p.fleet.now)
		}
	case p.ready == 0:
		p.homeless = append(p.homeless, int32(id))
	default:
		p.send(int32(id))
	}
	return nil
}

// Rejects reports whether a request is rejected on arrival: it is longer than the model allows, or than
// the cache of a replica could ever hold.
func (c *Config) Rejects(r Request) bool {
	return r.In+r.Out > c.MaxLen || (r.In+r.Out-2)/c.BlockSize+1 > c.Blocks-c.Watermark
}

// check says what is wrong with request number id, which comes after one that arrived at last.
func (r *Request) check(id int, last int64) error {
	field, text := "", ""
	switch {
	case r.Arrival < last:
		field, text = "arrival_us", fmt.Sprintf("is %d, before the %d of the one before: requests must be in order of arrival", r.Arrival, last)
	case r.In < 1 || r.In > maxTokens:
		field, text = "tokens_in", fmt.Sprintf("is %d; want at least 1", r.In)
	case r.Out < 1 || r.Out > maxTokens:
		field, text = "tokens_out", fmt.Sprintf("is %d; want at least 1", r.Out)
	case r.Cached < 0:
		field, text = "cached", fmt.Sprintf("is %d; want at least 0", r.Cached)
	default:
		return nil
	}
	return &capcli.InputError{Field: field, Text: fmt.Sprintf("of request %d %s", id, text)}
}

// send has the router send a request at the present instant.
func (p *player) send(id int32) {
	w := &p.served[id]
	w.Replica = p.router.Route(&p.fleet, &w.Request)
	s := &p.fleet.servers[w.Replica]
	s.advance(p.fleet.now)
	s.enqueue(id, p.fleet.now)
}

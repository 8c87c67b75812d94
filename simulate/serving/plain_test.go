package serving_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"capcli/simulate/serving"
)

// plain plays requests by the rules as they are written, with lists and without sums: each iteration looks
// at each sequence. It is there to be compared with Replay.
type plain struct {
	c        *serving.Config
	served   []serving.Served
	made, k  []int64
	decodes  []bool
	held     []int64
	replicas []*plainReplica
	homeless []int
	cursor   int
}

type plainReplica struct {
	wait, run           []int
	batch               []plainPiece
	end                 int64 // -1 is idle
	ready, drained, out bool
	iterations, busy    int64
}

type plainPiece struct {
	id int
	n  int64
}

func playPlain(c *serving.Config, requests []serving.Request) *plain {
	p := &plain{c: c, cursor: -1}
	for range c.Replicas {
		p.replicas = append(p.replicas, &plainReplica{end: -1})
	}
	for next := 0; ; {
		t := int64(math.MaxInt64)
		if next < len(requests) {
			t = requests[next].Arrival
		}
		for i, r := range p.replicas {
			life := c.Replicas[i]
			if r.end >= 0 {
				t = min(t, r.end)
			}
			if !r.ready && !r.out {
				t = min(t, life.Ready)
			}
			if life.Drain >= 0 && !r.drained {
				t = min(t, life.Drain)
			}
			if life.Down >= 0 && !r.out {
				t = min(t, life.Down)
			}
		}
		if t == math.MaxInt64 {
			return p
		}
		p.instant(t)
		var sent []int
		sent, p.homeless = p.homeless, nil
		slices.Sort(sent)
		for ; next < len(requests) && requests[next].Arrival == t; next++ {
			q := requests[next]
			q.Cached = min(q.Cached, q.In-1)
			w := serving.Served{Request: q, Admitted: -1, FirstToken: -1, Finish: -1, Replica: -1, Status: serving.Waiting}
			if q.In+q.Out > c.MaxLen || (q.In+q.Out-1+c.BlockSize-1)/c.BlockSize > c.Blocks-c.Watermark {
				w.Status = serving.Rejected
			} else {
				sent = append(sent, next)
			}
			p.served, p.made, p.k, p.decodes, p.held = append(p.served, w), append(p.made, 0), append(p.k, 0), append(p.decodes, false), append(p.held, 0)
		}
		for _, id := range sent {
			p.send(id)
		}
		for i, r := range p.replicas {
			if r.ready && !r.out && r.end < 0 {
				p.form(i, t)
			}
		}
	}
}

func (p *plain) instant(t int64) {
	for _, r := range p.replicas {
		if r.end == t {
			p.complete(r, t)
		}
	}
	for i, r := range p.replicas {
		if p.c.Replicas[i].Down == t && !r.out {
			if r.end >= 0 {
				r.busy -= r.end - t
			}
			for _, id := range append(r.run, r.wait...) {
				p.k[id], p.held[id], p.decodes[id] = 0, 0, false
				p.served[id].Moves++
				p.homeless = append(p.homeless, id)
			}
			*r = plainReplica{end: -1, out: true, ready: r.ready, drained: r.drained, iterations: r.iterations, busy: r.busy}
		}
	}
	for i, r := range p.replicas {
		r.drained = r.drained || p.c.Replicas[i].Drain == t
	}
	for i, r := range p.replicas {
		r.ready = r.ready || p.c.Replicas[i].Ready == t && !r.out
	}
}

func (p *plain) send(id int) {
	var ready []int
	for i, r := range p.replicas {
		if r.ready && !r.drained && !r.out {
			ready = append(ready, i)
		}
	}
	if len(ready) == 0 {
		p.homeless = append(p.homeless, id)
		return
	}
	to := ready[0]
	if p.c.Router == "round_robin" {
		if i := slices.IndexFunc(ready, func(i int) bool { return i > p.cursor }); i >= 0 {
			to = ready[i]
		}
		p.cursor = to
	} else {
		for _, i := range ready {
			if len(p.replicas[i].wait)+len(p.replicas[i].run) < len(p.replicas[to].wait)+len(p.replicas[to].run) {
				to = i
			}
		}
	}
	p.served[id].Replica = to
	p.replicas[to].wait = append(p.replicas[to].wait, id)
}

func (p *plain) knownTokens(id int) int64 { return p.served[id].In + p.made[id] }

func (p *plain) need(id int, n int64) int64 {
	return max(0, (n+p.c.BlockSize-1)/p.c.BlockSize-p.held[id])
}

func (p *plain) free(r *plainReplica) int64 {
	n := p.c.Blocks
	for _, id := range r.run {
		n -= p.held[id]
	}
	return n
}

func (p *plain) preempt(r *plainReplica) int {
	id := r.run[len(r.run)-1]
	r.run = r.run[:len(r.run)-1]
	r.wait = slices.Insert(r.wait, 0, id)
	p.k[id], p.held[id], p.decodes[id] = 0, 0, false
	p.served[id].Preemptions++
	return id
}

func (p *plain) add(r *plainReplica, id int, n int64) {
	p.held[id] += p.need(id, p.k[id]+n)
	r.batch = append(r.batch, plainPiece{id, n})
}

// grow puts n tokens of id into the batch, and preempts others from the end for them. It reports whether
// that was possible.
func (p *plain) grow(r *plainReplica, id int, n int64) (ok, preempted bool) {
	for p.need(id, p.k[id]+n) > p.free(r) {
		preempted = true
		if p.preempt(r) == id {
			return false, true
		}
	}
	p.add(r, id, n)
	return true, preempted
}

func (p *plain) admit(r *plainReplica, budget int64, whole bool) {
	for len(r.wait) > 0 && budget > 0 && int64(len(r.run)) < p.c.MaxSeqs {
		id := r.wait[0]
		cached := p.served[id].Cached
		n := p.knownTokens(id) - cached
		if whole && n > budget {
			return
		}
		n = min(n, budget)
		if p.free(r)-p.need(id, cached+n) < p.c.Watermark {
			return
		}
		r.wait, r.run = r.wait[1:], append(r.run, id)
		p.k[id] = cached
		p.add(r, id, n)
		budget -= n
	}
}

func (p *plain) form(i int, t int64) {
	r := p.replicas[i]
	r.batch = nil
	switch p.c.Policy {
	case "chunked":
		budget, preempted := p.c.MaxTokens, false
		for j := 0; j < len(r.run) && budget > 0; j++ {
			id := r.run[j]
			n := min(p.knownTokens(id)-p.k[id], budget)
			ok, some := p.grow(r, id, n)
			preempted = preempted || some
			if !ok {
				break
			}
			budget -= n
		}
		if !preempted {
			p.admit(r, budget, false)
		}
	default:
		if p.c.Policy == "prefill_first" || len(r.run) == 0 {
			p.admit(r, p.c.MaxTokens, true)
		}
		for j := 0; len(r.batch) == j && j < len(r.run); j++ {
			if ok, _ := p.grow(r, r.run[j], 1); !ok {
				break
			}
		}
	}
	if len(r.batch) == 0 {
		return
	}
	var tokens, kv, pa int64
	for _, x := range r.batch {
		if p.served[x.id].Admitted < 0 {
			p.served[x.id].Admitted = t
		}
		tokens += x.n
		if p.decodes[x.id] {
			kv += p.k[x.id] + 1
		} else {
			pa += x.n * (2*p.k[x.id] + x.n + 1) / 2
		}
	}
	took := p.c.Time.Micros(tokens, int64(len(r.batch)), kv, pa)
	r.end = t + took
	r.busy += took
	r.iterations++
}

func (p *plain) complete(r *plainReplica, t int64) {
	r.end = -1
	for _, x := range r.batch {
		id := x.id
		w := &p.served[id]
		if p.k[id] += x.n; p.k[id] < p.knownTokens(id) {
			continue
		}
		p.made[id]++
		p.decodes[id] = true
		if w.FirstToken < 0 {
			w.FirstToken = t
		}
		if p.made[id] == w.Out {
			w.Finish, w.Status = t, serving.OK
			p.held[id] = 0
			r.run = slices.DeleteFunc(r.run, func(o int) bool { return o == id })
		}
	}
}

// randomService returns a small service and requests that strain it.
func randomService(r *rand.Rand) (*serving.Config, []serving.Request) {
	pick := func(list ...int64) int64 { return list[r.IntN(len(list))] }
	names := serving.Batchings.Names()
	c := &serving.Config{
		Policy: names[r.IntN(len(names))], Router: []string{"round_robin", "least_loaded"}[r.IntN(2)],
		Time:      serving.Time{C0: pick(0, 1_000_000, 2_000_500_000), Lin: [][2]int64{{pick(0, 3_000_000_000), pick(0, 1_000_000)}, {0, pick(0, 50_000_000)}}, Seq: pick(0, 3_000_001), KV: pick(0, 40_001), PA: pick(0, 7003)},
		BlockSize: pick(1, 3, 16), MaxTokens: pick(1, 7, 64, 300), MaxSeqs: pick(1, 3, 8, 100), MaxLen: 300, GPUs: 1,
	}
	if c.Policy != "chunked" {
		c.MaxTokens = pick(300, 1000)
	}
	c.Blocks = (120 + int64(r.IntN(900))) / c.BlockSize
	c.Watermark = int64(r.IntN(3)) * c.Blocks / 20
	for range 1 + r.IntN(4) {
		life := serving.Replica{Ready: pick(0, 0, 20_000, 200_000), Drain: -1, Down: -1}
		if r.IntN(4) == 0 {
			life.Drain = int64(r.IntN(600_000))
		}
		if r.IntN(3) == 0 {
			life.Down = int64(r.IntN(800_000))
		}
		c.Replicas = append(c.Replicas, life)
	}
	var requests []serving.Request
	at := int64(0)
	for range r.IntN(60) {
		at += pick(0, 0, 1000, 5000, 20_000)
		requests = append(requests, serving.Request{Arrival: at, In: 1 + int64(r.IntN(150)), Out: 1 + int64(r.IntN(100)), Cached: pick(0, 0, int64(r.IntN(160)))})
	}
	return c, requests
}

// TestPlain compares Replay with the rules written plainly, on services that preempt, lose, drain and
// reject.
func TestPlain(t *testing.T) {
	preemptions, moves, rejected, unserved := int64(0), int64(0), int64(0), int64(0)
	for seed := range uint64(1500) {
		c, requests := randomService(rand.New(rand.NewPCG(seed, 1)))
		r, err := serving.Replay(t.Context(), c, requests)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := playPlain(c, requests)
		if !slices.Equal(r.Served, want.served) {
			for i := range r.Served {
				if r.Served[i] != want.served[i] {
					t.Fatalf("seed %d: request %d is\n%+v, plainly\n%+v of %+v", seed, i, r.Served[i], want.served[i], *c)
				}
			}
		}
		for i, u := range r.Replicas {
			if w := want.replicas[i]; u.Iterations != w.iterations || u.Busy != w.busy {
				t.Fatalf("seed %d: replica %d has %d iterations in %d us, plainly %d in %d", seed, i, u.Iterations, u.Busy, w.iterations, w.busy)
			}
		}
		s := &r.Summary
		preemptions, moves, rejected, unserved = preemptions+s.Preemptions, moves+s.Moves, rejected+s.Rejected, unserved+s.Unserved
		checkLaws(t, c, r)
	}
	if preemptions < 1000 || moves < 500 || rejected < 500 || unserved < 500 {
		t.Errorf("the services strain too little: %d preemptions, %d moves, %d rejected, %d never served", preemptions, moves, rejected, unserved)
	}
}

// checkLaws checks what holds of any run: no request is lost, times are in order, a replica is busy and
// paid within its life, and never holds more blocks than it has.
func checkLaws(t *testing.T, c *serving.Config, r *serving.Result) {
	t.Helper()
	s := &r.Summary
	if s.OK+s.Rejected+s.Unserved != s.Requests || int(s.Requests) != len(r.Served) {
		t.Errorf("requests are lost: %+v", s)
	}
	finished, preemptions := int64(0), int64(0)
	for i, u := range r.Replicas {
		finished += u.Requests
		preemptions += u.Preemptions
		if u.Peak > c.Blocks || u.Busy > max(s.End, u.LastFinish)-c.Replicas[i].Ready && u.Busy > 0 && c.Replicas[i].Down < 0 || u.Prompts > u.Busy || u.Paid < 0 {
			t.Errorf("replica %d: %+v of %+v", i, u, c)
		}
	}
	if finished != s.OK || preemptions != s.Preemptions {
		t.Errorf("replicas finished %d of %d requests, with %d of %d preemptions", finished, s.OK, preemptions, s.Preemptions)
	}
	for i := range r.Served {
		w := &r.Served[i]
		if w.Status == serving.OK && (w.Admitted < w.Arrival || w.FirstToken <= w.Admitted || w.Finish < w.FirstToken) {
			t.Errorf("request %d: %+v", i, w)
		}
	}
}

// listed gives requests as a Follower does that has nothing to add.
type listed struct {
	rest []serving.Request
	done int
}

func (l *listed) Peek() (int64, bool) {
	if len(l.rest) == 0 {
		return 0, false
	}
	return l.rest[0].Arrival, true
}

func (l *listed) Next() serving.Request {
	r := l.rest[0]
	l.rest = l.rest[1:]
	return r
}

func (l *listed) RequestDone(int, *serving.Served, int64) { l.done++ }

// A source whose requests may follow others is played iteration by iteration, in order of time. Where none
// does, it gives the same as requests that are known.
func TestFollowersEqualLists(t *testing.T) {
	for seed := range uint64(400) {
		c, requests := randomService(rand.New(rand.NewPCG(seed, 3)))
		want, err := serving.Replay(t.Context(), c, requests)
		if err != nil {
			t.Fatal(err)
		}
		from := &listed{rest: requests}
		got, err := serving.ReplaySource(t.Context(), c, from)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Served, want.Served) || !slices.Equal(got.Replicas, want.Replicas) {
			t.Fatalf("seed %d: as followers %+v, as a list %+v", seed, got.Summary, want.Summary)
		}
		if from.done != int(want.Summary.OK+want.Summary.Rejected) {
			t.Errorf("seed %d: told of %d requests: %+v", seed, from.done, want.Summary)
		}
	}
}

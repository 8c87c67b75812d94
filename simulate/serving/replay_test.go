package serving_test

import (
	"errors"
	"testing"

	"capcli"
	"capcli/simulate/serving"
)

// handTime is 5 ms and the greater of 5 ms and 50 us a token.
var handTime = serving.Time{C0: 5_000_000_000, Lin: [][2]int64{{5_000_000_000, 0}, {0, 50_000_000}}}

// hand returns a small service of one replica, and four requests, of which two arrive at the very end of an
// iteration.
func hand() (*serving.Config, []serving.Request) {
	c := &serving.Config{
		Policy: "chunked", Time: handTime, BlockSize: 16, Blocks: 64, MaxTokens: 128, MaxSeqs: 4, MaxLen: 400, Router: "round_robin",
		Replicas: []serving.Replica{{Drain: -1, Down: -1}}, GPUs: 1, Price: 3.6, SLO: serving.SLO{TTFT: 1_000_000, TPOT: 50_000},
	}
	return c, []serving.Request{{In: 100, Out: 3}, {Arrival: 5000, In: 200, Out: 2}, {Arrival: 21_400, In: 50, Out: 1}, {Arrival: 21_400, In: 128, Out: 4, Cached: 64}}
}

// times are the first batch, the first token and the end of each request.
func times(r *serving.Result) (out [][3]int64) {
	for i := range r.Served {
		w := &r.Served[i]
		out = append(out, [3]int64{w.Admitted, w.FirstToken, w.Finish})
	}
	return out
}

func checkTimes(t *testing.T, c *serving.Config, requests []serving.Request, want ...[3]int64) *serving.Result {
	t.Helper()
	r, err := serving.Replay(t.Context(), c, requests)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range times(r) {
		if i >= len(want) || got != want[i] {
			t.Errorf("request %d: got %v, want %v", i, times(r), want)
			break
		}
	}
	return r
}

// Prompts are cut to what decoding leaves of 128 tokens: 10 ms, then 11.4 ms twice, then 10 ms each.
func TestChunkedByHand(t *testing.T) {
	c, requests := hand()
	r := checkTimes(t, c, requests, [3]int64{0, 10_000, 32_800}, [3]int64{10_000, 32_800, 42_800}, [3]int64{21_400, 32_800, 32_800}, [3]int64{21_400, 42_800, 72_800})
	if s := r.Summary; s.Iterations != 7 || s.Busy != 72_800 || s.PeakBlocks != 29 || s.TTFTP99 != 27_800 || s.SLOMet != 4 || s.Paid != 72_800 {
		t.Errorf("%+v", s)
	}
}

// Whole prompts, alone: 100 tokens take 10 ms, 200 take 15 ms, 50 and 64 together 10.7 ms.
func TestPrefillFirstByHand(t *testing.T) {
	c, requests := hand()
	c.Policy, c.MaxTokens = "prefill_first", 400
	checkTimes(t, c, requests, [3]int64{0, 10_000, 55_700}, [3]int64{10_000, 25_000, 45_700}, [3]int64{25_000, 35_700, 35_700}, [3]int64{25_000, 35_700, 65_700})
}

// Nobody joins a batch: the second waits for the end of the first.
func TestStaticByHand(t *testing.T) {
	c, requests := hand()
	c.Policy, c.MaxTokens = "static", 400
	checkTimes(t, c, requests, [3]int64{0, 10_000, 30_000}, [3]int64{30_000, 50_700, 60_700}, [3]int64{30_000, 50_700, 50_700}, [3]int64{30_000, 50_700, 80_700})
}

// Four blocks of 16: two requests of 17 tokens in and 40 out hold two each, and one of them must be taken
// off at token 33 of the other.
func TestPreemptionByHand(t *testing.T) {
	c, _ := hand()
	c.Blocks, c.MaxLen = 4, 64
	r := checkTimes(t, c, []serving.Request{{In: 17, Out: 40}, {In: 17, Out: 40}}, [3]int64{0, 10_000, 400_000}, [3]int64{0, 10_000, 640_000})
	if got := r.Served[1].Preemptions; got != 1 {
		t.Errorf("%d preemptions, want 1", got)
	}
}

// A lost replica's request goes to the other with its two tokens, and its prompt is computed again.
func TestLossByHand(t *testing.T) {
	c, _ := hand()
	c.Replicas = []serving.Replica{{Drain: -1, Down: 25_000}, {Ready: 40_000, Drain: -1, Down: -1}}
	r := checkTimes(t, c, []serving.Request{{In: 90, Out: 5}}, [3]int64{0, 10_000, 70_000})
	if w := r.Served[0]; w.Moves != 1 || w.Replica != 1 || r.Summary.Busy != 55_000 || r.Summary.Paid != 25_000+30_000 {
		t.Errorf("%+v %+v", w, r.Summary)
	}
}

func TestWrongRequests(t *testing.T) {
	for _, x := range []struct {
		field    string
		requests []serving.Request
	}{
		{"tokens_in", []serving.Request{{Out: 1}}},
		{"tokens_out", []serving.Request{{In: 1}}},
		{"cached", []serving.Request{{In: 1, Out: 1, Cached: -1}}},
		{"arrival_us", []serving.Request{{Arrival: 2, In: 1, Out: 1}, {Arrival: 1, In: 1, Out: 1}}},
	} {
		c, _ := hand()
		_, err := serving.Replay(t.Context(), c, x.requests)
		if in, ok := errors.AsType[*capcli.InputError](err); !ok || in.Field != x.field {
			t.Errorf("got %v, want a fault of %s", err, x.field)
		}
	}
}

func TestWrongConfigurations(t *testing.T) {
	for _, x := range []struct {
		field string
		set   func(*serving.Config)
	}{
		{"replicas", func(c *serving.Config) { c.Replicas = nil }},
		{"blocks", func(c *serving.Config) { c.Blocks = 0 }},
		{"blocks", func(c *serving.Config) { c.Watermark = 64 }},
		{"max_tokens", func(c *serving.Config) { c.Policy = "prefill_first" }},
		{"max_seqs", func(c *serving.Config) { c.MaxSeqs = 0 }},
		{"time", func(c *serving.Config) { c.Time.Lin = nil }},
		{"time", func(c *serving.Config) { c.Time.KV = -1 }},
		{"time", func(c *serving.Config) { c.Time.PA = 1 << 60 }},
		{"price", func(c *serving.Config) { c.Price = -1 }},
	} {
		c, requests := hand()
		x.set(c)
		_, err := serving.Replay(t.Context(), c, requests)
		if q, ok := errors.AsType[*capcli.RequestError](err); !ok || q.Field != x.field {
			t.Errorf("got %v, want a fault of %s", err, x.field)
		}
	}
}

// chain has a request arrive 1 ms after the one before is finished.
type chain struct {
	left  int
	at    int64
	ready bool
}

func (c *chain) Peek() (int64, bool) { return c.at, c.ready }

func (c *chain) Next() serving.Request {
	c.ready = false
	return serving.Request{Arrival: c.at, In: 100, Out: 2}
}

func (c *chain) RequestDone(_ int, _ *serving.Served, t int64) {
	if c.left--; c.left > 0 {
		c.at, c.ready = t+1000, true
	}
}

// Each of three requests takes 20 ms and begins 1 ms after the one before.
func TestFollowers(t *testing.T) {
	c, _ := hand()
	r, err := serving.ReplaySource(t.Context(), c, &chain{left: 3, ready: true})
	if err != nil || len(r.Served) != 3 || r.Served[2].Arrival != 42_000 || r.Served[2].Finish != 62_000 {
		t.Errorf("%v %+v", err, r)
	}
}

// The second request of a prefix finds 96 of its 100 tokens where the first was, and nothing on the other
// replica; round robin sends it to the other, prefix_aware to the same.
func TestPrefixes(t *testing.T) {
	c, _ := hand()
	c.Replicas = []serving.Replica{{Drain: -1, Down: -1}, {Drain: -1, Down: -1}}
	c.OwnPrefix = true
	requests := []serving.Request{{In: 128, Out: 1, Cached: 96, Prefix: 7}, {Arrival: 50_000, In: 128, Out: 1, Cached: 96, Prefix: 7}, {Arrival: 90_000, In: 128, Out: 1, Cached: 96}}
	r := checkTimes(t, c, requests, [3]int64{0, 11_400, 11_400}, [3]int64{50_000, 61_400, 61_400}, [3]int64{90_000, 100_000, 100_000})
	if r.Served[1].Replica != 1 || r.Served[1].Cached != 0 || r.Served[2].Cached != 96 {
		t.Errorf("round robin: %+v", r.Served)
	}
	c.Router = "prefix_aware"
	r = checkTimes(t, c, requests, [3]int64{0, 11_400, 11_400}, [3]int64{50_000, 60_000, 60_000}, [3]int64{90_000, 100_000, 100_000})
	if r.Served[1].Replica != 0 || r.Served[1].Cached != 96 {
		t.Errorf("prefix aware: %+v", r.Served)
	}
}

// A prefix that all requests share does not send them all to one replica.
func TestPrefixBound(t *testing.T) {
	c := fleet(4, "prefix_aware")
	for i := range c.Replicas {
		c.Replicas[i] = serving.Replica{Drain: -1, Down: -1}
	}
	var requests []serving.Request
	for i := range 400 {
		requests = append(requests, serving.Request{Arrival: int64(i) * 1000, In: 500, Out: 100, Cached: 400, Prefix: 1})
	}
	r, err := serving.Replay(t.Context(), c, requests)
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range r.Replicas {
		if u.Requests < 60 || u.Requests > 160 {
			t.Errorf("replica %d of 4 served %d of 400 requests", i, u.Requests)
		}
	}
}

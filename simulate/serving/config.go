package serving

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"capcli"
)

// Limits of a configuration. They keep sums of picoseconds within 64 bits.
const (
	MaxReplicas  = 10_000
	MaxBlockSize = 1 << 16
	maxTokens    = 1 << 40
	maxPhases    = 1 << 26 // counters of all replicas
	maxTime      = 4e18    // picoseconds of an iteration, 46 days
)

// Check says what is wrong with a configuration: the error is a *capcli.RequestError that names the field.
func (c *Config) Check() error {
	batching, err := Batchings.Get(c.Policy)
	if err != nil {
		return err
	}
	if _, err := Routers.Get(c.Router); err != nil {
		return err
	}
	for _, x := range []struct {
		name      string
		v, lo, hi int64
	}{
		{"block_size", c.BlockSize, 1, MaxBlockSize},
		{"watermark", c.Watermark, 0, maxTokens},
		{"max_tokens", c.MaxTokens, 1, maxTokens},
		{"max_seqs", c.MaxSeqs, 1, 1 << 31},
		{"max_len", c.MaxLen, 2, maxTokens},
		{"gpus", c.GPUs, 0, 1 << 16},
		{"cold", c.Cold, 0, never / 4},
		{"prefix_bound", c.Bound, 0, 1_000_000},
	} {
		if x.v < x.lo || x.v > x.hi {
			return &capcli.RequestError{Field: x.name, Text: fmt.Sprintf("is %d; want %d to %d", x.v, x.lo, x.hi)}
		}
	}
	if c.Blocks <= c.Watermark || c.Blocks > maxTokens {
		return &capcli.RequestError{
			Field: "blocks",
			Text:  fmt.Sprintf("is %d with a watermark of %d: the KV cache of a replica holds no request", c.Blocks, c.Watermark),
			Hint:  "the weights leave no memory: take more GPUs a replica, GPUs with more memory, or fewer bits a weight",
		}
	}
	if c.Price < 0 || !capcli.Figure(c.Price).IsKnown() {
		return &capcli.RequestError{Field: "price", Text: fmt.Sprintf("is %v; want US dollars of a GPU-hour", c.Price)}
	}
	return cmp.Or(c.Time.check(c), c.checkReplicas(), batching.Check(c))
}

func (t *Time) check(c *Config) error {
	if len(t.Lin) < 1 || len(t.Lin) > 3 && len(t.Batch) == 0 {
		return &capcli.RequestError{Field: "time", Text: fmt.Sprintf("has %d pairs under lin; want 1 to 3", len(t.Lin))}
	}
	if t.C0 < 0 || t.Seq < 0 || t.KV < 0 || t.PA < 0 {
		return &capcli.RequestError{Field: "time", Text: "has a coefficient below 0"}
	}
	seqs, length := float64(min(c.MaxSeqs, c.Blocks)), float64(c.MaxLen)
	tokens := min(float64(c.MaxTokens), float64(c.MaxSeqs)*length)
	most := float64(0)
	for _, l := range t.Lin {
		if l[1] < 0 {
			return &capcli.RequestError{Field: "time", Text: "has a slope below 0 under lin: more tokens would take less time"}
		}
		most = max(most, max(float64(l[0]), -float64(l[0]))+float64(l[1])*tokens)
	}
	cache := float64(c.Blocks) * float64(c.BlockSize)
	if float64(t.C0)+most+float64(t.Seq)*seqs+float64(t.KV)*min(seqs*length, cache)+float64(t.PA)*min(tokens, cache)*length > maxTime {
		return &capcli.RequestError{Field: "time", Text: "gives iterations of more than 46 days with these limits", Hint: "coefficients are in picoseconds; look at max_tokens, max_seqs and max_len too"}
	}
	return nil
}

func (c *Config) checkReplicas() error {
	switch {
	case len(c.Replicas) == 0:
		return &capcli.RequestError{Field: "replicas", Text: "are none: nothing serves the requests"}
	case len(c.Replicas) > MaxReplicas:
		return &capcli.RequestError{Field: "replicas", Text: fmt.Sprintf("are %d; at most %d are played", len(c.Replicas), MaxReplicas)}
	case int64(len(c.Replicas))*c.BlockSize > maxPhases:
		return &capcli.RequestError{Field: "block_size", Text: fmt.Sprintf("is %d with %d replicas; their product may be at most %d", c.BlockSize, len(c.Replicas), maxPhases)}
	}
	for i, r := range c.Replicas {
		if r.Ready < 0 || r.Drain < -1 || r.Down < -1 || max(r.Ready, r.Drain, r.Down) > never/4 {
			return &capcli.RequestError{Field: "replicas", Text: fmt.Sprintf("has a time out of range in number %d: ready %d, drain %d, down %d", i, r.Ready, r.Drain, r.Down)}
		}
	}
	return nil
}

// Split is a service whose prompts are computed on replicas of their own (Zhong et al., "DistServe:
// Disaggregating Prefill and Decoding for Goodput-optimized Large Language Model Serving", OSDI 2024). A
// replica of Prefill computes the prompt and makes the first token; the KV cache of the prompt is sent; a
// replica of Decode makes the other tokens. A preempted sequence of Decode fetches what was sent again, at
// no cost, and computes the tokens that it had made.
type Split struct {
	Prefill, Decode *Config
	Transfer        int64 // microseconds to send any KV cache
	PerToken        int64 // nanoseconds more for each token of the prompt
}

// Check says what is wrong with the transfer or one of the two configurations.
func (c *Split) Check() error {
	if c.Transfer < 0 || c.Transfer > never/4 || c.PerToken < 0 || c.PerToken > 1e9 {
		return &capcli.RequestError{Field: "transfer", Text: fmt.Sprintf("is %d us and %d ns a token; want at most a second a token", c.Transfer, c.PerToken)}
	}
	return cmp.Or(c.Prefill.Check(), c.Decode.Check())
}

// Replay plays requests: each on a replica of Prefill, then on one of Decode. Nothing that decoding does
// delays prompts, so the first fleet is played before the second. Replicas of Decode have the numbers
// after those of Prefill. The promise and the price are those of Decode.
func (c *Split) Replay(ctx context.Context, requests []Request) (*Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	prompts := make([]Request, len(requests))
	for i, r := range requests {
		if err := r.check(i, 0); err != nil {
			return nil, err
		}
		prompts[i] = r
		prompts[i].Out = 1
		if c.Decode.Rejects(r) || c.Prefill.Rejects(prompts[i]) {
			prompts[i].Out = c.Prefill.MaxLen // no fleet may begin what the other cannot end
		}
	}
	first, err := Replay(ctx, c.Prefill, prompts)
	if err != nil {
		return nil, err
	}
	var rest []Request
	var ids []int
	for id := range first.Served {
		w := &first.Served[id]
		w.Out = requests[id].Out
		if w.Status == OK && w.Out > 1 {
			at := w.Finish + c.Transfer + (w.In*c.PerToken+999)/1000
			rest = append(rest, Request{Arrival: at, In: w.In + 1, Out: w.Out - 1, Cached: w.In, Prefix: int64(id)})
		}
	}
	slices.SortStableFunc(rest, func(a, b Request) int { return cmp.Compare(a.Arrival, b.Arrival) })
	for i := range rest {
		ids = append(ids, int(rest[i].Prefix))
		rest[i].Prefix = requests[ids[i]].Prefix
	}
	own := *c.Decode
	own.OwnPrefix = false // what was sent is there
	second, err := Replay(ctx, &own, rest)
	if err != nil {
		return nil, err
	}
	return c.join(first, second, ids), nil
}

// join returns the result of both fleets. ids are the requests of the second.
func (c *Split) join(first, second *Result, ids []int) *Result {
	n := len(c.Prefill.Replicas)
	for i, id := range ids {
		w, d := &first.Served[id], &second.Served[i]
		w.Preemptions += d.Preemptions
		w.Moves += d.Moves
		w.Status, w.Finish = d.Status, d.Finish
		if d.Replica >= 0 {
			w.Replica = d.Replica + n
		}
	}
	end := lastFinish(first.Served)
	c.Prefill.pay(first.Replicas, end)
	c.Decode.pay(second.Replicas, end)
	r := &Result{Served: first.Served, Replicas: append(first.Replicas, second.Replicas...)}
	r.Summary = Summarize(c.Decode, r.Served, r.Replicas)
	return r
}

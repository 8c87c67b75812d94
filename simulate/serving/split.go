package serving

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"capcli"
)

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

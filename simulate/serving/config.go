package serving

import (
	"cmp"
	"fmt"

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

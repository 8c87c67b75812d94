package service

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli/profile/logs/requests"
	"capcli/scenarios/strict"
	"capcli/simulate/serving"
)

// HasBatchTime reports whether the service has no tokens: its time is that of batches of requests.
func (s *Spec) HasBatchTime() bool { return len(s.Config.Time.Batch) > 0 }

// readBatchTime reads the times of batches: {1: 4ms, 32: 9ms}.
func (s *Spec) readBatchTime(d *strict.Decoder, n *yaml.Node) {
	var micros int64
	if d.AcceptsMap(n, "^[1-9][0-9]*$", picoseconds(&micros)) {
		return
	}
	var points [][2]int64
	d.ReadMap(n, "times by requests in a batch, such as {1: 4ms, 32: 9ms}", serving.MaxBatchPoints, func(key, value *yaml.Node) {
		var p [2]int64
		strict.Integer(&p[0], 1, serving.MaxBatch)(d, key)
		picoseconds(&p[1])(d, value)
		points = append(points, p)
	})
	if len(points) == 0 {
		return
	}
	t, err := serving.BatchTime(points)
	if err != nil {
		d.Fault(n, "%s", err)
		return
	}
	s.Config.Time = t
}

// ofTokens are the fields that only a service with tokens has a use for.
var ofTokens = append([]string{
	"policy", "batching", "time", "time_table", "block_size", "blocks", "watermark", "max_tokens", "max_len", "prefix_bound", "prefix_cache", "prefill", "agents", "api_price",
}, modelNames...)

// checkBatch checks and completes a service with batch_time: a free replica takes the requests that wait, at most
// max_seqs or the largest measured batch, and answers them together.
func (s *Spec) checkBatch(o *strict.Object) {
	if !s.HasBatchTime() {
		return
	}
	o.FaultEach(ofTokens, "%s is of a model with tokens; with batch_time the time of a batch is all that counts")
	c := &s.Config
	for _, name := range []string{"promise", "slo"} {
		if o.Has(name) && (c.SLO.TTFT > 0 || c.SLO.TPOT > 0) {
			o.FaultName(name, "requests of a service with batch_time have no tokens: promise e2e, the time from arrival to answer")
		}
	}
	most := c.Time.Batch[len(c.Time.Batch)-1][0]
	if o.Has("max_seqs") && c.MaxSeqs > most {
		o.Fault("max_seqs", "max_seqs is %d, and the largest batch of batch_time has %d requests; measure that batch too", c.MaxSeqs, most)
	}
	if !o.Has("max_seqs") {
		c.MaxSeqs = most
	}
	c.Policy, c.MaxTokens, c.MaxLen, c.BlockSize, c.Blocks = "chunked", c.MaxSeqs, 2, 2, c.MaxSeqs
}

// RequestsFrom returns the requests of a trace as the service counts them: those of a service with batch_time have
// one token each.
func (s *Spec) RequestsFrom(t *requests.Trace) []serving.Request {
	return s.count(RequestsOf(t))
}

func (s *Spec) count(list []serving.Request) []serving.Request {
	if !s.HasBatchTime() {
		return list
	}
	out := make([]serving.Request, len(list))
	for i, r := range list {
		out[i] = serving.Request{Arrival: r.Arrival, In: 1, Out: 1}
	}
	return out
}

// hasFigure reports whether a figure of a replay is known of the service: without tokens there are no times to them.
func (v *Variant) hasFigure(name string) bool {
	return !v.WithoutTokens || !slices.ContainsFunc([]string{"ttft", "tpot", "token", "mtok", "prompt", "preempt", "api"}, func(part string) bool { return strings.Contains(name, part) })
}

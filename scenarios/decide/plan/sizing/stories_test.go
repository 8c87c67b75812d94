package sizing

import (
	"bytes"
	"io"
	"testing"

	"capcli/profile/logs/trace"
	"capcli/testdata/golden"
)

// sized sizes a service of a text or of the library.
func sized(t *testing.T, name, text string, search string) *Result {
	t.Helper()
	r := &Request{Search: search}
	f := Files{Spec: name, Seed: 1}
	open := func(string) (trace.Input, io.Closer, error) {
		return trace.Input{Name: name, R: bytes.NewReader([]byte(text))}, io.NopCloser(nil), nil
	}
	if err := f.Fill(t.Context(), open, r); err != nil {
		t.Fatal(err)
	}
	return plan1(t, r)
}

// 1,000 requests a second at the peak, the first token of 99 % within 200 ms: 18 GPUs, and 17 are far
// from it, for then the queue grows. No fewer than 14 can do it.
func TestThousandRequests(t *testing.T) {
	if golden.Short() {
		t.Skip("five times 60,000 requests")
	}
	r := sized(t, "thousand-requests", "", "bound")
	if r.GPUs == nil || *r.GPUs != 18 || r.Bound.Replicas < 13 || r.Bound.Replicas > 18 {
		t.Fatalf("got %v GPUs, at least %d: %s", r.GPUs, r.Bound.Replicas, r.Says)
	}
	last := r.Choices[0].Tries[len(r.Choices[0].Tries)-2]
	if share := *last.Promises[0].Value; last.Replicas != 17 || share > 0.6 {
		t.Errorf("%d replicas answer %.3f of the requests in time", last.Replicas, share)
	}
	if w := r.Traffic; w.Peak < 990 || w.Peak > 1030 || w.Rate > 700 {
		t.Errorf("traffic is %+v", w)
	}
	if len(r.Costs) != 2 || r.Costs[1].PerYear >= r.Costs[0].PerYear {
		t.Errorf("costs are %+v, want those of the pools of the scenario", r.Costs)
	}
}

const claimed = `name: chat
model: llama-3.1-8b
gpu_model: H100
router: least_loaded
price: 3.0
max_len: 8192
promise: {ttft: 1s, tpot: 50ms, share: 99%}
requests:
  rate: 100/s
  tokens_in: {median: 400, p95: 1500, max: 6000}
  tokens_out: {median: 150, p95: 500, max: 2000}
`

// The claims: quantising, compiling and batching save 60 to 80 % of the GPUs and 40 to 60 % of the
// latency. Continuous batching saves far more GPUs than that against batches of eight that wait for each
// other, and makes each answer slower. Weights of 8 bits save a third at the smallest fleet. A kernel
// stated to take 0.7 of the time saves no whole GPU here, and more than its own share of the latency.
func TestClaimedFactors(t *testing.T) {
	if golden.Short() {
		t.Skip("fleets of up to 140 replicas")
	}
	type figures struct {
		gpus      int64
		e2e, tpot float64
	}
	get := func(more string) figures {
		r := sized(t, "chat.yaml", claimed+more, "bisect")
		if r.GPUs == nil {
			t.Fatal(r.Says)
		}
		return figures{*r.GPUs, float64(r.Summary.E2EMean), float64(r.Summary.TPOTMean)}
	}
	waits := get("weights: bf16\nbatching: static\nmax_seqs: 8\n")
	plain := get("weights: bf16\n")
	quantised := get("weights: fp8\n")
	compiled := get("weights: fp8\ncompiled: {time: 0.7}\n")
	t.Logf("static %+v, continuous %+v, 8 bits %+v, compiled %+v", waits, plain, quantised, compiled)
	if saved := 1 - float64(plain.gpus)/float64(waits.gpus); saved < 0.9 || plain.e2e < waits.e2e {
		t.Errorf("continuous batching saves %.2f of the GPUs, and an answer takes %v against %v", saved, plain.e2e, waits.e2e)
	}
	if plain.gpus != 3 || quantised.gpus != 2 {
		t.Errorf("%d GPUs with 16 bits, %d with 8, want 3 and 2", plain.gpus, quantised.gpus)
	}
	if compiled.gpus != 2 || compiled.e2e > 0.5*quantised.e2e {
		t.Errorf("compiled: %d GPUs, an answer takes %v against %v", compiled.gpus, compiled.e2e, quantised.e2e)
	}
}

package serving_test

import (
	"testing"

	"capcli/simulate/serving"
)

// A prompt of 100 tokens takes 10 ms on its own replica, and its KV cache 5 ms and 10 us a token to send:
// decoding starts at 16 ms, and the next prompt does not delay it.
func TestSplitByHand(t *testing.T) {
	c, _ := hand()
	s := &serving.Split{Prefill: c, Decode: c, Transfer: 5000, PerToken: 10_000}
	r, err := s.Replay(t.Context(), []serving.Request{{In: 100, Out: 3}, {Arrival: 1000, In: 200, Out: 2}, {Arrival: 2000, In: 300, Out: 200}, {Arrival: 2000, In: 100, Out: 1}})
	if err != nil {
		t.Fatal(err)
	}
	// Prefill: 100 to 10 ms; 128 of 200 to 21.4; 72 and 56 of 100 to 32.8; 44 to 42.8.
	want := [][3]int64{{0, 10_000, 36_000}, {10_000, 32_800, 32_800 + 5000 + 2000 + 10_000}, {-1, -1, -1}, {21_400, 42_800, 42_800}}
	for i, got := range times(r) {
		if got != want[i] {
			t.Errorf("request %d: got %v, want %v", i, got, want[i])
		}
	}
	if z := r.Summary; z.OK != 3 || z.Rejected != 1 || z.Paid != 2*49_800 || len(r.Replicas) != 2 || r.Served[0].Replica != 1 || r.Served[3].Replica != 0 {
		t.Errorf("%+v", r)
	}
}

// With time to spare and no transfer, requests see at most what they see on one replica: they share no
// iteration with prompts.
func TestSplitIsNoSlower(t *testing.T) {
	c := fleet(1, "round_robin")
	c.Replicas[0] = serving.Replica{Drain: -1, Down: -1}
	requests := day(2000)
	both, err := serving.Replay(t.Context(), c, requests)
	if err != nil {
		t.Fatal(err)
	}
	apart, err := (&serving.Split{Prefill: c, Decode: c}).Replay(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := apart.Summary, both.Summary; a.OK != b.OK || a.TokensOut != b.TokensOut || a.TPOTP99 > b.TPOTP99 || a.Preemptions != 0 {
		t.Errorf("apart %+v, together %+v", a, b)
	}
}

package serving_test

import (
	"errors"
	"slices"
	"testing"

	"capcli/simulate/serving"
)

// TestReferenceLeast finds the fleets of the reference, and each number that it tried on the way.
func TestReferenceLeast(t *testing.T) {
	var cases []struct {
		Name     string
		Config   config
		Share    int64 `json:"share_permille"`
		Replicas int
		Tried    [][2]int64
		Rows     [][4]int64
	}
	decode(t, "minimal.json.gz", &cases)
	for _, c := range cases {
		var requests []serving.Request
		for _, r := range c.Rows {
			requests = append(requests, serving.Request{Arrival: r[0], In: r[1], Out: r[2], Cached: r[3]})
		}
		got, err := serving.LeastReplicas(t.Context(), c.Config.read(), requests, serving.LeastOptions{Share: c.Share, Alone: true})
		if err != nil || got.Replicas != c.Replicas || !slices.Equal(got.Tried, c.Tried) {
			t.Errorf("%s: got %+v, %v, want %d, tried %v", c.Name, got, err, c.Replicas, c.Tried)
			continue
		}
		if got.Bound > got.Replicas || got.Bound < 1 {
			t.Errorf("%s: the bound is %d replicas, and %d keep the promise", c.Name, got.Bound, got.Replicas)
		}
		quick, err := serving.LeastReplicas(t.Context(), c.Config.read(), requests, serving.LeastOptions{Share: c.Share, Skip: true})
		if err != nil || quick.Replicas != c.Replicas {
			t.Errorf("%s: from the bound on got %+v, %v", c.Name, quick, err)
		}
		t.Logf("%s: %d replicas, at least %d", c.Name, got.Replicas, got.Bound)
	}
}

// No fleet gives the first token of 400 tokens within 20 ms where their prompt alone takes 25 ms.
func TestUnkeepable(t *testing.T) {
	c, _ := hand()
	c.MaxTokens, c.SLO = 400, serving.SLO{TTFT: 20_000}
	requests := []serving.Request{{In: 390, Out: 2}, {Arrival: 7, In: 390, Out: 2}, {Arrival: 9, In: 100, Out: 2}}
	_, err := serving.LeastReplicas(t.Context(), c, requests, serving.LeastOptions{Share: 990, Alone: true})
	e, ok := errors.AsType[*serving.UnkeepableError](err)
	if !ok || e.Binds != "ttft" || e.Nearest != 24_500 || e.Alone != 1 {
		t.Errorf("got %+v", err)
	}
	c.SLO.TTFT = 24_500
	l, err := serving.LeastReplicas(t.Context(), c, requests, serving.LeastOptions{Share: 990, Alone: true})
	if err != nil || l.Replicas != 3 {
		t.Errorf("got %+v, %v, want a replica for each", l, err)
	}
}

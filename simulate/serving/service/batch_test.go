package service

import (
	"strings"
	"testing"
)

// A service with batch_time has no tokens, and says what it refuses.
func TestBatchService(t *testing.T) {
	const good = "batch_time: {8: 6ms, 1: 4ms}\nreplicas: 2\npromise: {e2e: 200ms, share: 99%}\nrequests: {rate: 50/s}\n"
	s, err := Parse("f", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Servable()
	if err != nil || c.MaxSeqs != 8 || c.Time.Picoseconds(3, 3, 0, 0) != 4_571_428_571 {
		t.Errorf("got %+v, %v", c, err)
	}
	for _, x := range []struct{ from, to, want string }{
		{"{e2e: 200ms", "{ttft: 200ms", "promise e2e"},
		{"50/s}", "50/s, tokens_in: 4}", "have no tokens"},
		{"replicas: 2", "replicas: 2\nmax_seqs: 9", "the largest batch"},
		{"replicas: 2", "replicas: 2\nmodel: llama-3.1-8b", "of a model with tokens"},
		{"replicas: 2", "replicas: 2\nblocks: 9", "of a model with tokens"},
		{"1: 4ms", "1: 7ms", "takes less time"},
		{"batch_time: {8: 6ms, 1: 4ms}", "time: {lin: [[1, 1]]}\nblocks: 9", "tokens_in is missing"},
	} {
		if _, err := Parse("f", []byte(strings.Replace(good, x.from, x.to, 1))); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", x.to, err, x.want)
		}
	}
}

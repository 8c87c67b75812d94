package scenarios

import (
	"fmt"
	"testing"

	"capcli/testdata/golden"
)

// Training that yields its GPUs at the daily peak keeps the promise of the service beside it, and pays with
// little work done again; training that does not yield breaks the promise in half of the draws.
func TestYieldAtPeak(t *testing.T) {
	golden.SkipLong(t)
	t.Parallel()
	broken := 0
	for seed := range storySeeds {
		yields := play(t, "yield-at-peak", seedSet(seed))
		s := &yields.r.Services[0]
		if n, again := s.Displaced, s.Repeated.Hours(); s.Missing != 0 || n < 4 || n > 13 || again < 2 || again > 20 {
			t.Errorf("seed %d: %.1f GPU-hours were missing, jobs yielded %d times and did %.1f GPU-hours again", seed+1, s.Missing.Hours(), n, again)
		}
		stays := play(t, "yield-at-peak", seedSet(seed), "services[0].displaces=false")
		m := stays.r.Services[0].Missing.Hours()
		if m < 11 || m > 202 || stays.r.Services[0].Displaced != 0 {
			t.Errorf("seed %d: replicas lacked %.1f GPU-hours", seed+1, m)
		}
		if seed == 0 || seed == 5 {
			checkPromise(t, fmt.Sprintf("seed %d, training yields", seed+1), yields, 0.998, 1)
		}
		if m > 100 {
			broken++
		}
		if seed == 5 {
			checkPromise(t, "seed 6, training stays", stays, 0.55, 0.60)
		}
	}
	if broken != 4 {
		t.Errorf("replicas lacked over 100 GPU-hours in %d draws, want 4", broken)
	}
}

// checkPromise plays the requests of the first service one by one.
func checkPromise(t *testing.T, what string, x played, lo, hi float64) {
	t.Helper()
	v := &x.s.Services[0]
	src, err := x.s.Traffic(v, Options{Seed: x.s.Seed}, nil)
	if err != nil {
		t.Fatal(err)
	}
	level, err := v.Watch(t.Context(), src, &x.r.Services[0], x.r.Ended)
	if err != nil {
		t.Fatal(err)
	}
	if share := float64(level.Replay.Summary.SLOShare); share < lo || share > hi {
		t.Errorf("%s: %.4f of the requests are within the promise, want %.3f to %.3f", what, share, lo, hi)
	}
}

// A service of the generator holds its replicas without a gap: a lead time is paid only when one is added.
func TestOldServiceIsOneHolder(t *testing.T) {
	x := playText(t, "steady", []byte(`capcli: scenario/v1
period: 2027-01-04 to 2027-01-10
jobs: {generate: {classes: [{name: web, kind: service, replicas: 10, every: 30m}]}}
capacity: [{name: cloud, kind: on_demand, price: 4.00, gpus: 10, lead_time: 10m}]
`))
	s := &x.r.Services[0]
	if len(s.Replicas) != 10 || s.Missing != 0 || s.Held.Hours() != 10*7*24 {
		t.Errorf("%d replicas held %.1f GPU-hours, %.1f were missing; want 10, 1680 and 0", len(s.Replicas), s.Held.Hours(), s.Missing.Hours())
	}
	for _, r := range s.Replicas {
		if r.Ready != 0 || r.Ended >= 0 {
			t.Errorf("a replica %+v", r)
		}
	}
	x = playText(t, "swing", []byte(`capcli: scenario/v1
period: 2027-01-04 to 2027-01-04
jobs: {generate: {classes: [{name: web, kind: service, replicas: 8, every: 1h, day_swing: 4, peak_hour: 12}]}}
capacity: [{name: cloud, kind: on_demand, price: 4.00, gpus: 10, lead_time: 10m}]
`))
	added := 0
	for _, r := range x.r.Services[0].Replicas {
		if r.Ordered == 0 {
			continue
		}
		if added++; r.Ordered%3600 != 0 || r.Held != r.Ordered+600 {
			t.Errorf("a replica %+v pays another lead time than 10 minutes", r)
		}
	}
	if added != 6 {
		t.Errorf("%d replicas were added, want 6: from 2 at midnight to 8 at noon", added)
	}
}

package mix

import (
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/testdata/golden"
)

// servedWorld is a small world of training and a service on the same GPUs. Requests take a second of a
// replica that answers one at a time.
const servedWorld = `capcli: scenario/v1
name: served
period: 2027-03-01T00:00:00Z to 2027-03-01T04:00:00Z
seed: %d
jobs:
  generate:
    classes:
      - {name: training, mean_gpus: 2, sizes: [{gpus: 1, weight: 2}, {gpus: 2, weight: 1}], run_median: 30m, run_p95: 90m, run_max: 3h}
capacity:
  - {name: base, kind: reserved, gpus: 4, price: 1.00 USD/gpu-h}
  - {name: burst, kind: on_demand, max_gpus: %d, price: 3.00 USD/gpu-h}
  - {name: cheap, kind: spot, max_gpus: 2, price: 0.50 USD/gpu-h}
overflow: {patience: 20m, order: [cheap, burst]}
services:
  - name: chat
    time: {c0: 100000000000, lin: [[0, 0]]}
    blocks: 100
    max_seqs: 1
    max_tokens: 512
    max_len: 600
    requests: {peak_rate: 1.5/s, day_swing: 6, peak: 02:00-03:00, tokens_in: 100, tokens_out: 10}
    pools: [base, burst]
    router: least_loaded
    step: 5m
    mu: 240
    initial: 2
    cold_start: 2m
    displaces: %v
    scaler: {kind: hpa, min: 1, max: 4, target: 180}
`

func servedCase(t *testing.T, seed, burst int, displaces bool, sets ...string) *play.Case {
	t.Helper()
	s, err := scenarios.Parse("served.yaml", fmt.Appendf(nil, servedWorld, seed, burst, displaces), sets...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestServicesEnumerated plans small worlds with a service beside the jobs, and enumerates them: each mix
// is played as capcli simulate does, and the cheapest that holds the limits must be the plan's. No mix
// costs less than the lower bound, whoever holds its GPUs.
func TestServicesEnumerated(t *testing.T) {
	golden.SkipLong(t)
	none, found := 0, 0
	for seed := 1; seed <= 3; seed++ {
		for _, limits := range [][]string{{"ttft_p99=8s"}, {"ttft_p99=8s", "wait_p95=40m"}, nil} {
			burst, displaces := 6*(seed%2), seed == 3
			q := NewRequest(servedCase(t, seed, max(1, burst), displaces))
			q.Vary, q.Max, q.Runs, q.Hold = []string{"capacity.base.gpus=1..6:1", "overflow.patience=0,20m"}, limits, 1, 1
			got, err := Plan(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			var best *capcli.USD
			bestName := ""
			for size := 1; size <= 6; size++ {
				for _, patience := range []string{"0", "20m"} {
					runs, err := servedCase(t, seed, max(1, burst), displaces, fmt.Sprintf("capacity.base.gpus=%d", size), "overflow.patience="+patience).Play(t.Context(), 1)
					if err != nil {
						t.Fatal(err)
					}
					o := runs[0].Outcome
					if got.Bound != nil && *o.Cost.Total < got.Bound.Cost && got.Bound.Over == everyMix && o.UnservedShare == 0 {
						t.Errorf("seed %d: %d GPUs cost %s, below the bound %s", seed, size, *o.Cost.Total, got.Bound.Cost)
					}
					if holdsAll(&o, got.Limits) && (best == nil || *o.Cost.Total < *best) {
						best, bestName = o.Cost.Total, fmt.Sprintf("%d %s", size, patience)
					}
				}
			}
			switch {
			case (best == nil) != (got.Best == nil):
				t.Errorf("seed %d, %v: the enumeration found %s, the plan %+v", seed, limits, bestName, got.Best)
			case best == nil:
				none++
			case *got.Best.Cost != *best:
				t.Errorf("seed %d, %v: the enumeration found %s for %s, the plan %v for %s", seed, limits, bestName, *best, got.Best.Choices, *got.Best.Cost)
			default:
				found++
				if len(got.Best.Services) != 1 || !strings.Contains(strings.Join(got.Notes, "\n"), "GPU-hours of its replicas") {
					t.Errorf("the plan says nothing of its service: %q", got.Notes)
				}
			}
		}
	}
	if found < 3 {
		t.Errorf("%d worlds with a plan, %d without", found, none)
	}
}

func holdsAll(o *outcome.Outcome, limits []Limit) bool {
	for i := range limits {
		if !limits[i].holds(o) {
			return false
		}
	}
	return true
}

// A scenario of services alone has no jobs, and its sizes reach to the replicas of its peak.
func TestServicesAlone(t *testing.T) {
	text := fmt.Sprintf(servedWorld, 1, 6, false)
	from, to := strings.Index(text, "jobs:\n"), strings.Index(text, "capacity:\n")
	s, err := scenarios.Parse("alone.yaml", []byte(text[:from]+text[to:]))
	if err != nil {
		t.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := NewRequest(c)
	q.Runs = 1
	r, err := Plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if r.Best == nil || r.Best.Services[0].NotAnswered() > 0 || r.Best.Services[0].Missing > 0 {
		t.Errorf("got %+v", r.Best)
	}
	if sizes := r.Axes[0].Values; sizes[len(sizes)-1] != "4" {
		t.Errorf("sizes tried are %v, want them up to the 2 replicas of the peak and the pool's own 4", sizes)
	}
	q = NewRequest(c)
	q.Vary = []string{"services.chat.requests.peak_rate=1/s,2/s"}
	if _, err := Plan(t.Context(), q); err == nil || !strings.Contains(err.Error(), "answers another question") {
		t.Errorf("a plan with fewer requests: %v", err)
	}
	q.Vary, q.Runs = []string{"services.chat.scaler.max=1,4"}, 1
	if r, err = Plan(t.Context(), q); err != nil || r.Best == nil || len(r.All)+len(r.Plans) == 0 {
		t.Errorf("a plan over scalers: %v", err)
	}
}

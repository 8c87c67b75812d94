package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"capcli"
	"capcli/scenarios/explain"
	"capcli/simulate/outcome"
)

// ran runs the program and gives its exit code.
func ran(t *testing.T, args ...string) int {
	t.Helper()
	e, _, _ := testEnv()
	return run(t.Context(), e, args)
}

// explainOf runs explain and gives its JSON.
func explainOf(t *testing.T, args ...string) *explain.Result {
	t.Helper()
	out := filepath.Join(t.TempDir(), "why.json")
	if code := ran(t, append(append([]string{"explain"}, args...), "-q", "-o", "json", "--out", out)...); code != 0 && code != exitPartial {
		t.Fatalf("explain %v: exit %d", args, code)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var x explain.Result
	if err := json.Unmarshal(b, &x); err != nil {
		t.Fatal(err)
	}
	return &x
}

// What is printed of waits and money adds up, from the outside.
func TestExplainAddsUp(t *testing.T) {
	dir := t.TempDir()
	if code := ran(t, "simulate", "three-tier", "--runs", "2", "--out", dir, "-q", "-o", "json"); code != 0 {
		t.Fatalf("simulate: exit %d", code)
	}
	folder := filepath.Join(dir, "three-tier")
	for _, metric := range []string{"wait_p95", "wait_mean", "wait_max"} {
		x := explainOf(t, folder, metric, "--causes-only")
		var sum capcli.Seconds
		share := 0.0
		for _, c := range x.Causes {
			sum += c.Time
			share += c.Share
			for _, parts := range [][]explain.NamedTime{c.Tenants, c.Models, c.Weekdays} {
				var all capcli.Seconds
				for _, p := range parts {
					all += p.Time
				}
				if all != c.Time {
					t.Errorf("%s, %s: parts sum to %d, want %d", metric, c.Text, all, c.Time)
				}
			}
		}
		if sum != x.Told.Time || sum == 0 || math.Abs(share-1) > 1e-9 {
			t.Errorf("%s: causes sum to %d (share %g), want %d", metric, sum, share, x.Told.Time)
		}
		if x.Runs != 2 || len(x.PerRun) != 2 {
			t.Errorf("%s: %d runs played, want the folder's 2", metric, x.Runs)
		}
		if metric == "wait_mean" && math.Abs(float64(sum)/float64(x.Told.Of)-*x.Value) > 0.02**x.Value {
			t.Errorf("mean wait %g, the causes say %g", *x.Value, float64(sum)/float64(x.Told.Of))
		}
	}
	partsAddUp(t, folder)
}

var partMetrics = []string{"cost", "stranded_usd", "committed", "on_demand", "spot", "stranded_gpu_hours", "down_gpu_hours"}

func partsAddUp(t *testing.T, subject string) {
	t.Helper()
	for _, metric := range partMetrics {
		x := explainOf(t, subject, metric, "--causes-only")
		usd, hours := map[string]capcli.USD{}, map[string]float64{}
		for _, p := range x.Parts {
			if p.Cost != nil {
				usd[p.By] += *p.Cost
			} else {
				hours[p.By] += p.Time.Hours()
			}
		}
		for by, sum := range usd {
			if math.Abs(sum.Float()-*x.PerRun[0]) > 1e-6 {
				t.Errorf("%s by %s: %s, want %f", metric, by, sum, *x.PerRun[0])
			}
		}
		for by, sum := range hours {
			if math.Abs(sum-*x.PerRun[0]) > 1e-6 {
				t.Errorf("%s by %s: %g, want %g", metric, by, sum, *x.PerRun[0])
			}
		}
		if len(x.Parts) == 0 && *x.Value != 0 {
			t.Errorf("%s has no parts", metric)
		}
	}
}

// Commitments beside the pools' own terms pay for on-demand pools: the parts
// still sum to the tiers.
func TestExplainAddsUpUnderCommitments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.yaml")
	err := os.WriteFile(file, []byte(`capcli: scenario/v1
period: 2027-01-10 to 2027-02-05
jobs: {generate: {classes: [{name: t, kind: random, mean_gpus: 20, sizes: [{gpus: 1, weight: 1}, {gpus: 8, weight: 1}], run_median: 2h, run_p95: 12h, run_max: 2d}]}}
capacity:
  - {name: base, kind: owned, gpus: 24, price: 1}
  - {name: od, kind: on_demand, gpu_model: H100, price: 4, max_gpus: 64}
commitments: [{product: savings_plan, from: 2027-01-01, term: 1y, commit: 20, payment: none, rates: [{gpu_model: H100, discount: 28%}]}]
overflow: {patience: 30m}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	partsAddUp(t, file)
}

// A change is what simulate --set gives, and nothing else changes.
func TestExplainChangesAreRuns(t *testing.T) {
	x := explainOf(t, "queue-collapse", "wait_p95", "--seed", "7")
	tried := 0
	for _, c := range x.Changes {
		args := []string{"simulate", "queue-collapse", "--seed", "7", "-q", "-o", "json"}
		for _, s := range c.Sets {
			args = append(args, "--set", s)
		}
		if c.Policy != "" {
			args = append(args, "--policy", c.Policy)
		}
		out := filepath.Join(t.TempDir(), "run.json")
		if code := ran(t, append(args, "--out", out)...); code != 0 {
			t.Fatalf("%s: exit %d", c.Text, code)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var s outcome.Document
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		if p95 := s.Runs[0].WaitP95; p95 == nil && !c.AfterOver || p95 != nil && float64(*p95) != *c.After {
			t.Errorf("%s: %g, simulate says %v", c.Text, *c.After, p95)
		}
		tried++
	}
	if tried < 4 {
		t.Errorf("only %d changes were tried", tried)
	}
	for i := 1; i < len(x.Changes); i++ {
		if *x.Changes[i].After < *x.Changes[i-1].After {
			t.Errorf("%s does more than %s but comes after it", x.Changes[i].Text, x.Changes[i-1].Text)
		}
	}
}

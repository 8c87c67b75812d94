package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"capcli/cmd/shell"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/outcome"
	"capcli/testdata/golden"
	"capcli/testdata/shelltest"
)

// ran runs the program and gives its exit code.
func ran(t *testing.T, args ...string) int {
	t.Helper()
	e, _, _ := shelltest.NewEnv()
	return run(t.Context(), e, args)
}

// explainOf runs explain and gives its JSON.
func explainOf(t *testing.T, args ...string) *explain.Result {
	t.Helper()
	out := filepath.Join(t.TempDir(), "why.json")
	if code := ran(t, append(append([]string{"explain"}, args...), "-q", "-o", "json", "--out", out)...); code != 0 && code != shell.ExitPartial {
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

// A change is what simulate --set gives, and nothing else changes.
func TestExplainChangesAreRuns(t *testing.T) {
	golden.SkipLong(t)
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

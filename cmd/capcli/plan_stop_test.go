package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"capcli/cmd/shell"
	"capcli/scenarios/decide/plan/mix"
	"capcli/testdata/golden"
	"capcli/testdata/shelltest"
)

// TestStoppedPlanGivesTheBestSoFar stops a search between two of its batches: what it
// found until then is written, marked as partial, and the exit code is that of the
// signal.
func TestStoppedPlanGivesTheBestSoFar(t *testing.T) {
	golden.SkipLong(t)
	w := drawWorld(3)
	dir := t.TempDir()
	for name, text := range map[string]string{"w.yaml": w.scenario, "jobs.csv": w.jobs} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	saved := filepath.Join(dir, "plan.json")
	call := func(stopAt int) (int, string, string) {
		ctx, stop := context.WithCancelCause(context.Background())
		defer stop(nil)
		e, stdout, stderr := shelltest.NewEnv()
		asked := 0
		e.Now = func() time.Time { // the search asks after each batch
			if asked++; asked == stopAt {
				stop(shell.Stopped{By: os.Interrupt})
			}
			return time.Unix(int64(asked), 0)
		}
		code := run(ctx, e, []string{
			"plan", filepath.Join(dir, "w.yaml"), "--vary", "capacity.base0.gpus=0..90", "--max", "unserved_share=100%", "--max", "cost=100M", "-o", "table", "--save", saved,
		})
		return code, stdout.String(), stderr.String()
	}
	code, whole, said := call(0)
	if code != shell.ExitDone || !strings.HasPrefix(whole, "Buy ") {
		t.Fatalf("whole: exit %d, %s%s", code, whole, said)
	}
	partial := 0
	for at := 3; at < 60; at += 4 {
		if err := os.RemoveAll(saved); err != nil {
			t.Fatal(err)
		}
		code, out, said := call(at)
		if code == shell.ExitDone {
			continue // it came to its end before
		}
		if code != shell.ExitInterrupted || !strings.Contains(said, "error: stopped by interrupt") {
			t.Errorf("stopped at %d: exit %d, %s", at, code, said)
		}
		b, err := os.ReadFile(saved)
		if out == "" {
			if err == nil {
				t.Errorf("stopped at %d: nothing was found, and a plan was saved", at)
			}
			continue
		}
		partial++
		var p mix.Result
		if err != nil || json.Unmarshal(b, &p) != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out, "PARTIAL (the search") || p.Partial == "" || p.Best == nil {
			t.Errorf("stopped at %d: %.200s, %q", at, out, p.Partial)
		}
	}
	if partial == 0 {
		t.Error("no call was stopped between two batches")
	}
}

// TestProgressSaysWhatIsBounded tells a total that is only the most there can be from
// one that is known.
func TestProgressSaysWhatIsBounded(t *testing.T) {
	for _, mode := range []string{"plain", "json"} {
		e, _, stderr := shelltest.NewEnv()
		at := time.Unix(0, 0)
		e.Now = func() time.Time { return at }
		e.Progress = mode
		p := shell.NewProgress(e, "mixes")
		at = at.Add(40 * time.Second)
		p.ShowAtMost(120, 7350)
		want := "120 of at most 7,350 mixes, 40 s, 3.0 mixes/s\n"
		if mode == "json" {
			want = `"done":120,"total":7350,"total_is_at_most":true,`
		}
		if got := stderr.String(); !strings.Contains(got, want) || strings.Contains(got, "left") {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
}

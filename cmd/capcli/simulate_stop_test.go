package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"capcli/cmd/shell"
	"capcli/scenarios/outcome"
	"capcli/testdata/golden"
	"capcli/testdata/shelltest"
)

// TestStoppedRunsAreKept: a signal between two runs keeps those that were done,
// marked partial, in the result and in the folder, and the exit code is that of
// the signal; with none done nothing is written.
func TestStoppedRunsAreKept(t *testing.T) {
	golden.SkipLong(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // runs go one after another, so it is known which are done
	dir := t.TempDir()
	file := filepath.Join(dir, "small.yaml")
	text := `capcli: scenario/v1
name: small
period: 2027-01-01 to 2027-01-02
jobs: {generate: {classes: [{name: a, jobs_per_day: 20, sizes: [{gpus: 1, weight: 1}], run_median: 1h}]}}
capacity: [{kind: owned, gpus: 4, price: 1}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		by       os.Signal
		after    int // looks at the clock: one at the start, one after each run
		code     int
		done     int
		policies string
	}{
		{"none is done", os.Interrupt, 1, shell.ExitInterrupted, 0, "fifo"},
		{"five are done", os.Interrupt, 6, shell.ExitInterrupted, 5, "fifo"},
		{"the second plan has some", os.Interrupt, 13, shell.ExitInterrupted, 12, "fifo,easy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, stop := context.WithCancelCause(context.Background())
			defer stop(nil)
			e, stdout, stderr := shelltest.NewEnv()
			looks := 0
			e.Now = func() time.Time {
				if looks++; looks == tt.after {
					stop(shell.Stopped{By: tt.by})
				}
				return time.Unix(0, 0)
			}
			out := filepath.Join(t.TempDir(), "runs")
			code := run(ctx, e, []string{"simulate", file, "--policy", tt.policies, "--runs", "10", "--out", out, "-o", "json"})
			if code != tt.code {
				t.Fatalf("exit %d, want %d: %s", code, tt.code, stderr)
			}
			if tt.done == 0 {
				if _, err := os.Stat(out); err == nil || stdout.Len() > 0 {
					t.Errorf("something was written: %v, %s", err, stdout)
				}
				return
			}
			asked := 10 * len(strings.Split(tt.policies, ","))
			partly(t, stdout.Bytes(), tt.done, tt.done, asked)
			folders, err := filepath.Glob(filepath.Join(out, "*", shell.ResultFile))
			if err != nil || len(folders) != len(strings.Split(tt.policies, ",")) {
				t.Fatalf("folders: %v, %v", folders, err)
			}
			for _, f := range folders {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				partly(t, b, -1, tt.done, asked)
			}
			if !strings.Contains(stderr.String(), "stopped by interrupt; ") || !strings.Contains(stderr.String(), "runs were done: they are in "+out) {
				t.Errorf("stderr %q", stderr)
			}
		})
	}
}

// partly demands that a result says how many of its runs were done, and has runs of
// them; runs under 0 are not counted.
func partly(t *testing.T, b []byte, runs, done, asked int) {
	t.Helper()
	var data struct {
		Runs    []json.RawMessage `json:"runs"`
		Partial *outcome.Partial  `json:"partial"`
	}
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&data); err != nil {
		t.Fatal(err)
	}
	if data.Partial == nil || data.Partial.Done != done || data.Partial.Asked != asked || runs >= 0 && len(data.Runs) != runs {
		t.Errorf("got %+v with %d runs, want %d of %d", data.Partial, len(data.Runs), done, asked)
	}
}

// TestProgressFromTheFirstSecond: on a terminal the line is there when a second
// has gone, before any run is done; a wait of a second ends without a word.
func TestProgressFromTheFirstSecond(t *testing.T) {
	e, _, stderr := shelltest.NewEnv()
	e.Screen.Stderr = true
	at := time.Unix(0, 0)
	e.Now = func() time.Time { return at }
	p := shell.NewProgress(e, "runs")
	p.Report(0, 20)
	if stderr.Len() > 0 {
		t.Errorf("at once: %q", stderr)
	}
	at = at.Add(time.Second)
	p.Report(0, 20)
	if !strings.Contains(stderr.String(), "0/20 runs, 1.0 s") || strings.Contains(stderr.String(), "left") {
		t.Errorf("after a second, nothing done: %q", stderr)
	}
	at = at.Add(time.Second)
	p.Report(1, 20)
	if !strings.Contains(stderr.String(), "1/20 runs, 2.0 s, 0.5 runs/s, 38 s left") {
		t.Errorf("after the first run: %q", stderr)
	}
}

// TestASimulationThatCrashesIsOneLine lets the clock panic, which is asked first for
// the progress of the only run: the program says so in a line, without a stack.
func TestASimulationThatCrashesIsOneLine(t *testing.T) {
	e, _, stderr := shelltest.NewEnv()
	e.Now = func() time.Time { panic("no time") }
	if code := run(t.Context(), e, []string{"simulate", "default", "-o", "tsv"}); code != 1 {
		t.Errorf("exit %d, want 1", code)
	}
	if got := stderr.String(); !strings.Contains(got, "capcli: internal error: no time\n") || strings.Contains(got, "goroutine ") {
		t.Errorf("stderr %q, want a line on the crash and no stack", got)
	}
}

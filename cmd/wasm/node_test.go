//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"capcli/profile/trace"
	"capcli/scenarios"
	"capcli/scenarios/live"
	"capcli/scenarios/play"
	"capcli/simulate/policy"
)

// node is the engine under Node.
type node struct{ program, exec, engine string }

// newNode builds the engine. It skips the test where there is no Node.
func newNode(t *testing.T) *node {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the engine is not run")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := &node{program, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"), filepath.Join(t.TempDir(), "engine.wasm")}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", n.engine, ".")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return n
}

// ask opens a world and returns the answers of the requests, and what was said of their times.
func (n *node) ask(t *testing.T, w *live.World, requests []string) (answers []string, times string) {
	t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "world.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(n.program, "testdata/ask.js", n.exec, n.engine, file)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Join(requests, "\n")), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 1+len(requests) || lines[0] != `{"ok":true}` {
		t.Fatalf("%d answers to %d requests, the first %.300s", len(lines)-1, len(requests), lines[0])
	}
	return lines[1:], strings.ReplaceAll(strings.TrimSpace(errs.String()), "\n", " ")
}

// noFiles opens nothing.
func noFiles(name string) (trace.Input, io.Closer, error) {
	return trace.Input{}, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// worldOf returns the case of a question and its world.
func worldOf(t *testing.T, q *play.Question) (*play.Case, *live.World) {
	t.Helper()
	maker := &play.Maker{Logs: &play.Logs{Open: noFiles}}
	c, err := maker.Case(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	w, err := live.NewWorld(t.Context(), c, q, live.MaxJobs)
	if err != nil {
		t.Fatal(err)
	}
	return c, w
}

// The engine in WebAssembly answers as the engine here does, to the digit: scenarios of the
// library (all of them with CAPCLI_LONG), the default one under each policy and with other sizes.
func TestNodeAnswersAsPlayDoes(t *testing.T) {
	n := newNode(t)
	names := []string{"default", "price-drop", "rightsizing"}
	if os.Getenv("CAPCLI_LONG") != "" {
		names = scenarios.Names()
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			requests := []live.SimulateRequest{{}}
			if name == "default" {
				for _, p := range policy.Catalog.Names() {
					requests = append(requests, live.SimulateRequest{Policy: p})
				}
				for gpus := 0; gpus <= 80; gpus += 20 {
					requests = append(requests, live.SimulateRequest{Sets: []string{fmt.Sprintf("capacity[0].gpus=%d", gpus), "overflow.patience=2h"}})
				}
				requests = append(requests, live.SimulateRequest{Policy: "nonsense"}, live.SimulateRequest{Runs: 2}, live.SimulateRequest{Sets: []string{"capacity[0].gpus=-1"}})
			}
			_, w := worldOf(t, &play.Question{Scenario: name})
			here, err := w.Engine()
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, r := range requests {
				text, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, "simulate "+string(text))
			}
			lines = append(lines, "knobs {}", `whatif {"changes":[{"path":"policy","value":"sjf"}]}`, "nonsense {}", "simulate {\"runz\":1}", "simulate [")
			answers, times := n.ask(t, w, lines)
			for i, line := range lines {
				operation, request, _ := strings.Cut(line, " ")
				if want := here.Call(t.Context(), operation, request); answers[i] != want {
					t.Errorf("%s: the engine in WebAssembly answers\n%.400s\nhere it is\n%.400s", line, answers[i], want)
				}
			}
			t.Logf("%d jobs, ms: %s", w.Count, times)
		})
	}
}

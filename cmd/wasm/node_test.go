//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/decide"
	"capcli/scenarios/live"
	"capcli/scenarios/play"
	"capcli/scenarios/vary"
	"capcli/simulate/policy"
	"capcli/testdata/golden"
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
func (n *node) ask(t *testing.T, w any, requests []string) (answers []string, times string) {
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
	switch {
	case os.Getenv("CAPCLI_LONG") != "":
		names = scenarios.Names()
	case !golden.Full():
		names = names[:1]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			requests := []live.SimulateRequest{{}}
			if name == "default" {
				for i, p := range policy.Catalog.Names() {
					if i%5 != 0 && !golden.Full() {
						continue
					}
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

// kept is a folder in memory.
type kept map[string][]byte

func (k kept) Write(name string, text []byte) error {
	k[name] = text
	return nil
}

func (k kept) Read(name string) ([]byte, error) {
	if b, ok := k[name]; ok {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

func (k kept) open(name string) (trace.Input, io.Closer, error) {
	b, ok := k[name]
	if !ok {
		return noFiles(name)
	}
	return trace.Input{Name: name, R: bytes.NewReader(b), At: bytes.NewReader(b), Size: int64(len(b))}, io.NopCloser(nil), nil
}

// decided returns a decision of 100 futures of a year about a small log, and its world.
func decided(t *testing.T) (*decide.Result, *vary.World) {
	t.Helper()
	var log strings.Builder
	log.WriteString("job_id,submit,run_s,gpus\n")
	rng := capcli.Seed(3).Stream("log")
	for i := range 600 {
		fmt.Fprintf(&log, "%d,%s,%d,%d\n", i, capcli.Time(1_767_571_200)+capcli.Time(i*6000), 3600+rng.IntN(40_000), 1<<rng.IntN(5))
	}
	docs := kept{
		"log.csv":    []byte(log.String()),
		"prices.csv": []byte("provider,region,machine,gpu,gpus,term,usd_per_hour,date,source\nown,here,box,H100,8,on_demand,32.00,2026-01-01,contract\nown,here,box,H100,8,1y,19.20,2026-01-01,contract\nown,here,box,H100,8,3mo,24,2026-01-01,contract\n"),
	}
	q := decide.NewRequest("log.csv", "H100")
	q.Prices, q.Budget, q.Origins = "prices.csv", "2M", 0
	out := kept{}
	r, err := decide.Decide(t.Context(), q, &decide.World{Open: docs.open, Documents: out})
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(docs, out)
	w, err := decide.OpenWorld(t.Context(), docs.open, decide.DecisionFile)
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// The engine in WebAssembly has the figures of a decision of 100 futures of a year, and answers with other numbers as
// it does here, to the digit. The times are told.
func TestNodeAnswersOfADecision(t *testing.T) {
	golden.SkipLong(t)
	n := newNode(t)
	r, w := decided(t)
	changes := []string{
		`{"path":"commitment.gpus","value":"24"}`, `{"path":"demand.percent","value":"130"}`, `{"path":"commitment.months","value":"3"}`, `{"path":"commitment.price","value":"1.9"}`,
		`{"path":"on_demand.price","value":"3.3"}`, `{"path":"limit.wait_p95_minutes","value":"5"}`, `{"path":"limit.budget_usd","value":"1000"}`,
		`{"path":"spot.share_percent","value":"40"},{"path":"spot.price","value":"1.1"}`, `{"path":"spot.share_percent","value":"40"}`, `{"path":"none","value":"1"}`,
	}
	lines := []string{"panel {}", "cheapest {}", "nonsense {}", "panel ["}
	for _, c := range changes {
		lines = append(lines, `panel {"changes":[`+c+`]}`)
	}
	here, err := w.Engine()
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	answers, times := n.ask(t, w, lines)
	for i, line := range lines {
		operation, request, _ := strings.Cut(line, " ")
		if want := here.Call(t.Context(), operation, request); answers[i] != want {
			t.Errorf("%s: the engine in WebAssembly answers\n%.400s\nhere it is\n%.400s", line, answers[i], want)
		}
	}
	var first vary.Answer
	if err := json.Unmarshal([]byte(answers[0]), &first); err != nil {
		t.Fatal(err)
	}
	if f, p := first.Figures, r.Plan; f.Cost != p.Cost || f.Range != p.Range || f.Worst != p.Worst || f.Stranded != p.Stranded || f.Held != p.Held {
		t.Errorf("the page says %+v, the decision %+v", f, p)
	}
	t.Logf("%d futures of %d hours, %d kB; ms: %s (%s with the start of Node)", w.Count, w.Steps, len(w.Demand)/1000, times, time.Since(begun))
}

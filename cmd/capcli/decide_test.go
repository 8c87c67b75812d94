package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/decide"
	"capcli/testdata/golden"
	"capcli/testdata/shelltest"
)

// weekdayLog writes a log of eight weeks in which the same jobs come each workday: with a price that
// is well below on demand it pays to commit. Tenant t1 comes last on the day before left.
func weekdayLog(t *testing.T, file string, left int) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("job_id,submit,run_s,gpus,tenant\n")
	rng := capcli.Seed(11).Stream("log")
	for day := range 56 {
		n := 14
		if day%7 > 4 {
			n = 8
		}
		for k := range n {
			if day >= left && k%2 == 1 {
				continue
			}
			at := capcli.Time(1_767_571_200) + capcli.Time(day)*capcli.Time(capcli.Day) + capcli.Time(rng.IntN(20*3600))
			fmt.Fprintf(&b, "%d-%d,%s,%d,%d,t%d\n", day, k, at, 4*3600+rng.IntN(12*3600), 1<<rng.IntN(3), k%2)
		}
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

const weekdayPrices = "provider,region,machine,gpu,gpus,term,usd_per_hour,date,source\n" +
	"own,here,box,H100,1,on_demand,4.00,2026-01-01,contract\n" +
	"own,here,box,H100,1,3mo,2.40,2026-01-01,contract\n"

// runIn runs a command line in the current folder and returns its stdout.
func runIn(t *testing.T, line string) []byte {
	t.Helper()
	e, stdout, stderr := shelltest.NewEnv()
	words := strings.Fields(line)
	if code := run(t.Context(), e, words[1:]); code != 0 {
		t.Fatalf("%s: exit %d\n%s", line, code, stderr)
	}
	return stdout.Bytes()
}

// TestDecideIsItsSteps runs a decision, then each command that it lists in an empty folder: the
// documents are the same, byte for byte. So it is where a part of the log counts, as if a tenant came back.
func TestDecideIsItsSteps(t *testing.T) {
	t.Run("the whole log", func(t *testing.T) { tryDecideSteps(t, 56, "") })
	t.Run("three tiers", func(t *testing.T) { tryDecideSteps(t, 56, " --tiers rules") })
	if golden.Short() {
		return
	}
	t.Run("without a tenant", func(t *testing.T) { tryDecideSteps(t, 30, " --as-if level-now") })
	t.Run("of several inputs", func(t *testing.T) {
		tryDecideSteps(t, 56, " --trace rec --trace chat.yaml --trace requests.csv --read joined=apart")
	})
	t.Run("with events of two teams", func(t *testing.T) { tryDecideSteps(t, 56, " --events b.yaml --events a.yaml") })
}

// weekdayInputs writes what is beside the log: a recording of two days, and a service with its requests.
func weekdayInputs(t *testing.T) {
	t.Helper()
	requests := "arrival,tokens_in,tokens_out\n"
	for i := range 50 {
		requests += fmt.Sprintf("%s,10,5\n", capcli.Time(1_767_571_200+i*3600))
	}
	const chat = "name: chat\ntime: {c0: 1000000000, lin: [[10000000, 10000000], [0, 10000000]]}\nblocks: 1000\nreplicas: 1\npromise: {e2e: 2s}\n"
	for name, text := range map[string]string{"chat.yaml": chat, "requests.csv": requests} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runIn(t, "capcli profile --source fake --speed 0 --seed 1 --every 1h --processes 1h --host box --start 2026-01-10T00:00:00Z --for 48h --out rec")
}

func tryDecideSteps(t *testing.T, left int, flags string) {
	t.Helper()
	top := t.TempDir()
	weekdayLog(t, filepath.Join(top, "log.csv"), left)
	if err := os.WriteFile(filepath.Join(top, "prices.csv"), []byte(weekdayPrices), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(top)
	if strings.Contains(flags, "--trace rec") {
		weekdayInputs(t)
	}
	for i, name := range []string{"a.yaml", "b.yaml"} {
		text := fmt.Sprintf("capcli: events/v1\nevents:\n  - {name: launch %d, kind: step, from: 2026-0%d-15, gpus: 6, probability: 60%%, late: 9d}\n", i, 4+i)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runIn(t, "capcli decide --trace log.csv --gpu H100 --horizon 13w --paths 4 --prices prices.csv --max wait_p95=1h --risk cvar95 --backtest 2 --seed 7 --out all -o json"+flags)
	text, err := os.ReadFile("all/" + decide.DecisionFile)
	if err != nil {
		t.Fatal(err)
	}
	var r decide.Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Plan == nil || r.Plan.GPUs == 0 || len(r.Steps) < 6 {
		t.Fatalf("no plan that commits, or too few steps: %s", text)
	}
	if cut := strings.Contains(r.Steps[0].Command, " --without t1 "); cut != strings.Contains(flags, "--as-if") {
		t.Fatalf("the first step is %s", r.Steps[0].Command)
	}
	if n := strings.Count(flags, "--events"); len(r.Requests) != n || n > 0 && r.Requests[0].GPUHours <= 0 {
		t.Fatalf("%d files of a request each, and requests %+v", n, r.Requests)
	}
	if err := os.Mkdir("alone", 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir("alone")
	if err := os.WriteFile(decide.DecisionFile, text, 0o600); err != nil { // the page is made of it
		t.Fatal(err)
	}
	if rules, err := os.ReadFile("../all/" + decide.RulesFile); err == nil { // the decision writes it, for its steps to read
		if err := os.WriteFile(decide.RulesFile, rules, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	compared := 0
	for _, s := range r.Steps {
		line, file, redirected := strings.Cut(s.Command, " > ")
		out := runIn(t, strings.ReplaceAll(line, "'", "")) // no quoted word has a blank
		if redirected {
			if err := os.WriteFile(file, out, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range s.Files {
			want, err := os.ReadFile("../all/" + name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatalf("%s: %v", s.Command, err)
			}
			if compared++; !bytes.Equal(got, want) {
				t.Errorf("%s: %s differs from that of the chain (%d and %d bytes)", s.Command, name, len(got), len(want))
			}
		}
	}
	if compared < 7 {
		t.Errorf("only %d documents were compared", compared)
	}
}

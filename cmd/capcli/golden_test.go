package main

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli/cmd/report"
	"capcli/scenarios/outcome"
	"capcli/testdata/golden"
	"capcli/testdata/shelltest"
)

// goldenLogs are the schedules of the reference that the program must give from
// the command line, job by job, with the machine's size.
var goldenLogs = []struct {
	name  string
	procs int
}{{"kth5000", 100}, {"kth5000p", 100}, {"hpc2n10k", 240}, {"kth", 100}, {"hpc2n", 240}}

// goldenPolicies are the reference's names, and ours.
var goldenPolicies = [][2]string{
	{"fcfs", "fifo"}, {"sjf", "sjf"}, {"easy", "easy"}, {"easysjbf", "easy-sjbf"}, {"cons", "conservative"},
}

// TestGolden replays each log as a user would and holds every start against the
// reference. With -v it prints a table.
func TestGolden(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "golden", "hpc")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("golden answers are not here: %v", err)
	}
	rows := [][]any{}
	for i, log := range goldenLogs {
		for k, pol := range goldenPolicies {
			file := filepath.Join(dir, "schedules", fmt.Sprintf("ref-batch-%s-%s.csv.gz", log.name, pol[0]))
			if _, err := os.Stat(file); err != nil {
				continue
			}
			t.Run(log.name+"/"+pol[1], func(t *testing.T) {
				golden.SkipPart(t, i+k, 4)
				want := startsOf(t, file, "job_id", "start")
				got, wait := replayed(t, filepath.Join(dir, "inputs", log.name+".swf.gz"), log.procs, pol[1])
				differ := 0
				for id, w := range want {
					if got[id] != w {
						differ++
					}
				}
				if differ > 0 || len(got) != len(want) {
					t.Errorf("%d of %d starts differ; the program gives %d jobs", differ, len(want), len(got))
				}
				rows = append(rows, []any{log.name, pol[1], int64(len(want)), int64(differ), report.Ratio(wait)})
			})
		}
	}
	table := report.Table{Columns: []report.Column{
		{Name: "log"},
		{Name: "policy"},
		{Name: "jobs"},
		{Name: "starts that differ"},
		{Name: "mean wait, s"},
	}, Rows: rows}
	form, err := report.Forms.Get("table")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := form(&text, report.Doc{Title: "Against the batch reference, from the command line", Tables: []report.Table{table}}, report.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
}

// replayed runs the program on a log and reads back what it wrote.
func replayed(t *testing.T, log string, procs int, policy string) (starts map[string]int64, meanWait float64) {
	t.Helper()
	dir := t.TempDir()
	scenario, out := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "out.csv")
	text := fmt.Sprintf("capcli: scenario/v1\ncapacity:\n  - {kind: owned, gpus: %d, price: 2.00}\n", procs)
	if err := os.WriteFile(scenario, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e, stdout, stderr := shelltest.NewEnv()
	code := run(context.Background(), e, []string{
		"simulate", scenario, "--trace", log, "--format", "swf", "--policy", policy, "--placement", "count", "--jobs-out", out, "-o", "json",
	})
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var result outcome.Document
	if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
		t.Fatal(err)
	}
	return startsOf(t, out, "job_id", "start_s"), result.Runs[0].WaitMean
}

// startsOf reads one whole-number column of a CSV file by another: see textsOf.
func startsOf(t *testing.T, file, id, start string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for job, text := range textsOf(t, file, id, start) {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: job %s: %v", file, job, err)
		}
		out[job] = v
	}
	return out
}

// textsOf reads one column of a CSV file, packed or not, by another.
func textsOf(t *testing.T, file, id, column string) map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	in := csv.NewReader(f)
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		in = csv.NewReader(z)
	}
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	a, b := slices.Index(rows[0], id), slices.Index(rows[0], column)
	out := make(map[string]string, len(rows))
	for _, r := range rows[1:] {
		out[r[a]] = r[b]
	}
	return out
}

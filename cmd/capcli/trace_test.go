package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli/cmd/shell"
	"capcli/profile/logs/trace"
	"capcli/testdata/shelltest"
)

// manyTenants is a log with names long enough to need a wide terminal.
func manyTenants(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("job_id,tenant,gpu_model,submit,start,end,gpus,run_s\n")
	for i := range 200 {
		team := fmt.Sprintf("team-%02d-%s", i%13, strings.Repeat("a-long-name-", i%13/2))
		submit := 1_767_225_600 + i*1800
		fmt.Fprintf(&b, "j%d,%s,A100,%d,%d,%d,%d,\n", i, team, submit, submit+i*7, submit+i*7+60*i, 1<<(i%5))
	}
	path := filepath.Join(t.TempDir(), "jobs.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDescribeOnTerminals(t *testing.T) {
	path := manyTenants(t)
	for _, width := range []int{80, 100, 140} {
		e, stdout, stderr := shelltest.NewEnv()
		e.Screen = shell.Screen{Stdout: true, Stderr: true, Width: width}
		if code := run(t.Context(), e, []string{"trace", "describe", path}); code != 0 || stderr.Len() > 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		name := filepath.Join("testdata", fmt.Sprintf("describe-%d.golden", width))
		if *update {
			if err := os.WriteFile(name, stdout.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatalf("%v; make it with -update", err)
		}
		if !bytes.Equal(stdout.Bytes(), want) {
			t.Errorf("%s differs; got\n%s", name, stdout)
		}
	}
}

// TestDescribeAddsUp recomputes from the JSON what must be equal in it: each
// table of parts sums to the whole.
func TestDescribeAddsUp(t *testing.T) {
	e, stdout, stderr := shelltest.NewEnv()
	if code := run(t.Context(), e, []string{"trace", "describe", manyTenants(t), "-o", "json"}); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var d struct {
		Read trace.Report
		trace.Summary
	}
	if err := json.Unmarshal(stdout.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.Read.Rows != d.Read.Kept+d.Read.Folded+d.Read.Rejected || d.Read.Kept != d.Jobs {
		t.Errorf("rows do not balance: %+v, %d jobs", d.Read, d.Jobs)
	}
	sums := map[string]func() (jobs int64, hours, part float64){
		"tenants":    func() (int64, float64, float64) { return sumShares(d.Tenants) },
		"partitions": func() (int64, float64, float64) { return sumShares(d.Partitions) },
		"models":     func() (int64, float64, float64) { return sumShares(d.GPUModels) },
		"states":     func() (int64, float64, float64) { return sumShares(d.States) },
		"sizes": func() (jobs int64, hours, part float64) {
			for _, s := range d.Sizes {
				jobs, hours, part = jobs+s.Jobs, hours+s.GPUHours, part+s.Part
			}
			return jobs, hours, part
		},
		"lengths": func() (jobs int64, hours, part float64) {
			for _, s := range d.RunClasses {
				jobs, hours, part = jobs+s.Jobs, hours+s.GPUHours, part+s.Part
			}
			return jobs, hours, part
		},
	}
	for name, sum := range sums {
		jobs, hours, part := sum()
		if jobs != d.Jobs-d.CPUOnlyJobs || math.Abs(hours-d.GPUHours) > 1e-6 || math.Abs(part-1) > 1e-9 {
			t.Errorf("%s sum to %d jobs, %v GPU-hours, %v; want %d, %v, 1", name, jobs, hours, part, d.Jobs-d.CPUOnlyJobs, d.GPUHours)
		}
	}
	var arrivals int64
	for _, n := range d.Hours {
		arrivals += n
	}
	for _, n := range d.Weekdays {
		arrivals -= n
	}
	if arrivals != 0 {
		t.Errorf("arrivals by hour are %d more than by weekday", arrivals)
	}
}

func sumShares(list []trace.Share) (jobs int64, hours, part float64) {
	for _, s := range list {
		jobs, hours, part = jobs+s.Jobs, hours+s.GPUHours, part+s.Part
	}
	return jobs, hours, part
}

// TestNextLineRuns types what an import proposes.
func TestNextLineRuns(t *testing.T) {
	in := manyTenants(t)
	out := filepath.Join(filepath.Dir(in), "out.parquet")
	e, stdout, stderr := shelltest.NewEnv()
	if code := run(t.Context(), e, []string{"import", "auto", in, "--out", out}); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	_, next, ok := strings.Cut(stdout.String(), "next:     capcli ")
	if !ok {
		t.Fatalf("no next line in %s", stdout)
	}
	e, _, stderr = shelltest.NewEnv()
	if code := run(t.Context(), e, strings.Fields(next)); code != 0 {
		t.Errorf("%s: exit %d: %s", next, code, stderr)
	}
}

// TestImportKeepsEveryJob imports the real logs that are at hand into each kind
// of file and back: the jobs must be the same.
func TestImportKeepsEveryJob(t *testing.T) {
	data := filepath.Join("..", "..", "..", "shared", "data")
	logs := []struct{ format, path string }{
		{"swf", "swf/KTH-SP2-1996-2.1-cln.swf.gz"},
		{"philly", "philly/philly_sia.csv.gz"},
		{"sacct", "sacct/lab-sacct-all.psv"},
	}
	for _, l := range logs {
		t.Run(l.format, func(t *testing.T) {
			in := filepath.Join(data, filepath.FromSlash(l.path))
			if _, err := os.Stat(in); err != nil {
				t.Skip("the shared data is not here: ", err)
			}
			dir := t.TempDir()
			args := []string{"auto", in, "--tz", "UTC"}
			want := imported(t, dir, "direct.csv", args)
			for _, name := range []string{"a.parquet", "a.jsonl.zst", "a.csv.gz"} {
				imported(t, dir, name, args)
				got := imported(t, dir, "back.csv", []string{"auto", filepath.Join(dir, name)})
				if !bytes.Equal(got, want) {
					t.Errorf("by way of %s the jobs differ", name)
				}
			}
		})
	}
}

func imported(t *testing.T, dir, name string, args []string) []byte {
	t.Helper()
	out := filepath.Join(dir, name)
	e, _, stderr := shelltest.NewEnv()
	if code := run(t.Context(), e, append([]string{"import", "--out", out}, args...)); code != 0 {
		t.Fatalf("import %v: exit %d: %s", args, code, stderr)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

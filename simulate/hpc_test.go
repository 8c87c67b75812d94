package simulate_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/testdata/golden"
)

var goldenDir = filepath.Join("..", "..", "shared", "golden", "hpc")

// lines reads a gzip file of the golden folder, or skips the test.
func lines(t testing.TB, parts ...string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{goldenDir}, parts...)...))
	if err != nil {
		t.Skipf("golden answers are not here: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for s := bufio.NewScanner(z); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}

// swfJobs reads a normalised log.
func swfJobs(t testing.TB, name string) (jobs []capcli.Job, procs int) {
	t.Helper()
	for _, line := range lines(t, "inputs", name+".swf.gz") {
		if rest, ok := strings.CutPrefix(line, "; MaxProcs:"); ok {
			procs, _ = strconv.Atoi(strings.TrimSpace(rest))
		}
		f := strings.Fields(line)
		if strings.HasPrefix(line, ";") || len(f) < 18 {
			continue
		}
		n := func(i int) int64 { v, _ := strconv.ParseInt(f[i], 10, 64); return v }
		jobs = append(jobs, capcli.Job{
			ID: f[0], Submit: capcli.Time(n(1)), Run: capcli.Seconds(n(3)), GPUs: int(n(4)), Limit: capcli.Seconds(n(8)),
			Tenant: f[11], Deadline: capcli.NoTime,
		})
	}
	return jobs, procs
}

func stream(jobs []capcli.Job) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

// starts notes when each job first started.
type starts map[string]capcli.Seconds

func (s starts) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Finish {
		s[e.Job.ID] = e.Job.FirstStart
	}
}

func mustPolicy(t testing.TB, name string) simulate.NewPolicy {
	p, err := policy.Catalog.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustPlacement(t testing.TB, name string) simulate.Placement {
	p, err := placement.Catalog.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return p()
}

func TestBatchLogs(t *testing.T) {
	golden.SkipLong(t)
	names := map[string]string{"fcfs": "fifo", "sjf": "sjf", "easy": "easy", "easysjbf": "easy-sjbf", "cons": "conservative"}
	for _, log := range []string{"kth5000", "kth5000p", "hpc2n10k", "kth", "hpc2n"} {
		jobs, procs := swfJobs(t, log)
		for _, pol := range []string{"fcfs", "sjf", "easy", "easysjbf", "cons"} {
			file := fmt.Sprintf("ref-batch-%s-%s.csv.gz", log, pol)
			if _, err := os.Stat(filepath.Join(goldenDir, "schedules", file)); err != nil {
				continue
			}
			if golden.Short() && log == "hpc2n" {
				continue
			}
			t.Run(log+"/"+pol, func(t *testing.T) {
				got := starts{}
				begin := time.Now()
				_, err := simulate.Run(context.Background(), simulate.Config{
					Start: capcli.NoTime, Jobs: stream(jobs), Policy: mustPolicy(t, names[pol]), Placement: mustPlacement(t, "count"),
					Pools:     []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: procs}},
					Observers: []simulate.Observer{got},
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d jobs in %v", len(jobs), time.Since(begin))
				compareStarts(t, got, lines(t, "schedules", file))
			})
		}
	}
}

func compareStarts(t *testing.T, got starts, want []string) {
	t.Helper()
	differ := 0
	for _, line := range want[1:] {
		f := strings.Split(line, ",")
		w, _ := strconv.ParseInt(f[2], 10, 64)
		if g, ok := got[f[0]]; !ok || g != capcli.Seconds(w) {
			if differ++; differ <= 3 {
				t.Errorf("job %s starts at %d, want %d", f[0], g, w)
			}
		}
	}
	if differ > 0 || len(got) != len(want)-1 {
		t.Errorf("%d of %d starts differ; %d jobs finished", differ, len(want)-1, len(got))
	}
}

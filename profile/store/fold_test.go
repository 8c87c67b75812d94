package store

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/testdata/golden"
)

// A summary that forgets the jobs that it does not list says the same as one of all jobs, also where
// jobs run on several boxes.
func TestForgottenJobs(t *testing.T) {
	if golden.Short() {
		t.Skip("40 boxes")
	}
	disk := newMemDisk()
	rng := capcli.Seed(3).Stream("jobs of several boxes")
	for i := range 40 {
		w := create(t, "one", Options{Disk: disk, Host: fmt.Sprintf("box-%02d", i)})
		gpu := &profile.Device{Index: 0, UUID: fmt.Sprintf("GPU-%d", i), Model: "NVIDIA H100 80GB HBM3", GI: -1, CI: -1, SMs: 132}
		var job profile.Process
		var tick profile.Tick
		for k := range 120 {
			if rng.IntN(8) == 0 {
				job = profile.Process{Device: gpu, PID: int64(rng.IntN(300)), User: fmt.Sprint("user-", rng.IntN(3)), Kind: "compute"}
				if rng.IntN(3) > 0 {
					job.Job = fmt.Sprint(rng.IntN(30)) // now and then of another tenant
					job.User = fmt.Sprint("user-", len(job.Job)+rng.IntN(40)/39)
				}
			}
			tick.Reset()
			tick.At, tick.Every, tick.LookedAtProcesses = noon.Add(time.Duration(k)*time.Minute), time.Minute, true
			s := tick.NextSample(gpu)
			s.Set(profile.UtilGPU, 100*rng.Float64())
			if job.Device != nil {
				tick.Processes = append(tick.Processes, job)
			}
			if err := w.Write(&tick); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	f := OpenFolders([]Folder{{Name: "one", Disk: disk, Root: "one"}})
	for _, most := range []int{1, 2, 5, 12, 100} {
		r := SummaryRequest{ListedJobs: true, MostJobs: most}
		got, left := documentOf(t, f, r, most)
		want, all := documentOf(t, f, SummaryRequest{MostJobs: 10_000}, most)
		if got != want {
			t.Errorf("%d jobs listed:\n%s\nof all\n%s", most, got, want)
		}
		if left != all {
			t.Errorf("%d listed: %d jobs in all, want %d", most, left, all)
		}
	}
}

// documentOf is the summary with no more than some jobs, without verdicts, which are those of listed jobs,
// and the number of jobs in all.
func documentOf(t *testing.T, f *Folders, r SummaryRequest, most int) (string, int) {
	t.Helper()
	s, err := f.Summarise(context.Background(), r, func(_, _ int64) {})
	if err != nil {
		t.Fatal(err)
	}
	n := len(s.Jobs) + s.JobsLeftOut()
	var tenants []any
	for _, x := range s.Tenants() {
		tenants = append(tenants, x.Tenant, x.Jobs, x.Use)
	}
	var jobs []any
	for _, j := range s.Jobs[:min(most, len(s.Jobs))] {
		jobs = append(jobs, j, j.Hosts(), j.Worth(nil), j.Judge())
	}
	b, err := json.MarshalIndent([]any{jobs, tenants, s.Total(), s.Heat, s.From, s.To, s.Ticks}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b), n
}

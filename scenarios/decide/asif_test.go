package decide

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"capcli"
)

// logOf writes jobs as a log, as a cluster recorded them.
func logOf(jobs []capcli.Job) []byte {
	slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return int(a.Submit - b.Submit) })
	var b bytes.Buffer
	b.WriteString("job_id,submit,start,end,run_s,gpus,tenant\n")
	for _, j := range jobs {
		fmt.Fprintf(&b, "%s,%s,%s,%s,%d,%d,%s\n", j.ID, j.Submit, j.Start, j.End, j.Run, j.GPUs, j.Tenant)
	}
	return b.Bytes()
}

const monday, oneDay = capcli.Time(1_767_571_200), capcli.Time(capcli.Day)

// levelLog returns the jobs of a cluster that holds the level of each day, in jobs of two GPUs, of six hours and of
// a day in turn.
func levelLog(days int, seed capcli.Seed, level func(day int) int) []capcli.Job {
	rng := seed.Stream("log")
	var jobs []capcli.Job
	for day := range days {
		for k := range level(day) / 2 {
			j := capcli.Job{ID: fmt.Sprintf("%d-%d", day, k), GPUs: 2, Run: 6 * capcli.Hour, Tenant: "t"}
			if k%2 == 0 {
				j.Run = capcli.Day
			}
			for part := range int(capcli.Day / j.Run) {
				one := j
				one.ID = fmt.Sprintf("%s-%d", j.ID, part)
				one.Submit = monday + capcli.Time(day)*oneDay + capcli.Time(part)*capcli.Time(j.Run) + capcli.Time(rng.IntN(600))
				one.Start, one.End = one.Submit, one.Submit+capcli.Time(one.Run)
				jobs = append(jobs, one)
			}
		}
	}
	return jobs
}

// decideOn decides on a log of jobs.
func decideOn(t *testing.T, jobs []capcli.Job, asIf string) (*Result, error) {
	t.Helper()
	files := made{days: 30}.files()
	files["log.csv"] = logOf(jobs)
	q := made{}.request()
	q.AsIf, q.Origins = asIf, 0
	return Decide(t.Context(), q, &World{Open: opened(files)})
}

// A level that shifted is planned for since the shift, not for an average of both.
func TestLevelSinceAShift(t *testing.T) {
	for _, now := range []int{10, 40} {
		r, err := decideOn(t, levelLog(100, 3, func(day int) int {
			if day >= 75 {
				return now
			}
			return 20
		}), "")
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(r.Plan.GPUs-now)) > 2 || !strings.Contains(r.Answer, "(--as-if level-now): since 2026-03-2") {
			t.Errorf("%d GPUs for a level of %d: %s", r.Plan.GPUs, now, r.Answer)
		}
	}
}

// Where the end fell away nothing is ordered before the user chooses. Each way answers as it does when it is
// chosen, for the level that it stands for.
func TestFallAsks(t *testing.T) {
	jobs := levelLog(100, 3, func(day int) int {
		if day >= 91 {
			return 4
		}
		return 20
	})
	r, err := decideOn(t, jobs, "")
	bad, ok := errors.AsType[*capcli.ResultError](err)
	if !ok || !errors.Is(err, capcli.NoPlan) || bad.Hint != "--as-if level-now, or end-now, or whole" {
		t.Fatalf("error %v", err)
	}
	if r.Plan != nil || r.Order != nil || len(r.Ways) != 3 || len(r.Steps) != 0 {
		t.Fatalf("a plan, a step, or other than 3 ways: %+v", r)
	}
	for i, want := range []int{20, 4} {
		w := r.Ways[i]
		got, err := decideOn(t, jobs, w.AsIf)
		if err != nil {
			t.Fatal(err)
		}
		if w.GPUs != got.Plan.GPUs || w.Cost != got.Plan.Cost || w.Term != "3mo" || got.AsIf != w.AsIf {
			t.Errorf("as if %s: it said %d GPUs for %s, and the answer is %d for %s", w.AsIf, w.GPUs, w.Cost, got.Plan.GPUs, got.Plan.Cost)
		}
		if math.Abs(float64(w.GPUs-want)) > 2 || !strings.Contains(r.Answer, fmt.Sprintf("--as-if %s (%s) expects", w.AsIf, w.Counts)) {
			t.Errorf("as if %s: %d GPUs for a level of %d", w.AsIf, w.GPUs, want)
		}
	}
}

// A log of the jobs that have ended is planned for as the same log with those that run on.
func TestEndedJobsOnly(t *testing.T) {
	rng := capcli.Seed(5).Stream("ended")
	var all, ended []capcli.Job
	for at := capcli.Time(0); at < 100*oneDay; at += 2 * 3600 {
		j := capcli.Job{ID: fmt.Sprint(at), Submit: monday + at, GPUs: 1, Run: capcli.Hour, Tenant: "t"}
		if at%(8*3600) == 0 {
			j.GPUs, j.Run = 1, capcli.Seconds(rng.IntN(10)+5)*capcli.Day
		}
		j.Start, j.End = j.Submit, j.Submit+capcli.Time(j.Run)
		if all = append(all, j); j.End <= monday+100*oneDay {
			ended = append(ended, j)
		}
	}
	whole, err := decideOn(t, all, "")
	if err != nil {
		t.Fatal(err)
	}
	cut, err := decideOn(t, ended, "")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := decideOn(t, ended, "whole")
	if err != nil {
		t.Fatal(err)
	}
	if whole.Counts != "" || !strings.Contains(cut.Answer, "only jobs that have ended") {
		t.Errorf("whole: %q, cut: %q", whole.Counts, cut.Answer)
	}
	t.Logf("all jobs: %d GPUs, ended jobs: %d, ended jobs counted whole: %d", whole.Plan.GPUs, cut.Plan.GPUs, raw.Plan.GPUs)
	if d := whole.Plan.GPUs - cut.Plan.GPUs; d < -3 || d > 3 || raw.Plan.GPUs > cut.Plan.GPUs-5 {
		t.Errorf("all jobs: %d GPUs, ended jobs: %d, ended jobs counted whole: %d", whole.Plan.GPUs, cut.Plan.GPUs, raw.Plan.GPUs)
	}
}

// A cluster of 40 GPUs is full, and jobs that want 50 wait for days; small ones go ahead. What was wanted is planned
// for, from the jobs that had started by the log's end.
func TestFullCluster(t *testing.T) {
	rng := capcli.Seed(8).Stream("full")
	var part []capcli.Job
	const end = monday + 60*oneDay
	free := make([]capcli.Time, 9) // nine places of four GPUs for the large jobs
	for at := monday; at < end; at += 3600 {
		large := capcli.Job{ID: fmt.Sprint("l", at), Submit: at, GPUs: 4, Run: capcli.Seconds(9*3600 + rng.IntN(4*3600)), Tenant: "t"}
		slices.Sort(free)
		large.Start = max(at, free[0])
		large.End = large.Start + capcli.Time(large.Run)
		free[0] = large.End
		small := capcli.Job{ID: fmt.Sprint("s", at), Submit: at + 60, GPUs: 4, Run: 3500, Start: at + 60, End: at + 3560, Tenant: "t"}
		for _, j := range []capcli.Job{large, small} {
			if j.Start >= end {
				continue
			}
			if j.End > end {
				j.Run, j.End = capcli.Seconds(end-j.Start), capcli.NoTime
			}
			part = append(part, j)
		}
	}
	r, err := decideOn(t, part, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d GPUs: %s", r.Plan.GPUs, r.Answer)
	if r.Plan.GPUs < 45 || r.Plan.GPUs > 50 || !strings.Contains(r.Answer, "those still in the queue are missing") {
		t.Errorf("%d GPUs for a cluster of 40 of which 48 were wanted: %s", r.Plan.GPUs, r.Answer)
	}
	if all := strings.Join(r.Warnings, "\n"); !strings.Contains(all, "capacity held the demand down in the log: ") {
		t.Errorf("nothing says that capacity held the demand down:\n%s", all)
	}
}

package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/history"
)

const day = capcli.Time(86400)

// makeJobs returns jobs of two tenants over some days: level gives each tenant's GPUs by day.
func makeJobs(days int, seed capcli.Seed, level func(tenant, d int) float64) []capcli.Job {
	rng := seed.Stream("made")
	var jobs []capcli.Job
	for d := range days {
		for tenant := range 2 {
			gpus := level(tenant, d) * (0.85 + 0.3*rng.Float64())
			for range int(gpus * 2) { // jobs of two GPUs and six hours
				jobs = append(jobs, capcli.Job{
					Start: capcli.NoTime, End: capcli.NoTime, ID: fmt.Sprint(len(jobs)), Tenant: []string{"a", "b"}[tenant], GPUs: 2, Run: 21600,
					Submit: 1_767_571_200 + capcli.Time(d)*day + capcli.Time(rng.IntN(86400)),
				})
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return int(a.Submit - b.Submit) })
	return jobs
}

func TestHealthyLogsAreCountedWhole(t *testing.T) {
	for name, level := range map[string]func(tenant, d int) float64{
		"flat":     func(int, int) float64 { return 20 },
		"weekends": func(_, d int) float64 { return []float64{24, 6}[d%7/5] },
		"growing":  func(_, d int) float64 { return 10 + float64(d)/8 },
		"a holiday": func(_, d int) float64 {
			if d > 60 && d < 68 {
				return 4
			}
			return 20
		},
		"a holiday at the end": func(_, d int) float64 {
			if d > 117 {
				return 5
			}
			return 20
		},
	} {
		for seed := range capcli.Seed(10) {
			r, err := history.Inspect(makeJobs(120, seed, level))
			if err != nil {
				t.Fatal(err)
			}
			if !r.IsWhole() {
				t.Errorf("%s, seed %d: %q", name, seed, r.Sentences())
			}
		}
	}
}

func TestWhatIsGoneIsFound(t *testing.T) {
	for seed := range capcli.Seed(10) {
		gone := makeJobs(120, seed, func(tenant, d int) float64 {
			if tenant == 1 && d >= 80 {
				return 0
			}
			return 20
		})
		r, err := history.Inspect(gone)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Left) != 1 || r.Left[0].Tenant != "b" || r.Shift != nil || r.End != nil {
			t.Errorf("a tenant that left on day 80: %q", r.Sentences())
		}
		if got := r.GoneTenants(); !slices.Equal(got, []string{"b"}) {
			t.Fatalf("left out %q", got)
		}
		for _, factor := range []float64{0.4, 2.5} {
			r, err = history.Inspect(makeJobs(120, seed, func(_, d int) float64 {
				if d >= 70 {
					return 20 * factor
				}
				return 20
			}))
			if err != nil {
				t.Fatal(err)
			}
			at := (r.From - 1_767_571_200) / day
			if r.Shift == nil || r.End != nil || at < 68 || at > 72 {
				t.Errorf("times %g from day 70: %q", factor, r.Sentences())
			}
		}
		r, err = history.Inspect(makeJobs(120, seed, func(_, d int) float64 {
			if d >= 112 {
				return 2
			}
			return 20
		}))
		if err != nil {
			t.Fatal(err)
		}
		if r.End == nil || r.End.Cut || r.Shift != nil {
			t.Errorf("taken down on day 112: %q", r.Sentences())
		}
	}
}

// A log of the jobs that have ended lacks the long ones of its last days.
func TestALogOfEndedJobsIsCutShort(t *testing.T) {
	rng := capcli.Seed(3).Stream("ended")
	var jobs []capcli.Job
	for at := capcli.Time(0); at < 100*day; at += 600 {
		j := capcli.Job{ID: fmt.Sprint(at), Submit: at, GPUs: 1, Run: 600, Start: capcli.NoTime, End: capcli.NoTime}
		if rng.IntN(6) == 0 {
			j.GPUs, j.Run = 4, capcli.Seconds(8*day)
		}
		if j.Submit+capcli.Time(j.Run) <= 100*day {
			jobs = append(jobs, j)
		}
	}
	r, err := history.Inspect(jobs)
	if err != nil {
		t.Fatal(err)
	}
	if r.End == nil || !r.End.Cut {
		t.Errorf("found %q", r.Sentences())
	}
	if _, err := r.Choose("whatever"); err == nil {
		t.Error("an unknown choice: no error")
	}
	for _, c := range r.Choices() {
		if _, err := r.Choose(c.Name); err != nil {
			t.Error(err)
		}
	}
}

// A full cluster is served first come first served but for small jobs, which go ahead. What it has started by
// a date lacks the large jobs of its queue: their stretch does not count. The same log that says what became of
// every submitted job is whole.
func TestAFullClusterHidesItsQueue(t *testing.T) {
	rng := capcli.Seed(5).Stream("queue")
	var all []capcli.Job
	free := capcli.Time(0) // the large jobs hold the whole cluster, one after the other
	for at := capcli.Time(0); at < 100*day; at += 7200 {
		large := capcli.Job{ID: fmt.Sprint("l", at), Submit: at, GPUs: 60, Run: capcli.Seconds(7000 + rng.IntN(1400))}
		large.Start = max(at, free)
		large.End = large.Start + capcli.Time(large.Run)
		free = large.End
		small := capcli.Job{ID: fmt.Sprint("s", at), Submit: at + 60, GPUs: 4, Run: 7000, Start: at + 60, End: at + 7060}
		last := capcli.Job{ID: fmt.Sprint("t", at), Submit: at + 7100, GPUs: 1, Run: 60, Start: at + 7100, End: at + 7160}
		all = append(all, large, small, last)
	}
	part := slices.Clone(all)
	part = slices.DeleteFunc(part, func(j capcli.Job) bool { return j.Start > 100*day })
	for i := range part {
		if part[i].End > 100*day {
			part[i].End, part[i].Run = capcli.NoTime, capcli.Seconds(100*day-part[i].Start)
		}
	}
	for _, tt := range []struct {
		jobs []capcli.Job
		held bool
	}{{all, false}, {part, true}} {
		r, err := history.Inspect(tt.jobs)
		if err != nil {
			t.Fatal(err)
		}
		if held := r.End != nil && r.End.Held; held != tt.held || !held && !r.IsWhole() {
			t.Fatalf("%d jobs: %q, last start %d", len(tt.jobs), r.Sentences(), (free-100*day)/86400)
		}
		if tt.held && (r.Until > 99*day || r.Until < 85*day || r.IsChoice()) {
			t.Errorf("until day %d of 100: %q", r.Until/day, r.Sentences())
		}
	}
}

// A fall is found on its day, whether it is a week or nearly two weeks old.
func TestFallIsDated(t *testing.T) {
	for at := 107; at <= 113; at++ {
		r, err := history.Inspect(makeJobs(120, 4, func(_, d int) float64 {
			if d >= at {
				return 3
			}
			return 20
		}))
		if err != nil {
			t.Fatal(err)
		}
		if r.End == nil || !r.IsChoice() {
			t.Fatalf("fell on day %d of 120: %q", at, r.Sentences())
		}
		if got := int((r.End.At - 1_767_571_200) / day); got < at-1 || got > at+1 {
			t.Errorf("fell on day %d of 120, found day %d", at, got)
		}
	}
}

// Each choice counts another part of the log.
func TestChoices(t *testing.T) {
	shifts := func(tenant, d int) float64 {
		switch {
		case tenant == 1 && d >= 60:
			return 0
		case d >= 112:
			return 2
		}
		return 20
	}
	for _, tt := range []struct {
		name  string
		level func(tenant, d int) float64
		want  string
	}{
		{"nothing", func(int, int) float64 { return 20 }, ""},
		{"a tenant left", func(tenant, d int) float64 {
			if tenant == 1 && d >= 80 {
				return 0
			}
			return 20
		}, "level-now: all tenants but b, day 0 to 119; level-before: all tenants, day 0 to 80; whole: all tenants, day 0 to 119; "},
		{"a fall", func(_, d int) float64 {
			if d >= 112 {
				return 2
			}
			return 20
		}, "level-now: all tenants, day 0 to 112; end-now: all tenants, day 112 to 119; whole: all tenants, day 0 to 119; "},
		{"both", shifts, "level-now: all tenants but b, day 0 to 112; level-before: all tenants, day 0 to 60; end-now: all tenants but b, day 112 to 119; whole: all tenants, day 0 to 119; "},
	} {
		r, err := history.Inspect(makeJobs(120, 2, tt.level))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range r.Choices() {
			p, err := r.Choose(c.Name)
			if err != nil {
				t.Fatal(err)
			}
			who, _, _ := strings.Cut(c.Text, ",")
			got += fmt.Sprintf("%s: %s, day %d to %d; ", c.Name, who, (p.From-1_767_571_200)/day, (p.Until-1_767_571_200)/day)
		}
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

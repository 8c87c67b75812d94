package history_test

import (
	"fmt"
	"slices"
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
					ID: fmt.Sprint(len(jobs)), Tenant: []string{"a", "b"}[tenant], GPUs: 2, Run: 21600,
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
		for i := range gone {
			if got, want := r.Counts(&gone[i]), gone[i].Tenant == "a"; got != want {
				t.Fatalf("job of %s: counts %t", gone[i].Tenant, got)
			}
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
		j := capcli.Job{ID: fmt.Sprint(at), Submit: at, GPUs: 1, Run: 600}
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

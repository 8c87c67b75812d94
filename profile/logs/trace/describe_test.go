package trace

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// TestDescribeStory: three GPU jobs and a CPU job whose figures are worked out
// by hand. 2024-01-01 is a Monday.
func TestDescribeStory(t *testing.T) {
	const t0 = capcli.Time(1704067200) // 2024-01-01T00:00:00Z
	jobs := []capcli.Job{
		{ID: "a", Tenant: "red", GPUModel: "A100", State: "COMPLETED", GPUs: 4, Submit: t0, Start: t0 + 1800, End: t0 + 5400, Run: 3600, Eligible: capcli.NoTime, Deadline: capcli.NoTime},
		{ID: "b", Tenant: "blue", GPUModel: "A100", State: "FAILED", GPUs: 1, GPUMilli: 500, Submit: t0 + 3600, Start: t0 + 3600, End: t0 + 10800, Run: 7200, Eligible: capcli.NoTime, Deadline: capcli.NoTime},
		{ID: "c", Tenant: "red", GPUModel: "T4", State: "COMPLETED", GPUs: 4, Submit: t0 + 86400, Start: capcli.NoTime, End: capcli.NoTime, Run: 30, Eligible: capcli.NoTime, Deadline: capcli.NoTime},
		{ID: "d", Tenant: "green", Submit: t0 + 99999, Run: 5, Start: capcli.NoTime, End: capcli.NoTime, Eligible: capcli.NoTime, Deadline: capcli.NoTime},
	}
	s, err := Describe(jobsOneByOne(jobs), nil)
	if err != nil {
		t.Fatal(err)
	}
	hours := 4.0 + 1 + 4*30.0/3600
	if s.Jobs != 4 || s.CPUOnlyJobs != 1 || s.SpanS != 86400 || s.FirstSubmit != t0 || math.Abs(s.GPUHours-hours) > 1e-12 {
		t.Errorf("got %+v", s)
	}
	if want := []float64{0.5, 4}; len(s.Sizes) != 2 || s.Sizes[0].GPUs != want[0] || s.Sizes[1].GPUs != want[1] || s.Sizes[1].Jobs != 2 {
		t.Errorf("sizes: %+v", s.Sizes)
	}
	if want := (Quantiles{MeanS: 3610, P50: 3600, P90: 7200, P95: 7200, P99: 7200, Max: 7200}); s.Run != want {
		t.Errorf("run: got %+v, want %+v", s.Run, want)
	}
	if s.Wait == nil || s.Wait.Max != 1800 || s.Wait.P50 != 0 || s.Wait.MeanS != 900 {
		t.Errorf("wait: %+v", s.Wait)
	}
	if s.Weekdays != [7]int64{2, 1} || s.Hours[0] != 2 || s.Hours[1] != 1 {
		t.Errorf("arrivals: %v %v", s.Weekdays, s.Hours)
	}
	names := func(of []Share) (out []string) {
		for _, x := range of {
			out = append(out, x.Name)
		}
		return out
	}
	if !reflect.DeepEqual(names(s.Tenants), []string{"red", "blue"}) || !reflect.DeepEqual(names(s.GPUModels), []string{"A100", "T4"}) || s.Tenants[0].Jobs != 2 {
		t.Errorf("shares: %+v %+v", s.Tenants, s.GPUModels)
	}
	// Wanted: 4 in hour 0, 0.5 in hours 1 and 2, 4 for 30 s in hour 24 of 25.
	if want := hours / 25; math.Abs(s.Demand.MeanGPUs-want) > 1e-12 || s.Demand.PeakGPUs != 4 || s.Demand.PeakAt != t0 {
		t.Errorf("demand: %+v, want a mean of %f", s.Demand, want)
	}
	// Held: 2 in hour 0 (half of it), 2 + 0.5 in hour 1, 0.5 in hour 2.
	if s.Use == nil || s.UsedBy != 2 || s.Use.PeakGPUs != 2.5 || s.Use.PeakAt != t0+3600 || math.Abs(s.Use.MeanGPUs-5.0/25) > 1e-12 {
		t.Errorf("use: %+v", s.Use)
	}
	if c := s.RunClasses; c[0].Jobs != 1 || c[3].Jobs != 2 || c[3].FromS != 3600 || c[3].ToS != 21600 || c[6].ToS != 0 {
		t.Errorf("classes: %+v", c)
	}
}

// TestDescribeLaws compares quantiles and levels with the plainest way to get
// them, in any order of jobs.
func TestDescribeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) capcli.Job {
			return capcli.Job{
				ID: "x", GPUs: rapid.IntRange(1, 9).Draw(t, "gpus"), Submit: capcli.Time(rapid.IntRange(1e9, 1e9+50000).Draw(t, "at")),
				Run:   capcli.Seconds(rapid.OneOf(rapid.IntRange(0, 9000), rapid.IntRange(shortLengths-3, shortLengths+3)).Draw(t, "run")),
				Start: capcli.NoTime, End: capcli.NoTime,
			}
		}), 1, 40).Draw(t, "jobs")
		s, err := Describe(jobsOneByOne(jobs), nil)
		if err != nil {
			t.Fatal(err)
		}
		var runs []capcli.Seconds
		held := map[int64]int64{}
		for _, j := range jobs {
			runs = append(runs, j.Run)
			for at := int64(j.Submit); at < int64(j.Submit)+int64(j.Run); {
				end := min((at/3600+1)*3600, int64(j.Submit)+int64(j.Run))
				held[at/3600] += int64(j.GPUs) * (end - at)
				at = end
			}
		}
		slices.Sort(runs)
		rank := func(q float64) capcli.Seconds { return runs[int(math.Ceil(q*float64(len(runs))-1e-9))-1] }
		if s.Run.P50 != rank(.5) || s.Run.P90 != rank(.9) || s.Run.P95 != rank(.95) || s.Run.P99 != rank(.99) || s.Run.Max != runs[len(runs)-1] {
			t.Fatalf("got %+v of %v", s.Run, runs)
		}
		var most int64
		for _, v := range held {
			most = max(most, v)
		}
		if math.Abs(s.Demand.PeakGPUs-float64(most)/3600) > 1e-9 {
			t.Fatalf("peak %f, want %f", s.Demand.PeakGPUs, float64(most)/3600)
		}
		slices.Reverse(jobs)
		again, err := Describe(jobsOneByOne(jobs), nil)
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("another order of jobs gave %+v, want %+v", again, s)
		}
	})
}

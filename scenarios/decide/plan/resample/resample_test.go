package resample_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/resample"
	"capcli/testdata/golden"
)

// pastJobs makes weeks of jobs with a rhythm: days are busier than nights, workdays
// than weekends, one tenant runs long, one has large gangs.
func pastJobs(weeks int, seed capcli.Seed) []capcli.Job {
	rng := seed.Stream("past")
	start := capcli.Time(1_767_571_200) // Monday 2026-01-05
	var jobs []capcli.Job
	for h := range weeks * 168 {
		rate := 2.0
		if h%24 >= 8 && h%24 < 20 {
			rate = 10
		}
		if h/24%7 >= 5 {
			rate /= 4
		}
		for range int(rate) + rng.IntN(2) {
			j := capcli.Job{
				ID: fmt.Sprintf("%d", len(jobs)), Submit: start + capcli.Time(h*3600+rng.IntN(3600)),
				Tenant: "many", GPUs: 1, Run: capcli.Seconds(60 + rng.ExpFloat64()*1800), Start: 5, End: 6, Deadline: capcli.NoTime,
			}
			switch rng.IntN(10) {
			case 0:
				j.Tenant, j.GPUs = "gangs", 8<<rng.IntN(2)
			case 1, 2:
				j.Tenant, j.Run = "long", j.Run*10
			}
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return int(a.Submit - b.Submit) })
	return jobs
}

// distance is the largest difference between two distributions (Kolmogorov and
// Smirnov).
func distance(a, b []float64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	var most float64
	for _, v := range slices.Concat(a, b) {
		i, _ := slices.BinarySearch(a, math.Nextafter(v, math.Inf(1)))
		j, _ := slices.BinarySearch(b, math.Nextafter(v, math.Inf(1)))
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return most
}

func figures(jobs []capcli.Job, of func(j *capcli.Job) float64) []float64 {
	out := make([]float64, len(jobs))
	for i := range jobs {
		out[i] = of(&jobs[i])
	}
	return out
}

func TestResampleKeepsWhatJobsAre(t *testing.T) {
	history := pastJobs(8, 3)
	week, _ := levels(history, history[0].Submit/86400*86400, 56, 86400)
	r, err := resample.NewResampler(history, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Days() != 56 || len(r.Borrowed()) != 0 {
		t.Fatalf("%d days, borrowed %v; want 56 and none", r.Days(), r.Borrowed())
	}
	step := capcli.Step{Days: 1}
	for _, share := range []float64{0.2, 0.7, 1, 1.6, 3.3} {
		path := make([]float64, 84)
		for i := range path {
			for w := (i + 4) % 7; w < 56; w += 7 { // the future begins on a Friday
				path[i] += share * week[w] / 86400 / 8
			}
		}
		f := plan.Futures{Grid: step.Grid(1_798_761_600, nil), Paths: [][]float64{path}} // 2027-01-01
		jobs, filled, err := r.Fill(&f, 0, 7)
		if err != nil {
			t.Fatal(err)
		}
		if filled.Worst > filled.Largest {
			t.Errorf("%g: a day is off by %d: more than the largest job, %d", share, filled.Worst, filled.Largest)
		}
		if e := filled.Error(); math.Abs(e) > 0.01 {
			t.Errorf("%g: %g of the work asked for is wrong", share, e)
		}
		for _, of := range []struct {
			name string
			of   func(j *capcli.Job) float64
			most float64
		}{
			{"size", func(j *capcli.Job) float64 { return float64(j.GPUs) }, 0.027},
			{"run time", func(j *capcli.Job) float64 { return float64(j.Run) }, 0.03},
			{"hour of the day", func(j *capcli.Job) float64 { return float64(j.Submit % 86400 / 3600) }, 0.042},
			{"hour of the week", func(j *capcli.Job) float64 { return float64((j.Submit - 1_767_571_200) % 604800 / 3600) }, 0.035},
			{"tenant", func(j *capcli.Job) float64 { return float64(j.Tenant[0]) }, 0.03},
			{"work", func(j *capcli.Job) float64 { return float64(j.Work()) }, 0.03},
		} {
			if d := distance(figures(jobs, of.of), figures(history, of.of)); d > of.most*max(1, 0.5/share) { // of a fifth of the level the gangs are wider than what is wanted
				t.Errorf("%g times the level: the distribution of %s is %.4f off, over %g", share, of.name, d, of.most)
			}
		}
	}
}

// Every job drawn is one of the past but for its day, at its own time of day and
// on its own weekday, and no id comes twice.
func TestResampledJobsAreThoseOfThePast(t *testing.T) {
	golden.SkipLong(t)
	history := pastJobs(3, 5)
	byID := map[string]*capcli.Job{}
	for i := range history {
		byID[history[i].ID] = &history[i]
	}
	r, err := resample.NewResampler(history, nil)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom([]capcli.Step{{Seconds: 3600}, {Seconds: 5 * 3600}, {Days: 1}, {Days: 7}, {Months: 1}}).Draw(t, "step")
		n := rapid.IntRange(1, 8).Draw(t, "steps")
		start := capcli.Time(1_798_761_600 + rapid.IntRange(0, 100).Draw(t, "start")*3600)
		f := plan.Futures{Grid: capcli.Grid{Origin: start, Step: step}, Paths: [][]float64{nil, nil}}
		if step.Months > 0 {
			n = 1
		}
		for k := range f.Paths {
			for range n {
				f.Paths[k] = append(f.Paths[k], rapid.Float64Range(0, 20).Draw(t, "level"))
			}
		}
		seed := capcli.Seed(rapid.Uint64().Draw(t, "seed"))
		jobs, filled, err := r.Fill(&f, 1, seed)
		if err != nil {
			t.Fatal(err)
		}
		var work capcli.GPUTime
		seen, cut := map[string]bool{}, 0
		for i, j := range jobs {
			work += capcli.GPUTime(j.Milli() * int64(min(capcli.Time(j.Run), f.End()-j.Submit)))
			id, mark, _ := strings.Cut(j.ID, "@")
			was := byID[id]
			if was == nil || seen[j.ID] {
				t.Fatalf("job %q: unknown or twice", j.ID)
			}
			seen[j.ID] = true
			part := strings.HasSuffix(mark, ".rest") || strings.HasSuffix(mark, ".left")
			if !part && (j.Submit-was.Submit)%86400 != 0 || !part && j.Submit.Std().Weekday() != was.Submit.Std().Weekday() {
				t.Fatalf("job %q: submitted %s, was %s", j.ID, j.Submit, was.Submit)
			}
			if j.Submit < f.Start() || j.Submit >= f.End() || i > 0 && j.Submit < jobs[i-1].Submit {
				t.Fatalf("job %q at %s is outside the future or out of order", j.ID, j.Submit)
			}
			now := *was
			now.ID, now.Submit, now.Start, now.End = j.ID, j.Submit, capcli.NoTime, capcli.NoTime
			if j.Run < now.Run { // a part of the run
				cut++
				now.Run = j.Run
			}
			if now != j {
				t.Fatalf("job %q is %+v, was %+v", j.ID, j, *was)
			}
		}
		if work != filled.Drawn || len(jobs) != filled.Jobs || cut != filled.Cut {
			t.Fatalf("%d jobs of %d, said %d of %d", len(jobs), work, filled.Jobs, filled.Drawn)
		}
		again, _, _ := r.Fill(&f, 1, seed)
		if !slices.Equal(jobs, again) {
			t.Fatal("the same seed drew other jobs")
		}
	})
}

func TestResampleOddHistories(t *testing.T) {
	job := func(at string, run capcli.Seconds) capcli.Job {
		s, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		return capcli.Job{ID: at, Submit: capcli.TimeOf(s), GPUs: 1, Run: run, Deadline: capcli.NoTime}
	}
	if _, err := resample.NewResampler(nil, nil); err == nil {
		t.Error("no jobs: no error")
	}
	if _, err := resample.NewResampler([]capcli.Job{{GPUs: 0, Run: 5}}, nil); err == nil {
		t.Error("no GPU jobs: no error")
	}
	if _, err := resample.NewResampler([]capcli.Job{job("2026-01-06T00:00:00Z", 5), job("2026-01-05T00:00:00Z", 5)}, nil); err == nil {
		t.Error("out of order: no error")
	}
	one, err := resample.NewResampler([]capcli.Job{job("2026-01-06T13:00:00Z", 3600)}, nil) // a Tuesday
	if err != nil {
		t.Fatal(err)
	}
	if one.Days() != 1 || len(one.Borrowed()) != 6 {
		t.Errorf("one job: %d days, %v borrowed", one.Days(), one.Borrowed())
	}
	f := plan.Futures{Grid: capcli.Step{Days: 7}.Grid(1_798_761_600, nil), Paths: [][]float64{{1, 0, 2}}}
	jobs, filled, err := one.Fill(&f, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := (168 + 2*168); len(jobs) != want || filled.Drawn != filled.Asked {
		t.Errorf("three weeks of 1, 0 and 2 GPUs in jobs of an hour: %d jobs, want %d", len(jobs), want)
	}
	one.MaxJobs = 100
	if _, _, err := one.Fill(&f, 0, 1); err == nil || !strings.Contains(err.Error(), "more than 100 jobs") {
		t.Errorf("more jobs than allowed: %v", err)
	}
	if _, _, err := one.Fill(&f, 1, 1); err == nil {
		t.Error("a future that is not there: no error")
	}
}

// In a zone whose clocks change, jobs keep the time that the clock shows.
func TestResampleKeepsTheClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	var history []capcli.Job
	for d := range 14 {
		at := time.Date(2026, 1, 5+d, 9, 30, 0, 0, berlin)
		history = append(history, capcli.Job{ID: at.Format("02"), Submit: capcli.TimeOf(at), GPUs: 1, Run: 3600, Deadline: capcli.NoTime})
	}
	r, err := resample.NewResampler(history, berlin)
	if err != nil {
		t.Fatal(err)
	}
	start := capcli.TimeOf(time.Date(2026, 3, 16, 0, 0, 0, 0, berlin)) // clocks change on 29 March
	f := plan.Futures{Grid: capcli.Step{Days: 1}.Grid(start, berlin), Paths: [][]float64{slices.Repeat([]float64{1. / 24}, 28)}}
	jobs, _, err := r.Fill(&f, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) < 27 {
		t.Fatalf("%d jobs for 28 days of one", len(jobs))
	}
	for _, j := range jobs {
		if clock := j.Submit.Std().In(berlin).Format("15:04"); clock != "09:30" {
			t.Errorf("%s is at %s, want 09:30", j.ID, clock)
		}
	}
}

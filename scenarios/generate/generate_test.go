package generate_test

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/generate"
)

// monday is the start of a week, at midnight UTC.
var monday = capcli.TimeOf(time.Date(2027, 1, 4, 0, 0, 0, 0, time.UTC))

// eachJob gives the jobs of a workload as they come: a test that only counts them keeps
// none.
func eachJob(t testing.TB, w generate.Workload, seed capcli.Seed) iter.Seq[capcli.Job] {
	t.Helper()
	return func(yield func(capcli.Job) bool) {
		for j, err := range w.Jobs(seed) {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(j) {
				return
			}
		}
	}
}

func allJobs(t testing.TB, w generate.Workload, seed capcli.Seed) []capcli.Job {
	t.Helper()
	return slices.Collect(eachJob(t, w, seed))
}

func training() generate.Class {
	return generate.Class{
		Name: "training", Kind: generate.Random, JobsPerDay: 2000, RunMedian: 600, RunP95: 20_000,
		Sizes: []generate.Size{{GPUs: 1, Weight: 7}, {GPUs: 8, Weight: 2}, {GPUs: 64}},
	}
}

// chiSquare is the quantile of the chi-square distribution that 1 in 1000 of
// samples is over (Wilson and Hilferty 1931).
func chiSquare(k float64) float64 {
	return k * math.Pow(1-2/(9*k)+3.0902*math.Sqrt(2/(9*k)), 3)
}

// Jobs by hour of the day, on weekdays and at weekends, against the intensity
// that was asked for: ten times as many at 15:00 as at 3:00, half at weekends.
func TestArrivalsFollowTheDayAndTheWeek(t *testing.T) {
	c := training()
	c.DaySwing, c.PeakHour, c.Weekend = 10, 15, 0.5
	w := generate.Workload{Start: monday, Span: 8 * 7 * capcli.Day, Classes: []generate.Class{c}}
	var got [2][24]float64
	jobs := 0
	for j := range eachJob(t, w, 1) {
		jobs++
		std := j.Submit.Std()
		end := 0
		if d := std.Weekday(); d == time.Saturday || d == time.Sunday {
			end = 1
		}
		got[end][std.Hour()]++
	}
	// The mean of 10 : 1 over a day is 5.5, over the week 5.5 x (5 + 2 x 0.5)/7.
	var square float64
	for end, days := range []float64{40, 16} {
		for h := range 24 {
			level := 0.0
			for m := range 60 { // of the hour's minutes, at their middle
				level += (5.5 + 4.5*math.Cos(2*math.Pi*(float64(h)-15+(float64(m)+0.5)/60)/24)) / 60
			}
			want := 2000. / 24 * level / (5.5 * 6 / 7) * days * []float64{1, 0.5}[end]
			square += (got[end][h] - want) * (got[end][h] - want) / want
		}
	}
	if square > chiSquare(48) {
		t.Errorf("chi-square %.1f, want at most %.1f: hours are %v", square, chiSquare(48), got)
	}
	if d := math.Abs(float64(jobs) - 2000*56); d > 3.29*math.Sqrt(2000*56) {
		t.Errorf("%d jobs, want 112000 ± 1101", jobs)
	}
	if got := w.Expected(); math.Abs(got-112_000) > 1 {
		t.Errorf("expected are %v, want 112000", got)
	}
}

// The share of run times under a value against the normal distribution of its
// logarithm, within what 1 in 1000 samples is outside of.
func TestRunTimesAreLogNormal(t *testing.T) {
	c := training()
	w := generate.Workload{Start: monday, Span: 60 * capcli.Day, Classes: []generate.Class{c}}
	cut := c
	cut.Name, cut.RunMin, cut.RunMax = "cut", 60, 40_000
	w.Classes = append(w.Classes, cut)
	runs := map[string][]float64{}
	for j := range eachJob(t, w, 3) {
		runs[j.Class] = append(runs[j.Class], float64(j.Run))
	}
	sigma := math.Log(20_000./600) / 1.6448536
	phi := func(x float64) float64 { return 0.5 * math.Erfc(-math.Log(x/600)/sigma/math.Sqrt2) }
	low, high := phi(60), phi(40_000)
	for _, x := range []float64{100.5, 300.5, 600.5, 2000.5, 20_000.5} {
		for name, want := range map[string]float64{"training": (phi(x) - phi(0.5)) / (1 - phi(0.5)), "cut": (phi(x) - low) / (high - low)} {
			under := 0.0
			for _, r := range runs[name] {
				if r < x {
					under++
				}
			}
			n := float64(len(runs[name]))
			if got := under / n; math.Abs(got-want) > 3.29*math.Sqrt(want*(1-want)/n)+1e-4 {
				t.Errorf("%s: %.4f of %v run times are under %v, want %.4f", name, got, n, x, want)
			}
		}
	}
	if lo, hi := slices.Min(runs["cut"]), slices.Max(runs["cut"]); lo < 60 || hi > 40_000 || lo > 70 || hi < 39_000 {
		t.Errorf("run times of %v to %v, want about 60 to 40000", lo, hi)
	}
}

// A class that is to keep 300 GPUs busy brings that much work, cut or not.
func TestMeanGPUs(t *testing.T) {
	c := training()
	c.JobsPerDay, c.MeanGPUs, c.RunP95, c.RunMean, c.RunMax = 0, 300, 0, 3000, 3000
	c.DaySwing, c.Weekend = 4, 0.4
	w := generate.Workload{Start: monday, Span: 140 * capcli.Day, Classes: []generate.Class{c}}
	var work capcli.GPUTime
	for j := range eachJob(t, w, 5) {
		work += j.Work()
	}
	if got := work.Hours() / (140 * 24); math.Abs(got-300) > 6 {
		t.Errorf("%.1f GPUs are busy on average, want 300 ± 6", got)
	}
}

func TestOneSeedOneStream(t *testing.T) {
	w := generate.Workload{Start: monday, Span: 10 * capcli.Day, Classes: []generate.Class{training()}}
	first := allJobs(t, w, 9)
	if again := allJobs(t, w, 9); !slices.Equal(first, again) {
		t.Error("one seed gives two streams")
	}
	if other := allJobs(t, w, 10); slices.Equal(first, other) {
		t.Error("two seeds give one stream")
	}
	more := training()
	more.Name, more.Kind = "more", ""
	w.Classes = []generate.Class{more, {Name: "serve", Kind: generate.Service, Replicas: 3}, training()}
	var same []capcli.Job
	jobs := allJobs(t, w, 9)
	for _, j := range jobs {
		if j.Class == "training" {
			same = append(same, j)
		}
	}
	if !slices.Equal(first, same) || len(jobs) < 2*len(first) {
		t.Error("other classes move the jobs of this one")
	}
	longer := training()
	longer.RunP95 = 50_000
	w.Classes = []generate.Class{longer}
	for i, j := range allJobs(t, w, 9) {
		if j.Submit != first[i].Submit || j.GPUs != first[i].GPUs {
			t.Fatalf("longer runs move job %d", i)
		}
	}
}

// 80 GPUs by jobs of 8 all the time, to the second, and 200 for 40 % of it.
func TestSteadyWorkIsExact(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    generate.Class
		span capcli.Seconds
		jobs int
		want capcli.GPUTime // GPU-seconds
		at   []int          // GPUs held at some seconds of a day
	}{
		{"always", generate.Class{GPUs: 80, JobGPUs: 8, Every: 6 * capcli.Hour}, 10 * capcli.Day, 400, 80 * 864_000, []int{80, 80, 80}},
		{"two fifths", generate.Class{GPUs: 200, BusyShare: 0.4, Every: capcli.Day}, 10 * capcli.Day, 10, 200 * 345_600, []int{200, 0, 0}},
		{"cut at the end", generate.Class{GPUs: 2, Every: capcli.Day}, capcli.Day + 100, 2, 2 * 86_500, []int{2, 2, 2}},
		{"from and until", generate.Class{GPUs: 4, JobGPUs: 2, From: 7200, Until: 18_000}, capcli.Day, 6, 4 * 10_800, []int{0, 0, 0}},
	} {
		tt.c.Name, tt.c.Kind = "steady", generate.Steady
		tt.c.Tenants = []generate.Tenant{{Name: "a", Weight: 3}, {Name: "b", Weight: 1}}
		jobs := allJobs(t, generate.Workload{Start: monday, Span: tt.span, Classes: []generate.Class{tt.c}}, 1)
		var work capcli.GPUTime
		held := make([]int, 3)
		for _, j := range jobs {
			work += j.Work()
			for i, second := range []capcli.Seconds{0, 40_000, 86_399} {
				if at := monday + capcli.Time(second); j.Submit <= at && at < j.Submit+capcli.Time(j.Run) {
					held[i] += j.GPUs
				}
			}
		}
		if work != tt.want*capcli.GPUSecond || len(jobs) != tt.jobs || !slices.Equal(held, tt.at) {
			t.Errorf("%s: %d jobs of %d GPU-seconds hold %v; want %d, %d, %v", tt.name, len(jobs), work/capcli.GPUSecond, held, tt.jobs, tt.want, tt.at)
		}
	}
}

// A service with a factor of four between day and night: 40 replicas at 14:00,
// 10 at 2:00, a fifth of that at weekends.
func TestServiceFollowsTheDay(t *testing.T) {
	c := generate.Class{
		Name: "chat", Kind: generate.Service, Replicas: 40, JobGPUs: 2, DaySwing: 4, PeakHour: 14, Weekend: 0.2,
		Tenants: []generate.Tenant{{Name: "a", Weight: 3}, {Name: "b", Weight: 1}},
	}
	count, tenants := map[capcli.Time]int{}, map[string]int{}
	for _, j := range allJobs(t, generate.Workload{Start: monday, Span: 7 * capcli.Day, Classes: []generate.Class{c}}, 1) {
		if j.GPUs != 2 || j.Run != capcli.Hour || (j.Submit-monday)%3600 != 0 {
			t.Fatalf("a replica on %d GPUs for %s at %s", j.GPUs, j.Run, j.Submit)
		}
		count[j.Submit]++
		tenants[j.Tenant]++
	}
	for hour, want := range map[int]int{2: 10, 14: 40, 8: 25, 20: 25, 24 + 14: 40, 5*24 + 14: 8, 6*24 + 2: 2} {
		if got := count[monday+capcli.Time(hour*3600)]; got != want {
			t.Errorf("%d replicas in hour %d, want %d", got, hour, want)
		}
	}
	if share := float64(tenants["a"]) / float64(tenants["a"]+tenants["b"]); math.Abs(share-0.75) > 0.02 {
		t.Errorf("a has %.3f of the replicas, want 3 of 4", share)
	}
}

func TestBurstsLimitsDeadlinesAndShares(t *testing.T) {
	c := training()
	c.Burst, c.LimitOver, c.LimitModal, c.Slack, c.Priority, c.CPUsPerGPU, c.MemPerGPU = 5, 4, true, 2.5, 3, 12, 120.5
	c.Tenants = []generate.Tenant{{Name: "a", Weight: 3}, {Name: "b", Weight: 1}}
	w := generate.Workload{Start: monday, Span: 90 * capcli.Day, Classes: []generate.Class{c}}
	bursts, big, byA := 0.0, 0.0, 0.0
	jobs := allJobs(t, w, 2)
	for i, j := range jobs {
		if i == 0 || j.Submit != jobs[i-1].Submit {
			bursts++
		} else if j.GPUs != jobs[i-1].GPUs && j.Tenant != jobs[i-1].Tenant {
			bursts++ // two bursts in one second
		}
		if j.GPUs == 64 {
			big++
		}
		if j.Tenant == "a" {
			byA++
		}
		if j.Limit < j.Run || j.Limit%300 != 0 || (j.Limit > 30*capcli.Day && j.Limit%capcli.Day != 0) {
			t.Fatalf("run %s has limit %s", j.Run, j.Limit)
		}
		if got := capcli.Seconds(j.Deadline - j.Submit); got < j.Run*5/2 || got > j.Run*5/2+1 {
			t.Fatalf("run %s is due after %s", j.Run, got)
		}
		if j.Priority != 3 || j.CPUMilli != 12_000*int64(j.GPUs) || j.MemMiB != 123_392*int64(j.GPUs) || j.Start.IsKnown() || j.End.IsKnown() {
			t.Fatalf("job %+v", j)
		}
	}
	n := float64(len(jobs))
	// The number of jobs is a compound sum: its variance a burst is var + mean² = 20 + 25.
	if math.Abs(n-180_000) > 3.29*math.Sqrt(36_000*45) || math.Abs(n/bursts-5) > 0.1 {
		t.Errorf("%v jobs in bursts of %.2f, want 180000 in fives", n, n/bursts)
	}
	if math.Abs(big/n-0.1) > 0.01 || math.Abs(byA/n-0.75) > 0.015 {
		t.Errorf("%.3f of the jobs on 64 GPUs, %.3f of a; want 0.1 and 0.75", big/n, byA/n)
	}
}

// Whatever the workload, jobs come in order, in their time, with names of their
// own.
func TestWorkloadLaws(t *testing.T) {
	total := 0
	rapid.Check(t, func(t *rapid.T) {
		w := generate.Workload{Start: monday + capcli.Time(rapid.IntRange(0, 700_000).Draw(t, "start")), Span: rapid.SampledFrom([]capcli.Seconds{1, 5000, 86_400, 300_000}).Draw(t, "span")}
		for i := range rapid.IntRange(1, 4).Draw(t, "classes") {
			c := training()
			c.Name, c.JobsPerDay = fmt.Sprint("c", i), rapid.SampledFrom([]float64{10, 300, 3000}).Draw(t, "a day")
			c.Kind = rapid.SampledFrom([]generate.Kind{"", generate.Random, generate.Steady, generate.Service}).Draw(t, "kind")
			c.DaySwing, c.PeakHour = rapid.Float64Range(1, 9).Draw(t, "swing"), rapid.Float64Range(0, 24).Draw(t, "peak")
			c.Weekend, c.Burst = rapid.Float64Range(0, 3).Draw(t, "weekend"), rapid.Float64Range(0, 5).Draw(t, "burst")
			c.From = rapid.SampledFrom([]capcli.Seconds{0, 777, 90_000}).Draw(t, "from")
			c.Until = rapid.SampledFrom([]capcli.Seconds{0, 50_000, 200_000}).Draw(t, "until")
			c.GPUs, c.JobGPUs, c.Replicas, c.BusyShare = 12, 4, 5, rapid.Float64Range(0, 1).Draw(t, "busy")
			w.Classes = append(w.Classes, c)
		}
		seen := map[string]bool{}
		last := w.Start
		for j, err := range w.Jobs(capcli.Seed(rapid.Uint64().Draw(t, "seed"))) {
			if err != nil {
				t.Fatal(err)
			}
			var c generate.Class
			for _, have := range w.Classes {
				if have.Name == j.Class {
					c = have
				}
			}
			at := capcli.Seconds(j.Submit - w.Start)
			if j.Submit < last || at < c.From || at >= w.Span || (c.Until > 0 && at >= c.Until) || j.Run < 1 || j.GPUs < 1 || seen[j.ID] || !strings.HasPrefix(j.ID, c.Name+"-") {
				t.Fatalf("job %+v after %s", j, last)
			}
			last, seen[j.ID] = j.Submit, true
			total++
		}
	})
	if total < 5000 {
		t.Errorf("%d jobs were looked at, too few to say anything", total)
	}
}

func TestWorkloadFaults(t *testing.T) {
	for _, tt := range []struct {
		name string
		with func(w *generate.Workload, c *generate.Class)
		want string
	}{
		{"none", func(*generate.Workload, *generate.Class) {}, ""},
		{"no span", func(w *generate.Workload, _ *generate.Class) { w.Span = 0 }, "needs a start and a span"},
		{"no start", func(w *generate.Workload, _ *generate.Class) { w.Start = capcli.NoTime }, "needs a start and a span"},
		{"unknown mix", func(w *generate.Workload, _ *generate.Class) { w.Mix = "phily" }, `did you mean "philly"?`},
		{"two rates", func(_ *generate.Workload, c *generate.Class) { c.MeanGPUs = 5 }, "class training: give jobs_per_day or mean_gpus"},
		{"no rate", func(_ *generate.Workload, c *generate.Class) { c.JobsPerDay = 0 }, "give jobs_per_day or mean_gpus"},
		{"too many", func(_ *generate.Workload, c *generate.Class) { c.JobsPerDay = 1e9 }, "jobs are to come"},
		{"not a number", func(_ *generate.Workload, c *generate.Class) { c.Weekend = math.NaN() }, "weekend is NaN"},
		{"a kind", func(_ *generate.Workload, c *generate.Class) { c.Kind = "constant" }, `kind is "constant"`},
		{"p95 under median", func(_ *generate.Workload, c *generate.Class) { c.RunP95 = 10 }, "may not be under run_median"},
		{"cut off", func(_ *generate.Workload, c *generate.Class) { c.RunMax = 100 }, "must hold run_median"},
		{"no size", func(_ *generate.Workload, c *generate.Class) { c.Sizes = nil }, "sizes is missing"},
		{"half a job", func(_ *generate.Workload, c *generate.Class) { c.Kind, c.GPUs, c.JobGPUs = "steady", 10, 4 }, "10 GPUs are no whole number of jobs of 4"},
		{"no replicas", func(_ *generate.Workload, c *generate.Class) { c.Kind = "service" }, "needs replicas"},
		{"no name", func(_ *generate.Workload, c *generate.Class) { c.Name = "" }, "needs a name"},
	} {
		w := generate.Workload{Start: monday, Span: 10 * capcli.Day, Classes: []generate.Class{training()}}
		tt.with(&w, &w.Classes[0])
		err := w.Validate()
		if (tt.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
		for _, got := range w.Jobs(1) {
			if (got == nil) != (err == nil) {
				t.Errorf("%s: the stream says %v", tt.name, got)
			}
			break
		}
	}
}

func BenchmarkWorkload(b *testing.B) {
	w := generate.Workload{Start: monday, Span: 2000 * capcli.Day, Mix: "helios"}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for range w.Jobs(1) {
			if n++; n%100_000 == 0 {
				break
			}
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "jobs/s")
}

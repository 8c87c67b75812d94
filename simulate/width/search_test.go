package width_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate/width"
)

// checkSchedule fails where a schedule breaks a rule of the problem or has another value than stated.
func checkSchedule(t *testing.T, gpus int, jobs []width.MoldableJob, goal width.Objective, value int64, starts []width.Start) {
	t.Helper()
	seen := map[int]bool{}
	var steps capcli.Steps[capcli.Seconds]
	var got int64
	for _, s := range starts {
		j := &jobs[s.Job]
		k := slices.IndexFunc(j.Points, func(p width.Point) bool { return p.GPUs == s.GPUs })
		if seen[s.Job] || k < 0 || s.At < j.Submit {
			t.Fatalf("job %d starts at %d on %d GPUs: twice, too soon or in no way of its own", s.Job, s.At, s.GPUs)
		}
		seen[s.Job] = true
		end := s.At + j.Points[k].Run
		steps.Add(s.At, end, int64(s.GPUs))
		got = score(goal, got, j, end)
	}
	if most, _ := steps.Peak(); most > int64(gpus) || len(seen) != len(jobs) || got != value {
		t.Fatalf("%d of %d jobs on at most %d of %d GPUs; %s %d, stated %d", len(seen), len(jobs), most, gpus, goal, got, value)
	}
}

func score(goal width.Objective, value int64, j *width.MoldableJob, end capcli.Seconds) int64 {
	switch {
	case goal == width.Makespan:
		return max(value, int64(end))
	case goal == width.SumCompletion:
		return value + int64(end-j.Submit)
	case end > j.Deadline:
		return value + 1
	}
	return value
}

// tryAll returns the least value over every width and every start up to the horizon, unit by unit.
func tryAll(gpus int, jobs []width.MoldableJob, goal width.Objective, horizon int) int64 {
	used := make([]int, 4*horizon)
	best := int64(math.MaxInt64)
	var place func(i int, value int64)
	place = func(i int, value int64) {
		if value >= best {
			return
		}
		if i == len(jobs) {
			best = value
			return
		}
		for _, p := range jobs[i].Points {
			for at := int(jobs[i].Submit); at <= horizon; at++ {
				end := at + int(p.Run)
				if slices.Max(used[at:end])+p.GPUs > gpus {
					continue
				}
				for u := at; u < end; u++ {
					used[u] += p.GPUs
				}
				place(i+1, score(goal, value, &jobs[i], capcli.Seconds(end)))
				for u := at; u < end; u++ {
					used[u] -= p.GPUs
				}
			}
		}
	}
	place(0, 0)
	return best
}

func drawMoldable(rng *rand.Rand, gpus, jobs, longest int) []width.MoldableJob {
	var out []width.MoldableJob
	for range jobs {
		j := width.MoldableJob{Submit: capcli.Seconds(rng.IntN(5)), Deadline: capcli.Seconds(2 + rng.IntN(3*longest))}
		one := 1 + rng.IntN(longest)
		for n := 1; n <= gpus; n++ {
			if rng.IntN(2) == 0 || n == gpus && len(j.Points) == 0 {
				run := max(1, one/n+rng.IntN(3)-1) // not monotone
				j.Points = append(j.Points, width.Point{GPUs: n, Run: capcli.Seconds(run)})
			}
		}
		out = append(out, j)
	}
	return out
}

// TestMoldableByBruteForce holds the search against every width and start, in cases drawn at random.
func TestMoldableByBruteForce(t *testing.T) {
	rng := capcli.Seed(3).Stream("moldable")
	for k := range 150 {
		gpus, n := 1+rng.IntN(4), 1+rng.IntN(3)
		jobs := drawMoldable(rng, gpus, n, 6)
		horizon := 4
		for i := range jobs {
			horizon += int(slices.MaxFunc(jobs[i].Points, func(a, b width.Point) int { return int(a.Run - b.Run) }).Run)
		}
		for _, goal := range []width.Objective{width.Makespan, width.SumCompletion, width.FewestLate} {
			want := tryAll(gpus, jobs, goal, horizon)
			got, starts, err := width.Moldable(gpus, jobs, goal, 0)
			if err != nil || got != want {
				t.Fatalf("case %d: %s is %d, %v, by trying everything %d\n%d GPUs, %v", k, goal, got, err, want, gpus, jobs)
			}
			checkSchedule(t, gpus, jobs, goal, got, starts)
		}
	}
}

// TestMoldableLimit cuts searches short: the optimum is between the bound and the best of the error.
func TestMoldableLimit(t *testing.T) {
	rng := capcli.Seed(4).Stream("moldable")
	cut := 0
	for range 60 {
		jobs := drawMoldable(rng, 4, 5, 9)
		for _, goal := range []width.Objective{width.Makespan, width.SumCompletion, width.FewestLate} {
			want, _, err := width.Moldable(4, jobs, goal, 0)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := width.Moldable(4, jobs, goal, 3)
			var limit *width.LimitError
			switch {
			case err == nil && got == want:
			case errors.As(err, &limit) && limit.Bound <= want && want <= limit.Best:
				cut++
			default:
				t.Fatalf("%s: %d, %v, the optimum is %d", goal, got, err, want)
			}
		}
	}
	if cut == 0 {
		t.Error("no search was cut short")
	}
	var many []width.MoldableJob
	for range 100 {
		many = append(many, width.MoldableJob{Points: []width.Point{{GPUs: 2, Run: 3}}})
	}
	_, _, err := width.Moldable(4, many, width.Makespan, 0)
	if limit := (*width.LimitError)(nil); !errors.As(err, &limit) || limit.Bound != 150 || limit.Best != 150 {
		t.Errorf("100 jobs: %v", err)
	}
}

// shareAll returns the least value over every width in every unit.
func shareAll(gpus int, jobs []width.MalleableJob, goal width.Objective, now int, left []int64, horizon int) int64 {
	cost, open := int64(0), false
	for i := range jobs {
		open = open || left[i] > 0
		if left[i] > 0 && int(jobs[i].Submit) <= now {
			cost++
		}
	}
	if !open {
		if goal == width.Makespan {
			return int64(now)
		}
		return 0
	}
	best := int64(math.MaxInt32)
	if now >= horizon {
		return best
	}
	next := slices.Clone(left)
	var give func(i, free int)
	give = func(i, free int) {
		if i == len(jobs) {
			v := shareAll(gpus, jobs, goal, now+1, slices.Clone(next), horizon)
			if goal == width.SumCompletion {
				v += cost
			}
			best = min(best, v)
			return
		}
		next[i] = left[i]
		give(i+1, free)
		if left[i] > 0 && int(jobs[i].Submit) <= now {
			for n := 1; n <= free; n++ {
				if r := jobs[i].Rates[n]; r > 0 {
					next[i] = max(0, left[i]-r)
					give(i+1, free-n)
				}
			}
		}
		next[i] = left[i]
	}
	give(0, gpus)
	return best
}

func drawMalleable(rng *rand.Rand, gpus, jobs, work int) []width.MalleableJob {
	var out []width.MalleableJob
	for range jobs {
		j := width.MalleableJob{Submit: capcli.Seconds(rng.IntN(3)), Work: int64(1 + rng.IntN(work)), Rates: map[int]int64{}}
		for n := 1; n <= gpus; n++ {
			if rng.IntN(4) > 0 {
				j.Rates[n] = int64(rng.IntN(2 + 2*n)) // not monotone, and at times 0
			}
		}
		j.Rates[1+rng.IntN(gpus)] = 2
		out = append(out, j)
	}
	return out
}

// TestMalleableByBruteForce holds the dynamic programme against every width in every unit.
func TestMalleableByBruteForce(t *testing.T) {
	rng := capcli.Seed(5).Stream("malleable")
	for k := range 60 {
		gpus := 1 + rng.IntN(3)
		jobs := drawMalleable(rng, gpus, 1+rng.IntN(3), 5)
		left := make([]int64, len(jobs))
		for i := range jobs {
			left[i] = jobs[i].Work
		}
		for _, goal := range []width.Objective{width.Makespan, width.SumCompletion} {
			got, err := width.Malleable(gpus, jobs, goal, 0)
			want := shareAll(gpus, jobs, goal, 0, left, int(got)+2)
			if goal == width.SumCompletion {
				want = shareAll(gpus, jobs, goal, 0, left, 9)
			}
			if err != nil || got != want {
				t.Fatalf("case %d: %s is %d, %v, by trying everything %d\n%d GPUs, %v", k, goal, got, err, want, gpus, jobs)
			}
		}
	}
}

func TestMalleableLimit(t *testing.T) {
	rng := capcli.Seed(6).Stream("malleable")
	cut := 0
	for range 60 {
		jobs := drawMalleable(rng, 4, 4, 12)
		for _, goal := range []width.Objective{width.Makespan, width.SumCompletion} {
			want, err := width.Malleable(4, jobs, goal, 0)
			if err != nil {
				t.Fatal(err)
			}
			got, err := width.Malleable(4, jobs, goal, 2)
			var limit *width.LimitError
			switch {
			case err == nil && got == want:
			case errors.As(err, &limit) && limit.Bound <= want && want <= limit.Best:
				cut++
			default:
				t.Fatalf("%s: %d, %v, the optimum is %d", goal, got, err, want)
			}
		}
	}
	if cut == 0 {
		t.Error("no search was cut short")
	}
}

// TestSearchSize plays cases larger than the reference: they end, and freedom of width is never worse.
func TestSearchSize(t *testing.T) {
	rng := capcli.Seed(7).Stream("large")
	for range 5 {
		jobs := drawMoldable(rng, 8, 7, 30)
		for _, goal := range []width.Objective{width.Makespan, width.SumCompletion, width.FewestLate} {
			if _, _, err := width.Moldable(8, jobs, goal, 0); err != nil {
				t.Errorf("%s of 7 jobs: %v", goal, err)
			}
		}
	}
}

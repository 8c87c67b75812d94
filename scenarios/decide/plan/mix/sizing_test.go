package mix

import (
	"context"
	"math"
	"strconv"
	"testing"

	"capcli"
	"capcli/testdata/golden"
)

// TestPlannerFindsTheKnownOptimum sizes a queue whose best number of GPUs is
// known: jobs of one GPU that come at random, ten hours of work an hour, and go
// on to on-demand when their patience has ended (golden cases E13 and E15). The
// price of a committed GPU is told apart by pricing alone.
func TestPlannerFindsTheKnownOptimum(t *testing.T) {
	if golden.Short() {
		t.Skip("two million jobs")
	}
	const load, runs, perRun = 10.0, 6, 12_000
	held := map[int][]capcli.Job{}
	for run := range runs {
		held[run] = poissonJobs(capcli.Seed(11).Child(run), perRun, load)
	}
	for _, c := range []struct {
		name     string
		patience string
		hours    float64
		share    float64 // of the on-demand price
		want     int
		cost     float64 // an hour, at $1 on demand
	}{
		{"loss, 0.45", "0", 0, 0.45, 11, 6.582323},
		{"loss, 0.60", "0", 0, 0.60, 9, 8.132079},
		{"loss, 0.80", "0", 0, 0.80, 5, 9.639522},
		{"a quarter of an hour", "15m", 0.25, 0.60, 9, 7.375281},
		{"an hour", "1h", 1, 0.60, 10, 6.682118},
		{"four hours", "4h", 4, 0.60, 10, 6.223913},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := &sizing{
				gpus: numbers(c.want-2, c.want+2, 1), patience: []string{c.patience}, reserved: capcli.Rate(math.Round(1e6 * c.share)), onDemand: 1_000_000,
				seed: 11, runs: runs, jobs: func(run int) []capcli.Job { return held[run] },
			}
			s := &Search{Problem: z.problem(), Hold: 1, Confidence: 0.99, Goal: cheapest}
			f, err := s.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			best := f.BestEntry()
			if best.Values[0] != strconv.Itoa(c.want) {
				t.Errorf("best number of GPUs: got %s, want %d", best.Values[0], c.want)
			}
			// The range of the runs' cost per hour of work holds the formula's, and
			// the mean is within a hundredth of it.
			var rates []float64
			for i := range best.Outcomes {
				o := &best.Outcomes[i]
				rates = append(rates, o.Cost.Float()/(float64(o.Length)/3600))
			}
			mean, sd := 0.0, 0.0
			for _, r := range rates {
				mean += r / runs
			}
			for _, r := range rates {
				sd += (r - mean) * (r - mean) / (runs - 1)
			}
			if off := math.Abs(mean - c.cost); off > max(4*math.Sqrt(sd/runs), 0.01*c.cost) {
				t.Errorf("cost an hour: got %.4f ± %.4f, want %.6f", mean, math.Sqrt(sd/runs), c.cost)
			}
			b, err := s.bound(context.Background(), f, best)
			if err != nil {
				t.Fatal(err)
			}
			if b.Service() || b.Cost <= 0 || b.Gap < 0 {
				t.Errorf("bound %+v: want one over every mix, below the plan", b)
			}
		})
	}
}

// TestRaceKeepsTheWinner races noisy mixes with confidence, and holds the outcome
// against running all of them to the end.
func TestRaceKeepsTheWinner(t *testing.T) {
	raced := 0
	for seed := capcli.Seed(21); seed < 23; seed++ {
		limits := []Limit{{Metric: "wait_p95", Op: "<=", Value: 600}}
		z := someSizing(seed, 20)
		z.gpus, z.patience, z.policies = numbers(4, 28, 4), []string{"0", "10m"}, []string{"fifo"}
		all, err := (&Search{Problem: z.problem(), Limits: limits, Hold: 0.9}).Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, goal := range []Goal{frontier, cheapest} {
			f, err := (&Search{Problem: z.problem(), Limits: limits, Hold: 0.9, Confidence: 0.99, Goal: goal}).Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			raced += f.Counts().ByRace
			if got, want := f.BestEntry(), all.BestEntry(); got == nil || got.Index != want.Index {
				t.Errorf("seed %d, goal %d: best %v, want %v", seed, goal, got, want)
			}
			c := f.Counts()
			if c.Tried != c.Full+c.ByBound+c.ByRace {
				t.Errorf("counts do not add up: %+v", c)
			}
		}
	}
	if raced == 0 {
		t.Error("the race dropped nothing: it showed nothing")
	}
	t.Logf("%d dropped by race", raced)
}

// TestOverZeroIsStudents holds the tail against tables: of t at 9 degrees of
// freedom 5 % is over 1.833 and 0.5 % over 3.250.
func TestOverZeroIsStudents(t *testing.T) {
	for _, c := range []struct{ t, want float64 }{{1.833113, 0.05}, {3.249836, 0.005}, {0.702722, 0.25}} {
		// Ten values of mean m and standard deviation s: t = m / (s / sqrt(10)).
		d := make([]float64, 10)
		for i := range d {
			d[i] = float64(2*(i%2) - 1)
		}
		s := math.Sqrt(10.0 / 9)
		for i := range d {
			d[i] += c.t * s / math.Sqrt(10)
		}
		if got := overZero(d); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("t = %v: got %v, want %v", c.t, got, c.want)
		}
	}
	if overZero([]float64{1, 1, 1}) != 0 || overZero([]float64{0, 0}) != 1 || overZero([]float64{-1, -2}) != 1 {
		t.Error("differences that are all the same are certain")
	}
	if got := tooSeldom(2, 10, 0.5); math.Abs(got-56.0/1024) > 1e-12 {
		t.Errorf("two of ten at a half: got %v, want 56/1024", got)
	}
}

package validate

import (
	"context"
	"math"
	"strconv"

	"capcli"
)

// Floor is how far two replays are from each other whose jobs differ by a jitter of their run times
// alone. No model can be told from the truth below it.
type Floor struct {
	Distance float64 `json:"qdist"`
	Error    float64 `json:"mae_log10"`
	Brier    float64 `json:"brier_1h"`
	Within2  float64 `json:"within2"`
	UseError float64 `json:"use_mae"`
	KS       float64 `json:"ks"`
}

const jitterMost = 30 // s added to a run time, at most

// runs is the number of replays with jitter. One chance start that moves a queue for days
// decides the floor of a short log, so it gets more.
func (l *Log) jitterRuns() int {
	switch n := len(l.Jobs); {
	case n <= 5_000:
		return 25
	case n <= 50_000:
		return 10
	}
	return 5
}

// JitterFloor returns the mean distance between the starts of a replay and those of five to 25 replays
// in which each job runs 0 to 30 s longer. Jobs queued before from are not measured.
func (l *Log) JitterFloor(ctx context.Context, rules Rules, starts []capcli.Time, from capcli.Time) (Floor, error) {
	numbers := make([]int, l.jitterRuns())
	for k := range numbers {
		numbers[k] = k
	}
	all, err := capcli.MapParallel(ctx, numbers, nil, func(ctx context.Context, k int) (Fidelity, error) {
		rng := capcli.Seed(1).Stream("jitter/" + strconv.Itoa(k))
		runs := l.runs()
		for i := range runs {
			runs[i] += capcli.Seconds(rng.IntN(jitterMost + 1))
		}
		moved, err := l.replay(ctx, rules, runs, nil)
		if err != nil {
			return Fidelity{}, err
		}
		return l.compare(starts, moved, from, capcli.Time(math.MaxInt64)), nil
	})
	var f Floor
	runs := float64(len(numbers))
	for i := range all {
		f.Distance += all[i].Distance / runs
		f.Error += all[i].Error / runs
		f.Brier += all[i].Brier / runs
		f.Within2 += all[i].Within2 / runs
		f.UseError += all[i].UseError / runs
		f.KS += all[i].KS / runs
	}
	return f, err
}

package agents

import (
	"context"
	"runtime"
	"slices"

	"capcli"
	"capcli/simulate/serving"
)

// Stats describe the calls of a set of tasks.
type Stats struct {
	Tasks     int64   `json:"tasks"`
	Calls     int64   `json:"calls"`
	Mean      float64 `json:"mean"` // calls a task
	P50       int64   `json:"p50"`  // percentile p of n values is the ceil(p·n/100)-th smallest
	P90       int64   `json:"p90"`
	P99       int64   `json:"p99"`
	Max       int64   `json:"max"`
	TokensIn  int64   `json:"tokens_in"`
	TokensOut int64   `json:"tokens_out"`
}

// MaxTasks limits a set of tasks.
const MaxTasks = 10_000_000

// Draw draws tasks trees and returns their statistics; tree j has the seed seed + j. It gives each tree to
// each, in order, unless each is nil; the calls are valid until each returns. done, which may be nil,
// receives the number of finished trees.
func (p *Params) Draw(ctx context.Context, seed uint64, tasks int, each func(task int, calls []Call) error, done func(n int)) (Stats, error) {
	if err := p.Check(); err != nil {
		return Stats{}, err
	}
	if tasks < 1 || tasks > MaxTasks {
		return Stats{}, &capcli.RequestError{Field: "tasks", Text: ": wants a number of tasks between 1 and 10,000,000"}
	}
	s := Stats{Tasks: int64(tasks)}
	lengths := make([]int64, 0, tasks)
	batch := 64 * runtime.GOMAXPROCS(0)
	trees := make([][]Call, batch)
	for from := 0; from < tasks; from += batch {
		n := min(batch, tasks-from)
		err := capcli.EachParallel(ctx, n, func(_ context.Context, i int) error {
			trees[i] = p.appendTree(trees[i][:0], seed+uint64(from+i))
			return nil
		})
		if err != nil {
			return Stats{}, err
		}
		for i, calls := range trees[:n] {
			lengths = append(lengths, int64(len(calls)))
			for j := range calls {
				s.TokensIn += calls[j].In
				s.TokensOut += calls[j].Out
			}
			if each != nil {
				if err := each(from+i, calls); err != nil {
					return Stats{}, err
				}
			}
		}
		if done != nil {
			done(from + n)
		}
	}
	s.count(lengths)
	return s, nil
}

// count fills in what follows from the number of calls of each task.
func (s *Stats) count(lengths []int64) {
	slices.Sort(lengths)
	for _, n := range lengths {
		s.Calls += n
	}
	s.Mean = float64(s.Calls) / float64(s.Tasks)
	s.P50, s.P90, s.P99 = serving.Percentile(lengths, 50), serving.Percentile(lengths, 90), serving.Percentile(lengths, 99)
	s.Max = lengths[len(lengths)-1]
}

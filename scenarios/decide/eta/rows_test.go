package eta

import (
	"cmp"
	"context"
	"slices"

	"capcli"
)

// Row is a job that is asked about at a moment at which it may wait already, with what is known of
// it and of the queue then. It is for queues that are known from a listing, and not from a log of
// all jobs.
type Row struct {
	At       capcli.Time // when the estimate is made; its wait is from here
	Start    capcli.Time // NoTime if it has not started
	Features []float64   // known at At; as many and in the same order for all rows
}

// PredictRows estimates the wait of each row as of its moment, from the features of rows that had
// started by then. It returns with each estimate how many rows it was learnt from.
func PredictRows(ctx context.Context, rows []Row, seed capcli.Seed) (estimates []Estimate, learnt []int, err error) {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[a].At, rows[b].At) })
	estimates, learnt = make([]Estimate, len(rows)), make([]int, len(rows))
	l := newLearner(seed)
	l.linear = true
	cold := []float32{float32(logWait(0)), float32(logWait(float64(capcli.Hour))), float32(logWait(float64(capcli.Day)))}
	for _, i := range order {
		r := &rows[i]
		if err := l.advance(ctx, r.At); err != nil {
			return nil, nil, err
		}
		x := make([]float32, len(r.Features))
		for k, v := range r.Features {
			x[k] = float32(v)
		}
		estimates[i], _ = l.estimate(forecast{at: r.At, start: r.Start, ends: capcli.NoTime, x: x}, cold)
		learnt[i] = l.known
	}
	return estimates, learnt, nil
}

package serving

import (
	"fmt"
	"slices"

	"capcli"
)

// Limits of measured batches.
const (
	MaxBatch       = 1 << 16 // requests
	MaxBatchPoints = 64
	maxBatchTime   = 1e15 // picoseconds, 1,000 s
)

// BatchTime returns the time of a model that answers a batch of requests at once and has no tokens, such as a
// recommender, from times that were measured: points are pairs of requests in a batch and picoseconds.
// Between points the time is linear, and below the first it is that of the first. Each request counts as one
// token; Lin is the largest convex function below the times, for bounds. The error is a *capcli.RequestError.
func BatchTime(points [][2]int64) (Time, error) {
	t := Time{Batch: slices.SortedFunc(slices.Values(points), func(a, b [2]int64) int { return int(a[0] - b[0]) })}
	refuse := func(format string, args ...any) (Time, error) {
		return Time{}, &capcli.RequestError{Field: "batch_time", Text: fmt.Sprintf(format, args...)}
	}
	if n := len(points); n < 1 || n > MaxBatchPoints {
		return refuse("has %d batches; want 1 to %d", n, MaxBatchPoints)
	}
	hull := [][2]int64{{1, t.Batch[0][1]}}
	for i, p := range t.Batch {
		switch {
		case p[0] < 1 || p[0] > MaxBatch:
			return refuse("has a batch of %d requests; want 1 to %d", p[0], MaxBatch)
		case p[1] < 1 || p[1] > maxBatchTime:
			return refuse("has a time of %d ps for a batch of %d requests; want more than 0, and at most 1,000 s", p[1], p[0])
		case i > 0 && p[0] == t.Batch[i-1][0]:
			return refuse("has a batch of %d requests twice", p[0])
		case i > 0 && p[1] < t.Batch[i-1][1]:
			return refuse("says that a batch of %d requests takes less time than one of %d; give both the longer one", p[0], t.Batch[i-1][0])
		}
		for n := len(hull); n > 1 && isBelow(hull[n-2], p, hull[n-1]); n-- {
			hull = hull[:n-1]
		}
		if p[0] > 1 {
			hull = append(hull, p)
		}
	}
	t.Lin = [][2]int64{{hull[0][1], 0}}
	for i := 1; i < len(hull); i++ {
		slope := (hull[i][1] - hull[i-1][1]) / (hull[i][0] - hull[i-1][0])
		t.Lin = append(t.Lin, [2]int64{hull[i-1][1] - slope*hull[i-1][0], slope})
	}
	return t, nil
}

// isBelow reports whether the line from a to b is at or below m, which lies between them.
func isBelow(a, b, m [2]int64) bool { return interpolate(a, b, m[0]) <= m[1] }

// interpolate returns the picoseconds on the line from a to b at n requests, rounded down. It splits the slope so that no
// product leaves 64 bits.
func interpolate(a, b [2]int64, n int64) int64 {
	width, rise, x := b[0]-a[0], b[1]-a[1], n-a[0]
	return a[1] + rise/width*x + rise%width*x/width
}

// batch returns the picoseconds of a batch of n requests.
func (t *Time) batch(n int64) int64 {
	i, found := slices.BinarySearchFunc(t.Batch, n, func(p [2]int64, n int64) int { return int(p[0] - n) })
	switch {
	case found || i == 0:
		return t.Batch[i][1]
	case i == len(t.Batch):
		return t.Batch[i-1][1]
	}
	return interpolate(t.Batch[i-1], t.Batch[i], n)
}

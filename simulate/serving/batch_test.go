package serving

import (
	"context"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// drawBatches draws times of batches.
func drawBatches(t *rapid.T) [][2]int64 {
	var out [][2]int64
	n, ps := int64(0), int64(0)
	for range rapid.IntRange(1, 6).Draw(t, "points") {
		n += rapid.Int64Range(1, 40).Draw(t, "more")
		ps += rapid.Int64Range(0, 5_000).Draw(t, "longer") * 1_000_000
		out = append(out, [2]int64{n, max(ps, 1_000_000)})
	}
	return out
}

// Between points the time is on the line, rounded down; no line of Lin is above it.
func TestBatchTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := drawBatches(t)
		b, err := BatchTime(points)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for n := int64(1); n <= points[len(points)-1][0]; n++ {
			for points[at][0] < n {
				at++
			}
			want := new(big.Rat).SetInt64(points[at][1])
			if at > 0 && points[at][0] > n {
				p, q := points[at-1], points[at]
				want.SetFrac64((q[1]-p[1])*(n-p[0]), q[0]-p[0])
				want.Add(want, new(big.Rat).SetInt64(p[1]))
			}
			got := b.Picoseconds(n, n, 0, 0)
			if off, _ := new(big.Rat).Sub(want, new(big.Rat).SetInt64(got)).Float64(); off < 0 || off >= 2 {
				t.Fatalf("%d requests take %d ps, want %s", n, got, want)
			}
			for _, l := range b.Lin {
				if l[0]+l[1]*n > got+1 {
					t.Fatalf("line %v is above the %d ps of %d requests", l, got, n)
				}
			}
		}
	})
}

// A free replica takes the requests that wait, as many as fit, and answers them together: against a loop that says
// just that.
func TestBatchesPlayed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := drawBatches(t)
		b, err := BatchTime(points)
		if err != nil {
			t.Fatal(err)
		}
		most := points[len(points)-1][0]
		var list []Request
		now := int64(0)
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			now += rapid.Int64Range(0, 800).Draw(t, "gap")
			list = append(list, Request{Arrival: now, In: 1, Out: 1})
		}
		c := &Config{
			Policy: "chunked", Time: b, BlockSize: 2, Blocks: most, MaxTokens: most, MaxSeqs: most, MaxLen: 2, Router: "round_robin", GPUs: 1,
			Replicas: []Replica{{Drain: -1, Down: -1}},
		}
		r, err := Replay(context.Background(), c, list)
		if err != nil {
			t.Fatal(err)
		}
		free := int64(0)
		for i := 0; i < len(list); {
			start := max(free, list[i].Arrival)
			n := i
			for n < len(list) && list[n].Arrival <= start && int64(n-i) < most {
				n++
			}
			free = start + b.Micros(int64(n-i), int64(n-i), 0, 0)
			for ; i < n; i++ {
				if r.Served[i].Finish != free {
					t.Fatalf("request %d of %v ends at %d, want %d", i, list, r.Served[i].Finish, free)
				}
			}
		}
	})
}

func TestBatchTimeRefuses(t *testing.T) {
	for _, points := range [][][2]int64{nil, {{0, 5}}, {{1, 0}}, {{1, 5}, {1, 6}}, {{1, 5}, {8, 4}}, {{MaxBatch + 1, 5}}, {{1, 2e15}}, make([][2]int64, MaxBatchPoints+1)} {
		if b, err := BatchTime(points); err == nil {
			t.Errorf("%v: got %v, want an error", points, b)
		}
	}
}

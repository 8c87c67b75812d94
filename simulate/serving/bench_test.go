package serving_test

import (
	"testing"

	"capcli/simulate/serving"
)

// BenchmarkReference plays all cases of the reference.
func BenchmarkReference(b *testing.B) {
	type run struct {
		c        *serving.Config
		requests []serving.Request
	}
	var runs []run
	n := 0
	for _, name := range names(b) {
		c := readCase(b, name)
		runs = append(runs, run{c.Config.read(), c.requests(b)})
	}
	for _, c := range randomCases(b) {
		_, requests := c.table(b)
		runs = append(runs, run{c.Config.read(), requests})
	}
	for _, r := range runs {
		n += len(r.requests)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range runs {
			if _, err := serving.Replay(b.Context(), r.c, r.requests); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(n), "requests")
}

// day returns a day of requests, n in all, whose lengths and gaps repeat.
func day(n int) []serving.Request {
	out := make([]serving.Request, n)
	x := uint64(1)
	for i := range out {
		x = x*6364136223846793005 + 1442695040888963407
		out[i] = serving.Request{Arrival: int64(i) * (86_400_000_000 / int64(n)), In: 100 + int64(x>>33)%2000, Out: 1 + int64(x>>40)%400}
	}
	return out
}

var h100 = serving.Time{C0: 759481330, Lin: [][2]int64{{5361362419, 4409488}, {0, 17699768}, {0, 18166141}}, Seq: 3136501, KV: 44195, PA: 735}

func fleet(n int, router string) *serving.Config {
	return &serving.Config{
		Policy: "chunked", Time: h100, BlockSize: 16, Blocks: 27_000, MaxTokens: 2048, MaxSeqs: 256, MaxLen: 16_384, Router: router,
		Replicas: make([]serving.Replica, n), GPUs: 1, Price: 2.5, SLO: serving.SLO{TTFT: 1_000_000, TPOT: 50_000},
	}
}

// BenchmarkMillion plays a million requests of a day on ten replicas.
func BenchmarkMillion(b *testing.B) {
	requests := day(1_000_000)
	for _, router := range serving.Routers.Names() {
		b.Run(router, func(b *testing.B) {
			c := fleet(10, router)
			for i := range c.Replicas {
				c.Replicas[i] = serving.Replica{Drain: -1, Down: -1}
			}
			b.ReportAllocs()
			for b.Loop() {
				r, err := serving.Replay(b.Context(), c, requests)
				if err != nil || r.Summary.OK != 1_000_000 {
					b.Fatal(err)
				}
			}
		})
	}
}

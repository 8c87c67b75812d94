package queueing

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate/serving"
)

// replay plays n requests that arrive as a Poisson process at lam a second on one replica with ample memory,
// and returns what each of them saw.
func replay(t testing.TB, c serving.Config, seed capcli.Seed, n int, lam float64, in int64, out func(*rand.Rand) int64) []serving.Served {
	t.Helper()
	arrivals, lengths := seed.Stream("arrivals"), seed.Stream("lengths")
	c.Policy, c.Router, c.BlockSize, c.Blocks, c.MaxLen = "chunked", cmp.Or(c.Router, "round_robin"), 16, 1<<30, 1<<30
	if len(c.Replicas) == 0 {
		c.Replicas = []serving.Replica{{Drain: -1, Down: -1}}
	}
	requests, at := make([]serving.Request, n), 0.0
	for i := range requests {
		at += arrivals.ExpFloat64() / lam * 1e6
		requests[i] = serving.Request{Arrival: int64(at), In: in, Out: out(lengths)}
	}
	r, err := serving.Replay(t.Context(), &c, requests)
	if err != nil {
		t.Fatal(err)
	}
	return r.Served
}

// steady returns the mean of a time in seconds without the first and the last tenth, and the half width of
// its 95 % confidence interval from the means of 20 batches (Student's t with 19 degrees of freedom).
func steady(served []serving.Served, time func(*serving.Served) int64) (mean, half float64) {
	served = served[len(served)/10 : len(served)-len(served)/10]
	const batches = 20
	sum, squares := 0.0, 0.0
	for b := range batches {
		part := served[len(served)*b/batches : len(served)*(b+1)/batches]
		total := 0.0
		for i := range part {
			total += float64(time(&part[i])) / 1e6
		}
		total /= float64(len(part))
		sum += total
		squares += total * total
	}
	mean = sum / batches
	return mean, 2.093 * math.Sqrt(max(0, squares/batches-mean*mean)/(batches-1))
}

func wait(s *serving.Served) int64     { return s.Admitted - s.Arrival }
func endToEnd(s *serving.Served) int64 { return s.Finish - s.Arrival }

func fixed(n int64) func(*rand.Rand) int64 { return func(*rand.Rand) int64 { return n } }

// exponential draws lengths of an exponential law, rounded up.
func exponential(mean float64) func(*rand.Rand) int64 {
	return func(r *rand.Rand) int64 { return max(1, int64(math.Round(r.ExpFloat64()*mean))) }
}

// heavy draws lengths of two kinds, nine short ones to a long one: the squared coefficient of variation is 9.
func heavy(mean float64) func(*rand.Rand) int64 {
	return func(r *rand.Rand) int64 {
		if r.IntN(10) > 0 {
			return 1
		}
		return int64(10*mean) - 9
	}
}

// checkLaw fails unless want lies within twice the confidence interval of the mean, which is 4 standard
// errors; bias is what the replay is known to add, such as half an iteration, or may differ by.
func checkLaw(t *testing.T, what string, mean, half, want, bias float64) {
	t.Helper()
	t.Logf("%s: played %.4f ± %.4f s, law %.4f s", what, mean, half, want)
	if !(math.Abs(mean-want) <= 2*half+bias) || half > want/4 {
		t.Errorf("%s: played %v ± %v s, the law says %v s", what, mean, half, want)
	}
}

// One request at a time, each of one iteration of 50 ms, is the queue M/D/1.
func TestReplayMD1(t *testing.T) {
	c := serving.Config{Time: serving.Time{C0: 5e10, Lin: [][2]int64{{0, 0}}}, MaxTokens: 64, MaxSeqs: 1}
	for _, load := range []float64{0.3, 0.6, 0.8, 0.9} {
		mean, half := steady(replay(t, c, 1, 100_000, load/0.05, 1, fixed(1)), wait)
		want, err := MD1Wait(load/0.05, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		checkLaw(t, "M/D/1", mean, half, want, 2e-6)
	}
}

// One request at a time with answers of any length is the queue M/G/1.
func TestReplayMG1(t *testing.T) {
	c := serving.Config{Time: serving.Time{C0: 1e9, Lin: [][2]int64{{0, 0}}}, MaxTokens: 64, MaxSeqs: 1}
	for name, law := range map[string]struct {
		out func(*rand.Rand) int64
		cs2 float64
	}{"exponential": {exponential(100), 1}, "heavy": {heavy(100), 9 * 0.99 * 0.99}} {
		mean, half := steady(replay(t, c, 2, 200_000, 6, 1, law.out), wait)
		want, err := MG1Wait(6, 0.1, law.cs2)
		if err != nil {
			t.Fatal(err)
		}
		checkLaw(t, "M/G/1 "+name, mean, half, want, want*0.005) // lengths are rounded
	}
}

// Iterations that take as long as there are sequences share the replica among them: M/G/1-PS, whatever the
// law of lengths. Half an iteration passes before a request joins.
func TestReplayPS(t *testing.T) {
	c := serving.Config{Time: serving.Time{Lin: [][2]int64{{0, 0}}, Seq: 1e8}, MaxTokens: 1 << 20, MaxSeqs: 1 << 20}
	for name, out := range map[string]func(*rand.Rand) int64{"fixed": fixed(1000), "exponential": exponential(1000), "heavy": heavy(1000)} {
		for _, load := range []float64{0.4, 0.7} {
			mean, half := steady(replay(t, c, 3, 40_000, load/0.1, 1, out), endToEnd)
			want, err := PSResponse(load/0.1, 0.1)
			if err != nil {
				t.Fatal(err)
			}
			checkLaw(t, "M/G/1-PS "+name, mean, half, want, want*0.005)
		}
	}
}

// Places that work side by side, in iterations that take as long whoever is there, are servers: M/M/k with
// exponential answers; with others Allen and Cunneen approximate it.
func TestReplayMMk(t *testing.T) {
	const step = 1e-3
	c := serving.Config{Time: serving.Time{C0: step * 1e12, Lin: [][2]int64{{0, 0}}}, MaxTokens: 1 << 20}
	for _, k := range []int64{2, 8, 32} {
		c.MaxSeqs = k
		lam := 0.85 * float64(k) / 0.5
		mean, half := steady(replay(t, c, 4, 200_000, lam, 1, exponential(500)), wait)
		want, err := MMkWait(lam, 0.5, int(k))
		if err != nil {
			t.Fatal(err)
		}
		checkLaw(t, "M/M/k", mean, half, want, step+want*0.01)
		mean, half = steady(replay(t, c, 5, 100_000, lam, 1, fixed(500)), wait)
		if want, err = GGkWait(lam, 0.5, int(k), 1, 0); err != nil {
			t.Fatal(err)
		}
		checkLaw(t, "M/D/k", mean, half, want, step+want*0.15)
	}
}

// Requests of one token, up to K in an iteration of a fixed time, are a server of batches: at the end of one
// the number left is Q' = max(Q - K, 0) + the arrivals of an iteration, from which the mean wait follows by
// Little's law (Bailey, "On queueing processes with bulk service", 1954).
func TestReplayBatches(t *testing.T) {
	const took = 0.02
	for _, k := range []int64{4, 16} {
		c := serving.Config{Time: serving.Time{C0: took * 1e12, Lin: [][2]int64{{0, 0}}}, MaxTokens: k, MaxSeqs: 1 << 20}
		lam := 0.8 * float64(k) / took
		mean, half := steady(replay(t, c, 6, 100_000, lam, 1, fixed(1)), wait)
		checkLaw(t, "batches", mean, half, batchWait(lam, took, int(k)), 2e-6)
	}
}

// batchWait returns the mean wait before a batch of fixed time begins, by iterating the law of the number
// that is left at its end.
func batchWait(lam, took float64, most int) float64 {
	const size = 300
	arrive := make([]float64, size)
	for i, p := 0, math.Exp(-lam*took); i < size; i++ {
		arrive[i] = p
		p *= lam * took / float64(i+1)
	}
	left := make([]float64, size)
	left[0] = 1
	for range 600 {
		next := make([]float64, size)
		for q, p := range left {
			if p < 1e-18 {
				continue
			}
			for a, b := range arrive[:min(100, size-max(0, q-most))] {
				next[max(0, q-most)+a] += p * b
			}
		}
		left = next
	}
	behind := 0.0 // that a batch leaves waiting
	for q, p := range left {
		behind += p * float64(max(0, q-most))
	}
	waiting := (behind + lam*took/2) * took / (took + left[0]/lam)
	return waiting / lam
}

// An event-by-event queue M/M[1,K]/1 with partial batches: those in service are the first K of those present.
func TestBulkServicePlayed(t *testing.T) {
	rng := capcli.Seed(7).Stream("bulk")
	for _, c := range []struct {
		lam, mu float64
		most    int
	}{{3, 1, 4}, {10, 1, 16}} {
		const events = 4_000_000
		n, area, time := 0, 0.0, 0.0
		for range events {
			rate := c.lam
			if n > 0 {
				rate += c.mu
			}
			dt := rng.ExpFloat64() / rate
			area += float64(n) * dt
			time += dt
			if rng.Float64()*rate < c.lam {
				n++
			} else {
				n -= min(n, c.most)
			}
		}
		want, err := BulkService(c.lam, c.mu, c.most)
		if err != nil {
			t.Fatal(err)
		}
		if got := area / time; far(got, want.InSystem) > 0.03 {
			t.Errorf("K %d: %v in the system, the law says %v", c.most, got, want.InSystem)
		}
	}
}

// The approximation against our own request level at the reference's points, with other arrivals and ten
// times as many requests. Without the variation of answers it is the reference's, whose errors grow to half
// of the mean at a load of 0.95; with it, errors are smaller.
func TestReplayGoldenPoints(t *testing.T) {
	cases := points(t)
	sum, plain := 0.0, 0.0
	for i := range cases {
		p := &cases[i]
		out, variation := fixed(int64(p.Out)), 0.0
		if p.Lengths == "exponential" {
			out, variation = exponential(p.Out), 1
		}
		c := serving.Config{Time: p.Time, MaxTokens: 2048, MaxSeqs: p.MaxSeqs}
		mean, half := steady(replay(t, c, 11, 30_000, p.Lam, int64(p.In), out), endToEnd)
		got, err := p.station(t, variation).Means(p.Lam)
		if err != nil {
			t.Fatal(err)
		}
		e, reference := got.E2E/mean-1, p.E2E/mean-1
		t.Logf("%-8s %-11s load %.2f: %6.1f %%, without variation %6.1f %% (played %.3f ± %.3f s)", p.Name, p.Lengths, got.Load, 100*e, 100*reference, mean, half)
		most := 0.06
		switch {
		case p.Load > 0.9:
			most = 0.25
		case p.Load > 0.75:
			most = 0.10
		}
		if math.Abs(e) > most || got.Holds && math.Abs(e) > 0.06 {
			t.Errorf("%s %s at load %.2f: %.1f %% from the request level; at most %.0f %% are allowed", p.Name, p.Lengths, got.Load, 100*e, 100*most)
		}
		sum += math.Abs(e)
		plain += math.Abs(reference)
	}
	if n := float64(len(cases)); sum > plain {
		t.Errorf("a mean error of %.1f %%, without the variation of answers %.1f %%", 100*sum/n, 100*plain/n)
	}
}

// The same without the reference, and of the parts of a request's time.
func TestReplayParts(t *testing.T) {
	r, l := chatReplica()
	s, err := NewStation(r, l)
	if err != nil {
		t.Fatal(err)
	}
	for _, load := range []float64{0.1, 0.3, 0.5, 0.7} {
		lam := load * s.most
		served := replay(t, serving.Config{Time: r.Time, MaxTokens: chunkDefault, MaxSeqs: r.Sequences}, 12, 20_000, lam, int64(l.In), fixed(int64(l.Out)))
		want := s.means(lam)
		e2e, _ := steady(served, endToEnd)
		ttft, _ := steady(served, func(s *serving.Served) int64 { return s.FirstToken - s.Arrival })
		tpot, _ := steady(served, func(s *serving.Served) int64 { return (s.Finish - s.FirstToken) / (s.Out - 1) })
		t.Logf("load %.1f: E2E %.3f played, %.3f; TTFT %.4f, %.4f; TPOT %.5f, %.5f", load, e2e, want.E2E, ttft, want.TTFT, tpot, want.TPOT)
		if far(want.E2E, e2e) > 0.06 || far(want.TTFT, ttft) > 0.15 || far(want.TPOT, tpot) > 0.06 {
			t.Errorf("load %.1f: E2E %v played, %v; TTFT %v, %v; TPOT %v, %v", load, e2e, want.E2E, ttft, want.TTFT, tpot, want.TPOT)
		}
	}
}

// Several replicas are taken as Poisson arrivals at each. Round robin and least loaded spread requests more
// evenly: the mean time to the end hardly changes, and that to the first token is shorter with round robin.
func TestReplayRouters(t *testing.T) {
	r, l := chatReplica()
	const replicas = 4
	for router, gaps := range map[string]float64{"round_robin": 1.0 / replicas, "least_loaded": 1} {
		r.Gaps = gaps
		s, err := NewStation(r, l)
		if err != nil {
			t.Fatal(err)
		}
		for _, load := range []float64{0.3, 0.5, 0.7, 0.8} {
			lam := load * s.most
			c := serving.Config{
				Time: r.Time, MaxTokens: chunkDefault, MaxSeqs: r.Sequences, Router: router,
				Replicas: slices.Repeat([]serving.Replica{{Drain: -1, Down: -1}}, replicas),
			}
			served := replay(t, c, 13, 40_000, lam*replicas, int64(l.In), fixed(int64(l.Out)))
			want := s.means(lam)
			e2e, _ := steady(served, endToEnd)
			ttft, _ := steady(served, func(s *serving.Served) int64 { return s.FirstToken - s.Arrival })
			t.Logf("%s load %.1f: E2E %.3f played, %.3f; TTFT %.4f, %.4f", router, load, e2e, want.E2E, ttft, want.TTFT)
			if far(want.E2E, e2e) > 0.04 || far(want.TTFT, ttft) > 0.17 {
				t.Errorf("%s load %.1f: E2E %v played, %v; TTFT %v, %v", router, load, e2e, want.E2E, ttft, want.TTFT)
			}
		}
	}
}

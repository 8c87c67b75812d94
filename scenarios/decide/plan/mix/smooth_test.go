package mix

import (
	"math/rand/v2"
	"testing"

	"capcli"
)

// demandCurve is GPUs in use second by second when job i begins at start[i].
func demandCurve(ws []window, start []capcli.Seconds, until capcli.Seconds) []int64 {
	d := make([]int64, until)
	for i := range ws {
		for t := start[i]; t < min(until, start[i]+ws[i].Run); t++ {
			d[t] += ws[i].Milli
		}
	}
	return d
}

func gpuTimeOver(d []int64, gpus int64) (sum capcli.GPUTime) {
	for _, x := range d {
		sum += capcli.GPUTime(max(0, x-1000*gpus))
	}
	return sum
}

func someWindows(rng *rand.Rand, n int, span, wait capcli.Seconds) []window {
	ws := make([]window, n)
	for i := range ws {
		at := capcli.Seconds(rng.Int64N(int64(span)))
		ws[i] = window{
			Earliest: at, Latest: at + capcli.Seconds(rng.Int64N(int64(wait)+1)), Run: 1 + capcli.Seconds(rng.Int64N(4)),
			Milli: 1000 * (1 + rng.Int64N(3)),
		}
	}
	return ws
}

// TestSmoothIsTheDemandWhereNobodyWaits holds the curve against the demand
// itself: then what is over a level is plain counting.
func TestSmoothIsTheDemandWhereNobodyWaits(t *testing.T) {
	rng := capcli.Seed(1).Stream("windows")
	for range 300 {
		until := capcli.Seconds(12)
		ws := someWindows(rng, 1+rng.IntN(6), 10, 0)
		start := make([]capcli.Seconds, len(ws))
		for i := range ws {
			start[i] = ws[i].Earliest
		}
		s, d := newSmooth(ws, until), demandCurve(ws, start, until)
		for k := int64(0); k < 12; k++ {
			if got, want := s.workOver(k), gpuTimeOver(d, k); got != want {
				t.Fatalf("%v: over %d GPUs: got %d, want %d", ws, k, got, want)
			}
		}
	}
}

// TestSmoothIsBelowEverySchedule tries every schedule of small cases: no choice
// of starts leaves less work over any number of GPUs.
func TestSmoothIsBelowEverySchedule(t *testing.T) {
	rng := capcli.Seed(2).Stream("windows")
	tight := 0
	for range 200 {
		until := capcli.Seconds(9 + rng.IntN(6))
		ws := someWindows(rng, 1+rng.IntN(5), 8, 3)
		s := newSmooth(ws, until)
		start := make([]capcli.Seconds, len(ws))
		least := make([]capcli.GPUTime, 12)
		for k := range least {
			least[k] = 1 << 60
		}
		var try func(i int)
		try = func(i int) {
			if i < len(ws) {
				for start[i] = ws[i].Earliest; start[i] <= ws[i].Latest; start[i]++ {
					try(i + 1)
				}
				return
			}
			d := demandCurve(ws, start, until)
			for k := range least {
				least[k] = min(least[k], gpuTimeOver(d, int64(k)))
			}
		}
		try(0)
		for k, want := range least {
			switch got := s.workOver(int64(k)); {
			case got > want:
				t.Fatalf("%v until %d: over %d GPUs the bound is %d, a schedule has %d", ws, until, k, got, want)
			case got == want && got > 0:
				tight++
			}
		}
	}
	if tight < 100 {
		t.Errorf("the bound was met by a schedule in %d cases only: is it of any use?", tight)
	}
}

// lazy is the same relaxation solved in another way, for one level at a time:
// do what k GPUs can as soon as it is there, and send on only what must be done
// at once (the two-sided reflection of a queue).
func lazy(ws []window, until capcli.Seconds, k int64) float64 {
	a, l := make([]float64, until+1), make([]float64, until+1)
	for i := range ws {
		for t := capcli.Seconds(0); t < until; t++ {
			if t >= ws[i].Earliest && t < ws[i].Earliest+ws[i].Run {
				a[t+1] += float64(ws[i].Milli)
			}
			if t >= ws[i].Latest && t < ws[i].Latest+ws[i].Run {
				l[t+1] += float64(ws[i].Milli)
			}
		}
	}
	var c, sent float64
	for t := range until {
		a[t+1] += a[t]
		l[t+1] += l[t]
		done := min(c+float64(1000*k), a[t+1]) // within a second all is linear
		if need := l[t+1] - done; need > 0 {
			sent += need
			done = l[t+1]
		}
		c = done
	}
	return sent
}

// TestSmoothIsTheRelaxation holds the shortest path against the greedy answer
// for each level by itself.
func TestSmoothIsTheRelaxation(t *testing.T) {
	rng := capcli.Seed(3).Stream("windows")
	for range 500 {
		until := capcli.Seconds(10 + rng.IntN(40))
		ws := someWindows(rng, 1+rng.IntN(30), 30, 12)
		s := newSmooth(ws, until)
		for k := int64(0); k < 30; k++ {
			if got, want := float64(s.workOver(k)), lazy(ws, until, k); got > want+1e-6 || got < want-1e-6 {
				t.Fatalf("%v until %d: over %d GPUs: got %v, want %v", ws, until, k, got, want)
			}
		}
		if p := s.peak(); s.workOver(p) != 0 || p > 0 && s.workOver(p-1) == 0 {
			t.Fatalf("peak %d, but over it is %d and over one less %d", p, s.workOver(p), s.workOver(p-1))
		}
	}
}

func BenchmarkSmooth(b *testing.B) {
	rng := capcli.Seed(4).Stream("windows")
	ws := make([]window, 50_000)
	for i := range ws {
		at := capcli.Seconds(rng.Int64N(30 * 86400))
		ws[i] = window{Earliest: at, Latest: at + 1800, Run: 1 + capcli.Seconds(rng.Int64N(20000)), Milli: 1000 * (1 + rng.Int64N(8))}
	}
	for b.Loop() {
		newSmooth(ws, 30*86400)
	}
}

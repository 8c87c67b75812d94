package simulate_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Jobs that do not wait, load 10: Erlang's B, what each GPU carries, and how
// many to commit to.
func TestLossSystem(t *testing.T) {
	digits(t, "B(10)", ErlangB(10, 10), "0.214582")
	digits(t, "carried by the 9th", Carried(9, 10), "0.651105")
	digits(t, "carried by the 10th", Carried(10, 10), "0.586256")
	digits(t, "P(N>=10)", BusyAtLeast(10, 10), "0.542070")
	digits(t, "P(N>=9)", BusyAtLeast(9, 10), "0.667180")
	tests := []struct {
		share          float64
		loss, floating int
		lossCost       string
		floatingCost   string
	}{
		{0.45, 11, 10, "6.582323", "5.751100"},
		{0.60, 9, 9, "8.132079", "7.193171"},
		{0.80, 5, 7, "9.639522", "8.840130"},
	}
	for _, tt := range tests {
		k, cost := BestLoss(10, tt.share)
		if k != tt.loss {
			t.Errorf("loss at %g: %d GPUs, want %d", tt.share, k, tt.loss)
		}
		digits(t, "loss cost", cost, tt.lossCost)
		digits(t, "loss cost by its formula", LossCost(k, 10, tt.share), tt.lossCost)
		if k, cost = BestFloating(10, tt.share); k != tt.floating {
			t.Errorf("floating at %g: %d GPUs, want %d", tt.share, k, tt.floating)
		}
		digits(t, "floating cost", cost, tt.floatingCost)
	}
}

// Jobs that all wait, load 10, mean run time 1.
func TestAllWait(t *testing.T) {
	tests := []struct {
		k       int
		c, wait string
	}{
		{11, "0.682118", "0.682118"},
		{12, "0.449388", "0.224694"},
		{14, "0.174132", "0.043533"},
		{16, "0.057340", "0.009557"},
	}
	for _, tt := range tests {
		digits(t, fmt.Sprintf("C(%d)", tt.k), ErlangC(tt.k, 10), tt.c)
		digits(t, fmt.Sprintf("wait(%d)", tt.k), MeanWait(tt.k, 10), tt.wait)
	}
	digits(t, "P(W>.5)", WaitOver(12, 10, 0.5), "0.165321")
	digits(t, "mean wait, cv2 = 4", MeanWaitApprox(12, 10, 4), "0.561735")
	if q := WaitQuantile(12, 10, 1-WaitOver(12, 10, 0.5)); math.Abs(q-0.5) > 1e-12 {
		t.Errorf("the quantile of the tail at 0.5 is %g", q)
	}
}

// Jobs that wait so long and then go on demand, load 10, mean run time 1.
func TestPatience(t *testing.T) {
	tests := []struct {
		k                  int
		patience           float64
		burst, util, waits string
	}{
		{8, 1, "0.211714", "0.985357", "0.609847"},
		{10, 0.25, "0.139661", "0.860339", "0.050729"},
		{10, 1, "0.068212", "", ""},
		{12, 1, "0.010678", "", ""},
	}
	for _, tt := range tests {
		w := Patient{K: tt.k, Load: 10, Patience: tt.patience}.Wait()
		name := fmt.Sprintf("%d GPUs, patience %g: ", tt.k, tt.patience)
		digits(t, name+"burst", w.Burst, tt.burst)
		if tt.util != "" {
			digits(t, name+"utilisation", w.Utilisation, tt.util)
			digits(t, name+"wait of those served", w.MeanServed, tt.waits)
		}
	}
	best := []struct {
		patience float64
		k        int
		cost     string
	}{{0, 9, "8.132079"}, {0.25, 9, "7.375281"}, {1, 10, "6.682118"}, {4, 10, "6.223913"}}
	for _, tt := range best {
		k, cost := BestPatient(10, tt.patience, 0.6)
		if k != tt.k {
			t.Errorf("patience %g: %d GPUs, want %d", tt.patience, k, tt.k)
		}
		digits(t, "cost", cost, tt.cost)
	}
}

// With no patience it is Erlang's loss system, with endless patience the
// M/M/k queue, and in between more patience never sends more away.
func TestPatienceMeetsItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 300).Draw(t, "k")
		load := rapid.Float64Range(0.01, 400).Draw(t, "load")
		q := Patient{K: k, Load: load}
		checkWithinShare(t, "no patience", q.Wait().Burst, ErlangB(k, load))
		if load < float64(k)-1 {
			q.Patience = 1e6
			w := q.Wait()
			checkWithinShare(t, "endless patience: burst", w.Burst, 0)
			checkWithinShare(t, "endless patience: wait", w.MeanServed, MeanWait(k, load))
			q.Patience = math.Inf(1)
			checkWithinShare(t, "infinite patience: wait", q.Wait().MeanServed, MeanWait(k, load))
		}
		t1 := rapid.Float64Range(0, 20).Draw(t, "t1")
		t2 := t1 + rapid.Float64Range(0, 20).Draw(t, "more")
		q.Patience = t1
		a := q.Wait()
		q.Patience = t2
		b := q.Wait()
		if b.Burst > a.Burst*(1+1e-12) || b.MeanServed < a.MeanServed*(1-1e-9) {
			t.Fatalf("patience %g: %+v, then %g: %+v", t1, a, t2, b)
		}
		if w := q.Wait(); w.MeanServed > t2*(1+1e-12) || w.Burst < 0 || w.Burst > 1 || w.Utilisation > 1+1e-12 {
			t.Fatalf("%+v gives %+v", q, w)
		}
		q.K++
		if c := q.Wait(); c.Burst > b.Burst {
			t.Fatalf("one GPU more and burst goes from %g to %g", b.Burst, c.Burst)
		}
	})
}

// The best counts against every count one by one.
func TestBestCountsAreBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		load := rapid.Float64Range(0.1, 60).Draw(t, "load")
		share := rapid.Float64Range(0.05, 1.1).Draw(t, "share")
		patience := rapid.Float64Range(0, 5).Draw(t, "patience")
		loss, lossAt := math.Inf(1), 0
		wait, waitAt := math.Inf(1), 0
		for k := range 200 {
			if c := LossCost(k, load, share); c < loss-1e-12 {
				loss, lossAt = c, k
			}
			if c := share*float64(k) + load*(Patient{K: k, Load: load, Patience: patience}).Wait().Burst; c < wait-1e-12 {
				wait, waitAt = c, k
			}
		}
		if k, c := BestLoss(load, share); k != lossAt {
			t.Fatalf("loss: %d at %g, want %d at %g", k, c, lossAt, loss)
		}
		if k, c := BestPatient(load, patience, share); k != waitAt {
			t.Fatalf("patience: %d at %g, want %d at %g", k, c, waitAt, wait)
		}
	})
}

// Far from toy sizes: figures of systems of a hundred thousand GPUs, by the
// square-root law and by sums that must be 1.
func TestLargeSystems(t *testing.T) {
	const k = 100_000
	// B(k, k) ~ sqrt(2 / (pi k)) / (1 + ...): within a percent at this size.
	if b, want := ErlangB(k, k), math.Sqrt(2/(math.Pi*k)); math.Abs(b/want-1) > 0.01 {
		t.Errorf("B = %g, want about %g", b, want)
	}
	for _, load := range []float64{1, 5e4, 9.99e4, 1e5, 1.001e5, 1e6} {
		for _, patience := range []float64{0, 1e-6, 0.01, 1, 1e4} {
			w := Patient{K: k, Load: load, Patience: patience}.Wait()
			if math.IsNaN(w.Burst+w.Utilisation+w.MeanServed) || w.Burst < 0 || w.Burst > 1 || w.Utilisation > 1+1e-12 || w.MeanServed > patience*(1+1e-12) {
				t.Errorf("load %g, patience %g: %+v", load, patience, w)
			}
		}
	}
	// Half of a Poisson count lies at or above its mean, to within its mode.
	if p := BusyAtLeast(1_000_000, 1e6); math.Abs(p-0.5) > 3e-4 {
		t.Errorf("P(N >= mean) = %g", p)
	}
	low, high := BusyAtLeast(k+1, k), BusyAtLeast(k, k)
	if mode := high - low; math.Abs(mode*math.Sqrt(2*math.Pi*k)-1) > 1e-5 {
		t.Errorf("the chance of the mean is %g", mode)
	}
	if k, cost := BestPatient(1e5, 0.1, 0.6); k < 90_000 || k > 110_000 || cost < 0.6e5 {
		t.Errorf("best of a load of 100,000: %d at %g", k, cost)
	}
}

// The tails against plain sums of chances.
func TestBusyAtLeastIsASum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		load := rapid.Float64Range(0.01, 80).Draw(t, "load")
		k := rapid.IntRange(0, 200).Draw(t, "k")
		term, below := math.Exp(-load), 0.0
		for i := range k {
			below += term
			term *= load / float64(i+1)
		}
		tail := 0.0
		for i := k; i < k+600; i++ {
			tail += term
			term *= load / float64(i+1)
		}
		got := BusyAtLeast(k, load)
		if math.Abs(got-tail) > 1e-12*tail+1e-300 {
			t.Fatalf("P(N >= %d) at %g: %g, want %g", k, load, got, tail)
		}
		checkWithinShare(t, "sum", got+below, 1)
	})
}

func BenchmarkBestPatient(b *testing.B) {
	for b.Loop() {
		BestPatient(1000, 1, 0.6)
	}
}

func checkWithinShare(t interface{ Fatalf(string, ...any) }, what string, got, want float64) {
	if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
		t.Fatalf("%s: %g, want %g", what, got, want)
	}
}

// digits holds a figure to the digits that a source prints.
func digits(t *testing.T, what string, got float64, want string) {
	t.Helper()
	places := 0
	for i := range want {
		if want[i] == '.' {
			places = len(want) - i - 1
		}
	}
	if s := fmt.Sprintf("%.*f", places, got); s != want {
		t.Errorf("%s: %s, want %s", what, s, want)
	}
}

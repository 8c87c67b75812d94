package online_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/decide/plan/flow"
	"capcli/scenarios/decide/plan/online"
)

// The adversary stops all demand once a lease is bought. The lease is 1, the
// on-demand price of a period a small part of it.
func TestOnlineAdversary(t *testing.T) {
	tests := []struct {
		alpha, beta, alg, opt, ratio, chance string
		used                                 capcli.USD // of 400 on demand
	}{
		{"0.00", "1.000000", "2.000000", "1.000000", "2.00", "1.581977", 0},
		{"0.25", "1.333333", "2.333333", "1.333333", "1.75", "1.381043", 100},
		{"0.45", "1.818182", "2.818182", "1.818182", "1.55", "1.253657", 180},
		{"0.60", "2.500000", "3.500000", "2.500000", "1.40", "1.172542", 240},
	}
	for _, tt := range tests {
		const fee = 100 * capcli.Dollar
		l := online.Lease{Periods: 1_000_000, Fee: fee, OnDemand: 400, Used: tt.used}
		n := int64(fee) / int64(l.OnDemand-l.Used)
		demand := make([]int64, n+1000)
		for i := range n + 1 {
			demand[i] = 1
		}
		r, err := online.Play(demand, l)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bought != 1 || r.Leases[n] != 1 {
			t.Fatalf("alpha %s: bought %d, at %d: %d", tt.alpha, r.Bought, n, r.Leases[n])
		}
		// Up to one period's price the discrete game is the continuous one.
		slack := 1.01 * l.OnDemand.Float() / fee.Float()
		spend := (fee + capcli.USD(n+1)*l.Used).Float() / fee.Float()
		digits(t, "alpha", l.Alpha(), tt.alpha)
		digits(t, "break-even", online.BreakEven(l.Alpha()), tt.beta)
		digits(t, "policy", 1+online.BreakEven(l.Alpha()), tt.alg)
		digits(t, "hindsight", online.BreakEven(l.Alpha()), tt.opt)
		digits(t, "ratio", online.DeterministicRatio(l.Alpha()), tt.ratio)
		digits(t, "randomised", online.RandomisedRatio(l.Alpha()), tt.chance)
		if got := r.Cost.Float() / fee.Float(); math.Abs(got-1-online.BreakEven(l.Alpha())) > slack {
			t.Errorf("alpha %s: the policy pays %g fees", tt.alpha, got)
		}
		if math.Abs(spend-online.BreakEven(l.Alpha())) > slack {
			t.Errorf("alpha %s: hindsight pays %g fees", tt.alpha, spend)
		}
		digits(t, "replayed ratio", r.Cost.Float()/fee.Float()/spend, tt.ratio)
	}
}

// leastCost is the least cost of serving a small demand in hindsight, by trying
// all purchases: what was bought in the last periods is the state.
func leastCost(demand []int64, l online.Lease) capcli.USD {
	var top int64
	for _, d := range demand {
		top = max(top, d)
	}
	type state [4]int64
	costs := map[state]capcli.USD{{}: 0}
	for _, d := range demand {
		next := map[state]capcli.USD{}
		for s, c := range costs {
			for buy := range top + 1 {
				held := buy
				for i := range l.Periods - 1 {
					held += s[i]
				}
				in := min(d, held)
				total := c + l.Fee*capcli.USD(buy) + l.Used*capcli.USD(in) + l.OnDemand*capcli.USD(d-in)
				var n state
				n[0] = buy
				copy(n[1:], s[:])
				clear(n[max(l.Periods-1, 0):])
				if old, have := next[n]; !have || total < old {
					next[n] = total
				}
			}
		}
		costs = next
	}
	least := capcli.USD(math.MaxInt64)
	for _, c := range costs {
		least = min(least, c)
	}
	return least
}

// byTheBook plays the policy as the paper states it, level lists and all.
func byTheBook(demand []int64, l online.Lease, over func(n int64) bool) ([]int64, capcli.USD) {
	x := make([]int64, len(demand)+l.Periods)
	leases := make([]int64, len(demand))
	var cost capcli.USD
	for t, d := range demand {
		for {
			var n int64
			for i := max(0, t-l.Periods+1); i <= t; i++ {
				if demand[i] > x[i] {
					n++
				}
			}
			if !over(n) {
				break
			}
			leases[t]++
			cost += l.Fee
			for i := max(0, t-l.Periods+1); i < t+l.Periods; i++ {
				x[i]++
			}
		}
		var held int64
		for i := max(0, t-l.Periods+1); i <= t; i++ {
			held += leases[i]
		}
		in := min(d, held)
		cost += l.Used*capcli.USD(in) + l.OnDemand*capcli.USD(d-in)
	}
	return leases, cost
}

func drawLease(t *rapid.T) (online.Lease, []int64) {
	l := online.Lease{Periods: rapid.IntRange(1, 4).Draw(t, "periods"), OnDemand: 1000}
	l.Used = capcli.USD(rapid.IntRange(0, 900).Draw(t, "used"))
	l.Fee = capcli.USD(rapid.IntRange(1, 4000).Draw(t, "fee"))
	return l, rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 14).Draw(t, "demand")
}

// On any curve the deterministic policy keeps to 2 - alpha of hindsight and the
// mean of the randomised one to e / (e - 1 + alpha).
func TestOnlineKeepsItsPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, demand := drawLease(t)
		least := leastCost(demand, l)
		r, err := online.Play(demand, l)
		if err != nil {
			t.Fatal(err)
		}
		leases, cost := byTheBook(demand, l, func(n int64) bool { return n*int64(l.OnDemand-l.Used) > int64(l.Fee) })
		if r.Cost != cost || len(leases) != len(r.Leases) {
			t.Fatalf("cost %d, by the book %d", r.Cost, cost)
		}
		for i := range leases {
			if leases[i] != r.Leases[i] {
				t.Fatalf("period %d: leased %d, by the book %d", i, r.Leases[i], leases[i])
			}
		}
		if bound := online.DeterministicRatio(l.Alpha()) * least.Float(); r.Cost.Float() > bound+1e-9 || r.Cost < least {
			t.Fatalf("the policy pays %s, hindsight %s, the promise is %g", r.Cost, least, bound)
		}
		mean, err := online.RandomizedMean(demand, l)
		if err != nil {
			t.Fatal(err)
		}
		if bound := online.RandomisedRatio(l.Alpha()) * least.Float(); mean > bound+1e-9 {
			t.Fatalf("the randomised policy pays %g in the mean, hindsight %s, the promise is %g", mean, least, bound)
		}
	})
}

// Against the exact optimum on curves of some size, with leases at every
// period.
func TestOnlineAgainstTheOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := online.Lease{Periods: rapid.IntRange(2, 30).Draw(t, "periods"), OnDemand: 1000}
		l.Used = capcli.USD(rapid.IntRange(0, 900).Draw(t, "used"))
		l.Fee = capcli.USD(rapid.IntRange(1, 1000*l.Periods).Draw(t, "fee"))
		demand := rapid.SliceOfN(rapid.Int64Range(0, 12), 1, 90).Draw(t, "demand")
		var p flow.Program
		base := capcli.USD(0)
		for i, d := range demand {
			var levels flow.Levels
			if d > 0 {
				levels = flow.Levels{{Units: d, Cost: int64(l.OnDemand - l.Used)}}
			}
			p.Periods = append(p.Periods, levels)
			p.Offers = append(p.Offers, flow.Offer{From: i, To: min(i+l.Periods, len(demand)), Cost: int64(l.Fee)})
			base += l.Used * capcli.USD(d)
		}
		best, err := flow.Solve(context.Background(), &p)
		if err != nil {
			t.Fatal(err)
		}
		least := base + capcli.USD(best.Cost.Int64())
		r, err := online.Play(demand, l)
		if err != nil {
			t.Fatal(err)
		}
		if bound := online.DeterministicRatio(l.Alpha()) * least.Float(); r.Cost.Float() > bound+1e-9 || r.Cost < least {
			t.Fatalf("the policy pays %s, hindsight %s, the promise is %g", r.Cost, least, bound)
		}
	})
}

// Many even draws have the mean that RandomizedMean gives.
func TestOnlineMeanIsTheMean(t *testing.T) {
	demand := []int64{1, 1, 2, 0, 3, 2, 2, 1, 0, 0, 1, 2, 3, 3, 1, 1, 0, 2}
	l := online.Lease{Periods: 6, Fee: 3_300_000, OnDemand: 1_000_000, Used: 250_000}
	want, err := online.RandomizedMean(demand, l)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	var sum float64
	for i := range n {
		r, err := online.PlayRandomized(demand, l, (float64(i)+0.5)/n)
		if err != nil {
			t.Fatal(err)
		}
		sum += r.Cost.Float()
	}
	if got := sum / n; math.Abs(got-want) > 2e-3 {
		t.Errorf("mean of the draws %g, want %g", got, want)
	}
}

func TestOnlineRefuses(t *testing.T) {
	good := online.Lease{Periods: 3, Fee: 2_000_000, OnDemand: 1_000_000}
	tests := map[string]struct {
		demand []int64
		change func(*online.Lease)
	}{
		"no period":         {nil, func(l *online.Lease) { l.Periods = 0 }},
		"a negative fee":    {nil, func(l *online.Lease) { l.Fee = -1 }},
		"a dear lease":      {nil, func(l *online.Lease) { l.Used = l.OnDemand }},
		"a negative demand": {[]int64{1, -1}, func(*online.Lease) {}},
		"a vast demand":     {[]int64{1 << 50}, func(*online.Lease) {}},
		"more than counts":  {[]int64{1 << 20, 1 << 20}, func(l *online.Lease) { l.OnDemand, l.Fee = math.MaxInt64/2, math.MaxInt64/2 }},
	}
	for name, tt := range tests {
		l := good
		tt.change(&l)
		if r, err := online.Play(tt.demand, l); err == nil {
			t.Errorf("%s: found %+v, want an error", name, r)
		}
	}
}

func BenchmarkOnlineThreeYears(b *testing.B) {
	demand := make([]int64, 26_280)
	for i := range demand {
		demand[i] = int64(1500 + 500*math.Sin(float64(i)/24) + float64(i%700))
	}
	l := online.Lease{Periods: 8760, Fee: 6000 * capcli.Dollar, OnDemand: capcli.Dollar}
	for b.Loop() {
		if _, err := online.Play(demand, l); err != nil {
			b.Fatal(err)
		}
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

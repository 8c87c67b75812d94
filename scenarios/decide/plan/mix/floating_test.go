package mix_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/mix"
	"capcli/testdata/golden"
)

// floatingWorld is a scenario with a fenced place, pools that float and an on-demand pool, and two job logs.
func floatingWorld(rng *rand.Rand) (text string, floats []string, futures []mix.Future) {
	shared := []string{"gpus: 2", "gpus: 2", "nodes: 1, gpus_per_node: 2"}[rng.IntN(3)]
	od := []string{"", "", ", billed_by: machine, machine_gpus: 2", ", max_gpus: 3"}[rng.IntN(4)]
	price := func(from, to int) string { return fmt.Sprintf("%d.%02d", from+rng.IntN(to-from), rng.IntN(100)) }
	text = fmt.Sprintf(`capcli: scenario/v1
period: 2026-01-01 to 2026-01-01
policy: %s
overflow: {patience: 30m}
capacity:
  - {name: place, kind: owned, gpus: 2, price: %s}
  - {name: long, kind: cud, %s, term: 1y, price: %s}
  - {name: short, kind: reserved, fenced: false, %s, price: %s, from: %dh, until: %dh}
  - {name: od, kind: on_demand, price: %s%s}
`, []string{"fifo", "easy"}[rng.IntN(2)], price(1, 3), shared, price(1, 4), shared, price(1, 4), rng.IntN(9), 10+rng.IntN(14), price(3, 5), od)
	unit := "gpus"
	if strings.HasPrefix(shared, "nodes") {
		unit = "nodes"
	}
	floats = []string{"capacity.long." + unit, "capacity.short." + unit}
	for k := range 2 {
		var jobs []capcli.Job
		for i := range 6 {
			jobs = append(jobs, capcli.Job{
				ID: fmt.Sprint(i), Submit: worldStart + capcli.Time(600*i+rng.IntN(3600)), GPUs: 1, Run: capcli.Seconds(600 + rng.IntN(20_000)),
				Deadline: capcli.NoTime, Start: capcli.NoTime, End: capcli.NoTime,
			})
		}
		slices.SortFunc(jobs, func(a, b capcli.Job) int { return int(a.Submit - b.Submit) })
		f := futureOf(jobs)
		f.Name, f.Weight = fmt.Sprint("log", k), int64(1+rng.IntN(3))
		futures = append(futures, f)
	}
	return text, floats, futures
}

// The pools of a scenario that float are offers: the plan costs what the best of all sizes does, each of which is
// played and settled by its invoice, by every figure of the cost. So is one that an axis names beside another.
func TestFloatingPoolsEnumerated(t *testing.T) {
	golden.SkipLong(t)
	seeds, bills := 9, 0
	if golden.Short() {
		seeds = 6
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		text, floats, futures := floatingWorld(rng)
		risk, err := plan.ParseRisk([]string{"mean", "q80", "cvar95"}[seed%3])
		if err != nil {
			t.Fatal(err)
		}
		run := func(vary ...string) *mix.Result {
			q := mix.NewRequest(caseOf(t, text))
			q.Vary = append([]string{"capacity.place.gpus=0,2", "overflow.patience=0s,1h"}, vary...)
			q.Exhaustive, q.All, q.Hold, q.Risk, q.Futures, q.Confidence = true, true, 1, risk, slices.Clone(futures), 0
			q.Max = []string{"wait_max=2h"}
			r, err := mix.Plan(t.Context(), q)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			return r
		}
		sizes := "=0..6"
		played := run(floats[0]+sizes, floats[1]+sizes)
		axes := [][]string{nil, {floats[1] + sizes}}
		if strings.Contains(text, "max_gpus") { // committed use guarantees its GPUs, so that more may run
			axes = [][]string{{floats[0] + sizes}}
		}
		for _, vary := range axes {
			solved := run(vary...)
			if (solved.Best == nil) != (played.Best == nil) {
				t.Fatalf("seed %d: %v solved, %v played", seed, solved.Best, played.Best)
			}
			if solved.Best == nil {
				continue
			}
			bills += len(solved.Commitments.Bought)
			a, b := solved.Best.Entry.Cost(), played.Best.Entry.Cost()
			if off := a - b; off > 20 || off < -20 { // coverage is counted in thousandths of a second
				t.Errorf("seed %d, %s, axes %v: solved %s, played %s\n%s%+v", seed, risk, vary, a.Decimal(), b.Decimal(), text, solved.Commitments)
			}
			if solved.Commitments.Gap > 0 {
				t.Errorf("seed %d: a gap of %v is left", seed, solved.Commitments.Gap)
			}
			wantSettled(t, solved, played)
			if vary == nil {
				wantWorth(t, solved, played)
			}
			frontierCosts(t, solved, played)
		}
	}
	if bills == 0 {
		t.Error("no world buys a commitment")
	}
}

// wantSettled checks that the scenario of a plan has its commitments, and costs what the same mix of all sizes does.
func wantSettled(t *testing.T, solved, played *mix.Result) {
	t.Helper()
	size := func(s *scenarios.Scenario, name string) (n int64) {
		for i := range s.Capacity {
			if c := &s.Capacity[i]; c.Name == name {
				n = int64(max(c.GPUs, c.Nodes*c.GPUsPerNode))
			}
		}
		return n
	}
	for _, name := range []string{"long", "short"} {
		bought := int64(0)
		for _, b := range solved.Commitments.Bought {
			if b.Pool == name {
				bought += b.GPUs
			}
		}
		if got := size(solved.Chosen, name); got != bought {
			t.Errorf("the scenario has %d GPUs of %s, the plan %d", got, name, bought)
		}
	}
}

// wantWorth checks the marginal GPUs and the break-even prices of what is bought against all sizes: what one of the
// sizes costs is the least of all mixes with it under the same rules.
func wantWorth(t *testing.T, solved, played *mix.Result) {
	t.Helper()
	if len(solved.Bills) != 2 {
		t.Fatalf("%+v, want a break-even price of each offer", solved.Bills)
	}
	least := func(pool string, gpus int64) (cost capcli.USD, found bool) {
		for _, m := range played.All {
			size, lot := "", int64(1)
			for _, c := range m.Choices {
				if strings.HasPrefix(c.Path, "capacity."+pool) {
					if size = c.Value; strings.HasSuffix(c.Path, "nodes") {
						lot = 2
					}
				}
			}
			same := m.Choices[0] == solved.Best.Choices[0] && m.Choices[1] == solved.Best.Choices[1]
			if same && m.Fate == "full" && size == fmt.Sprint(gpus/lot) && (!found || *m.Cost < cost) {
				cost, found = *m.Cost, true
			}
		}
		return cost, found
	}
	near := func(what string, got, want capcli.USD) {
		t.Helper()
		if off := got - want; off > 20 || off < -20 {
			t.Errorf("%s: %s, of all sizes %s\n%+v", what, got.Decimal(), want.Decimal(), solved.Commitments)
		}
	}
	for _, m := range solved.Marginal {
		if want, found := least(m.Pool, int64(m.GPUs)); found {
			near(fmt.Sprint(m.Pool, " ", m.GPUs), m.Cost, want)
		}
	}
	for _, b := range solved.Bills {
		if want, found := least(b.Offer, 0); b.GPUs > 0 && found {
			near("without "+b.Offer, b.Without+solved.Best.Entry.Cost(), want)
		}
	}
}

// By hand: 4 GPUs are used all day, and 4 more for 18 hours. At $2 of $4 on demand, 8 GPUs are committed for $384.
// Without that offer the day costs $576 under the dearer one, and $672 under none: the first breaks even at
// $2 + ($576 - $384) / 192 h = $3.00. The last of 8 GPUs saves 18 h at $4 for 24 h at $2. The dearer term pays below
// the price of what it displaces.
func TestWorthByHand(t *testing.T) {
	q := mix.NewRequest(caseOf(t, `capcli: scenario/v1
period: 2026-01-01 to 2026-01-01
capacity:
  - {name: base, kind: cud, gpus: 64, term: 1y, price: 2}
  - {name: dear, kind: cud, gpus: 1, term: 3y, price: 3}
  - {name: od, kind: on_demand, price: 4}
`))
	r := planOf(t, q, worldJobs([][4]int64{{1, 0, 4, 86_400}, {2, 0, 4, 64_800}})...)
	if r.Best == nil || r.Best.Entry.Cost() != 384*capcli.Dollar || len(r.Commitments.Bought) != 1 || r.Commitments.Bought[0].GPUs != 8 {
		t.Fatalf("%+v, %+v", r.Best, r.Commitments)
	}
	dollars := func(cents int64) *capcli.Rate { v := capcli.Rate(cents * 10_000); return &v }
	for i, want := range []mix.BillTie{{"base", 8, 2_000_000, dollars(300), 192 * capcli.Dollar}, {"dear", 0, 3_000_000, dollars(200), 0}} {
		got := r.Bills[i]
		if *got.At != *want.At {
			t.Errorf("%s breaks even at %s, want %s", want.Offer, got.At.Decimal(), want.At.Decimal())
		}
		if got.At, want.At = nil, nil; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for _, m := range r.Marginal {
		if m.GPUs == 8 && (m.Pool != "base" || !m.Best || m.Needed != 0.75 || *m.Saved != 24*capcli.Dollar) {
			t.Errorf("the last GPU: %+v", m)
		}
		if m.GPUs == 9 && (m.Needed != 0 || *m.Saved != -48*capcli.Dollar) {
			t.Errorf("one more GPU: %+v", m)
		}
	}
	if want := "Buy no place"; !strings.HasPrefix(r.Lead(), want) || !strings.Contains(r.Lead(), "8 GPUs of base for 1y from 2026-01-01") {
		t.Errorf("%s", r.Lead())
	}
	if b := r.Bound; b.Cost <= 0 || b.Cost > 384*capcli.Dollar {
		t.Errorf("%+v", b)
	}
	want := map[string]capcli.USD{"bills": 0, "nothing": 288 * capcli.Dollar}
	for _, as := range r.CommittedAs {
		if more, is := want[as.As]; !is || as.More != more {
			t.Errorf("%+v", as)
		}
	}
}

// frontierCosts checks that the Pareto set of solved mixes is that of all mixes with every size.
func frontierCosts(t *testing.T, solved, played *mix.Result) {
	t.Helper()
	if len(solved.Frontier) != len(played.Frontier) {
		t.Errorf("%d mixes on the frontier, %d of all sizes", len(solved.Frontier), len(played.Frontier))
		return
	}
	for i, m := range solved.Frontier {
		o := played.Frontier[i]
		if off := m.Entry.Cost() - o.Entry.Cost(); off > 20 || off < -20 || m.Entry.Wait() != o.Entry.Wait() {
			t.Errorf("frontier %d: %s and %v s, of all sizes %s and %v s", i, m.Entry.Cost().Decimal(), m.Entry.Wait(), o.Entry.Cost().Decimal(), o.Entry.Wait())
		}
	}
}

// Where two pools at other prices would be covered, the bill decides which is covered first: the pool is played at its
// size, a note says why, and terms beside it are refused.
func TestFloatingPoolsAtTwoPrices(t *testing.T) {
	ask := func() *mix.Request {
		q := mix.NewRequest(caseOf(t, `capcli: scenario/v1
period: 2026-01-01 to 2026-01-01
capacity:
  - {name: base, kind: reserved, fenced: false, gpu_model: A100, gpus: 2, term: 1y, price: 2}
  - {name: cheap, kind: on_demand, gpu_model: A100, max_gpus: 2, price: 3}
  - {name: dear, kind: on_demand, gpu_model: A100, price: 4}
`))
		q.Vary = []string{"overflow.patience=0s"}
		return q
	}
	r := planOf(t, ask(), worldJobs([][4]int64{{1, 0, 2, 3600}})...)
	if want := "base covers cheap and dear, whose prices on demand differ"; r.Commitments != nil || !strings.Contains(strings.Join(r.Notes, "\n"), want) {
		t.Errorf("%+v, notes %q, want %q", r.Commitments, r.Notes, want)
	}
	q := ask()
	q.Offers = []mix.Offer{{Name: "1w", Length: capcli.Step{Seconds: 7 * capcli.Day}, Rate: 1_000_000}}
	if _, err := mix.NewPlanner(t.Context(), q); err == nil || !strings.Contains(err.Error(), "whose prices on demand differ") {
		t.Errorf("%v", err)
	}
}

package mix

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/testdata/golden"
)

// poissonJobs are jobs of one GPU that come at random: rate an hour, with a mean
// run of an hour.
func poissonJobs(seed capcli.Seed, n int, rate float64, sizes ...int) []capcli.Job {
	rng := seed.Stream("arrivals")
	jobs := make([]capcli.Job, n)
	at := 0.0
	for i := range jobs {
		at += rng.ExpFloat64() * 3600 / rate
		gpus := 1
		if len(sizes) > 0 {
			gpus = sizes[rng.IntN(len(sizes))]
		}
		run := 1 + capcli.Seconds(rng.ExpFloat64()*3600)
		jobs[i] = capcli.Job{ID: strconv.Itoa(i), Tenant: "t", GPUs: gpus, Submit: capcli.Time(at), Run: run, Deadline: capcli.NoTime}
	}
	return jobs
}

// sizing is a problem of so many committed GPUs with patience, and on-demand
// without limit.
type sizing struct {
	gpus, patience     []string
	policies           []string
	reserved, onDemand capcli.Rate
	lead               capcli.Seconds
	seed               capcli.Seed
	runs               int
	jobs               func(run int) []capcli.Job
}

func (z *sizing) problem() *Problem {
	p := &Problem{Seed: z.seed, Runs: z.runs, Within: 600}
	if len(z.policies) == 0 {
		z.policies = []string{"fifo"}
	}
	p.Space.Axes = []Axis{
		{Path: "gpus", Values: z.gpus, Ordered: true}, {Path: "patience", Values: z.patience, Ordered: true}, {Path: "policy", Values: z.policies},
	}
	p.Jobs = func(run int) ([]capcli.Job, error) { return z.jobs(run), nil }
	p.Candidate = func(i int) (*Candidate, error) {
		v := p.Space.Values(i)
		gpus, err := strconv.Atoi(v[0])
		if err != nil {
			return nil, err
		}
		wait, err := capcli.ParseSeconds(v[1])
		if err != nil {
			return nil, err
		}
		policy, err := policy.Catalog.Get(v[2])
		if err != nil {
			return nil, err
		}
		placement, err := placement.Catalog.Get("count")
		if err != nil {
			return nil, err
		}
		c := &Candidate{Index: i, Values: v, Key: fmt.Sprint(v)}
		pools := []simulate.Pool{{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 1e6, Rank: 1, Lead: z.lead}}
		c.Rates = []billing.Rate{{Price: z.onDemand}}
		if gpus > 0 {
			pools = append(pools, simulate.Pool{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: gpus})
			c.Rates = append(c.Rates, billing.Rate{Price: z.reserved, OnDemand: z.onDemand})
		}
		c.Config = func(int) (simulate.Config, error) {
			return simulate.Config{
				Start: 0, Pools: pools, Policy: policy, Placement: placement(),
				Overflow: simulate.Overflow{Patience: []simulate.Patience{{Wait: wait}}},
			}, nil
		}
		return c, nil
	}
	return p
}

func numbers(from, to, step int) []string {
	var out []string
	for i := from; i <= to; i += step {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

func someSizing(seed capcli.Seed, runs int) *sizing {
	held := map[int][]capcli.Job{}
	for run := range runs {
		held[run] = poissonJobs(seed.Child(run), 300, 6, 1, 1, 2, 4)
	}
	return &sizing{
		gpus: numbers(0, 40, 2), patience: []string{"0", "10m", "1h"}, policies: []string{"fifo", "sjf", "srtf"},
		reserved: 600_000, onDemand: 1_000_000, seed: seed, runs: runs,
		jobs: func(run int) []capcli.Job { return held[run] },
	}
}

// TestBoundsNeverLoseTheWinner holds a search that drops by bounds against one
// that tries everything.
func TestBoundsNeverLoseTheWinner(t *testing.T) {
	golden.SkipLong(t)
	dropped := 0
	for seed := capcli.Seed(1); seed <= 5; seed++ {
		z := someSizing(seed, 2)
		z.lead = capcli.Seconds(seed % 3 * 60)
		p := z.problem()
		limits := []Limit{{Metric: "wait_p95", Op: "<=", Value: float64(seed * 60)}}
		size, err := p.Space.size()
		if err != nil {
			t.Fatal(err)
		}
		all := &Found{Size: size, limits: limits, hold: 1}
		for i := range size {
			c, err := p.Candidate(i)
			if err != nil {
				t.Fatal(err)
			}
			e := &Entry{Candidate: c}
			for run := range 2 {
				o, err := p.Outcome(context.Background(), i, run)
				if err != nil {
					t.Fatal(err)
				}
				e.note(o, limits)
			}
			all.Entries = append(all.Entries, e)
		}
		for _, goal := range []Goal{frontier, cheapest} {
			s := &Search{Problem: p, Limits: limits, Hold: 1, Goal: goal}
			f, err := s.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			dropped += f.Counts().ByBound
			holdsBound(t, s, f, all)
			for _, e := range f.Entries {
				for run, floor := range e.Floors {
					if got := all.Entries[e.Index].Outcomes[run].Cost; got < floor.Cost {
						t.Fatalf("seed %d, mix %v: costs %s, its floor is %s", seed, e.Values, got.Decimal(), floor.Cost.Decimal())
					}
				}
			}
			got, want := f.BestEntry(), all.BestEntry()
			if (got == nil) != (want == nil) || got != nil && got.Index != want.Index {
				t.Errorf("seed %d, goal %d: best %+v, want %+v", seed, goal, got, want)
			}
			if goal == frontier {
				if got, want := indices(f.frontier()), indices(all.frontier()); got != want {
					t.Errorf("seed %d: frontier %s, want %s", seed, got, want)
				}
			}
		}
	}
	if dropped < 500 {
		t.Errorf("bounds dropped %d mixes in all: too few to show anything", dropped)
	}
	t.Logf("%d mixes dropped", dropped)
}

// holdsBound holds the bound of the best mix against what mixes really cost.
func holdsBound(t *testing.T, s *Search, f, all *Found) {
	t.Helper()
	best := f.BestEntry()
	if best == nil {
		return
	}
	b, err := s.bound(context.Background(), f, best)
	if err != nil {
		t.Fatal(err)
	}
	if b.Cost <= 0 || b.Gap < 0 || b.Cost > best.Cost() {
		t.Errorf("the best costs %s, its bound is %s, the gap %v", best.Cost(), b.Cost, b.Gap)
	}
	if b.Service() != (b.Why != "") {
		t.Errorf("a bound over every mix needs no excuse, another does: %+v", b)
	}
	for _, e := range all.Entries {
		if !b.Service() && e.Cost() < b.Cost {
			t.Errorf("mix %v costs %s, under the bound over every mix %s", e.Values, e.Cost(), b.Cost)
		}
	}
}

func indices(list []*Entry) string {
	text := ""
	for _, e := range list {
		text += fmt.Sprint(e.Index, " ")
	}
	return text
}

// TestSameOnAnyNumberOfCores makes the same search on one core and on four.
func TestSameOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first string
	for _, cores := range []int{1, 4} {
		runtime.GOMAXPROCS(cores)
		z := someSizing(7, 8)
		s := &Search{Problem: z.problem(), Limits: []Limit{{Metric: "wait_p95", Op: "<=", Value: 900}}, Hold: 0.9, Confidence: 0.99, Stride: 4}
		f, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(b)
			t.Logf("%+v of %d, %d simulations", f.Counts(), f.Size, f.Simulations)
		}
		if string(b) != first {
			t.Errorf("%d cores give another result", cores)
		}
	}
}

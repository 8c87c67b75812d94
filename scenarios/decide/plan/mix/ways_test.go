package mix

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/testdata/golden"
)

// anyFit is a Chooser that offers every way, in the order of the file.
type anyFit struct{}

func (anyFit) Choose(_ *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Choice) []simulate.Choice {
	return l.Ways(pools, dst)
}

// anyUniform is anyFit that says that it never waits.
type anyUniform struct{ anyFit }

func (anyUniform) Uniform() {}

// drawShape returns a shape with ways on two models; the first way is the one that its jobs ask for.
func drawShape(rng *rand.Rand) *capcli.Shape {
	s := &capcli.Shape{}
	for _, gpus := range []int{4, 1, 2, 8} {
		for _, model := range []string{"X", "Y"} {
			if gpus != 4 && rng.IntN(3) == 0 {
				continue
			}
			w := capcli.Way{Model: model, GPUs: gpus, Num: int64(4 * (2 + rng.IntN(5))), Den: int64(gpus * (2 + rng.IntN(3)))}
			if model == "Y" {
				w.Num *= 2
			}
			s.Ways = append(s.Ways, w)
		}
	}
	return s
}

// TestWaysAreAboveTheCurve runs jobs with ways in every start and way, and one after another way in the middle:
// no choice leaves less work over a number of units than the curve of their windows.
func TestWaysAreAboveTheCurve(t *testing.T) {
	rng := capcli.Seed(5).Stream("ways")
	tight := 0
	for range 300 {
		type option struct {
			run   capcli.Seconds
			milli int64
		}
		until := capcli.Seconds(10 + rng.IntN(8))
		var ws []window
		var ways [][]option
		for range 1 + rng.IntN(4) {
			var n need
			var list []option
			for range 1 + rng.IntN(3) {
				o := option{1 + capcli.Seconds(rng.IntN(5)), 1000 * (1 + rng.Int64N(3))}
				list = append(list, o)
				n.take("", o.milli, o.run, nil)
			}
			at := capcli.Seconds(rng.IntN(7))
			ws, ways = append(ws, n.window(at, at+capcli.Seconds(rng.IntN(3)))), append(ways, list)
		}
		s := newSmooth(ws, until)
		least := make([]capcli.GPUTime, 12)
		for k := range least {
			least[k] = 1 << 60
		}
		d := make([]int64, 100)
		var try func(i int)
		try = func(i int) {
			if i == len(ws) {
				for k := range least {
					least[k] = min(least[k], gpuTimeOver(d[:until], int64(k)))
				}
				return
			}
			for _, o := range ways[i] {
				for at := ws[i].Earliest; at <= ws[i].Latest; at++ {
					for u := at; u < at+o.run; u++ {
						d[u] += o.milli
					}
					try(i + 1)
					for u := at; u < at+o.run; u++ {
						d[u] -= o.milli
					}
				}
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

// twoModels is a problem of committed GPUs of two models, with both on demand.
type twoModels struct {
	jobs    []capcli.Job
	wait    []string
	x, y    []string // committed GPUs
	prices  [4]capcli.Rate
	chooser simulate.Chooser
	policy  string
	until   capcli.Seconds
	kill    bool
}

func (z *twoModels) problem(t interface{ Fatal(...any) }) *Problem {
	p := &Problem{Seed: 1, Runs: 1, Within: 600}
	p.Space.Axes = []Axis{{Path: "x", Values: z.x, Ordered: true}, {Path: "y", Values: z.y, Ordered: true}, {Path: "patience", Values: z.wait, Ordered: true}}
	p.Jobs = func(int) ([]capcli.Job, error) { return z.jobs, nil }
	pol, err := policy.Catalog.Get(z.policy)
	if err != nil {
		t.Fatal(err)
	}
	place, err := placement.Catalog.Get("count")
	if err != nil {
		t.Fatal(err)
	}
	p.Candidate = func(i int) (*Candidate, error) {
		v := p.Space.Values(i)
		c := &Candidate{Index: i, Values: v, Key: fmt.Sprint(v)}
		var pools []simulate.Pool
		for k, model := range []string{"X", "Y"} {
			if n, _ := strconv.Atoi(v[k]); n > 0 {
				pools = append(pools, simulate.Pool{Name: "base-" + model, GPUModel: model, Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: n})
				c.Rates = append(c.Rates, billing.Rate{Price: z.prices[k], OnDemand: z.prices[2+k]})
			}
		}
		for k, model := range []string{"X", "Y"} {
			pools = append(pools, simulate.Pool{Name: "od-" + model, GPUModel: model, Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 1e5, Rank: 1 + k})
			c.Rates = append(c.Rates, billing.Rate{Price: z.prices[2+k], OnDemand: z.prices[2+k]})
		}
		wait, err := capcli.ParseSeconds(v[2])
		if err != nil {
			return nil, err
		}
		c.Config = func(int) (simulate.Config, error) {
			return simulate.Config{
				Start: 0, Until: z.until, Pools: append([]simulate.Pool(nil), pools...), Policy: pol, Placement: place(), Chooser: z.chooser, KillAtLimit: z.kill,
				Overflow: simulate.Overflow{Patience: []simulate.Patience{{Wait: wait}}},
			}, nil
		}
		return c, nil
	}
	return p
}

// drawTwoModels draws a world of jobs with ways and without, on two models.
func drawTwoModels(t *rapid.T) *twoModels {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "world"), 1))
	z := &twoModels{
		wait: []string{"0", "30m"}, x: []string{"0", "4", "8"}, y: []string{"0", "8"}, policy: rapid.SampledFrom([]string{"fifo", "easy", "sjf", "las"}).Draw(t, "policy"),
		kill: rapid.Bool().Draw(t, "kill"), until: capcli.Seconds(rapid.SampledFrom([]int{0, 6, 30}).Draw(t, "hours")) * capcli.Hour,
	}
	for i := range z.prices {
		z.prices[i] = capcli.Rate(1+rng.IntN(9)) * 400_000
	}
	z.chooser = rapid.SampledFrom([]simulate.Chooser{nil, anyFit{}, anyUniform{}}).Draw(t, "chooser")
	shapes := []*capcli.Shape{nil, drawShape(rng), drawShape(rng)}
	at := capcli.Time(0)
	for i := range 1 + rng.IntN(25) {
		j := capcli.Job{ID: strconv.Itoa(i), Tenant: "t", GPUs: 4, Submit: at, Run: 1 + capcli.Seconds(rng.IntN(9000)), Deadline: capcli.NoTime, Shape: shapes[rng.IntN(3)]}
		if j.Limit = j.Run * 2; j.Shape == nil {
			j.GPUModel = []string{"", "X", "Y"}[rng.IntN(3)]
		}
		z.jobs = append(z.jobs, j)
		at += capcli.Time(rng.IntN(3000))
	}
	return z
}

// TestNoMixOfTwoModelsIsBelowItsBounds tries every mix of drawn worlds. No run costs less than its floor or leaves
// less undone; no mix that starts every job within its patience costs less than the bound over every mix; and none
// that ends no job later than the plan costs less than the bound over those.
func TestNoMixOfTwoModelsIsBelowItsBounds(t *testing.T) {
	golden.SkipLong(t)
	every, service, weighed := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		z := drawTwoModels(t)
		p := z.problem(t)
		s := &Search{Problem: p, Hold: 1}
		size, _ := p.Space.size()
		f := &Found{Size: size, hold: 1}
		bs := newBounds(p)
		served := make([]*watch, size)
		for i := range size {
			c, err := p.Candidate(i)
			if err != nil {
				t.Fatal(err)
			}
			fl, err := bs.floorOf(c, 0)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Outcome(context.Background(), i, 0)
			if err != nil {
				t.Fatal(err)
			}
			if out.Cost < fl.Cost || out.UnservedShare() < fl.Undone-1e-12 {
				t.Fatalf("mix %v costs %s and leaves %v, its floor is %s and %v", c.Values, out.Cost, out.UnservedShare(), fl.Cost, fl.Undone)
			}
			e := &Entry{Candidate: c, Rival: -1, Fate: Full, Floors: append([]floor(nil), fl)}
			e.note(out, nil)
			f.Entries = append(f.Entries, e)
			if served[i], err = s.served(context.Background(), e, 0); err != nil {
				t.Fatal(err)
			}
		}
		for i, e := range f.Entries {
			b, err := s.bound(context.Background(), f, e)
			if err != nil {
				t.Fatal(err)
			}
			if b.Service() {
				service++
			} else {
				every++
			}
			if b.Cost > e.Cost() {
				t.Fatalf("mix %v costs %s, the bound of its own class is %s (%s)", e.Values, e.Cost(), b.Cost, b.Says)
			}
			for k, o := range f.Entries {
				if o.Cost() < b.Cost && (!b.Service() || servesAsWell(served[k], served[i])) {
					t.Fatalf("mix %v costs %s, mix %v has the bound %s: %s", o.Values, o.Cost(), e.Values, b.Cost, b.Says)
				}
			}
			if m, _ := p.menuOf(f.Entries); len(m.weightsFor(p, 0)) > 0 {
				weighed++
			}
		}
	})
	if every == 0 || service == 0 || weighed == 0 {
		t.Errorf("%d bounds over every mix, %d over the same service, %d weighed: some were not tried", every, service, weighed)
	}
}

// servesAsWell reports whether w ends no job later than ref does, and starts each job that ref starts.
func servesAsWell(w, ref *watch) bool {
	for i := range ref.jobs {
		switch {
		case ref.end[i] >= 0 && (w.end[i] < 0 || w.end[i] > ref.end[i]):
			return false
		case ref.end[i] < 0 && ref.first[i] >= 0 && (w.first[i] < 0 || w.end[i] < 0 && w.first[i] > ref.first[i]):
			return false
		}
	}
	return true
}

// TestBoundChoosesTheModel has jobs that run on 1 X or on 2 Y for as long: by the prices of the two models either
// all X or all Y is the cheapest, and the bound is its cost.
func TestBoundChoosesTheModel(t *testing.T) {
	shape := &capcli.Shape{Ways: []capcli.Way{{Model: "X", GPUs: 1, Num: 1, Den: 1}, {Model: "Y", GPUs: 2, Num: 1, Den: 1}}}
	var jobs []capcli.Job
	for i := range 20 {
		jobs = append(jobs, capcli.Job{ID: strconv.Itoa(i), Tenant: "t", GPUs: 1 + i%2, Run: 10 * capcli.Hour, Deadline: capcli.NoTime, Shape: shape, Submit: capcli.Time(i / 10 * 36000)})
	}
	for _, price := range []capcli.Rate{1_900_000, 2_100_000} {
		z := &twoModels{
			jobs: jobs, wait: []string{"0"}, x: []string{"0", "5", "10"}, y: []string{"0", "10", "20"}, policy: "fifo", chooser: inPriceOrder{price > 2_000_000},
			prices: [4]capcli.Rate{price, 1_000_000, 3 * price, 3_000_000}, until: 20 * capcli.Hour,
		}
		s := &Search{Problem: z.problem(t), Hold: 1, Goal: cheapest}
		found, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		best := found.BestEntry()
		want := [2]string{"10", "0"}
		if price > 2_000_000 {
			want = [2]string{"0", "20"}
		}
		if got := [2]string(best.Values[:2]); got != want {
			t.Errorf("at %s for X and $1 for Y the best mix is %v, want %v", price, got, want)
		}
		b, err := s.bound(context.Background(), found, best)
		if err != nil {
			t.Fatal(err)
		}
		cost := 10 * 20 * min(price, 2_000_000)
		if b.Service() {
			t.Errorf("no bound over every mix: %s", b.Why)
		}
		if best.Cost() != cost || b.Cost > cost || cost-b.Cost > cost/500 {
			t.Errorf("at %s the best costs %s, want %s; the bound is %s: %s", price, best.Cost(), cost, b.Cost, b.Says)
		}
	}
}

// inPriceOrder takes X first, or Y first.
type inPriceOrder struct{ y bool }

func (inPriceOrder) Uniform() {}

func (c inPriceOrder) Choose(_ *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Choice) []simulate.Choice {
	from := len(dst)
	dst = l.Ways(pools, dst)
	if c.y {
		for i, j := from, len(dst)-1; i < j; i, j = i+1, j-1 {
			dst[i], dst[j] = dst[j], dst[i]
		}
	}
	return dst
}

// A place that makes a job faster than it says makes it need less in every bound.
func TestQuickerPlacesNeedLess(t *testing.T) {
	near := func(num, den int64) *capcli.Shape {
		return &capcli.Shape{Near: capcli.Near{Slowdown: []capcli.Slowdown{{Level: "node", Num: 1, Den: 1}, {Level: "cluster", Num: num, Den: den}}}}
	}
	for _, c := range []struct {
		shape      *capcli.Shape
		fast, slow capcli.Seconds
		left       capcli.GPUTime
	}{
		{nil, 100, 100, 8000 * 50},
		{near(6, 5), 100, 100, 8000 * 50},
		{near(4, 5), 80, 100, 8000 * 40},
	} {
		j := capcli.Job{GPUs: 8, Run: 100, Shape: c.shape}
		n := needOf(&j, false, nil)
		if n.fast != c.fast || n.slow != c.slow || n.area != capcli.GPUTime(8000*int64(c.fast)) || n.wide != 8000 {
			t.Errorf("%+v: %+v", c, n)
		}
		if got := leastWork(&j, false, 8000*50); got != c.left {
			t.Errorf("%+v: half of the work takes %d at least", c, got)
		}
	}
}

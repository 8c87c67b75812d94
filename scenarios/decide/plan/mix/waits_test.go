package mix

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/validate"
	"capcli/simulate"
	"capcli/testdata/golden"
)

// waitCounter adds up the waits for the first start of each job.
type waitCounter struct {
	seen map[int64]bool
	sum  int64
}

func (w *waitCounter) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start && !w.seen[e.Job.Index()] {
		w.seen[e.Job.Index()] = true
		w.sum += int64(e.Job.Wait())
	}
}

// playOf returns the cost of mix i in a run, whether it holds the limit on waits, and for how many seconds all jobs wait: from
// the events of a simulation of its own.
func playOf(t *testing.T, p *Problem, i, run int, most capcli.Seconds) (cost capcli.USD, holds bool, waited int64) {
	t.Helper()
	c, err := p.Candidate(i)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := p.config(c, run)
	if err != nil {
		t.Fatal(err)
	}
	w := &waitCounter{seen: map[int64]bool{}}
	cfg.Observers = append(cfg.Observers, w)
	res, err := simulate.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := billing.Price(res.Record, c.Rates)
	if err != nil {
		t.Fatal(err)
	}
	return inv.Total.Cost, res.Wait.P95 <= most, w.sum
}

// TestThePlanCountsWaits holds the plan against every mix in every run: of those that hold the limits it has the least sum
// of the cost and of the waits of all jobs at their price, to the millionth of a dollar.
func TestThePlanCountsWaits(t *testing.T) {
	golden.SkipLong(t)
	const runs, most = 4, 3000
	dropped, moved := 0, 0
	limits := []Limit{{Metric: "wait_p95", Op: "<=", Value: most}}
	for seed := capcli.Seed(1); seed <= 2; seed++ {
		z := someSizing(seed, runs)
		z.gpus, z.policies = numbers(0, 40, 4), []string{"fifo", "sjf"}
		size, err := z.problem().Space.size()
		if err != nil {
			t.Fatal(err)
		}
		cost, waited, held := make([]capcli.USD, size), make([][runs]int64, size), make([]bool, size)
		for i := range size {
			held[i] = true
			for run := range runs {
				c, holds, w := playOf(t, z.problem(), i, run, most)
				cost[i], waited[i][run], held[i] = cost[i]+c, w, held[i] && holds
			}
		}
		without := -1
		for _, price := range []int64{0, 100_000, 333_333, 20_000_000} {
			p := z.problem()
			p.WaitPrice = capcli.Rate(price)
			counts := func(i, run int) capcli.USD { // rounded half up
				amount := new(big.Int).Mul(big.NewInt(waited[i][run]), big.NewInt(price))
				return capcli.USD(amount.Div(amount.Add(amount, big.NewInt(1800)), big.NewInt(3600)).Int64())
			}
			least, best := capcli.USD(-1), -1
			for i := range size {
				sum := cost[i]
				for run := range runs {
					sum += counts(i, run)
				}
				if held[i] && (least < 0 || sum < least) {
					least, best = sum, i
				}
			}
			for _, s := range []*Search{
				{Problem: p, Goal: frontier}, {Problem: p, Goal: cheapest}, {Problem: p, Goal: cheapest, Stride: 4}, {Problem: p, Confidence: 0.99},
			} {
				s.Limits, s.Hold = limits, 1
				f, err := s.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				dropped += f.Counts().ByBound + f.Counts().ByRace
				e, got := f.BestEntry(), capcli.USD(0)
				for run := range e.Outcomes {
					o := &e.Outcomes[run]
					if got += o.Cost + o.WaitCost; o.WaitCost != counts(e.Index, run) {
						t.Errorf("seed %d, mix %d, run %d: waits count %s, want %s", seed, e.Index, run, o.WaitCost.Decimal(), counts(e.Index, run).Decimal())
					}
				}
				if got != least {
					t.Errorf("seed %d at %s an hour, %s, stride %d: the plan %v counts %s, the least is %s of mix %d", seed, p.WaitPrice, s.Goal, s.Stride, e.Values, got, least, best)
				}
			}
			if price == 0 {
				without = best
			} else if best != without {
				moved++
			}
		}
	}
	t.Logf("%d mixes dropped, %d of 6 plans moved by the price", dropped, moved)
	if dropped == 0 || moved == 0 {
		t.Error("nothing was dropped, or no price matters: this shows nothing")
	}
}

// TestDearWaitsOverflow: an amount beyond what money can hold is a fault of the run, not a wrong number.
func TestDearWaitsOverflow(t *testing.T) {
	o := Outcome{WaitMean: 3e7, WaitJobs: 1e7, Priced: true}
	o.chargeWaits(1000 * capcli.Dollar)
	if o.Fault == "" || o.Priced {
		t.Errorf("3e14 s at $1,000 an hour: %+v", o.WaitCost)
	}
	for _, text := range []string{"-1", "x", "1 EUR"} {
		if _, err := ParseWaitCost(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if v, err := ParseWaitCost("$0.25"); v != 250_000 || err != nil {
		t.Errorf("$0.25 is %v, %v", v, err)
	}
}

// TestWaitRangeStaysWithinPatience: a range that the error on the log's past widens holds the mean, and ends at the patience
// where no job waited longer.
func TestWaitRangeStaysWithinPatience(t *testing.T) {
	entry := func(patience, longest capcli.Seconds, waits ...capcli.Seconds) *Entry {
		e := &Entry{Candidate: &Candidate{Config: func(int) (simulate.Config, error) {
			return simulate.Config{Overflow: simulate.Overflow{Patience: []simulate.Patience{{Wait: patience}}}}, nil
		}}}
		for _, w := range waits {
			e.note(Outcome{WaitP95: w, WaitMax: longest, WaitJobs: 100, WaitStarted: 100}, nil)
		}
		return e
	}
	off := &validate.OwnPast{}
	off.Distance = 1 // a factor of ten
	for _, c := range []struct {
		name   string
		e      *Entry
		past   *validate.OwnPast
		lo, hi float64
	}{
		{"as simulated", entry(1800, 1800, 600, 1200), nil, 600, 1200},
		{"widened up to the patience", entry(1800, 1800, 600, 1200), off, 6, 1800},
		{"some waited longer than the patience", entry(1800, 1900, 600, 1200), off, 6, 12540},
		{"some wait for ever", entry(-1, 1800, 600, 1200), off, 6, 12540},
	} {
		s := &study{out: &Result{OwnPast: c.past}}
		got := s.waitRange(c.e)
		if got[0] != c.lo || got[1] != c.hi || got[0] > c.e.Wait() || got[1] < c.e.Wait() {
			t.Errorf("%s: %v, want %v to %v around %v", c.name, got, c.lo, c.hi, c.e.Wait())
		}
	}
	// 60 runs, one of them far off: the mean is above 95 % of the runs.
	far := make([]capcli.Seconds, 60)
	far[7] = 6000
	e := entry(7200, 7200, far...)
	if got := (&study{out: &Result{}}).waitRange(e); got[1] != 100 || e.Wait() != 100 {
		t.Errorf("the range %v leaves out the mean of %v", got, e.Wait())
	}
}
